"""Means over sets with Student's t intervals, and the paired difference of two entrants.

The set is the unit: its games share their packs, so a mean over games would claim more evidence than there is. Two
entrants that sat at the same table saw the same packs, so the difference inside each set cancels the luck of the deal.

The level is fixed in advance: these intervals do not hold for a league that is stopped as soon as it looks decided.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, sqrt
from typing import Final

from referee.statistics.results import GameSet, MeasureName, set_means
from referee.statistics.student import quantile

CONFIDENCE: Final = 0.95
"""Level of every interval in this package."""

ROUNDING: Final = 1e-9
"""Differences below this share of the largest figure are rounding, not play."""

FEWEST_AGREEING: Final = 6
"""Sets that must agree exactly before agreement is evidence: the sign test gives five of a kind 2 / 2^5 > 0.05."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``sets`` sets with its 95 % interval.

    ``mean`` is None without any set. ``low`` and ``high`` are None where the sets say nothing about the spread: fewer
    than two, or fewer than six that agree exactly.
    """

    mean: float | None
    low: float | None
    high: float | None
    sets: int


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and Student's t interval of one figure a set."""
    count = len(values)
    if not count:
        return Estimate(None, None, None, 0)
    mean = fsum(values) / count
    spread = standard_deviation(values, mean)
    if count < 2 or (spread == 0.0 and count < FEWEST_AGREEING):
        return Estimate(mean, None, None, count)
    reach = two_sided(count - 1) * spread / sqrt(count)
    return Estimate(mean, mean - reach, mean + reach, count)


def standard_deviation(values: Sequence[float], mean: float) -> float:
    """The sample standard deviation about ``mean``; exactly 0.0 where values differ by rounding only."""
    largest = max(map(abs, values), default=0.0)
    if len(values) < 2 or max(values) - min(values) <= ROUNDING * largest:
        return 0.0
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def two_sided(df: float) -> float:
    """How many standard errors a 95 % interval reaches to each side."""
    return quantile(0.5 + CONFIDENCE / 2.0, df)


@dataclass(frozen=True, slots=True)
class Meeting:
    """How two entrants did against each other: what ``first`` got per game more than ``second`` in their common sets."""

    first: str
    second: str
    difference: Estimate


def cross_table(sets: Iterable[GameSet], measure: MeasureName = "place") -> tuple[Meeting, ...]:
    """The paired difference of every two entrants that met, ``first`` before ``second`` by name, sorted."""
    differences: dict[tuple[str, str], list[float]] = {}
    for games in sets:
        means = sorted(set_means(games, measure).items())
        for (first, one), (second, other) in combinations(means, 2):
            differences.setdefault((first, second), []).append(one - other)
    return tuple(Meeting(*pair, estimate(values)) for pair, values in sorted(differences.items()))


def paired_difference(sets: Iterable[GameSet], a: str, b: str, measure: MeasureName = "place") -> Estimate:
    """How much more of the measure ``a`` gets per game than ``b``, over the sets that hold both.

    In each such set the mean of ``a`` less the mean of ``b``; then mean and Student's t interval over sets. ``a`` is
    shown to be better where ``low`` is above 0. Without a common set all fields but ``sets`` are None.
    """
    differences = []
    for games in sets:
        means = set_means(games, measure)
        if a in means and b in means:
            differences.append(means[a] - means[b])
    return estimate(differences)
