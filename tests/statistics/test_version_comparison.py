import random

import pytest

from referee.statistics.results import GameSet
from referee.statistics.version_comparison import judge_versions
from tests.league.leagues import played


def swapped(difference: float, sets: int, seed: int, *, unlike: float = 1.0) -> list[GameSet]:
    """Sets of two games: in the second, ``new`` sits where ``old`` sat, with the same luck but for a part of it."""
    rng = random.Random(seed)  # noqa: S311
    made: list[GameSet] = []
    for number in range(sets):
        luck = rng.gauss(0.0, 2.0)
        games = []
        for key, gain in (("old", 0.0), ("new", difference)):
            own = luck + gain + rng.gauss(0.0, unlike)
            games.append(played(f"{number:04}", (key, "c"), (1, 1), points=(own, -own)))
        made.append(games)
    return made


@pytest.mark.parametrize(("difference", "answer"), [(1.0, "better"), (-1.0, "worse"), (0.0, "same")])
def test_answers(difference: float, answer: str) -> None:
    found = judge_versions(swapped(difference, 150, 1), "old", "new", measure="points", margin=0.5)
    assert found.answer == answer
    assert found.difference.mean == pytest.approx(difference, abs=0.3)
    assert found.games == 300


def test_few_sets_leave_it_open() -> None:
    found = judge_versions(swapped(5.0, 10, 2), "old", "new", measure="points", margin=0.5)
    assert found.answer == "open"
    assert found.bound is None
    assert found.plain_games is None


def test_the_bound_is_the_far_end_of_the_interval() -> None:
    found = judge_versions(swapped(0.1, 60, 3), "old", "new", measure="points", margin=0.01)
    assert found.answer == "open"
    assert found.difference.low is not None
    assert found.difference.high is not None
    assert found.bound == max(-found.difference.low, found.difference.high)


def test_a_plain_test_pays_for_the_luck_of_the_deal() -> None:
    """Luck of variance 4 and 1 beyond: a difference of games has variance 10, one of pairs 2; looks at will cost (3.1 / 1.96)^2."""
    found = judge_versions(swapped(0.0, 400, 4), "old", "new", measure="points", margin=0.5)
    assert found.plain_games is not None
    assert found.plain_games / found.games == pytest.approx(5 / (3.11 / 1.96) ** 2, rel=0.15)


def test_versions_that_always_do_the_same_are_not_soon_called_equal() -> None:
    sets = swapped(0.0, 40, 5, unlike=0.0)
    assert judge_versions(sets, "old", "new", measure="points", margin=0.1).answer == "open"
    assert judge_versions(sets, "old", "new", measure="points", margin=0.5).answer == "same"


def test_sets_without_one_of_the_two_are_left_out() -> None:
    sets = swapped(1.0, 30, 6)
    found = judge_versions([*sets, [played("x", ("old", "c"), (1, 1))]], "old", "new", measure="points", margin=0.1)
    assert found.sets == 30
    assert found.games == 60


def test_distinct_deals_are_counted_once_for_both_games() -> None:
    sets = swapped(0.0, 40, 7)
    lengths = {games[0].set_id: (9, 11) for games in sets}
    found = judge_versions(sets, "old", "new", measure="points", margin=0.1, deals=lengths)
    assert found.deals == 40 * 11
    assert found.plain_games is not None
    assert found.plain_deals == found.plain_games * 10
