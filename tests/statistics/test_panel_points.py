"""Points against a panel: each of its bots has the same weight, and what is not met by lot does not count."""

import random

import pytest

from referee.statistics.panel_points import panel_points
from referee.statistics.results import GameSet, Measures, PlayedGame, place_points


def games_of(name: str, *places: dict[str, int]) -> GameSet:
    return [
        PlayedGame(
            set_id=name,
            entrants=tuple(one),
            places=tuple(one.values()),
            sides=0,
            measures=Measures(place_points(tuple(one.values())), (0.0,) * len(one), (0.0,) * len(one)),
        )
        for one in places
    ]


def test_the_bots_of_the_panel_weigh_the_same_however_often_they_were_met() -> None:
    sets = [(games_of(f"{n}", {"a": 1, "p": 2}, {"a": 2, "p": 1}), ()) for n in range(9)]
    sets += [(games_of("q", {"q": 2, "a": 1}), ()), (games_of("t", {"p": 1, "q": 1}), ())]
    found = panel_points(sets, ("p", "q"), "apq")
    assert found["a"].mean == pytest.approx((0.5 + 1.0) / 2)
    assert found["a"].sets == 10
    assert found["p"].mean == 0.5  # by the other of the panel alone
    assert found["p"].sets == 1


def test_who_has_not_met_all_of_the_panel_has_no_points() -> None:
    sets = [(games_of("1", {"a": 1, "p": 2, "b": 3}), ()), (games_of("2", {"a": 1, "q": 2}), ())]
    assert set(panel_points(sets, ("p", "q"), "ab")) == {"a"}
    assert panel_points(sets, (), "ab") == {}


def test_of_an_aimed_table_only_its_pair_counts() -> None:
    def sets_of(*aimed: str) -> int:
        found = panel_points([(games_of("1", {"a": 1, "p": 2, "b": 3}), aimed)], ("p",), "a")
        return found["a"].sets if "a" in found else 0

    assert sets_of() == sets_of("a") == sets_of("p") == sets_of("p", "a") == 1
    assert sets_of("b") == sets_of("a", "b") == 0


def test_the_interval_holds_the_truth_and_lies_between_0_and_1() -> None:
    missed = 0
    for seed in range(60):
        rng = random.Random(seed)  # noqa: S311
        sets = []
        for number in range(60):
            other = "pq"[rng.random() < 0.3]
            won = rng.random() < (0.9 if other == "p" else 0.5)
            sets.append((games_of(f"{number}", {"a": 2 - won, other: 1 + won}), ()))
        found = panel_points(sets, ("p", "q"), "a")["a"]
        assert found.low is not None
        assert found.high is not None
        assert 0.0 <= found.low <= (found.mean or 0.0) <= found.high <= 1.0
        missed += not found.low <= 0.7 <= found.high
    assert missed <= 3
