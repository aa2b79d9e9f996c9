"""What was played in closed rounds: a page for each round with all its tables, and the games as lines of JSON for programs."""

from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from referee.host.store import NotAllowedError
from referee.host.web.answers import number_in, page
from referee.host.web.board import LadderNow
from referee.host.web.careful import worst_deal
from referee.host.web.limits import Places
from referee.host.web.openapi import MOST_GAMES
from referee.host.web.pages import FIRST_S, MEASURES, shown_game
from referee.host.web.site import Site, shown_ladder, site_of
from referee.host.web.tables import best_first, results_of
from referee.league.definition.fields import Objective
from referee.league.ladder_history import rounds_of, sets_of_round
from referee.league.league import read_league
from referee.league.store import ArchivedError, Store, StoreError

_TOGETHER: Final = 20
"""So many are read from the store at a time."""

_SHOWN_TABLES: Final = 60

_CAREFUL_S: Final = 5.0
"""How long a page waits for what ``careful`` does."""


@dataclass(frozen=True, slots=True)
class TablePlayed:
    """A table of a closed round. ``got``: what each got a game, the best first; of one that does not count, who sat there."""

    number: int
    got: tuple[tuple[str, str], ...]
    games: tuple[int, ...]
    counts: bool


def places_of(now: LadderNow, number: int) -> range:
    """The places in the schedule of the sets of a closed round. Raises ``NotAllowedError`` where it is not there, or not closed."""
    first = 0
    for one in reversed(now.rounds):
        if one.number == number:
            if not one.result_root:
                raise NotAllowedError(409, f"Round {number} is being played: its games can be had when it is closed.")
            return range(first, first + one.sets)
        first += one.sets
    raise NotAllowedError(404, f"There is no round {number}.")


def round_page(request: Request) -> Response:
    """A closed round: its tables with the replays of their games. Of an open one, the page of the tables tells."""
    site, number, shown = site_of(request), number_in(request), shown_ladder(request)
    shown.watch.first(FIRST_S)
    now, objective = shown.watch.now, site.definition.tournament.objective
    one = next((line for line in now.rounds if line.number == number), None) if now else None
    if now is None or one is None:
        raise NotAllowedError(404, "There is no such round.")
    given = request.query_params.get("from", "")
    after = max(int(given) - 1, 0) if given.isascii() and given.isdigit() and len(given) < 10 else 0
    tables = _tables(shown.path, objective, places_of(now, number), after) if one.result_root else []
    return page(
        request,
        "round.html.j2",
        one=one,
        tables=tables,
        newer=number + 1 if number < len(now.rounds) else 0,
        older=after + _SHOWN_TABLES + 1 if one.sets > after + _SHOWN_TABLES else 0,
        address=site.url(request),
        measure=MEASURES[objective],
    )


def _tables(ladder: Path, objective: Objective, places: range, after: int) -> list[TablePlayed]:
    """So many tables of a round from a place in it on."""
    try:
        with Store.read(ladder) as store, store.snapshot():
            rows = store.tables(places.start + after, max(min(_SHOWN_TABLES, len(places) - after), 0))
            results = results_of(store, objective, [row.id for row in rows])
            games: dict[str, list[int]] = {}
            for game in store.games_of(row.id for row in rows if row.id not in results):
                games.setdefault(game.summary["set"], []).append(game.number)
    except StoreError:
        raise NotAllowedError(404, "The ladder cannot be read at the moment; load the page again later.") from None
    return [
        TablePlayed(
            row.position - places.start + 1,
            best_first(results[row.id]) if row.id in results else tuple((key, "") for key in row.seats),
            results[row.id].games if row.id in results else tuple(games.get(row.id, ())),
            row.id in results,
        )
        for row in rows
    ]


def worst_page(request: Request) -> Response:
    """The worst deal of a bot in a game, and what ``careful`` would have done there."""
    site, number = site_of(request), number_in(request)
    name = str(request.path_params["name"])
    site.limits.replays.take(request.state.address)
    with site.limits.replay_places.place(request.state.address):
        record, row = shown_game(site.home.ladder, number)
        site.ladder.first(FIRST_S)
        known = {one.key: one for one in site.ladder.now.bots} if site.ladder.now else {}
        keys = row.summary["entrants"]
        seat = next(
            (at for at, key in enumerate(keys) if key in known and known[key].bot.casefold() == name.casefold()), None
        )
        worst = None if seat is None else worst_deal(record, seat)
        if seat is None or worst is None:
            raise NotAllowedError(404, "This bot did not play that game, or no deal of it was counted.")
        found = site.careful.of(number, worst.deal, seat, lambda: record, _CAREFUL_S)
    return page(
        request,
        "worst.html.j2",
        name=known[keys[seat]].bot,
        key=keys[seat],
        others=[key for at, key in enumerate(keys) if at != seat],
        game=number,
        deal=worst.deal,
        worst=worst,
        decisions=found,
    )


# For programs.


class GamesAnswer(StreamingResponse):
    """Lines of JSON that are read while they are sent. It has a place, for ``key``, as long as that takes."""

    def __init__(self, content: AsyncIterator[bytes], places: Places, key: str, more: str) -> None:
        headers = {"Link": f'<{more}>; rel="next"'} if more else {}
        super().__init__(content, media_type="application/x-ndjson", headers=headers)
        self._places, self._key = places, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it; raises ``TooOftenError`` if there is no place."""
        if scope["method"] == "HEAD":
            await Response(headers=dict(self.headers))(scope, receive, send)
            return
        with self._places.place(self._key):
            await super().__call__(scope, receive, send)


async def games(request: Request) -> Response:
    """Games of closed rounds with their packs, a line each, by number: of a ``round``, those ``since`` a game, or both.

    At most 500; where there are more, ``Link`` has the address of the next ones.
    """
    site = site_of(request)
    site.limits.games.take(request.state.address)
    since, number = _number(request, "since"), _number(request, "round")

    def find() -> list[int]:
        site.ladder.first(FIRST_S)
        now = site.ladder.now
        if now is None:
            raise NotAllowedError(404, "No round has begun.")
        closed = sum(one.sets for one in now.rounds if one.result_root)
        places = range(closed) if number is None else places_of(now, number)
        with Store.read(site.home.ladder) as store:
            return store.numbers_of_closed(places, since or 0, MOST_GAMES + 1)

    try:
        numbers = await run_in_threadpool(find)
    except StoreError:
        raise NotAllowedError(404, "The ladder cannot be read at the moment; try again later.") from None
    more = ""
    if len(numbers) > MOST_GAMES:
        numbers.pop()
        more = site.url(request, f"/api/v1/games.ndjson?since={numbers[-1]}")
        more += f"&round={number}" if number is not None else ""
    return GamesAnswer(_lines(site, numbers), site.limits.export_places, request.state.address, more)


def _number(request: Request, name: str) -> int | None:
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        raise NotAllowedError(400, f"{name} is a number, such as {name}=1.")
    return int(given)


async def _lines(site: Site, numbers: Sequence[int]) -> AsyncIterator[bytes]:
    for start in range(0, len(numbers), _TOGETHER):
        yield await run_in_threadpool(lambda some: b"".join(_read(site, some)), numbers[start : start + _TOGETHER])


def _read(site: Site, numbers: Sequence[int]) -> Iterator[bytes]:
    """These games as lines; the store is open meanwhile, and no longer."""
    with Store.read(site.home.ladder) as store:
        ends = list(accumulate(map(sets_of_round, rounds_of(read_league(store)))))
        for number in numbers:
            row = store.game(number)
            (its,) = store.sets_of([row.summary["set"]]).values()
            record, archive = None, None
            try:
                record = store.record(number)
            except ArchivedError as told_where:
                archive = f"/export/{Path(told_where.archive['file']).name}"
            told = {
                "game": number,
                "round": 1 + bisect_right(ends, its.position),
                "set": its.id,
                "state": its.state.lower(),
                "entrants": row.summary["entrants"],
                "record": record,
                "archive": archive,
            }
            yield orjson.dumps(told) + b"\n"
