"""The forest plot: one line an entrant, its figure and its 95% interval on a scale that all share."""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.report.axis import Axis, Tick
from referee.report.number_format import MEANINGS, UNITS, between, figure, interval, ranks
from referee.report.report_data import ReportData
from referee.statistics.standings import StandingsRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestRow:
    """One line. Positions are percent of the drawing's width; ``low`` and ``wide`` are None without an interval.

    ``tied``: the entrants before and after it from which it is not told apart, as a sentence, or empty.
    """

    key: str
    name: str
    ranks: str
    tied: str
    at: str
    low: str | None
    wide: str | None
    mean: str
    interval: str
    spoken: str
    best: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """The plot: its rows, its ticks, where the average lies, and what is measured."""

    rows: Sequence[ForestRow]
    ticks: Sequence[Tick]
    average: str | None
    unit: str
    meaning: str


def forest(facts: ReportData, winner: str | None) -> Forest:
    """The forest plot of the league's measure. ``winner``: the bot to stress, with its copies."""
    table = facts.table
    played = [row for row in table.rows if row.measure.mean is not None]
    ends = [end for row in played for end in (row.measure.low, row.measure.mean, row.measure.high) if end is not None]
    axis = Axis.over(ends)
    average = {"place": 0.5, "stakes": 0.0, "points": None}[table.measure]
    return Forest(
        [_row(facts, axis, row, winner) for row in table.rows],
        axis.ticks(),
        axis.at(average) if average is not None and axis.low < average < axis.high else None,
        UNITS[table.measure],
        MEANINGS[table.measure],
    )


def _row(facts: ReportData, axis: Axis, row: StandingsRow, winner: str | None) -> ForestRow:
    measure = row.measure
    return ForestRow(
        key=row.entrant,
        name=facts.called(row.entrant),
        ranks=ranks(row),
        tied=_tied(row),
        at=axis.at(measure.mean) if measure.mean is not None else "",
        low=axis.at(measure.low) if measure.low is not None else None,
        wide=axis.width(measure.low, measure.high) if measure.low is not None and measure.high is not None else None,
        mean=figure(measure.mean),
        interval=interval(measure),
        spoken=f"{figure(measure.mean)}, 95% interval {between(measure)}" if between(measure) else figure(measure.mean),
        best=winner is not None and winner in (row.entrant, facts.copies.get(row.entrant)),
    )


def _tied(row: StandingsRow) -> str:
    if row.status == "yardstick":
        return "met by all, not ranked"
    if row.rank_low is None or row.rank_high is None:
        return f"too few sets ({row.sets})"
    return "" if row.rank_low == row.rank_high else "order open"
