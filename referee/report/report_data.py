"""Everything that a report says of a league, gathered once; how it looks is decided elsewhere.

Ranks, measures, ratings, counts and decision times are those of ``standings_of``, the one source that the terminal uses
too. What stands beside them (the cross-table, ratings over time, points by seat) is made from the same closed sets by
the same functions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from referee.league.ladder_history import is_ladder
from referee.league.league import League
from referee.league.schedule.schedule import read_schedule
from referee.league.standings import closed_sets, sets_of_the_roster, standings_of
from referee.league.store import FaultRow, GameRow, RulingLine, SetRow, Store
from referee.report.endings import ending_lines
from referee.report.sanitize import name, sanitize
from referee.statistics.paired import Meeting, cross_table
from referee.statistics.results import GameSet
from referee.statistics.standings import Standings


@dataclass(frozen=True, slots=True)
class SeatFigure:
    """What an entrant got from one seat: mean points a game over so many games."""

    points: float
    games: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportData:
    """What is known of a league.

    ``file``: the path of its store. ``names``: what to call each entrant, harmless and short. ``copies``: entrant to the bot that it is a copy of.
    ``games``: all stored games of the present deals; ``scored``: those of scored sets. ``seats``: by entrant, one figure a
    seat, None where it never sat. ``times``: by entrant, decisions counted in the buckets of ``summary.histogram``.
    ``rulings``: of all stored games, as ``Store.rulings`` gives them. ``ending``: how a league stands that may stop early.
    """

    file: str
    league: League
    table: Standings
    finished: bool
    names: Mapping[str, str]
    copies: Mapping[str, str]
    sets: Sequence[SetRow]
    games: Sequence[GameRow]
    scored: Sequence[GameRow]
    closed: Sequence[GameSet]
    meetings: Sequence[Meeting]
    seats: Mapping[str, Sequence[SeatFigure | None]]
    times: Mapping[str, Mapping[int, int]]
    rulings: Sequence[RulingLine]
    faults: Sequence[FaultRow]
    withdrawn: Mapping[str, str]
    roots: Mapping[str, str]
    ending: Sequence[str]

    @property
    def void(self) -> list[SetRow]:
        """The sets that do not count, with their reasons."""
        return [row for row in self.sets if row.state == "VOID"]

    @property
    def closed_ids(self) -> frozenset[str]:
        """Ids of the sets that are over: their packs are no secret any more."""
        return frozenset(row.id for row in self.sets if row.state != "OPEN")

    def called(self, key: str) -> str:
        """What to call an entrant."""
        return self.names.get(key) or name(key)


def collect(store: Store, league: League, table: Standings | None = None) -> ReportData:
    """All facts of a league as its store stands. ``table`` saves making the standings again."""
    sets, games, facts = store.sets(), store.games(), store.league()
    closed = closed_sets(sets, games)
    scored_ids = {row.id for row in sets if row.state == "SCORED"}
    if is_ladder(league):  # its past has bots that do not play any more
        closed = sets_of_the_roster(league, read_schedule(store), closed)
        scored_ids = {one[0].set_id for one in closed}
    scored = [game for game in games if game.summary["set"] in scored_ids]
    withdrawn = {key: about["withdrawn"] for key, about in store.entrants().items() if about["withdrawn"]}
    return ReportData(
        file=str(store.path),
        league=league,
        table=table if table is not None else standings_of(store, league, games=games),
        finished=facts.get("state") == "finished",
        names=names_of([entrant.key for entrant in league.entrants]),
        copies=copies_of(league),
        sets=sets,
        games=games,
        scored=scored,
        closed=closed,
        meetings=cross_table(closed, league.definition.tournament.objective),
        seats=_by_seat(scored, league.definition.tournament.seats),
        times=_times(scored),
        rulings=store.rulings(),
        faults=store.faults(),
        withdrawn={key: sanitize(reason) for key, reason in withdrawn.items()},
        roots={name: str(facts.get(f"{name}_root") or "") for name in ("result", "record")},
        ending=ending_lines(store, league),
    )


def copies_of(league: League) -> dict[str, str]:
    """Entrant to the bot that it is a copy of."""
    return {entrant.key: entrant.copy_of for entrant in league.entrants if entrant.copy_of}


def names_of(keys: Sequence[str]) -> dict[str, str]:
    """Harmless names; two keys that would look alike are numbered."""
    names: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for key in keys:
        short = name(key)
        seen[short] += 1
        names[key] = short if seen[short] == 1 else f"{short} ({seen[short]})"
    return names


def _by_seat(games: Sequence[GameRow], seats: int) -> dict[str, list[SeatFigure | None]]:
    points: dict[str, list[list[float]]] = {}
    for game in games:
        for seat, key in enumerate(game.summary["entrants"]):
            points.setdefault(key, [[] for _ in range(seats)])[seat].append(game.summary["points"][seat])
    return {
        key: [SeatFigure(sum(got) / len(got), len(got)) if got else None for got in by_seat]
        for key, by_seat in points.items()
    }


def _times(games: Sequence[GameRow]) -> dict[str, dict[int, int]]:
    times: dict[str, dict[str, int]] = {}
    for game in games:
        for key, counts in zip(game.summary["entrants"], game.summary["times"], strict=True):
            own = times.setdefault(key, {})
            for bucket, number in counts.items():
                own[bucket] = own.get(bucket, 0) + number
    return {key: {int(bucket): number for bucket, number in counts.items()} for key, counts in times.items()}
