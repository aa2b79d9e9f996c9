"""Student's t against printed tables (NIST/SEMATECH e-Handbook, 1.3.6.7.2) and against closed forms."""

from math import atan, inf, pi, sqrt, tan
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics.student_t import quantile, upper_tail

TABLE = {
    # degrees of freedom: quantiles at 0.90, 0.95, 0.975, 0.99, 0.995, 0.999
    1: (3.078, 6.314, 12.706, 31.821, 63.657, 318.309),
    2: (1.886, 2.920, 4.303, 6.965, 9.925, 22.327),
    3: (1.638, 2.353, 3.182, 4.541, 5.841, 10.215),
    5: (1.476, 2.015, 2.571, 3.365, 4.032, 5.893),
    9: (1.383, 1.833, 2.262, 2.821, 3.250, 4.297),
    10: (1.372, 1.812, 2.228, 2.764, 3.169, 4.144),
    20: (1.325, 1.725, 2.086, 2.528, 2.845, 3.552),
    30: (1.310, 1.697, 2.042, 2.457, 2.750, 3.385),
    60: (1.296, 1.671, 2.000, 2.390, 2.660, 3.232),
    100: (1.290, 1.660, 1.984, 2.364, 2.626, 3.174),
    inf: (1.282, 1.645, 1.960, 2.326, 2.576, 3.090),
}


@pytest.mark.parametrize("df", TABLE)
def test_quantiles_of_the_table(df: float) -> None:
    levels = (0.90, 0.95, 0.975, 0.99, 0.995, 0.999)
    assert [quantile(p, df) for p in levels] == pytest.approx(TABLE[df], abs=0.00051)
    assert [quantile(1 - p, df) for p in levels] == pytest.approx([-t for t in TABLE[df]], abs=0.00051)


@pytest.mark.parametrize("p", [0.5, 0.6, 0.9, 0.975, 0.9999, 1 - 1e-9])
def test_closed_forms(p: float) -> None:
    assert quantile(p, 1) == pytest.approx(tan(pi * (p - 0.5)), rel=1e-7, abs=1e-12)
    assert quantile(p, 2) == pytest.approx((2 * p - 1) / sqrt(2 * p * (1 - p)), rel=1e-7, abs=1e-12)
    assert quantile(p, 1e7) == pytest.approx(NormalDist().inv_cdf(p), rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("t", [0.0, 1e-6, 0.3, 1.0, 4.0, 60.0, 1e5])
def test_tails_keep_their_digits(t: float) -> None:
    assert upper_tail(t, 1) == pytest.approx(atan(1 / t) / pi if t else 0.5, rel=1e-10)
    root = sqrt(2 + t * t)
    assert upper_tail(t, 2) == pytest.approx(1 / (root * (root + t)), rel=1e-10)
    assert upper_tail(-t, 2) == pytest.approx(1 - 1 / (root * (root + t)), rel=1e-10)


@given(st.floats(1e-12, 1 - 1e-12), st.one_of(st.integers(1, 2000), st.floats(0.5, 1e6)))
def test_the_quantile_inverts_the_tail(p: float, df: float) -> None:
    assert 1 - upper_tail(quantile(p, df), df) == pytest.approx(p, rel=1e-9, abs=1e-12)


def test_ends_and_nonsense() -> None:
    assert upper_tail(inf, 5) == 0.0
    assert upper_tail(-inf, 5) == 1.0
    assert upper_tail(1e200, 5) == 0.0
    assert upper_tail(1.0, inf) == pytest.approx(NormalDist().cdf(-1.0))
    for p in (0.0, 1.0, -0.1, 2.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            quantile(p, 5)
    with pytest.raises(ValueError, match="not above 0"):
        upper_tail(1.0, 0)
