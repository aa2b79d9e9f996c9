"""Student's t distribution: tail probability and quantile (the stdlib has only the normal distribution).

The tail is the regularised incomplete beta function (NIST Digital Library of Mathematical Functions, 8.17), by its
continued fraction 8.17.22 evaluated with Lentz's method; the quantile inverts the tail by Newton steps kept inside a
bracket. Relative error below 1e-10 for 1 to 1e6 degrees of freedom.
"""

from functools import lru_cache
from math import exp, inf, isinf, lgamma, log, log1p, pi, sqrt
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
_EPSILON: Final = 1e-16
_TINY: Final = 1e-300


def _beta_fraction(a: float, b: float, x: float) -> float:
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


def _beta_share(a: float, b: float, x: float, y: float) -> float:
    """The regularised incomplete beta function I_x(a, b), with y = 1 - x given apart to keep its digits."""
    if x <= 0.0:
        return 0.0
    if y <= 0.0:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * _log(x, y) + b * _log(y, x))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, y) / b


def _log(x: float, y: float) -> float:
    return log(x) if x < 0.5 else log1p(-y)


def upper_tail(t: float, df: float) -> float:
    """The probability that Student's t with ``df`` degrees of freedom exceeds ``t``; ``df`` may be infinite.

    Raises ValueError unless df > 0.
    """
    if not df > 0:
        raise ValueError(f"degrees of freedom: {df} is not above 0")
    if isinf(t):
        return 0.0 if t > 0 else 1.0
    if isinf(df):
        return _NORMAL.cdf(-t)
    square = t * t
    half = 0.5 * _beta_share(df / 2.0, 0.5, df / (df + square), square / (df + square))
    return half if t >= 0 else 1.0 - half


def _density(t: float, df: float) -> float:
    return exp(lgamma((df + 1) / 2) - lgamma(df / 2) - (df + 1) / 2 * log1p(t * t / df)) / sqrt(df * pi)


@lru_cache(maxsize=4096)
def quantile(p: float, df: float) -> float:
    """The t that Student's t with ``df`` degrees of freedom stays below with probability ``p``.

    Raises ValueError unless 0 < p < 1 and df > 0.

    >>> round(quantile(0.975, 9), 4)
    2.2622
    """
    if not 0.0 < p < 1.0:
        raise ValueError(f"probability: {p} is not between 0 and 1")
    if isinf(df):
        return _NORMAL.inv_cdf(p)
    if p < 0.5:
        return -_upper_quantile(p, df)
    return _upper_quantile(1.0 - p, df)


def _upper_quantile(tail: float, df: float) -> float:
    """The t >= 0 that is exceeded with probability ``tail`` <= 0.5."""
    low, high = 0.0, inf
    t = max(0.0, -_NORMAL.inv_cdf(tail))
    for _ in range(200):
        excess = upper_tail(t, df) - tail
        if excess > 0:
            low = t
        else:
            high = t
        density = _density(t, df)
        following = t + excess / density if density > 0.0 else inf
        if not low <= following <= high:
            following = 2.0 * t + 1.0 if isinf(high) else (low + high) / 2.0
        if abs(following - t) <= 1e-14 * max(1.0, t):
            return following
        t = following
    return t
