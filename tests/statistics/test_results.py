"""Results: what a game may look like, finishing orders, place points."""

from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics.results import (
    Measures,
    PlayedGame,
    ResultError,
    check_sets,
    place_points,
    ranked_sides,
    set_means,
)
from tests.league.leagues import played

FLAT = Measures((0.0,) * 4, (0.0,) * 4, (0.0,) * 4)


@pytest.mark.parametrize(
    ("entrants", "places", "sides", "field"),
    [
        (("a",), (1,), 0, "entrants"),
        (tuple("abcdefghijklm"), tuple(range(1, 14)), 0, "entrants"),
        (tuple("abcd"), (1, 2, 3), 0, "places"),
        (tuple("abcd"), (2, 2, 3, 4), 0, "places"),
        (tuple("abcd"), (1, 2, 3, 5), 0, "places"),
        (tuple("abcd"), (1, 2, 3, 4), 3, "sides"),
        (tuple("abcd"), (1, 1, 1, 1), 1, "sides"),
        (tuple("abcd"), (1, 3, 3, 1), 2, "partners"),
        (tuple("aabb"), (1, 3, 1, 3), 2, "'a' plays against itself"),
        (tuple("abca"), (1, 2, 3, 4), 0, "'a' plays against itself"),
    ],
)
def test_a_game_that_contradicts_itself_is_refused(
    entrants: tuple[str, ...], places: tuple[int, ...], sides: int, field: str
) -> None:
    with pytest.raises(ResultError, match=rf"set s9: .*{field}"):
        PlayedGame(set_id="s9", entrants=entrants, places=places, sides=sides, measures=FLAT)


@pytest.mark.parametrize("stakes", [(0.0,) * 3, (0.0, 0.0, nan, 0.0)])
def test_measures_need_a_number_for_each_seat(stakes: tuple[float, ...]) -> None:
    with pytest.raises(ResultError, match=r"measures\.stakes"):
        PlayedGame(
            set_id="s",
            entrants=tuple("abcd"),
            places=(1, 2, 3, 4),
            sides=0,
            measures=Measures((0.0,) * 4, stakes, (0.0,) * 4),
        )


def test_an_unknown_measure_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'luck' is none of place, stakes, points"):
        FLAT.of("luck")  # type: ignore[arg-type]


def test_finishing_order_groups_ties_and_sides() -> None:
    assert ranked_sides(("d", "b", "a", "c"), (4, 2, 1, 2), 0) == ((("a",),), (("b",), ("c",)), (("d",),))
    assert ranked_sides(("b", "d", "a", "c"), (3, 1, 3, 1), 2) == ((("c", "d"),), (("a", "b"),))
    assert ranked_sides(("a", "b", "a", "c"), (1, 3, 1, 3), 2) == ((("a",),), (("b", "c"),)), "one bot on both seats"
    assert ranked_sides(("a", "b", "a", "c", "a", "c"), (1, 4) * 3, 2) == ((("a",),), (("b", "c", "c"),))


def test_place_points() -> None:
    assert place_points((1, 2, 3, 4)) == pytest.approx((1.0, 2 / 3, 1 / 3, 0.0))
    assert place_points((1, 1, 3)) == (0.75, 0.75, 0.0)
    assert place_points((1, 3, 1, 3), sides=2) == (1.0, 0.0, 1.0, 0.0)
    assert place_points((1, 1, 1, 1), sides=2) == (0.5,) * 4


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7))
def test_place_points_share_out_half_the_table(results: list[int]) -> None:
    places = [1 + sum(other > result for other in results) for result in results]
    assert sum(place_points(places)) == pytest.approx(len(results) / 2)


def test_set_means_average_over_games_and_seats() -> None:
    games = [
        played("s", "abac", (1, 3, 1, 3), 2, points=(5, 1, 7, 0)),
        played("s", "caba", (1, 1, 1, 1), 2, points=(2, 3, 2, 9)),
    ]
    assert set_means(games, "points") == {"a": 6.0, "b": 1.5, "c": 1.0}
    assert set_means(games, "place") == {"a": 0.75, "b": 0.25, "c": 0.25}


def test_sets_are_checked() -> None:
    one, two = [played("one", "ab", (1, 2))], [played("two", "ab", (2, 1))]
    assert check_sets(iter([one, two])) == [one, two]
    with pytest.raises(ResultError, match="set number 1: no games"):
        check_sets([one, []])
    with pytest.raises(ResultError, match="games of two sets, one and two"):
        check_sets([one + two])
    with pytest.raises(ResultError, match="set one: given twice"):
        check_sets([one, two, one])
