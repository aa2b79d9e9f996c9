"""What the site shows of a ladder, worked out at once and kept until more is known: plain values, so that another process can do it."""

import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from referee.host.web.tables import TablesFollowed, TablesNow
from referee.host.web.trend import Trend, trends
from referee.league.ladder_history import closed_rounds, entered_on, is_ladder, open_round, rounds_of, sets_of_round
from referee.league.league import LeagueError, read_league
from referee.league.store import Store
from referee.league.store.league_facts import ArchivedRecords, RoundFacts
from referee.report.headline import judge
from referee.report.number_format import between, figure, ranks
from referee.report.report_data import ReportData, collect
from referee.report.sanitize import sanitize
from referee.report.standings_columns import columns, void_lines
from referee.statistics.paired import Estimate, turned
from referee.statistics.standings import StandingsRow

_RULINGS: Final = 12
"""The most rulings that are shown of a bot, the newest first."""
_WORST: Final = 3
"""How many of a bot's worst games are shown."""
_PACE: Final = 60
"""From so many of the last games it is told how fast games are played."""


@dataclass(frozen=True, slots=True)
class OnLadder:
    """A bot in a version, as it entered the ladder. ``withdrawn``: why it was withdrawn; ``last``: the last round it was in.

    ``remote``: it runs elsewhere, and its version is as it was declared.
    """

    key: str
    bot: str
    version: str
    digest: str
    owner: str
    entered: int
    last: int
    withdrawn: str
    remote: bool


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A round as it is shown. ``master`` and ``result_root``: empty while it is open; ``voided``: why what was open of it was voided;
    ``records``: the archive that its records lie in.
    """

    number: int
    bots: int
    sets: int
    entered: tuple[str, ...]
    placed: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    commitment: str
    master: str
    result_root: str
    voided: str
    records: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderNow:
    """What is quickly seen of a ladder. Numbers of games are those of the open round; ``games_s``: seconds a game takes, if known.

    ``mark``: changes when the standings do. ``rounds``: all, the newest first. ``present``: who plays, by key.
    """

    mark: tuple[int, ...]
    rounds: tuple[RoundLine, ...]
    bots: tuple[OnLadder, ...]
    present: frozenset[str]
    is_open: bool
    games_played: int
    games_in_all: int
    games_s: float | None
    paused: bool
    frozen: bool
    finished: bool
    tables: TablesNow

    def seconds_left(self) -> float | None:
        """How long the open round takes still, if that can be told; 0 where none is open."""
        if not self.is_open:
            return 0.0
        return None if self.games_s is None else (self.games_in_all - self.games_played) * self.games_s


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A line of the board: ``cells`` as text by heading; ``trend``: none of a bot that was in one round alone; ``declared``: the version
    of a remote bot, which is as it says itself.
    """

    key: str
    bot: str
    owner: str
    rank: str
    measure: str
    interval: str
    panel: str
    rating: str
    sets: int
    faults: int
    status: str
    of_panel: bool
    trend: Trend | None
    declared: str
    cells: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AgainstLine:
    """How a bot did against another: what it got more a game, with its interval. ``sure``: whether that leaves out zero."""

    key: str
    difference: str
    interval: str
    sure: bool


@dataclass(frozen=True, slots=True)
class RulingShown:
    """A ruling against a bot, with the number of its game, and its own in that game."""

    game: int
    number: int
    rule: str
    sentence: str
    consequence: str


@dataclass(frozen=True, slots=True)
class GameShown:
    """A game of a bot: where it finished, and among whom."""

    number: int
    place: int
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """How a ladder stands. ``table``: the standings as JSON values; ``mark``: that of the ladder of which it is.

    ``closed_at``: when the last game of each closed round ended, by its number.
    """

    mark: tuple[int, ...]
    table: dict[str, Any]
    rows: tuple[BoardRow, ...]
    headline: str
    sure: str
    label: str
    detail: str
    notes: tuple[str, ...]
    sets: int
    games: int
    against: dict[str, tuple[AgainstLine, ...]]
    rulings: dict[str, tuple[RulingShown, ...]]
    worst: dict[str, tuple[GameShown, ...]]
    closed_at: dict[int, str]
    took_s: float


def look_at(path: Path, tables: TablesFollowed) -> LadderNow:
    """What is quickly seen of the ladder at a path; ``tables`` follow it. Raises ``StoreError``, ``LeagueError``."""
    with Store.read(path) as store, store.snapshot():
        league = read_league(store)
        if not is_ladder(league):
            raise LeagueError(f'{path} is no ladder: its definition does not say format = "ladder"')
        rounds, facts, about = rounds_of(league), league.facts, store.entrants()
        round_ = open_round(league)
        before = sum(sets_of_round(one) for one in rounds[:-1])
        _, played, in_all = store.progress(before) if round_ is not None else (0, 0, 0)
        pace = store.pace(_PACE)
        closed = store.count_closed_sets()
        tables_now = tables.look(store, league)
        archives = store.archives()
    last = {key: one["number"] for one in rounds for key in one["bots"]}
    bots = tuple(
        OnLadder(
            one["key"],
            one["bot"],
            sanitize(about[one["key"]]["version"], 60),
            about[one["key"]]["digest"],
            one["owner"],
            each["number"],
            last.get(one["key"], each["number"]),
            sanitize(about[one["key"]]["withdrawn"] or ""),
            about[one["key"]]["remote"],
        )
        for each in rounds
        for one in each["entered"]
    )
    is_closed = closed_rounds(league)
    finished = facts["state"] == "finished"
    return LadderNow(
        mark=(closed, len(rounds), is_closed, sum(bool(one.withdrawn) for one in bots), finished),
        rounds=tuple(_line(one, archives) for one in reversed(rounds)),
        bots=bots,
        present=frozenset(rounds[-1]["bots"]) if rounds else frozenset(),
        is_open=round_ is not None,
        games_played=played,
        games_in_all=in_all,
        games_s=_seconds_a_game(pace),
        paused=bool(facts.get("paused")),
        frozen="frozen" in facts,
        finished=finished,
        tables=tables_now,
    )


def _line(one: RoundFacts, archives: Sequence[ArchivedRecords]) -> RoundLine:
    place = bisect_right(archives, one["number"], key=lambda archive: archive["first_round"]) - 1
    is_old = place >= 0 and one["number"] <= archives[place]["last_round"]
    root = one.get("result_root", "")
    return RoundLine(
        one["number"],
        len(one["bots"]),
        sets_of_round(one),
        tuple(new["key"] for new in one["entered"]),
        tuple(one["placed"]),
        tuple(dict.fromkeys((pair[0], pair[1]) for pair in one["pairs"])),
        one["commitment"],
        one["master"] if root else "",
        root,
        sanitize(one.get("voided", "")),
        Path(archives[place]["file"]).name if is_old else "",
    )


def _seconds_a_game(pace: tuple[str, str, int] | None) -> float | None:
    if pace is None:
        return None
    try:
        began, ended = (datetime.fromisoformat(text) for text in pace[:2])
    except ValueError:
        return None
    return max((ended - began).total_seconds(), 0.0) / pace[2]


def work_out(path: Path, mark: tuple[int, ...]) -> Board:
    """How the ladder at a path stands; takes long for a large one. Raises ``StoreError``, ``LeagueError``."""
    begun = time.monotonic()
    with Store.read(path) as store, store.snapshot():
        facts = collect(store, read_league(store))
        ends = store.ends()
    table = facts.table
    verdict = judge(table, facts.names, facts.copies, finished=facts.finished)
    entered = entered_on(facts.league)
    cells = columns(table, facts.called)
    declared = {one.key: sanitize(one.version, 60) for one in facts.league.entrants if one.remote}
    lines = trends(facts.sets, facts.games, rounds_of(facts.league), facts.league.definition.tournament.objective)
    rows = tuple(
        _row(row, entered[row.entrant], declared.get(row.entrant, ""), cells, lines.get(row.entrant))
        for row in table.rows
    )
    return Board(
        mark=mark,
        table=table.to_json(),
        rows=rows,
        headline=verdict.headline,
        sure=verdict.sure,
        label=verdict.label,
        detail=verdict.detail,
        notes=(*table.notes, *void_lines(table, facts.called), *facts.ending),
        sets=table.sets,
        games=table.games,
        against=_against(facts),
        rulings=_rulings(facts),
        worst=_worst(facts),
        closed_at=_closed_at(rounds_of(facts.league), ends),
        took_s=time.monotonic() - begun,
    )


def _closed_at(rounds: Sequence[RoundFacts], ends: Sequence[str]) -> dict[int, str]:
    found, place = {}, 0
    for one in rounds:
        number = sets_of_round(one)
        if "result_root" in one:
            found[one["number"]] = max(ends[place : place + number], default="")
        place += number
    return {number: at for number, at in found.items() if at}


def _row(row: StandingsRow, entered: Any, declared: str, cells: Any, trend: Trend | None) -> BoardRow:
    return BoardRow(
        key=row.entrant,
        bot=entered["bot"],
        owner=sanitize(entered["owner"], 60),
        rank=ranks(row),
        measure=figure(row.measure.mean),
        interval=between(row.measure),
        panel="" if row.panel is None else figure(row.panel.mean),
        rating=figure(row.rating.value, 0, sign=True),
        sets=row.sets,
        faults=row.tally.illegal_actions + row.tally.time_outs + row.tally.crashes,
        status=row.status,
        of_panel=entered["panel"],
        trend=trend,
        declared=declared,
        cells=tuple((heading, cell(row)) for heading, cell in cells.items()),
    )


def _against(facts: ReportData) -> dict[str, tuple[AgainstLine, ...]]:
    found: defaultdict[str, dict[str, AgainstLine]] = defaultdict(dict)
    for meeting in facts.meetings:
        one, other = meeting.first, meeting.second
        found[one][other] = _against_line(other, meeting.difference)
        found[other][one] = _against_line(one, turned(meeting.difference))
    order = [row.entrant for row in facts.table.rows]
    return {key: tuple(lines[other] for other in order if other in lines) for key, lines in found.items()}


def _against_line(other: str, difference: Estimate) -> AgainstLine:
    low, high = difference.low, difference.high
    sure = low is not None and high is not None and (low > 0 or high < 0)
    return AgainstLine(other, figure(difference.mean, sign=True), between(difference), sure)


def _rulings(facts: ReportData) -> dict[str, tuple[RulingShown, ...]]:
    """The last rulings against each, of sets that are over: hands are no secret there."""
    closed = facts.closed_ids
    over = {game.number for game in facts.games if game.summary["set"] in closed}
    found: defaultdict[str, list[RulingShown]] = defaultdict(list)
    for line in reversed(facts.rulings):
        kept = found[line["entrant"]]
        if len(kept) < _RULINGS and line["game"] in over:
            kept.append(
                RulingShown(
                    line["game"],
                    line["number"],
                    line["rule"],
                    sanitize(line["sentence"]),
                    sanitize(line["consequence"]),
                )
            )
    return {key: tuple(lines) for key, lines in found.items()}


def _worst(facts: ReportData) -> dict[str, tuple[GameShown, ...]]:
    """The games in which each lost most: the last places first, then by stakes."""
    found: defaultdict[str, list[tuple[tuple[float, float], GameShown]]] = defaultdict(list)
    for game in facts.scored:
        for seat, key in _first_seats(game.summary["entrants"]):
            place, stakes = game.summary["places"][seat], float(game.summary["stakes"][seat])
            others = tuple(dict.fromkeys(other for other in game.summary["entrants"] if other != key))
            kept = found[key]
            kept.append(((-place, stakes), GameShown(game.number, place, others)))
            if len(kept) > 50:
                kept[:] = _least(kept)
    return {key: tuple(shown for _, shown in _least(kept)) for key, kept in found.items()}


def _least(kept: Sequence[tuple[tuple[float, float], GameShown]]) -> list[tuple[tuple[float, float], GameShown]]:
    return sorted(kept, key=lambda one: (one[0], one[1].number))[:_WORST]


def _first_seats(entrants: Sequence[str]) -> Iterator[tuple[int, str]]:
    return ((entrants.index(key), key) for key in dict.fromkeys(entrants))
