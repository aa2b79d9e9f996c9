"""What the standings need of one finished game, as plain JSON values."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from referee.league.luck_baseline import replay_by_fallback
from referee.league.store import GameSummary
from referee.statistics.results import Measures, PlayedGame, place_points
from referee.umpire.faults import Fault
from referee.umpire.table import Table

_STEPS = 8
"""Buckets of decision times per factor of two: a quantile is right to within 4.5 %."""


def summarise(table: Table, entrants: Sequence[str], set_id: str) -> GameSummary:
    """The summary of a finished game; figures are by seat. ``times`` are the only ones that are measured."""
    result, sides = table.result, table.spec.rules.sides
    if result is None:
        raise ValueError("the game has no result")
    seats = range(table.spec.seats)
    made, set_back = _contracts(table)
    faults = [Counter(item.fault for item in table.irregularities if item.seat == seat) for seat in seats]
    summary: GameSummary = {
        "set": set_id,
        "entrants": list(entrants),
        "sides": sides,
        "winner": result.winner,
        "reason": str(result.reason),
        "deals": len(table.deals),
        "decisions": table.steps,
        "places": list(result.places),
        "stakes": list(result.stakes),
        "points": [result.scores[seat % sides if sides else seat] for seat in seats],
        "forfeits": list(result.forfeits),
        "bids_made": made,
        "bids_set_back": set_back,
        "illegal": [count[Fault.ILLEGAL_ACTION] + count[Fault.MALFORMED] for count in faults],
        "time_outs": [count[Fault.TIMEOUT_MOVE] + count[Fault.TIMEOUT_GAME] for count in faults],
        "lost": [sum(count[fault] for fault in _LOSSES) for count in faults],
        "times": [histogram(times) for times in table.charged],
    }
    if table.spec.rules.max_deals == 1:
        deal = table.deals[0]
        by_seat = replay_by_fallback(table.spec.rules, table.spec.seats, deal.dealer, deal.pack)
        summary["house"] = [list(seat) for seat in by_seat]
    return summary


_LOSSES = frozenset(Fault) - {Fault.ILLEGAL_ACTION, Fault.MALFORMED, Fault.TIMEOUT_MOVE, Fault.TIMEOUT_GAME}


def _contracts(table: Table) -> tuple[list[int], list[int]]:
    made, set_back = [0] * table.spec.seats, [0] * table.spec.seats
    for log in table.deals:
        outcome = log.outcome
        if outcome is not None and outcome.pitcher is not None and outcome.bid:
            (made if outcome.set_back is None else set_back)[outcome.pitcher] += 1
    return made, set_back


def histogram(times_us: Iterable[int]) -> dict[str, int]:
    """Times counted in buckets of an eighth of a factor of two, keyed by the bucket's number."""
    counts = Counter(math.floor(math.log2(time) * _STEPS) if time > 0 else 0 for time in times_us)
    return {str(bucket): counts[bucket] for bucket in sorted(counts)}


def quantile_ms(counts: Mapping[str, int], share: float) -> float | None:
    """The time below which that share of the counted times lies, in milliseconds; ``None`` if there are none."""
    total = sum(counts.values())
    below = 0
    for bucket in sorted(counts, key=int):
        below += counts[bucket]
        if below >= share * total and total:
            return round(2 ** ((int(bucket) + 0.5) / _STEPS) / 1000, 3)
    return None


def played_game(summary: GameSummary) -> PlayedGame:
    """A summary as the ratings take it."""
    places, sides = tuple(summary["places"]), summary["sides"]
    measures = Measures(
        place_points(places, sides), tuple(map(float, summary["stakes"])), tuple(map(float, summary["points"]))
    )
    controls = tuple(tuple(map(float, seat)) for seat in summary.get("house", ()))
    return PlayedGame(
        set_id=summary["set"],
        entrants=tuple(summary["entrants"]),
        places=places,
        sides=sides,
        measures=measures,
        controls=controls,
    )
