"""Tests and intervals that hold at every look: stop when you like, look as often as you like.

A test of fixed length holds for a number of sets that was fixed beforehand. Whoever looks again and again and stops at
the first low p-value finds a difference between equals sooner or later. Here the *evidence* against a mean is the
likelihood ratio of the t statistic, averaged over effects that are normal with standard deviation 1 / sqrt(``PRIOR``)
(in standard deviations of a set): Lai (1976, "On confidence sequences"), and as a test that may be stopped at will
Perez-Ortiz, Lardy, de Heide and Gruenwald (2024, "E-statistics, group invariance and anytime-valid testing") and Wang and
Ramdas (2025, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance").

Under "there is no difference" the evidence is a martingale that starts at 1, so by Ville's inequality it *ever* reaches
1 / alpha with probability alpha at most. Exact for normal differences of any variance; for others as good as their mean
over sets is normal. Differences with heavy tails make it cautious. What it does not hold against is a gain in nearly
every set that is paid for by a rare, large loss; ``make error-rates`` measures how far it goes.
"""

from collections.abc import Sequence
from math import exp, fsum, inf, log, log1p, sqrt
from typing import Final

from referee.statistics.paired import Estimate, standard_deviation
from referee.statistics.results import Span

PRIOR: Final = 20.0
"""The evidence is sharpest for effects that take about this many sets and some ten times as many to find. It also means
that fewer than 13 sets that agree to the last digit prove nothing."""


def log_evidence(t: float, sets: int) -> float:
    """The natural logarithm of the evidence against a mean of 0, for Student's t statistic of that many sets.

    ``t`` may be infinite: all sets agree. 0.0 for fewer than two sets.

    >>> round(log_evidence(4.0, 100), 2)
    5.27
    """
    if sets < 2:
        return 0.0
    growth = 1.0 + sets / PRIOR
    return -0.5 * log(growth) + 0.5 * sets * _log_ratio(t, sets - 1, growth)


def _log_ratio(t: float, df: int, growth: float) -> float:
    square = t * t
    return log(growth) if square == inf else log1p(square / df) - log1p(square / (df * growth))


def p_value(t: float, sets: int) -> float:
    """The p-value against a mean of 0 that holds at every look, 0..1; two-sided."""
    return min(1.0, exp(-log_evidence(t, sets)))


def p_above(t: float, sets: int) -> float:
    """The p-value against a mean of 0 or less that holds at every look, 0..1; 1.0 unless t is above 0.

    The evidence for effects on one side only: twice that for both sides, less that for the other side, which is 1 at most.
    """
    if t <= 0.0:
        return 1.0
    evidence = exp(min(log_evidence(t, sets), 600.0))
    return 1.0 / max(2.0 * evidence - 1.0, 1.0)


def reach(sets: int, alpha: float) -> float:
    """How many standard errors the interval of certainty 1 - ``alpha`` reaches to each side; may be infinite.

    Solves ``log_evidence(t, sets) == -log(alpha)`` for t. Raises ValueError unless 0 < alpha < 1.

    >>> round(reach(100, 0.05), 2)
    3.13
    """
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha: {alpha} is not between 0 and 1")
    if sets < 2:
        return inf
    growth = 1.0 + sets / PRIOR
    ratio = exp((log(growth) - 2.0 * log(alpha)) / sets)
    if ratio >= growth:
        return inf
    return sqrt((sets - 1) * (ratio - 1.0) / (1.0 - ratio / growth))


def estimate_at_any_look(
    values: Sequence[float], alpha: float, scale: float = 0.0, span: Span | None = None
) -> Estimate:
    """The mean of one figure a set, with an interval that holds the truth at *all* looks with certainty 1 - ``alpha``.

    ``scale`` is a size that a figure may well have though none had it yet, such as the spread of a single game: the spread
    over sets is taken as if two more sets had shown it, one to each side. So sets that are all 0 do not prove that all sets
    are; like the rule of three, they prove it to about 4 * scale / sets. It only ever makes the interval wider.

    ``low`` and ``high`` are None while the sets leave it unbounded.
    """
    count = len(values)
    if not count:
        return Estimate(None, None, None, 0)
    mean = fsum(values) / count
    wide = reach(count, alpha)
    if wide == inf:
        return Estimate(mean, None, None, count)
    variance = standard_deviation(values, mean) ** 2 + 2.0 * scale * scale / (count - 1)
    half = wide * sqrt(variance / count)
    low, high = mean - half, mean + half
    if span is not None:
        low, high = min(max(low, span.low), mean), max(min(high, span.high), mean)
    return Estimate(mean, low, high, count)
