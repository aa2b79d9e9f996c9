"""Pages that everybody may see: the board, a bot, rounds, games, the rules, how to enter, the feeds."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from referee.host.home import HostHome
from referee.host.rows import Version, VersionState
from referee.host.store import LOG_BYTES, PRESENT_SECONDS, NotAllowedError
from referee.host.web.answers import environment_of, number_in, page, static_file, static_version
from referee.host.web.board import OnLadder
from referee.host.web.site import Site, Visitor, shown_ladder, site_of, visitor
from referee.host.web.tables import NO_TABLES
from referee.league.definition.names import is_name
from referee.league.entrants.new_bot import TITLES
from referee.league.ladder_history import is_ladder
from referee.league.league import LeagueError, read_league
from referee.league.plan import log_file
from referee.league.store import ArchivedError, GameRow, NoGameError, Store, StoreError
from referee.report.html_report import replay_page
from referee.report.standings_columns import HINTS
from referee.rules.rulebook import Clause, Level, clause_text, clauses_of
from referee.rules.ruleset import meanings
from referee.umpire.record import Record
from referee.web.headers import SHUT_IN

FIRST_S: Final = 5.0
"""How long the first page waits for the first standings."""

_SHOWN_ROUNDS: Final = 50
MEASURES: Final = {"place": "Place points", "stakes": "Stakes a game", "points": "Points a game"}


def board(request: Request) -> Response:
    """The table."""
    site, shown = site_of(request), shown_ladder(request)
    watch = shown.watch
    watch.first(FIRST_S)
    mark, now, known = watch.shown, watch.now, watch.board
    here = {one.bot for one in now.bots if one.key in now.present} if now else set()
    since = site.clock() - PRESENT_SECONDS
    return page(
        request,
        "board.html.j2",
        now=now,
        board=known,
        coming=[] if shown.remote else [one for one in site.store.entered() if one.bot not in here],
        connected=[one for one in site.store.connections() if one.seen >= since] if shown.remote else [],
        fault=watch.fault,
        hints=HINTS,
        mark=mark,
        measure=MEASURES[site.definition.tournament.objective],
    )


def bot(request: Request) -> Response:
    """A bot: its versions, and how each did."""
    site, name, shown = site_of(request), str(request.path_params["name"]), shown_ladder(request)
    shown.watch.first(FIRST_S)
    now, known = shown.watch.now, shown.watch.board
    entered = [one for one in reversed(now.bots) if one.bot.casefold() == name.casefold()] if now else []
    versions = [one for one in site.store.versions(bot=name) if one.remote is shown.remote] if is_name(name) else []
    if not entered and not versions:
        raise NotAllowedError(404, "There is no bot of that name here.")
    who = visitor(request)
    owner = versions[0].owner if versions else entered[0].owner
    mine = _is_owner(who, owner)
    public = (VersionState.ACCEPTED, VersionState.WITHDRAWN)
    playing = next((one for one in entered if now and one.key in now.present), None)
    key = playing.key if playing else entered[0].key if entered else ""
    return page(
        request,
        "bot.html.j2",
        name=versions[0].bot if versions else entered[0].bot,
        bot_owner=owner,
        versions=[one for one in versions if mine or one.state in public],
        entered=entered,
        playing=playing,
        key=key,
        row=next((row for row in known.rows if row.key == key), None) if known else None,
        against=known.against.get(key, ()) if known else (),
        rulings=[(one, known.rulings.get(one.key, ())) for one in entered] if known else [],
        worst=known.worst.get(key, ()) if known else (),
        called={one.key: one.bot for one in now.bots} if now else {},
        mine=mine,
        log=log_tail(site.home, playing.key) if playing and not shown.remote and _is_owner(who, playing.owner) else "",
        has_sources=has_sources,
        hints=HINTS,
    )


def _is_owner(who: Visitor, owner: str) -> bool:
    """Whether a bot is theirs who ask, in a session of their own, or they are organisers."""
    if who.owner is None or who.token is not None:
        return False
    return who.owner.organiser or who.owner.name == owner


def log_tail(home: HostHome, key: str) -> str:
    """The end of what an entrant has printed at the tables; empty if that is nothing."""
    path = log_file(home.ladder_logs, key)
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - LOG_BYTES, 0))
            return file.read(LOG_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""


def sources(request: Request) -> Response:
    """The archive of an accepted version as it was handed in, where that is public."""
    site, number = site_of(request), number_in(request)
    site.limits.games.take(request.state.address)
    one = site.store.version(number)
    path = site.home.archive(one.archive)
    named = one.bot.casefold() == str(request.path_params["name"]).casefold()
    if not (named and has_sources(one) and path.is_file()):
        raise NotAllowedError(404, "There are no sources of this version to be had.")
    name = "".join(sign if sign.isalnum() else "-" for sign in one.bot)
    headers = {
        "Content-Disposition": f'attachment; filename="{name}-{one.id}.zip"',
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return FileResponse(path, media_type="application/zip", headers=headers)


def has_sources(one: Version) -> bool:
    """Whether everybody may have what was handed in."""
    return one.public and one.state is VersionState.ACCEPTED


def tables(request: Request) -> Response:
    """The tables of the round under way: who plays, and what came of those that are over."""
    site = site_of(request)
    site.ladder.first(FIRST_S)
    now = site.ladder.now
    return page(
        request,
        "tables.html.j2",
        now=now,
        tables=now.tables if now else NO_TABLES,
        fault=site.ladder.fault,
        measure=MEASURES[site.definition.tournament.objective],
    )


def rounds(request: Request) -> Response:
    """The rounds with their commitments, and how to verify them."""
    site, shown = site_of(request), shown_ladder(request)
    shown.watch.first(FIRST_S)
    now = shown.watch.now
    given = request.query_params.get("before", "")
    before = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None
    every = now.rounds if now else ()
    listed = [one for one in every if before is None or one.number < before][:_SHOWN_ROUNDS]
    return page(
        request,
        "rounds.html.j2",
        now=now,
        rounds=listed,
        older=bool(listed) and listed[-1].number > 1,
        address=site.url(request),
    )


def game(request: Request) -> Response:
    """The replay of a game, once its set is over: until then its hands are a secret. ``#game-N-dK`` begins with a deal, from 0."""
    site, number, shown = site_of(request), number_in(request), shown_ladder(request)
    site.limits.replays.take(request.state.address)
    with site.limits.replay_places.place(request.state.address):
        return shut_in(shown.replay_pages.page(number, lambda: _replay(shown.path, number)))


def _replay(ladder: Path, number: int) -> str:
    return replay_page(shown_game(ladder, number)[0], number)


def shown_game(ladder: Path, number: int) -> tuple[Record, GameRow]:
    """A game that everybody may see. Raises ``NotAllowedError`` for one whose set is not over, or that is not there."""
    try:
        with Store.read(ladder) as store:
            league, row = read_league(store), store.game(number)
            (its_set,) = store.sets_of([row.summary["set"]]).values()
            if not is_ladder(league) or its_set.state == "OPEN":
                raise NotAllowedError(
                    409,
                    "This game can be seen when all games of its set are over: they are played with the same packs.",
                )
            return store.record(number), row
    except NoGameError:
        raise NotAllowedError(404, "There is no such game.") from None
    except ArchivedError as told:
        file, line = Path(told.archive["file"]).name, number - told.archive["first_game"] + 1
        raise NotAllowedError(
            410, f"The record of this game lies in an archive by now: line {line} of /export/{file} of this site."
        ) from None
    except (StoreError, LeagueError):
        raise NotAllowedError(404, "There is no such game yet.") from None


def shut_in(text: str | bytes) -> Response:
    """A page with a script of its own, which can do nothing to the site."""
    return HTMLResponse(text, headers={"Content-Security-Policy": SHUT_IN})


@dataclass(frozen=True, slots=True)
class ClauseShown:
    """A clause of the rule book with its sentence as it is played here."""

    clause: Clause
    text: str
    level: str


def rules(request: Request) -> Response:
    """The rule book as it is played here."""
    site = site_of(request)
    played = site.definition.rule_set()
    clauses = [
        ClauseShown(one, clause_text(one, played), "" if one.level is Level.INFO else str(one.level))
        for one in clauses_of(played)
    ]
    values = played.as_dict()
    house = [
        (name, _value(values[name]), meaning, name in site.definition.rules) for name, meaning in meanings().items()
    ]
    tournament = site.definition.tournament
    return page(
        request,
        "rules.html.j2",
        rules=played,
        clauses=clauses,
        house=house,
        tournament=tournament,
        limits=site.definition.limits.model_dump(mode="json", exclude_none=True),
    )


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def enter(request: Request) -> Response:
    """How to enter, to be copied."""
    site = site_of(request)
    return page(
        request, "enter.html.j2", address=site.url(request), host=site.host, tournament=site.definition.tournament,
        languages=TITLES, sandbox=site.store.setting("sandbox"), sandbox_line=site.store.setting("sandbox_line"),
    )  # fmt: skip


def static(request: Request) -> Response:
    """A file that pages need."""
    name = str(request.path_params["name"])
    kinds = {"site.css": "text/css", "live.js": "text/javascript"}
    if name not in kinds:
        raise NotAllowedError(404, "There is no such file.")
    kept = (
        "public, max-age=31536000, immutable" if request.query_params.get("v") == static_version(name) else "no-cache"
    )
    return Response(static_file(name), media_type=kinds[name], headers={"Cache-Control": kept})


def feed(request: Request) -> Response:
    """What has happened on the ladder as an Atom feed: rounds that were closed, bots that entered."""
    site = site_of(request)
    site.ladder.first(FIRST_S)
    return _feed(request, site, "", list(site.ladder.now.bots) if site.ladder.now else [])


def bot_feed(request: Request) -> Response:
    """The same of one bot."""
    site, name = site_of(request), str(request.path_params["name"])
    site.ladder.first(FIRST_S)
    bots = site.ladder.now.bots if site.ladder.now else ()
    own = [one for one in bots if one.bot.casefold() == name.casefold()]
    if not own:
        raise NotAllowedError(404, "There is no bot of that name on the ladder.")
    return _feed(request, site, own[0].bot, own)


def _feed(request: Request, site: Site, name: str, bots: list[OnLadder]) -> Response:
    now = site.ladder.now
    board = site.ladder.board
    closed_at = {number: _in_utc(at) for number, at in board.closed_at.items()} if board else {}
    updated = max(closed_at.values(), default="1970-01-01T00:00:00Z")
    template = environment_of(site.root).get_template("feed.atom.j2")
    text = template.render(
        site_name=site.definition.tournament.name,
        name=name,
        address=site.url(request),
        rounds=[] if name or now is None else [one for one in now.rounds if one.result_root][:_SHOWN_ROUNDS],
        bots=bots[-_SHOWN_ROUNDS:][::-1],
        closed_at=closed_at,
        updated=updated,
    )
    return Response(text, media_type="application/atom+xml")


def _in_utc(at: str) -> str:
    """A time of the store as a feed has it."""
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
