"""Ratings over time: the order-free rating after so many sets, ending at that of the standings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from referee.report.axis import Axis, Tick
from referee.report.report_data import ReportData
from referee.statistics.finishing_orders import AwardCounter
from referee.statistics.plackett_luce import fit_awards
from referee.statistics.rating_intervals import RatingInterval

_POINTS: Final = 40
_FEWEST_SETS: Final = 4
_LABELS: Final = 12
_LABEL_ROOM: Final = 7.5


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingCurve:
    """One entrant: its path in a square of 100 by 100, and its interval at the end.

    ``label_at`` is where its name stands, in percent from the top; None where there is no room for it.
    """

    name: str
    points: str
    end: str
    low: str | None
    high: str | None
    label_at: str | None
    best: bool
    style: int


@dataclass(frozen=True, slots=True)
class History:
    """The chart; ``lines`` in the order of the standings, ``left_out`` of them without a name."""

    lines: Sequence[RatingCurve]
    across: Sequence[Tick]
    up: Sequence[Tick]
    left_out: int


def history(facts: ReportData, winner: str | None) -> History | None:
    """The ratings after up to forty numbers of sets; None with fewer than eight sets."""
    sets = facts.closed
    if len(sets) < 2 * _FEWEST_SETS:
        return None
    counts = _counts(len(sets))
    ends = {row.entrant: row.rating for row in facts.table.rows if row.rating.value is not None}
    paths: dict[str, list[tuple[int, float]]] = {key: [] for key in ends}
    counter = AwardCounter()
    for before, count in pairwise((0, *counts[:-1])):
        counter.add_sets(sets[before:count])
        for key, rating in fit_awards(counter.awards()).ratings().items():
            paths[key].append((count, rating))
    for key, interval in ends.items():
        paths[key].append((counts[-1], interval.value or 0.0))
    up = Axis.over([rating for path in paths.values() for _, rating in path] + _ends(ends.values()))
    across = Axis(counts[0], counts[-1])
    labels = _labels([(key, 100 - up.share(ends[key].value or 0.0)) for key in list(ends)[:_LABELS]])
    lines = [
        RatingCurve(
            name=facts.called(key),
            points=" ".join(f"{across.share(count):.1f},{100 - up.share(rating):.1f}" for count, rating in path),
            end=f"{100 - up.share(path[-1][1]):.2f}%",
            low=_height(up, ends[key].low),
            high=_height(up, ends[key].high),
            label_at=f"{labels[key]:.2f}%" if key in labels else None,
            best=winner is not None and winner in (key, facts.copies.get(key)),
            style=number % 4,
        )
        for number, (key, path) in enumerate(paths.items())
    ]
    ups = [Tick(f"{100 - float(tick.at.rstrip('%')):.2f}%", tick.text) for tick in up.ticks(4)]
    return History(lines, across.ticks(4), ups, max(0, len(lines) - _LABELS))


def _counts(sets: int) -> list[int]:
    """The numbers of sets at which ratings are shown, the last being all of them."""
    step = max(1, -(-(sets - _FEWEST_SETS) // _POINTS))
    return [*range(_FEWEST_SETS, sets, step), sets]


def _ends(intervals: Iterable[RatingInterval]) -> list[float]:
    return [end for interval in intervals for end in (interval.low, interval.high) if end is not None]


def _height(up: Axis, figure: float | None) -> str | None:
    return None if figure is None else f"{100 - up.share(figure):.2f}%"


def _labels(wanted: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Where names stand: as near their line's end as they can without lying on one another."""
    places: dict[str, float] = {}
    ordered = sorted(wanted, key=lambda pair: pair[1])
    floor = 0.0
    for key, at in ordered:
        places[key] = floor = max(at, floor)
        floor += _LABEL_ROOM
    ceiling = 100.0
    for key, _ in reversed(ordered):
        places[key] = ceiling = min(places[key], ceiling)
        ceiling -= _LABEL_ROOM
    return places
