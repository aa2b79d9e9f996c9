"""Intervals of the order-free rating: independent of order, honest about what is not known, right at the edges."""

from collections.abc import Sequence
from math import isfinite

import pytest
from hypothesis import given, settings

from referee.statistics.finishing_orders import gather
from referee.statistics.plackett_luce import fit_awards, fit_strengths
from referee.statistics.rating_intervals import RatingInterval, rating_intervals
from referee.statistics.results import GameSet
from tests.league.leagues import any_league, league, played


def intervals_of(sets: Sequence[GameSet]) -> dict[str, RatingInterval]:
    awards = gather(sets)
    return rating_intervals(sets, awards, fit_awards(awards))


def width(interval: RatingInterval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


@settings(max_examples=30)
@given(any_league())
def test_the_order_of_sets_changes_not_one_digit(sets: list[GameSet]) -> None:
    again = [[*games] for copy in range(10) for games in _renamed(sets, copy)]
    assert intervals_of(again[::-1]) == intervals_of(again)
    for interval in intervals_of(again).values():
        assert interval.value is not None
        assert isfinite(interval.value)
        if interval.low is not None and interval.high is not None:
            assert interval.low < interval.value < interval.high


def _renamed(sets: Sequence[GameSet], copy: int) -> list[GameSet]:
    return [
        [played(f"{game.set_id} {copy}", game.entrants, game.places, game.sides) for game in games] for games in sets
    ]


def test_an_interval_surrounds_the_fitted_rating() -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0, "d": 3.0}, ["abcd"], 30, seed=2)
    fitted = fit_strengths(sets).ratings()
    for key, interval in intervals_of(sets).items():
        assert interval.value == fitted[key]
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < fitted[key] < interval.high


def test_a_bot_that_always_wins_has_a_wide_interval_that_reaches_further_up_than_down() -> None:
    sets = [[played(f"{number}", "abc", (1, 2, 3) if number % 2 else (1, 3, 2))] for number in range(30)]
    intervals = intervals_of(sets)
    best = intervals["a"]
    assert width(best) > 1.5 * width(intervals["b"]) > 0.0
    assert best.value is not None
    assert best.low is not None
    assert best.high is not None
    assert best.high - best.value > best.value - best.low > 50.0


def test_sets_that_all_agree_leave_an_interval() -> None:
    """Twins that win each pack from the same seat: no spread is seen, and still something may be between them."""
    for count in (10, 40):
        sets = [[played(f"{n}", "ab", (1, 2)), played(f"{n}", "ba", (1, 2))] for n in range(count)]
        interval = intervals_of(sets)["a"]
        assert interval.value == pytest.approx(0.0, abs=1e-9)
        assert interval.low == pytest.approx(-(interval.high or 0.0))
        assert 30.0 < width(interval) * count / 10 < 200.0


def test_more_sets_narrow_the_interval() -> None:
    strengths = {"a": 0.0, "b": 0.5, "c": 1.0}
    few = intervals_of(league(strengths, ["abc"], 20, seed=3))["b"]
    many = intervals_of(league(strengths, ["abc"], 320, seed=3))["b"]
    assert width(many) == pytest.approx(width(few) / 4, rel=0.35)


def test_few_sets_give_no_interval() -> None:
    for count in (1, 2, 9):
        intervals = intervals_of([[played(f"{n}", "abc", (1, 2, 3))] for n in range(count)])
        assert all(x.value is not None and x.low is None and x.high is None for x in intervals.values())


@pytest.mark.parametrize("grain", [0.0, 1.5])
def test_intervals_hold_the_true_rating_as_often_as_they_say(grain: float) -> None:
    """300 leagues of 20 sets and four unequal bots: 95% intervals must hold the truth in 93 % at least, and not be idle.

    The truth is the fit to very many sets of the same league.
    """
    strengths = {"a": 0.0, "b": 0.3, "c": 0.6, "d": 2.0}
    truth = fit_strengths(league(strengths, ["abcd"], 8000, seed=-1, grain=grain)).ratings()
    held = 0
    for seed in range(300):
        for key, interval in intervals_of(league(strengths, ["abcd"], 20, seed, grain=grain)).items():
            assert interval.low is not None
            assert interval.high is not None
            held += interval.low <= truth[key] <= interval.high
    assert 0.93 <= held / 1200 <= 0.985
