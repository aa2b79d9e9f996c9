"""Entrants compared through sets: least squares against definitions, and against the plain paired difference."""

from math import sqrt

import pytest
from hypothesis import given

from referee.statistics.comparison import compare
from referee.statistics.intervals import two_sided
from referee.statistics.paired import estimate
from referee.statistics.results import GameSet, set_means
from tests.league.leagues import any_league, league, played


def test_one_table_gives_the_paired_differences() -> None:
    sets = league({"a": 0.0, "b": 0.3, "c": 0.6, "d": 1.0}, ["abcd"], 25, seed=8, grain=0.5)
    comparison = compare(sets)
    covariance = comparison.covariance
    for i, first in enumerate("abcd"):
        for j, second in enumerate("abcd"):
            if i == j:
                continue
            means = [set_means(games, "place") for games in sets]
            plain = estimate([one[first] - one[second] for one in means])
            variance = covariance[i][i] + covariance[j][j] - 2 * covariance[i][j]
            assert plain.mean is not None
            assert plain.high is not None
            assert comparison.advantages[i] - comparison.advantages[j] == pytest.approx(plain.mean, abs=1e-12)
            assert two_sided(24) * sqrt(variance * 25 / 24) == pytest.approx(plain.high - plain.mean, rel=1e-9)
    assert comparison.sets == (25,) * 4


def residual(sets: list[GameSet], advantages: dict[str, float]) -> float:
    """The sum of squares that least squares makes least: inside each set, about the set's own mean."""
    total = 0.0
    for games in sets:
        rest = [figure - advantages[key] for key, figure in set_means(games, "points").items()]
        mean = sum(rest) / len(rest)
        total += sum((value - mean) ** 2 for value in rest)
    return total


@given(any_league())
def test_advantages_are_the_least_squares(sets: list[GameSet]) -> None:
    comparison = compare(sets, "points")
    fitted = dict(zip(comparison.entrants, comparison.advantages, strict=True))
    least = residual(sets, fitted)
    for key, advantage in fitted.items():
        for change in (-0.01, 0.01):
            assert residual(sets, fitted | {key: advantage + change}) >= least - 1e-9


@given(any_league())
def test_advantages_of_a_group_have_mean_zero_and_scores_add_up_to_nothing(sets: list[GameSet]) -> None:
    comparison = compare(sets, "points")
    for group in set(comparison.groups):
        members = [a for a, g in zip(comparison.advantages, comparison.groups, strict=True) if g == group]
        assert sum(members) == pytest.approx(0.0, abs=1e-9)
    for number in range(len(comparison.entrants)):
        assert sum(score.get(number, 0.0) for score in comparison.scores) == pytest.approx(0.0, abs=1e-9)


@given(any_league())
def test_the_order_of_sets_changes_not_one_digit(sets: list[GameSet]) -> None:
    assert compare(sets[::-1]) == compare(sets)


def test_who_met_strong_opponents_is_not_worse_for_it() -> None:
    """b and c are alike; b sits with the strong a, c with the weak d; b meets c now and then."""
    strengths = {"a": 3.0, "b": 0.0, "c": 0.0, "d": -3.0}
    comparison = compare(league(strengths, ["ab", "cd", "bc"], 600, seed=6, luck=0.0))
    advantage = dict(zip(comparison.entrants, comparison.advantages, strict=True))
    assert advantage["b"] == pytest.approx(advantage["c"], abs=0.1)
    assert advantage["a"] > advantage["b"] + 0.5
    assert advantage["d"] < advantage["c"] - 0.5


def test_entrants_that_never_met_form_groups() -> None:
    sets = [[played("1", "ab", (1, 2))], [played("2", "cd", (1, 2))], [played("3", "de", (1, 2))]]
    comparison = compare(sets)
    assert comparison.groups == (0, 0, 2, 2, 2)
    assert compare([*sets, [played("4", "be", (1, 2))]]).groups == (0,) * 5


def test_nobody_is_compared_with_nobody() -> None:
    assert compare([]).entrants == ()
