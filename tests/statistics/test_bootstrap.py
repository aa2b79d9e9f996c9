"""The bootstrap: repeatable, independent of order, honest about what it does not know."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from referee.statistics.bootstrap import Resampled, resample
from referee.statistics.comparison import compare
from referee.statistics.results import GameSet
from tests.league.leagues import any_league, league, played


def resampled(sets: Sequence[GameSet], seed: str = "kitchen", resamples: int = 200) -> Resampled:
    return resample(compare(sets), seed=seed, resamples=resamples)


@settings(max_examples=30)
@given(any_league())
def test_the_order_of_sets_changes_not_one_digit(sets: list[GameSet]) -> None:
    assert resampled(sets[::-1], resamples=20) == resampled(sets, resamples=20)


def test_the_seed_decides() -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0}, ["abc"], 20, seed=1)
    assert resampled(sets, "kitchen") == resampled(sets, "kitchen")
    assert resampled(sets, "kitchen") != resampled(sets, "cellar")


def test_blocks_stand_for_sets_when_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = league({"a": 0.0, "b": 0.1}, ["ab"], 900, seed=4)
    single = resampled(sets, resamples=400).stability(["b", "a"])[0]
    monkeypatch.setattr("referee.statistics.bootstrap.MOST_UNITS", 150)
    assert resampled(sets, resamples=400).stability(["b", "a"])[0] == pytest.approx(single, abs=0.1)


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
