"""A small part of ``make error-rates``, the same every time: the stated error holds, and the simulation would notice if not."""

import random

import pytest

from benchmarks.error_rates import (
    DRAWS,
    LEAGUES,
    MOST_SETS,
    ever_apart,
    ever_misranked,
    ever_same,
    heavy,
    looks,
    mostly_nothing,
    sets_needed,
)
from referee.scheduling.schedule import Shape, plan
from referee.tournament.ending import look_places
from tests.tournament.inprocess import roster


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
    schedule = plan(Shape(2, sets=MOST_SETS), roster(["a", "b"]).entrants)
    assert looks(MOST_SETS) == list(look_places(schedule))
