"""Intervals of a mean over sets: against printed tables, at the edges, and never of no width."""

from math import ldexp, nextafter, sqrt
from statistics import NormalDist, fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics import beta
from referee.statistics.intervals import (
    FEWEST_SETS,
    agreement,
    interval_of_mean,
    interval_of_trials,
    two_sided,
)


@pytest.mark.parametrize(
    ("won", "of", "low", "high"),
    [  # Clopper and Pearson's 95% limits, as printed in tables of binomial confidence limits
        (0, 10, 0.0, 0.3085),
        (1, 10, 0.0025, 0.4450),
        (5, 10, 0.1871, 0.8129),
        (9, 10, 0.5550, 0.9975),
        (10, 20, 0.2720, 0.7280),
        (2, 30, 0.0082, 0.2207),
        (50, 100, 0.3983, 0.6017),
    ],
)
def test_beta_quantiles_are_those_of_printed_limits(won: int, of: int, low: float, high: float) -> None:
    assert (beta.quantile(0.025, won, of - won + 1) if won else 0.0) == pytest.approx(low, abs=6e-5)
    assert (beta.quantile(0.975, won + 1, of - won) if won < of else 1.0) == pytest.approx(high, abs=6e-5)


@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.01, 1e4), st.floats(0.01, 1e4))
def test_the_quantile_inverts_the_probability(p: float, a: float, b: float) -> None:
    x = beta.quantile(p, a, b)
    assert 0.0 <= x <= 1.0
    below, above = beta.probability_below(max(x - 1e-9, 0.0), a, b), beta.probability_below(min(x + 1e-9, 1.0), a, b)
    assert below - 1e-9 <= p <= above + 1e-9


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.975])
def test_closed_forms(p: float) -> None:
    assert beta.quantile(p, 1, 1) == pytest.approx(p)
    assert beta.quantile(p, 7, 1) == pytest.approx(p ** (1 / 7))
    assert beta.quantile(p, 1, 7) == pytest.approx(1 - (1 - p) ** (1 / 7))
    spread = sqrt(0.25 / 2e6)
    assert beta.quantile(p, 1e6, 1e6) == pytest.approx(0.5 + NormalDist().inv_cdf(p) * spread, abs=1e-7)


def test_nonsense_is_refused() -> None:
    for p, a, b in ((0.0, 1, 1), (1.0, 1, 1), (0.5, 0, 1), (0.5, 1, -1)):
        with pytest.raises(ValueError, match=r"between 0 and 1|above 0"):
            beta.quantile(p, a, b)
    assert beta.probability_below(-0.1, 2, 2) == 0.0
    assert beta.probability_below(1.0, 2, 2) == 1.0


def test_where_results_hardly_repeat_it_is_students_interval() -> None:
    """Figures far from the edges, all of them different."""
    values = [0.5 + 0.01 * ((37 * n) % 19 - 9) + 0.0001 * n for n in range(38)]
    found = interval_of_mean(values, 0.0, 1.0, 2.0)
    reach = two_sided(37) * stdev(values) / sqrt(38)
    assert found == pytest.approx((fmean(values) - reach, fmean(values) + reach), rel=0.02)


def test_sets_won_by_one_opponent_or_the_other_are_trials() -> None:
    """One game a set: nearly Clopper's and Pearson's limits, a little wider for the doubt about the spread."""
    low, high = interval_of_mean([1.0] * 13 + [0.0] * 7, 0.0, 1.0, 1.0) or (0.0, 0.0)
    assert 0.36 < low < 0.4079
    assert 0.8461 < high < 0.88


def test_a_bot_that_won_every_game_may_yet_lose_some() -> None:
    low, high = interval_of_mean([1.0] * 10, 0.0, 1.0, 2.0) or (0.0, 0.0)
    assert high == 1.0
    assert 0.7 < low < 0.83  # it would have won all 20 games one time in fourteen if it wins seven of eight
    plain, _ = interval_of_mean([1.0] * 10, 0.0, 1.0, 1.0) or (0.0, 0.0)
    assert 0.6 < plain < low


def test_sets_that_all_agree_in_the_middle_leave_room_to_both_sides() -> None:
    low, high = interval_of_mean([0.5] * 12, 0.0, 1.0, 2.0) or (0.0, 0.0)
    assert low + high == pytest.approx(1.0)
    assert 0.3 < low < 0.42


@pytest.mark.parametrize("count", [0, 1, 2, 5, 9])
def test_few_sets_give_none(count: int) -> None:
    assert interval_of_mean([0.0, 1.0, 0.5, 0.25, 0.0, 1.0, 0.0, 1.0, 1.0][:count], 0.0, 1.0, 2.0) is None
    assert FEWEST_SETS == 10


def test_a_figure_that_never_differs_gives_none() -> None:
    assert interval_of_mean([3.0] * 40, 3.0, 3.0, 2.0) is None


@given(
    st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]) | st.floats(0.0, 1.0), min_size=10, max_size=60),
    st.floats(0.5, 30.0),
    st.floats(-100.0, 100.0),
    st.floats(1e-3, 1e4),
)
def test_it_holds_the_mean_lies_in_the_span_and_has_a_width(
    shares: list[float], trials: float, low: float, span: float
) -> None:
    values = [low + span * share for share in shares]
    found = interval_of_mean(values, low, low + span, trials)
    assert found is not None
    mean, slack = fmean(values), 1e-9 * (abs(low) + span)
    assert low - slack <= found[0] <= mean + slack
    assert mean - slack <= found[1] <= low + span + slack
    assert found[1] - found[0] > 1e-4 * span


@given(st.lists(st.floats(0.0, 1.0), min_size=10, max_size=40), st.floats(1.0, 12.0))
def test_turned_round_it_is_turned_round(values: list[float], trials: float) -> None:
    one = interval_of_mean(values, 0.0, 1.0, trials)
    other = interval_of_mean([1.0 - value for value in values], 0.0, 1.0, trials)
    assert one is not None
    assert other is not None
    assert one[0] == pytest.approx(1.0 - other[1], abs=1e-6)
    assert one[1] == pytest.approx(1.0 - other[0], abs=1e-6)


def test_rounding_is_agreement() -> None:
    assert agreement([0.1 + 0.2, 0.3, nextafter(0.3, 1.0)]) == 1.0
    assert agreement([0.0, 0.0, 1.0, 1.0]) == 0.25
    assert agreement([]) == 1.0


def test_no_share_is_beyond_the_ends() -> None:
    for share in (0.0, ldexp(1.0, -60), 0.5, 1.0 - ldexp(1.0, -53), 1.0):
        low, high = interval_of_trials(share, 12.5, 10)
        assert 0.0 <= low <= share <= high <= 1.0
        assert low < high
