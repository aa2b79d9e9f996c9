"""Rank ranges: what they must show, and that equal bots are not set apart more often than one league in twenty."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics.comparison import compare
from referee.statistics.ranks import p_better, rank_ranges, sign_flip_tail
from referee.statistics.results import GameSet
from tests.league.leagues import any_league, league, played


def contradicted(strengths: Mapping[str, float], sets: Sequence[GameSet]) -> bool:
    """Whether some entrant's range leaves out a rank that is truly its own."""
    ranges = rank_ranges(compare(sets), strengths)
    for key, strength in strengths.items():
        best = 1 + sum(other > strength for other in strengths.values())
        worst = sum(other >= strength for other in strengths.values())
        low, high = ranges[key]
        if low > best or high < worst:
            return True
    return False


def test_clear_differences_give_single_ranks() -> None:
    sets = league({"a": 0.0, "b": 2.0, "c": 4.0, "d": 6.0}, ["abcd"], 40, seed=1)
    assert rank_ranges(compare(sets), "abcd") == {"a": (4, 4), "b": (3, 3), "c": (2, 2), "d": (1, 1)}


def test_equals_share_a_range_between_the_others() -> None:
    sets = league({"a": -4.0, "b": 0.0, "c": 0.0, "d": 4.0}, ["abcd"], 40, seed=1)
    assert rank_ranges(compare(sets), "abcd") == {"a": (4, 4), "b": (2, 3), "c": (2, 3), "d": (1, 1)}


def test_only_those_asked_for_take_part() -> None:
    sets = league({"a": 0.0, "b": 2.0, "c": 4.0, "d": 6.0}, ["abcd"], 40, seed=1)
    assert rank_ranges(compare(sets), "bd") == {"b": (2, 2), "d": (1, 1)}
    assert rank_ranges(compare(sets), ["b", "d", "unseen"]) == {"b": (2, 3), "d": (1, 2), "unseen": (1, 3)}
    assert rank_ranges(compare([]), "ab") == {"a": (1, 2), "b": (1, 2)}
    assert rank_ranges(compare(sets), "a") == {"a": (1, 1)}


def test_groups_that_never_met_are_not_ranked_against_each_other() -> None:
    sets = league({"a": 0.0, "b": 5.0, "c": 0.0, "d": 5.0}, ["ab", "cd"], 80, seed=1)
    assert rank_ranges(compare(sets), "abcd") == {"a": (2, 4), "b": (1, 3), "c": (2, 4), "d": (1, 3)}


def test_a_few_sets_that_agree_prove_little() -> None:
    """Four sets won without exception: the sign test says 1 in 16 however small the spread."""
    sets = [[played(f"{number}", "ab", (1, 2))] for number in range(4)]
    assert p_better(compare(sets), 0, 1) == 1 / 16
    assert p_better(compare(sets), 1, 0) == 1.0
    assert rank_ranges(compare(sets), "ab") == {"a": (1, 2), "b": (1, 2)}
    six = [[played(f"{number}", "ab", (1, 2))] for number in range(6)]
    assert rank_ranges(compare(six), "ab") == {"a": (1, 1), "b": (2, 2)}


def test_bots_that_always_tie_are_not_told_apart_by_rounding() -> None:
    sets = [[played(f"{number}", "abc", (1, 1, 3)), played(f"{number}", "cab", (3, 1, 1))] for number in range(50)]
    assert p_better(compare(sets), 0, 1) == 0.5
    assert rank_ranges(compare(sets), "abc") == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_the_sign_flip_tail_counts_all_patterns(differences: list[int]) -> None:
    patterns = [
        fsum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    expected = sum(total >= sum(differences) for total in patterns) / len(patterns)
    assert sign_flip_tail([d / 3 for d in differences]) == expected


@given(any_league())
def test_ranges_are_ranges_and_agree_with_one_another(sets: list[GameSet]) -> None:
    comparison = compare(sets, "points")
    ranges = rank_ranges(comparison, comparison.entrants)
    entrants = len(comparison.entrants)
    assert all(1 <= low <= high <= entrants for low, high in ranges.values())
    assert rank_ranges(compare(sets[::-1], "points"), comparison.entrants) == ranges
    for rank in range(1, entrants + 1):
        assert any(low <= rank <= high for low, high in ranges.values()), "no rank is without a candidate"


@pytest.mark.parametrize(
    ("tables", "sets", "grain", "leagues"),
    [
        pytest.param(["abcd"], 10, 0.0, 500, id="one-table-few-sets"),
        pytest.param(["abcd"], 30, 2.0, 400, id="one-table-many-ties"),
        pytest.param(["".join(some) for some in combinations("abcdef", 4)], 45, 0.0, 250, id="all-tables"),
        pytest.param(["abd", "bce", "cdf", "deg", "efa", "fgb", "gac"], 35, 0.0, 250, id="cyclic-tables"),
    ],
)
def test_equal_bots_are_seldom_set_apart(tables: list[str], sets: int, grain: float, leagues: int) -> None:
    """At most 5 % of leagues may set any two equals apart; 8 % leaves room for chance in so few leagues (3 sigma)."""
    strengths = dict.fromkeys(sorted({key for table in tables for key in table}), 0.0)
    wrong = sum(contradicted(strengths, league(strengths, tables, sets, seed, grain=grain)) for seed in range(leagues))
    assert wrong / leagues <= 0.08


def test_equals_among_unequal_bots_are_seldom_set_apart() -> None:
    strengths = {"a": 0.0, "b": 0.0, "c": 1.0, "d": 1.0, "e": 3.0}
    tables = ["abcd", "abce", "abde", "acde", "bcde"]
    wrong = sum(contradicted(strengths, league(strengths, tables, 30, seed)) for seed in range(250))
    assert wrong / 250 <= 0.08
