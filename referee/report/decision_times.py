"""Decision times: median, p99 and distribution, on one scale of powers of ten."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from referee.report.axis import Axis, Tick
from referee.report.number_format import milliseconds
from referee.report.report_data import ReportData

_BUCKETS_PER_DOUBLING: Final = 8  # as referee.league.standings counts them, in microseconds
_DRAWN_TOGETHER: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """One entrant: its figures, where they lie, and its distribution as an outline in a square of 100 by 100."""

    name: str
    median: str
    p99: str
    median_at: str
    p99_at: str
    outline: str


@dataclass(frozen=True, slots=True)
class Times:
    """All entrants that were timed, on one scale."""

    rows: Sequence[TimeRow]
    ticks: Sequence[Tick]


def times(facts: ReportData) -> Times | None:
    """The decision times of all entrants in the order of the standings; None where nothing was timed."""
    timed = [row for row in facts.table.rows if row.tally.decision_ms_median and row.tally.decision_ms_p99]
    buckets = [bucket for row in timed for bucket in facts.times.get(row.entrant, {})]
    if not buckets:
        return None
    axis = Axis(_log_ms(min(buckets)) - 0.1, _log_ms(max(buckets) + 1) + 0.1)
    rows = [
        TimeRow(
            name=facts.called(row.entrant),
            median=milliseconds(row.tally.decision_ms_median),
            p99=milliseconds(row.tally.decision_ms_p99),
            median_at=axis.at(math.log10(row.tally.decision_ms_median or 1.0)),
            p99_at=axis.at(math.log10(row.tally.decision_ms_p99 or 1.0)),
            outline=_outline(facts.times[row.entrant], axis),
        )
        for row in timed
    ]
    powers = range(math.ceil(axis.low), math.floor(axis.high) + 1)
    return Times(rows, [Tick(axis.at(power), _power(power)) for power in powers])


def _log_ms(bucket: float) -> float:
    return math.log10(2.0 ** (bucket / _BUCKETS_PER_DOUBLING) / 1000.0)


def _power(power: int) -> str:
    return f"{10 ** (power - 3)} s" if power >= 3 else f"{10**power} ms" if power >= 0 else f"{10.0**power:g} ms"


def _outline(counts: Mapping[int, int], axis: Axis) -> str:
    """Steps from left to right, the highest reaching the top."""
    heights: dict[int, int] = {}
    for bucket, number in counts.items():
        heights[bucket // _DRAWN_TOGETHER] = heights.get(bucket // _DRAWN_TOGETHER, 0) + number
    tallest = max(heights.values())
    points = [
        f"{axis.share(_log_ms(edge * _DRAWN_TOGETHER)):.1f},{100.0 - 100.0 * heights.get(group, 0) / tallest:.0f}"
        for group in range(min(heights), max(heights) + 1)
        for edge in (group, group + 1)
    ]
    first, last = points[0].split(",")[0], points[-1].split(",")[0]
    return " ".join([f"{first},100", *points, f"{last},100"])
