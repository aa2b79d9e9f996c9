"""The cross-table as a heat map: what each entrant got more than each other, in the sets that both played."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.report.number_format import between, figure
from referee.report.report_data import ReportData
from referee.statistics.paired import Estimate, turned

MOST: Final = 40
"""Entrants in the heat map: the first of the standings. The CSV has all."""

_SHADES: Final = 4
_WRITTEN: Final = 14


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One field. ``shade``: -4 .. 4, the colour; ``sure``: whether the interval leaves out zero; ``spoken``: in words."""

    text: str
    shade: int
    sure: bool
    spoken: str


@dataclass(frozen=True, slots=True)
class HeatMap:
    """``rows``: a name and its fields, None where the two never met. ``written``: whether there is room for figures."""

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatCell | None]]]
    written: bool
    left_out: int


def heat_map(facts: ReportData) -> HeatMap:
    """The cross-table of the league's measure, rows and columns in the order of the standings."""
    keys = [row.entrant for row in facts.table.rows][:MOST]
    found = {(meeting.first, meeting.second): meeting.difference for meeting in facts.meetings}
    found |= {(second, first): turned(difference) for (first, second), difference in found.items()}
    largest = max((abs(one.mean) for one in found.values() if one.mean is not None), default=0.0) or 1.0
    rows = [
        (
            facts.called(key),
            [_cell(facts, key, other, found.get((key, other)), largest) for other in keys],
        )
        for key in keys
    ]
    left_out = len(facts.table.rows) - len(keys)
    return HeatMap([facts.called(key) for key in keys], rows, len(keys) <= _WRITTEN, left_out)


def _cell(facts: ReportData, key: str, other: str, value: Estimate | None, largest: float) -> HeatCell | None:
    if value is None or value.mean is None:
        return None
    sure = value.low is not None and value.high is not None and (value.low > 0 or value.high < 0)
    interval = between(value)
    spoken = f"{facts.called(key)} less {facts.called(other)}: {figure(value.mean, sign=True)}"
    spoken += f" ({interval})" if interval else ""
    return HeatCell(figure(value.mean, 2, sign=True), shade(value.mean, largest), sure, f"{spoken}, {value.sets} sets")


def shade(value: float, largest: float) -> int:
    """The colour of a figure, -4 .. 4, when ``largest`` is the largest there is; 0 for less than an eighth of it."""
    return max(-_SHADES, min(_SHADES, round(_SHADES * value / largest))) if largest else 0
