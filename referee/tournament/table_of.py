"""The standings of a league, from its store: the one place from which every screen, report and file takes them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from referee.statistics.results import PlayedGame
from referee.statistics.standings import Standings, Tally, standings
from referee.store import GameRow, SetRow, Store
from referee.tournament.ending import certainty_at_any_look
from referee.tournament.league import League
from referee.tournament.summary import played_game, quantile_ms


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


def tallies(sets: Sequence[SetRow], games: Iterable[GameRow]) -> dict[str, Tally]:
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


def _tally(count: Mapping[str, Any]) -> Tally:
    return Tally(
        count["bids_made"],
        count["bids_set_back"],
        count["illegal"],
        count["time_outs"],
        count["lost"],
        quantile_ms(count["times"], 0.5),
        quantile_ms(count["times"], 0.99),
    )


def standings_of(store: Store, league: League, resamples: int | None = None) -> Standings:
    """The standings after the scored sets of a league. ``resamples`` trades speed for finer intervals."""
    sets, games = store.sets(), store.games()
    options: dict[str, Any] = {} if resamples is None else {"resamples": resamples}
    return standings(
        closed_sets(sets, games),
        tallies(sets, games),
        measure=league.definition.tournament.objective,
        entrants=[entrant.key for entrant in league.entrants],
        seed=league.commitment,
        certainty_at_any_look=certainty_at_any_look(league.definition),
        **options,
    )
