"""The bootstrap: repeatable, independent of order, honest about what it does not know."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from referee.statistics.awards import gather
from referee.statistics.comparison import compare
from referee.statistics.plackett_luce import fit_awards, fit_strengths
from referee.statistics.resample import Resampled, resample
from referee.statistics.results import GameSet
from tests.tournament.leagues import any_league, league, played


def resampled(sets: Sequence[GameSet], seed: str = "kitchen", resamples: int = 200) -> Resampled:
    awards = gather(sets)
    return resample(sets, awards, fit_awards(awards), compare(sets), seed=seed, resamples=resamples)


@settings(max_examples=30)
@given(any_league())
def test_the_order_of_sets_changes_not_one_digit(sets: list[GameSet]) -> None:
    assert resampled(sets[::-1], resamples=20) == resampled(sets, resamples=20)


def test_the_seed_decides() -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0}, ["abc"], 20, seed=1)
    assert resampled(sets, "kitchen") == resampled(sets, "kitchen")
    assert resampled(sets, "kitchen") != resampled(sets, "cellar")


def test_an_interval_surrounds_the_fitted_rating() -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0, "d": 3.0}, ["abcd"], 30, seed=2)
    fitted = fit_strengths(sets).ratings()
    for key, interval in resampled(sets).ratings.items():
        assert interval.value == fitted[key]
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < fitted[key] < interval.high


def test_a_bot_that_always_wins_has_a_wide_interval_not_an_empty_one() -> None:
    sets = [[played(f"{number}", "abc", (1, 2, 3) if number % 2 else (1, 3, 2))] for number in range(30)]
    intervals = resampled(sets).ratings
    widths = {key: (x.high or 0.0) - (x.low or 0.0) for key, x in intervals.items()}
    assert widths["a"] > 100.0
    assert widths["a"] > 1.5 * widths["b"]


def test_more_sets_narrow_the_interval() -> None:
    strengths = {"a": 0.0, "b": 0.5, "c": 1.0}
    few = resampled(league(strengths, ["abc"], 20, seed=3)).ratings["b"]
    many = resampled(league(strengths, ["abc"], 320, seed=3)).ratings["b"]
    assert few.low is not None
    assert few.high is not None
    assert many.low is not None
    assert many.high is not None
    assert many.high - many.low == pytest.approx((few.high - few.low) / 4, rel=0.35)


def test_blocks_stand_for_sets_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0}, ["abc"], 900, seed=4)
    single = resampled(sets).ratings["b"]
    monkeypatch.setattr("referee.statistics.resample.MOST_UNITS", 150)
    blocks = resampled(sets).ratings["b"]
    assert single.low is not None
    assert single.high is not None
    assert blocks.low is not None
    assert blocks.high is not None
    assert blocks.high - blocks.low == pytest.approx(single.high - single.low, rel=0.3)


def test_one_set_gives_no_interval() -> None:
    intervals = resampled([[played("1", "abc", (1, 2, 3))]]).ratings
    assert all(x.value is not None and x.low is None and x.high is None for x in intervals.values())


def test_stability_tells_clear_neighbours_from_close_ones() -> None:
    sets = league({"a": 6.0, "b": 2.0, "c": 2.0}, ["abc"], 40, seed=5)
    result = resampled(sets)
    first, second = result.stability(["a", "b", "c"])
    assert first == 1.0
    assert 0.02 < second < 0.98
    assert result.stability(["c", "b"]) == [pytest.approx(1.0 - second)]
    assert result.stability(["a"]) == []


def test_bots_that_always_tie_are_half_ahead() -> None:
    sets = [[played(f"{number}", "abc", (1, 1, 3) if number % 3 else (2, 2, 1))] for number in range(20)]
    assert resampled(sets).stability(["a", "b"]) == [0.5]


def test_nothing_to_resample_is_refused() -> None:
    with pytest.raises(ValueError, match="a set and two resamples"):
        resampled([])
    with pytest.raises(ValueError, match="not 1 and 1"):
        resampled([[played("1", "ab", (1, 2))]], resamples=1)


@pytest.mark.parametrize("grain", [0.0, 1.5])
def test_intervals_hold_the_true_rating_as_often_as_they_say(grain: float) -> None:
    """300 leagues of 20 sets and four unequal bots: 95 % intervals must hold the truth in at least 93 %.

    The truth is the fit to very many sets of the same league.
    """
    strengths = {"a": 0.0, "b": 0.3, "c": 0.6, "d": 2.0}
    truth = fit_strengths(league(strengths, ["abcd"], 8000, seed=-1, grain=grain)).ratings()
    held = 0
    for seed in range(300):
        intervals = resampled(league(strengths, ["abcd"], 20, seed, grain=grain), str(seed), resamples=100).ratings
        for key, interval in intervals.items():
            assert interval.low is not None
            assert interval.high is not None
            held += interval.low <= truth[key] <= interval.high
    assert 0.93 <= held / 1200 <= 0.98
