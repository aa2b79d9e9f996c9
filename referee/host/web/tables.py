"""What spectators may see of the round under way: which tables play, and what came of those that are over.

All games of a set are played with the same packs. So of a set that is not over nothing is told but who sits there and how many of
its games are stored: no card, no score, no ruling. Nothing here depends on a card that is still in play.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import fsum
from typing import Final

import orjson

from referee.league.ladder_history import open_round, rounds_of, sets_of_round
from referee.league.league import League
from referee.league.standings import closed_sets
from referee.league.store import Store
from referee.league.store.reader import StoredRow
from referee.report.number_format import figure
from referee.statistics.results import MeasureName, set_means

SHOWN: Final = 60
"""The most tables that are shown of those that play, and of those that are over."""

KEPT_EVENTS: Final = 1_000
"""So many of the last games are told from memory; what was before them is read from the store."""


@dataclass(frozen=True, slots=True)
class TablePlays:
    """A table that plays. ``number``: its place in the round, from 1; ``over``: how many of its ``games`` are."""

    number: int
    seats: tuple[str, ...]
    over: int
    games: int


@dataclass(frozen=True, slots=True)
class TableOver:
    """A table that is over: what each got a game, as text, the best first; and the numbers of its games."""

    number: int
    got: tuple[tuple[str, str], ...]
    games: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InRound:
    """How a bot does in this round, over the tables that are over."""

    key: str
    tables: int
    got: str


@dataclass(frozen=True, slots=True)
class TableEvent:
    """A game has ended: ``game`` is its number, ``data`` what is told of it as JSON, the same whenever it is asked for."""

    game: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesNow:
    """The tables of the round under way, or of the last one. ``events``: the last that were told; ``last_game``: the last game of them.

    ``playing``: in schedule order; ``over``: the newest first, of ``tables_over``; both are cut off; ``scores``: the best first; ``void``: tables that
    do not count.
    """

    round: int
    is_open: bool
    tables: int
    waiting: int
    void: int
    tables_over: int
    tables_playing: int
    playing: tuple[TablePlays, ...]
    over: tuple[TableOver, ...]
    scores: tuple[InRound, ...]
    events: tuple[TableEvent, ...]
    last_game: int

    @property
    def mark(self) -> str:
        """Changes with the round, and when it closes."""
        return f"{self.round} {self.is_open}"


NO_TABLES: Final = TablesNow(
    round=0,
    is_open=False,
    tables=0,
    waiting=0,
    void=0,
    tables_over=0,
    tables_playing=0,
    playing=(),
    over=(),
    scores=(),
    events=(),
    last_game=0,
)
"""Before a round has begun."""


@dataclass(frozen=True, slots=True)
class ResultOfSet:
    """What came of a set: what each entrant got a game, and its games by number."""

    means: Mapping[str, float]
    games: tuple[int, ...]


class TablesFollowed:
    """Follows the tables of a ladder from look to look: the result of a set that is over is read once."""

    def __init__(self) -> None:
        self._round = 0
        self._last: int | None = None
        self._results: dict[str, ResultOfSet] = {}
        self._events: deque[TableEvent] = deque(maxlen=KEPT_EVENTS)

    def look(self, store: Store, league: League) -> TablesNow:
        """The tables as they are. Raises ``StoreError``."""
        rounds = rounds_of(league)
        if not rounds:
            return NO_TABLES
        *_, first, _ = _places(league)
        if rounds[-1]["number"] != self._round:
            self._round, self._results = rounds[-1]["number"], {}
        self._follow_games(store, league)
        rows = store.tables(first)
        new = [row.id for row in rows if row.state == "SCORED" and row.id not in self._results]
        self._results |= results_of(store, league.shape.objective, new)
        found = [(row, self._results[row.id]) for row in rows if row.id in self._results]
        over = sorted(found, key=lambda pair: pair[1].games[-1], reverse=True)
        playing = [row for row in rows if row.state == "OPEN" and (row.begun or row.games)]
        return TablesNow(
            round=self._round,
            is_open=open_round(league) is not None,
            tables=len(rows),
            waiting=sum(row.state == "OPEN" for row in rows) - len(playing),
            void=sum(row.state == "VOID" for row in rows),
            tables_over=len(over),
            tables_playing=len(playing),
            playing=tuple(
                TablePlays(row.position - first + 1, row.seats, row.games, row.fixtures) for row in playing[:SHOWN]
            ),
            over=tuple(
                TableOver(row.position - first + 1, best_first(result), result.games) for row, result in over[:SHOWN]
            ),
            scores=_scores(result for _, result in over),
            events=tuple(self._events),
            last_game=self._last or 0,
        )

    def _follow_games(self, store: Store, league: League) -> None:
        if self._last is None:
            self._last = max(store.last_number() - KEPT_EVENTS, 0)
        while new := events_after(store, league, self._last, KEPT_EVENTS):
            self._events += new
            self._last = new[-1].game


def results_of(store: Store, objective: MeasureName, set_ids: Sequence[str]) -> dict[str, ResultOfSet]:
    """What came of those of these sets that count, by id. Raises ``StoreError``."""
    games = store.games_of(set_ids)
    numbers: dict[str, list[int]] = {}
    for game in games:
        numbers.setdefault(game.summary["set"], []).append(game.number)
    closed = closed_sets(store.sets_of(set_ids).values(), games)
    return {one[0].set_id: ResultOfSet(set_means(one, objective), tuple(numbers[one[0].set_id])) for one in closed}


def best_first(result: ResultOfSet) -> tuple[tuple[str, str], ...]:
    """What each got a game, as text, the best first."""
    best = sorted(result.means.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple((key, figure(mean)) for key, mean in best)


def _scores(results: Iterable[ResultOfSet]) -> tuple[InRound, ...]:
    got: dict[str, list[float]] = {}
    for result in results:
        for key, mean in result.means.items():
            got.setdefault(key, []).append(mean)
    means = {key: fsum(each) / len(each) for key, each in got.items()}
    best = sorted(means, key=lambda key: (-means[key], key))
    return tuple(InRound(key, len(got[key]), figure(means[key])) for key in best)


# Events.


def events_after(store: Store, league: League, game: int, most: int) -> list[TableEvent]:
    """What is told of the games that were stored after one, at most so many.

    The last game of a set tells what came of it. Where that is not counted yet, it and those after it are told later.
    """
    rows = list(_countable(store.stored_after(game, most)))
    last = [row.set_id for row in rows if row.nth == row.fixtures and row.state == "SCORED"]
    results, places = results_of(store, league.shape.objective, last), list(_places(league))
    return [TableEvent(row.number, _told(row, places, results.get(row.set_id))) for row in rows]


def _countable(rows: Iterable[StoredRow]) -> Iterator[StoredRow]:
    for row in rows:
        if row.nth == row.fixtures and row.state == "OPEN":
            return
        yield row


def _places(league: League) -> Iterator[int]:
    """Where each round begins in the schedule."""
    return accumulate(map(sets_of_round, rounds_of(league)), initial=0)


def _told(row: StoredRow, places: Sequence[int], result: ResultOfSet | None) -> bytes:
    number = bisect_right(places, row.position, hi=max(len(places) - 1, 1))
    is_last = result is not None and row.nth == row.fixtures
    return orjson.dumps(
        {
            "game": row.number,
            "round": number,
            "table": row.position - places[number - 1] + 1,
            "seats": row.seats,
            "over": row.nth,
            "games": row.fixtures,
            "got": best_first(result) if is_last and result else None,
            "played": result.games if is_last and result else None,
        }
    )
