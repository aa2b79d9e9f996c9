"""Means over sets with their intervals, and the paired difference of two entrants.

The set is the unit: its games share their packs, so a mean over games would claim more evidence than there is. Two
entrants that sat at the same table saw the same packs, so the difference inside each set cancels the luck of the deal.

The level is fixed in advance: these intervals do not hold for a league that is stopped as soon as it looks decided.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, sqrt

from referee.statistics.intervals import FEWEST_SETS, ROUNDING, interval_of_mean, two_sided
from referee.statistics.results import GameSet, MeasureName, Span, set_means, span_of, trials_of


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``sets`` sets with its 95% interval.

    ``mean`` is None without any set. ``low`` and ``high`` are None where the sets say too little about how they differ: fewer
    than ten, or a figure that was the same in all games of a league.
    """

    mean: float | None
    low: float | None
    high: float | None
    sets: int


def estimate(values: Sequence[float], span: Span | None = None, trials: float = 1.0) -> Estimate:
    """The mean of one figure a set, and its interval.

    ``span``: between what the figure of a game lies; the interval then is right near these ends too, and where sets agree
    (:mod:`referee.statistics.intervals`). ``trials``: see :func:`referee.statistics.results.trials_of`. Without a span it is
    Student's t, and there is none where all sets agree.
    """
    count = len(values)
    if not count:
        return Estimate(None, None, None, 0)
    mean = fsum(values) / count
    if span is not None:
        low, high = interval_of_mean(values, span.low, span.high, trials) or (None, None)
        return Estimate(mean, low, high, count)
    spread = standard_deviation(values, mean)
    if count < FEWEST_SETS or spread == 0.0:
        return Estimate(mean, None, None, count)
    reach = two_sided(count - 1) * spread / sqrt(count)
    return Estimate(mean, mean - reach, mean + reach, count)


def standard_deviation(values: Sequence[float], mean: float) -> float:
    """The sample standard deviation about ``mean``; exactly 0.0 where values differ by rounding only."""
    largest = max(map(abs, values), default=0.0)
    if len(values) < 2 or max(values) - min(values) <= ROUNDING * largest:
        return 0.0
    return sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


@dataclass(frozen=True, slots=True)
class Meeting:
    """How two entrants did against each other: what ``first`` got per game more than ``second`` in their common sets."""

    first: str
    second: str
    difference: Estimate


def cross_table(sets: Iterable[GameSet], measure: MeasureName = "place") -> tuple[Meeting, ...]:
    """The paired difference of every two entrants that met, ``first`` before ``second`` by name, sorted."""
    known = list(sets)
    span = span_of(known, measure).of_differences
    differences: dict[tuple[str, str], list[float]] = {}
    trials: dict[tuple[str, str], list[float]] = {}
    for games in known:
        means = sorted(set_means(games, measure).items())
        own = trials_of(games)
        for (first, one), (second, other) in combinations(means, 2):
            differences.setdefault((first, second), []).append(one - other)
            trials.setdefault((first, second), []).append(own)
    return tuple(
        Meeting(*pair, estimate(values, span, fsum(trials[pair]) / len(values)))
        for pair, values in sorted(differences.items())
    )


def paired_difference(sets: Iterable[GameSet], a: str, b: str, measure: MeasureName = "place") -> Estimate:
    """How much more of the measure ``a`` gets per game than ``b``, over the sets that hold both.

    In each such set the mean of ``a`` less the mean of ``b``; then mean and interval over sets. ``a`` is shown to be better
    where ``low`` is above 0. Without a common set all fields but ``sets`` are None.
    """
    first, second = sorted((a, b))
    found = next((one for one in cross_table(sets, measure) if (one.first, one.second) == (first, second)), None)
    if found is None:
        return Estimate(None, None, None, 0)
    return found.difference if a == first else turned(found.difference)


def turned(value: Estimate) -> Estimate:
    """The same difference seen from the other side."""
    flipped = [None if end is None else 0.0 - end for end in (value.mean, value.high, value.low)]
    return Estimate(flipped[0], flipped[1], flipped[2], value.sets)
