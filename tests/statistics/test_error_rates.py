"""A small part of ``make error-rates``, the same every time: the stated error holds, and the simulation would notice if not."""

import random

import pytest

from benchmarks.error_rates import (
    CELLS,
    DRAWS,
    LEAGUES,
    MISSES,
    MOST_SETS,
    SETS,
    Cell,
    coverage_of,
    duplicate_set,
    ever_apart,
    ever_misranked,
    ever_same,
    heavy,
    looks,
    mostly_nothing,
    sets_needed,
    truth_of,
)
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import plan
from referee.league.sets_to_play import look_places
from referee.statistics.paired import estimate
from referee.statistics.results import set_means
from tests.league.inprocess import roster


def rngs(count: int) -> list[random.Random]:
    return [random.Random(f"league {number}") for number in range(count)]  # noqa: S311


@pytest.mark.parametrize("label", sorted(DRAWS))
def test_equal_versions_are_seldom_told_apart_at_any_look(label: str) -> None:
    wrong = sum(ever_apart(DRAWS[label], rng, looks(MOST_SETS)) for rng in rngs(120))
    assert wrong <= 0.05 * 120


def test_few_sets_with_heavy_tails() -> None:
    assert sum(ever_apart(heavy, rng, looks(20)) for rng in rngs(200)) <= 0.05 * 200


def test_versions_that_differ_are_seldom_called_equal() -> None:
    assert sum(ever_same(mostly_nothing, 0.25, 0.2, rng, looks(MOST_SETS)) for rng in rngs(100)) <= 0.05 * 100


@pytest.mark.parametrize("label", sorted(LEAGUES))
def test_equals_are_seldom_ranked_at_any_look(label: str) -> None:
    assert sum(ever_misranked(LEAGUES[label], rng) for rng in rngs(40)) <= 0.05 * 40


def test_a_test_of_fixed_length_would_not_hold() -> None:
    normal = DRAWS["normal differences"]
    assert sum(ever_apart(normal, rng, looks(MOST_SETS), naive=True) for rng in rngs(100)) > 0.2 * 100


def test_a_real_difference_is_found_about_as_soon_as_by_a_test_of_the_right_length() -> None:
    found = sorted(sets_needed(0.5, rng, 300) for rng in rngs(60))
    assert found[0] > 0
    assert found[30] <= 60  # a fixed test with a power of 90 % takes 42


def test_the_simulation_looks_where_leagues_look() -> None:
    schedule = plan(Shape(seats=2, sets=MOST_SETS), roster(["a", "b"]).entrants)
    assert looks(MOST_SETS) == list(look_places(schedule))


def test_every_kind_of_league_has_a_cell() -> None:
    assert {(cell.bots, cell.apart) for cell in CELLS} == {
        (bots, apart) for bots in (2, 3, 6) for apart in ("equal", "close", "lopsided")
    }
    assert SETS == (3, 5, 6, 10, 20, 40)


@pytest.mark.parametrize("cell", [Cell(2, "lopsided", packs=False), Cell(3, "lopsided", packs=True)], ids=str)
def test_intervals_seldom_miss_the_truth_and_are_not_idle(cell: Cell) -> None:
    """Near the edges, and where games tie; a few leagues only, so what chance does to a share of 150 is allowed for."""
    for found in coverage_of(cell, 150):
        if found.sets < 10:
            assert found.printed == 0
            continue
        assert found.printed == 150 * cell.bots
        assert max(found.missed) <= (MISSES + 0.03) * found.printed
        if found.sets >= 20:
            assert max(found.wide) <= 1.5


def test_students_interval_would_miss_the_truth_of_a_lopsided_league() -> None:
    cell = Cell(2, "lopsided", packs=False)
    (truth, _), _ = truth_of(cell)
    missed = 0
    for rng in rngs(150):
        means = [set_means(duplicate_set(cell, f"{n}", rng), "place")["0"] for n in range(10)]
        found = estimate(means)
        low, high = (found.mean, found.mean) if found.low is None else (found.low, found.high)
        missed += not (low or 0.0) <= truth <= (high or 0.0)
    assert missed > 0.1 * 150
