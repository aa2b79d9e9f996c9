"""The standings of a league, from its store: the one place from which every screen, report and file takes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from referee.league.league import League
from referee.league.schedule.formats import format_of
from referee.league.schedule.schedule import Schedule, read_schedule
from referee.league.store import GameRow, SetRow, Store
from referee.league.summary import played_game, quantile_ms
from referee.statistics.results import PlayedGame
from referee.statistics.standings import FaultCounts, Standings, VoidSet, standings


def games_by_set(games: Iterable[GameRow]) -> dict[str, list[PlayedGame]]:
    """The games of each set by its id; within a set by rotation."""
    by_set: dict[str, list[tuple[int, PlayedGame]]] = {}
    for game in games:
        set_id, _, rotation = game.fixture_id.rpartition("-")
        by_set.setdefault(set_id, []).append((int(rotation), played_game(game.summary)))
    return {set_id: [game for _, game in sorted(played, key=lambda pair: pair[0])] for set_id, played in by_set.items()}


def closed_sets(sets: Iterable[SetRow], games: Iterable[GameRow]) -> list[list[PlayedGame]]:
    """The games of every scored set, in schedule order; within a set by rotation."""
    by_set = games_by_set(games)
    return [by_set[row.id] for row in sets if row.state == "SCORED" and row.id in by_set]


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
        bids_made=count["bids_made"],
        bids_set_back=count["bids_set_back"],
        illegal_actions=count["illegal"],
        time_outs=count["time_outs"],
        crashes=count["lost"],
        decision_ms_median=quantile_ms(count["times"], 0.5),
        decision_ms_p99=quantile_ms(count["times"], 0.99),
    )


def standings_of(store: Store, league: League, resamples: int | None = None) -> Standings:
    """The standings after the scored sets of a league. ``resamples`` trades speed for finer shares."""
    sets = store.sets()
    void = any(row.state == "VOID" for row in sets)
    return table_from(league, read_schedule(store) if void else Schedule(()), sets, store.games(), resamples)


def table_from(
    league: League,
    schedule: Schedule,
    sets: Sequence[SetRow],
    games: Iterable[GameRow],
    resamples: int | None = None,
) -> Standings:
    """The standings of a league whose sets and games are these. ``schedule`` tells who was to play the sets that are void."""
    known = list(games)
    options: dict[str, Any] = {} if resamples is None else {"resamples": resamples}
    keys, shape = [entrant.key for entrant in league.entrants], league.shape
    table = standings(
        closed_sets(sets, known),
        tallies(sets, known),
        measure=shape.objective,
        entrants=keys,
        seed=league.commitment,
        certainty_at_any_look=format_of(shape).certainty(shape),
        yardstick=format_of(shape).yardstick(keys),
        **options,
    )
    tables = {planned.id: planned.table for planned in schedule.sets}
    void = (row for row in sets if row.state == "VOID")
    return replace(
        table, void=tuple(VoidSet(row.id, tables.get(row.id, ()), row.reason or "no reason is stored") for row in void)
    )
