"""Means over sets, paired differences, and how often their intervals hold the truth."""

from math import sqrt
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics.paired import Estimate, cross_table, estimate, paired_difference
from tests.league.leagues import league, played


def test_students_interval_by_hand() -> None:
    """Ten values: t with 9 degrees of freedom is 2.2622."""
    values = [0.1, 0.4, -0.2, 0.3, 0.5, 0.0, 0.2, 0.1, 0.6, -0.1]
    result = estimate(values)
    reach = 2.2621571628 * stdev(values) / sqrt(10)
    assert (result.mean, result.low, result.high) == pytest.approx((0.19, 0.19 - reach, 0.19 + reach))
    assert result.sets == 10


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], Estimate(None, None, None, 0)),
        ([0.5], Estimate(0.5, None, None, 1)),
        ([0.5] * 5, Estimate(0.5, None, None, 5)),
        ([0.5] * 6, Estimate(0.5, None, None, 6)),
        ([0.0] * 40, Estimate(0.0, None, None, 40)),
        ([0.1, 0.2, 0.3] * 3, Estimate(0.2, None, None, 9)),
    ],
)
def test_no_interval_where_nothing_is_known_of_the_spread(values: list[float], expected: Estimate) -> None:
    found = estimate(values)
    assert (found.mean, found.low, found.high, found.sets) == (
        expected.mean and pytest.approx(expected.mean), expected.low, expected.high, expected.sets
    )  # fmt: skip


def test_rounding_is_not_spread() -> None:
    assert estimate([0.1 + 0.2, 0.3, 0.3]).low is None


def test_the_difference_is_taken_inside_each_common_set() -> None:
    sets = [
        [played("1", "abc", (1, 2, 3), points=(9, 4, 0)), played("1", "bca", (1, 2, 3), points=(6, 1, 3))],
        [played("2", "bc", (1, 2), points=(100, 0))],
        [played("3", "ab", (1, 2), points=(5, 5))],
        [played("4", "ab", (2, 1), points=(1, 4))],
    ]
    # set 1: 6 - 5; set 2 has no a; set 3: 0; set 4: -3
    result = paired_difference(sets, "a", "b", "points")
    assert result.sets == 3
    assert result.mean == pytest.approx(-2 / 3)
    assert (result.low, result.high) == (None, None)
    other = paired_difference(sets, "b", "a", "points")
    assert other == Estimate(pytest.approx(2 / 3), None, None, 3)


def test_the_difference_turned_round_has_its_interval_turned_round() -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0}, ["abc"], 12, seed=3)
    one, other = paired_difference(sets, "a", "b"), paired_difference(sets, "b", "a")
    assert None not in (one.mean, one.low, one.high, other.mean, other.low, other.high)
    assert (one.mean, one.low, one.high) == (-(other.mean or 0), -(other.high or 0), -(other.low or 0))
    assert one.low is not None
    assert one.mean is not None
    assert one.low < one.mean


def test_entrants_that_never_met_have_no_difference() -> None:
    assert paired_difference([[played("1", "ab", (1, 2))]], "a", "z") == Estimate(None, None, None, 0)


def test_the_better_bot_is_shown_to_be_better() -> None:
    sets = league(
        {"careful": 0.0, "montecarlo": 0.7, "random": -2.0}, [("careful", "montecarlo", "random")], 80, seed=4
    )
    better = paired_difference(sets, "montecarlo", "careful")
    assert better.low is not None
    assert better.low > 0.0


def test_the_cross_table_holds_every_pair_that_met() -> None:
    sets = league(dict.fromkeys("abcde", 0.0), ["abc", "cde"], 12, seed=1)
    table = cross_table(sets)
    assert [(m.first, m.second) for m in table] == [
        ("a", "b"), ("a", "c"), ("b", "c"), ("c", "d"), ("c", "e"), ("d", "e")
    ]  # fmt: skip
    assert all(m.difference == paired_difference(sets, m.first, m.second) for m in table)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40))
def test_the_mean_lies_inside_its_interval(values: list[float]) -> None:
    result = estimate(values)
    assert result.mean == pytest.approx(fmean(values), abs=1e-12)
    if result.low is not None:
        assert result.high is not None
        assert result.mean is not None
        assert result.low <= result.mean <= result.high


def test_intervals_hold_the_truth_of_equal_bots_as_often_as_they_say() -> None:
    """600 leagues of 15 sets: 95% intervals must hold 0 in at least 93 % and, not being idle, in at most 98%."""
    held = 0
    for seed in range(600):
        result = paired_difference(league(dict.fromkeys("abc", 0.0), ["abc"], 15, seed), "a", "b")
        assert result.low is not None
        assert result.high is not None
        held += result.low <= 0.0 <= result.high
    assert 0.93 <= held / 600 <= 0.98
