import random
from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics.paired import estimate
from referee.statistics.sequential_tests import estimate_at_any_look, log_evidence, p_above, p_value, reach


@given(st.integers(13, 100_000), st.floats(0.001, 0.2))
def test_the_interval_ends_where_the_evidence_is_enough(sets: int, alpha: float) -> None:
    edge = reach(sets, alpha)
    if edge < inf:
        assert log_evidence(edge, sets) == pytest.approx(-log(alpha), rel=1e-6)
    else:
        assert log_evidence(inf, sets) <= -log(alpha)


@given(st.floats(-50, 50), st.floats(0, 5), st.integers(2, 1000))
def test_more_extreme_is_more_evidence(t: float, more: float, sets: int) -> None:
    assert log_evidence(abs(t) + more, sets) >= log_evidence(t, sets)
    assert log_evidence(-t, sets) == log_evidence(t, sets)
    assert p_above(abs(t) + more, sets) <= p_above(t, sets)


def test_evidence_is_a_fair_bet_among_equals() -> None:
    """Under "no difference" its mean is 1, whatever the variance of the sets."""
    rng = random.Random(5)  # noqa: S311
    total = 0.0
    for _ in range(6000):
        values = [rng.gauss(0.0, 7.0) for _ in range(12)]
        mean = sum(values) / 12
        error = (sum((value - mean) ** 2 for value in values) / 11 / 12) ** 0.5
        total += exp(log_evidence(mean / error, 12))
    assert total / 6000 == pytest.approx(1.0, abs=0.03)


def test_evidence_against_a_worked_example() -> None:
    """By hand for 20 sets, growth 2: (1 + t^2 / 19)^10 / (1 + t^2 / 38)^10 / sqrt(2), at t^2 = 38 (3 / 2)^10 / sqrt(2)."""
    assert exp(log_evidence(38**0.5, 20)) == pytest.approx(1.5**10 / 2**0.5)


def test_one_side_needs_half_the_evidence() -> None:
    assert p_above(3.5, 100) == pytest.approx(p_value(3.5, 100) / 2, rel=0.1)
    assert p_above(-3.5, 100) == 1.0
    assert p_above(0.0, 100) == 1.0


def test_few_sets_that_agree_prove_nothing() -> None:
    assert reach(12, 0.05) == inf
    assert estimate_at_any_look([1.0] * 12, 0.05).low is None
    assert estimate_at_any_look([1.0] * 13, 0.05).low == 1.0


def test_sets_that_are_all_zero_do_not_prove_that_all_sets_are() -> None:
    found = estimate_at_any_look([0.0] * 100, 0.05, scale=2.0)
    assert found.high == pytest.approx(4.4 * 2.0 / 100, rel=0.02)
    assert found.low == -found.high


def test_looking_at_will_costs_about_as_many_sets_again_as_half() -> None:
    values = [float(number % 7) for number in range(200)]
    fixed, free = estimate(values), estimate_at_any_look(values, 0.05)
    assert free.mean == fixed.mean
    assert None not in (fixed.low, fixed.high, free.low, free.high)
    assert 1.5 < (free.high - free.low) / (fixed.high - fixed.low) < 1.7  # type: ignore[operator]


def test_nothing_is_known_of_no_sets() -> None:
    assert estimate_at_any_look([], 0.05).mean is None
    assert log_evidence(5.0, 1) == 0.0
    assert reach(1, 0.05) == inf


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1])
def test_certainty_is_a_share(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        reach(20, alpha)
