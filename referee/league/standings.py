"""The standings of a league, from its store: the one place from which every screen, report and file takes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from referee.league.early_stop import certainty_at_any_look
from referee.league.league import League
from referee.league.schedule.schedule import plan
from referee.league.store import GameRow, SetRow, Store
from referee.league.summary import played_game, quantile_ms
from referee.statistics.results import PlayedGame
from referee.statistics.standings import FaultCounts, Standings, VoidSet, standings


def closed_sets(sets: Iterable[SetRow], games: Iterable[GameRow]) -> list[list[PlayedGame]]:
    """The games of every scored set, in schedule order; within a set by rotation."""
    by_set: dict[str, list[tuple[int, PlayedGame]]] = {}
    for game in games:
        set_id, _, rotation = game.fixture_id.rpartition("-")
        by_set.setdefault(set_id, []).append((int(rotation), played_game(game.summary)))
    return [
        [game for _, game in sorted(by_set[row.id], key=lambda pair: pair[0])]
        for row in sets
        if row.state == "SCORED" and row.id in by_set
    ]


def tallies(sets: Sequence[SetRow], games: Iterable[GameRow]) -> dict[str, FaultCounts]:
    """What is counted for each entrant outside the results, over scored sets."""
    scored = {row.id for row in sets if row.state == "SCORED"}
    counts: dict[str, dict[str, Any]] = {}
    for game in games:
        summary = game.summary
        if summary["set"] not in scored:
            continue
        for seat, key in enumerate(summary["entrants"]):
            count = counts.setdefault(key, {"times": {}})
            for name in ("bids_made", "bids_set_back", "illegal", "time_outs", "lost"):
                count[name] = count.get(name, 0) + summary[name][seat]
            for bucket, number in summary["times"][seat].items():
                count["times"][bucket] = count["times"].get(bucket, 0) + number
    return {key: _tally(count) for key, count in counts.items()}


def _tally(count: Mapping[str, Any]) -> FaultCounts:
    return FaultCounts(
        count["bids_made"],
        count["bids_set_back"],
        count["illegal"],
        count["time_outs"],
        count["lost"],
        quantile_ms(count["times"], 0.5),
        quantile_ms(count["times"], 0.99),
    )


def standings_of(store: Store, league: League, resamples: int | None = None) -> Standings:
    """The standings after the scored sets of a league. ``resamples`` trades speed for finer shares."""
    return table_from(league, store.sets(), store.games(), resamples)


def table_from(
    league: League, sets: Sequence[SetRow], games: Iterable[GameRow], resamples: int | None = None
) -> Standings:
    """The standings of a league whose sets and games are these."""
    known = list(games)
    options: dict[str, Any] = {} if resamples is None else {"resamples": resamples}
    keys = [entrant.key for entrant in league.entrants]
    table = standings(
        closed_sets(sets, known),
        tallies(sets, known),
        measure=league.definition.tournament.objective,
        entrants=keys,
        seed=league.commitment,
        certainty_at_any_look=certainty_at_any_look(league.definition),
        yardstick=keys[0] if league.definition.schedule.format == "gauntlet" and keys else None,
        **options,
    )
    return replace(table, void=_void(league, sets))


def _void(league: League, sets: Iterable[SetRow]) -> tuple[VoidSet, ...]:
    """The sets that do not count."""
    void = [row for row in sets if row.state == "VOID"]
    if not void:
        return ()
    tables = {planned.id: planned.table for planned in plan(league.definition.shape(), league.entrants).sets}
    return tuple(VoidSet(row.id, tuple(tables.get(row.id, ())), row.reason or "no reason is stored") for row in void)
