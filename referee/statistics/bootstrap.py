"""Bootstrap over sets: how often the order of neighbours in the table would be another had other packs been dealt.

Sets, not games, are drawn with replacement, because games of one set share their packs. Each replicate is one step from the
fit, which for least squares is nearly a refit (the score bootstrap; Moulton and Zeger 1991, Kline and Santos 2012).

Beyond ``MOST_UNITS`` sets, sets are dealt into that many blocks and blocks are drawn: as good for sums of independent
sets, and the cost stays bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import mul
from random import Random
from typing import Final, TypeAlias

from referee.statistics.comparison import Comparison
from referee.statistics.intervals import ROUNDING

RESAMPLES: Final = 200
MOST_UNITS: Final = 1000

Columns: TypeAlias = list[list[float]]
"""One list an entrant: what each unit of resampling (a set, or a block of sets) adds to the entrant's score."""


@dataclass(frozen=True, slots=True)
class Resampled:
    """What resampling says.

    ``advantages``: for each entrant that played, its advantage (see :class:`referee.statistics.comparison.Comparison`) in
    each replicate. ``resamples``: number of replicates.
    """

    advantages: Mapping[str, tuple[float, ...]]
    resamples: int

    def stability(self, order: Sequence[str]) -> list[float]:
        """For each neighbours of a ranking the share of replicates, 0..1, in which the first stays ahead of the second.

        An exact tie counts half. The result is one shorter than the order.
        """
        return [self._stays_ahead(first, second) for first, second in pairwise(order)]

    def _stays_ahead(self, first: str, second: str) -> float:
        ones, others = self.advantages[first], self.advantages[second]
        rounding = ROUNDING * max(map(abs, ones + others))
        halves = 0
        for one, other in zip(ones, others, strict=True):
            halves += 1 if abs(one - other) <= rounding else 2 * (one > other)
        return halves / (2 * self.resamples)


def resample(comparison: Comparison, *, seed: str, resamples: int = RESAMPLES) -> Resampled:
    """Resample the sets of a comparison.

    ``seed``: any text; equal sets and seed give equal results, in whatever order the sets come. Raises ValueError
    unless there is a set and at least two resamples.
    """
    count = len(comparison.scores)
    if not count or resamples < 2:
        raise ValueError(f"resampling needs a set and two resamples, not {count} and {resamples}")
    units = min(count, MOST_UNITS)
    pulls = _columns(comparison.scores, len(comparison.entrants), units)
    advantages = [
        _replicate(comparison.advantages, comparison.bread, pulls, weights)
        for weights in _draws(units, resamples, seed)
    ]
    return Resampled(
        advantages=dict(zip(comparison.entrants, zip(*advantages, strict=True), strict=True)), resamples=resamples
    )


def _columns(scores: Sequence[Mapping[int, float]], entrants: int, units: int) -> Columns:
    columns = [[0.0] * units for _ in range(entrants)]
    for number, score in enumerate(scores):
        for entrant, value in score.items():
            columns[entrant][number % units] += value
    return columns


def _draws(units: int, resamples: int, seed: str) -> Iterator[list[float]]:
    """For each replicate the change of weight of each unit: times drawn, less one."""
    random = Random(f"bootstrap over sets: {seed}").random  # noqa: S311 - repeatable on purpose, guards nothing
    for _ in range(resamples):
        weights = [-1.0] * units
        for _ in range(units):
            weights[int(random() * units)] += 1.0
        yield weights


def _replicate(
    point: Sequence[float], bread: Sequence[Sequence[float]], columns: Columns, weights: Sequence[float]
) -> list[float]:
    """One step from the point, for sets weighed anew."""
    pulls = [sum(map(mul, column, weights)) for column in columns]
    return [value + sum(map(mul, row, pulls)) for value, row in zip(point, bread, strict=True)]
