"""Intervals that are right near the edges of a figure's range, and where few sets have shown how they may differ.

Student's t interval fails where most sets end alike. A bot that won all games of 10 sets has a spread of 0, hence an
interval of width 0, though it may well lose every tenth game: that happened to one league in three. So a mean over sets is
read as a share of *effective trials*, as surveys read their shares (Korn and Graubard 1998, "Confidence intervals for
proportions with small expected number of positive counts estimated from survey data"):

* A figure that lies between two ends (place points: 0 and 1) has the mean m and, over sets, the variance s^2. So many
  independent trials that give nothing or all, ``m (1 - m) / s^2`` a set, would have the same mean and be as sure of it.
* The interval is that of Clopper and Pearson (1934) for these trials. Far from the edges it is Student's; near them it is
  bent, and reaches no further than they do. The trials are cut by the square of Student's t over the normal quantile, for
  s^2 is an estimate too.
* Sets that agree to the last digit tell little of how others may differ. As far as they do (the square of the share of the
  most frequent result), the variance is taken to be greater: by that of independent games, which have the information of
  :data:`AS_IF` for a weight, times the square root of the trials of a set, for games of a set may go together. Where results
  of sets hardly repeat, that adds nothing.

Under :data:`FEWEST_SETS` sets there is no interval. ``make error-rates`` measures how often these miss the truth.
"""

from collections import Counter
from collections.abc import Sequence
from math import fsum, inf, sqrt
from typing import Final

from referee.statistics import beta
from referee.statistics.student_t import quantile

CONFIDENCE: Final = 0.95
"""Level of every interval in this package."""

FEWEST_SETS: Final = 10
"""Sets without which there is neither an interval nor a rank: fewer do not show how far sets differ."""

ROUNDING: Final = 1e-9
"""Differences below this share of the scale are rounding, not play."""

AS_IF: Final = 1.0
"""The information that sets which all agree are worth; a trial whose ends are equally likely has 1/4."""

_MANY: Final = 1000


def two_sided(df: float) -> float:
    """How many standard errors a 95% interval reaches to each side."""
    return quantile(0.5 + CONFIDENCE / 2.0, df)


def agreement(values: Sequence[float], scale: float = 0.0) -> float:
    """How far sets agree to the last digit: the square of the share, 0..1, of the most frequent value.

    ``scale`` is what figures of this kind may differ by, for rounding; without it the largest of the values.
    """
    grain = ROUNDING * (scale or max(map(abs, values), default=0.0)) or 1.0
    most = max(Counter(round(value / grain) for value in values).values(), default=0)
    return (most / len(values)) ** 2 if values else 1.0


def doubt(agreed: float, trials: float, information: float) -> float:
    """What is added to the variance over sets, as a share of that of independent trials.

    ``agreed``: see :func:`agreement`. ``trials``: of a set. ``information``: of all trials of all sets.
    """
    return agreed * sqrt(trials) * AS_IF / (AS_IF + information)


def interval_of_trials(share: float, trials: float, sets: int) -> tuple[float, float]:
    """Clopper's and Pearson's interval for a share, 0..1, of so many effective trials, as that many sets have shown them.

    Needs two sets or more, and trials above 0, neither of which need be a whole number.
    """
    known = max(int(trials) - 1, 1)
    trials *= (two_sided(known if known < _MANY else inf) / two_sided(sets - 1)) ** 2
    won, lost = share * trials, (1.0 - share) * trials
    tail = (1.0 - CONFIDENCE) / 2.0
    low = beta.quantile(tail, won, lost + 1.0) if won > ROUNDING else 0.0
    high = 1.0 - beta.quantile(tail, lost, won + 1.0) if lost > ROUNDING else 1.0
    return min(low, share), max(high, share)


def interval_of_mean(values: Sequence[float], low: float, high: float, trials: float) -> tuple[float, float] | None:
    """The 95% interval of the mean of one figure a set; None under ``FEWEST_SETS`` sets, or where low is high.

    ``low``, ``high``: the ends of what the figure of a single game may be. ``trials``: independent trials that the games
    of a set would be, were each for nothing or all: a game against one opponent is one.
    """
    sets, span = len(values), high - low
    if sets < FEWEST_SETS or not span > 0.0:
        return None
    shares = [min(max((value - low) / span, 0.0), 1.0) for value in values]
    share = fsum(shares) / sets
    even = share * (1.0 - share)
    variance = fsum((one - share) ** 2 for one in shares) / (sets - 1)
    spread = trials * variance / even if even > ROUNDING else 0.0
    effective = sets * trials / (spread + doubt(agreement(shares, 1.0), trials, sets * trials * even))
    ends = interval_of_trials(share, effective, sets)
    return low + span * ends[0], low + span * ends[1]
