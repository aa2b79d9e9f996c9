"""The beta distribution: its probability below a point, and its quantile (the stdlib has neither).

The probability is the regularised incomplete beta function (NIST Digital Library of Mathematical Functions, 8.17), by its
continued fraction 8.17.22 evaluated with Lentz's method; the quantile inverts it by Newton steps kept inside a bracket.
"""

from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Final

_EPSILON: Final = 1e-16
_TINY: Final = 1e-300


def probability_below(x: float, a: float, b: float, rest: float | None = None) -> float:
    """The probability, 0..1, that a beta variable with parameters ``a`` and ``b``, both above 0, is below ``x``.

    ``rest`` is 1 - x, given apart where its digits matter.
    """
    y = 1.0 - x if rest is None else rest
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * _log(x, y) + b * _log(y, x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, y) / b


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function; converges fast for x < (a + 1) / (a + b + 2)."""
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0))
    result = d
    for m in range(1, 100_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / ((1.0 + step * d) or _TINY)
            c = (1.0 + step / c) or _TINY
            result *= c * d
        if abs(c * d - 1.0) <= _EPSILON * 4:
            break
    return result


def _log(x: float, y: float) -> float:
    return log(x) if x < 0.5 else log1p(-y)


@lru_cache(maxsize=4096)
def quantile(p: float, a: float, b: float) -> float:
    """The x, 0..1, that a beta variable with parameters ``a`` and ``b`` stays below with probability ``p``.

    Absolute error below 1e-10. Raises ValueError unless 0 < p < 1 and both parameters are above 0.

    >>> round(quantile(0.025, 9.0, 2.0), 4)  # nine of ten won: Clopper and Pearson's lower end
    0.555
    """
    if not 0.0 < p < 1.0:
        raise ValueError(f"probability: {p} is not between 0 and 1")
    if not (a > 0.0 and b > 0.0):
        raise ValueError(f"parameters: {a} and {b} are not both above 0")
    low, high = 0.0, 1.0
    mean = a / (a + b)
    spread = sqrt(mean * (1.0 - mean) / (a + b + 1.0))
    x = min(max(mean + NormalDist().inv_cdf(p) * spread, mean / 50.0), 1.0 - (1.0 - mean) / 50.0)
    constant = lgamma(a + b) - lgamma(a) - lgamma(b)
    for _ in range(200):
        excess = probability_below(x, a, b) - p
        if excess > 0.0:
            high = x
        else:
            low = x
        logarithm = constant + (a - 1.0) * log(x) + (b - 1.0) * log1p(-x)
        following = x - excess / exp(logarithm) if -600.0 < logarithm < 600.0 else low
        if not low < following < high:
            following = (low + high) / 2.0
        if abs(following - x) <= 1e-12 or not 0.0 < following < 1.0:
            return following
        x = following
    return x
