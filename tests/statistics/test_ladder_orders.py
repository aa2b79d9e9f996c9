"""The order of bots on a ladder: what a set speaks of, how the error is spent, and that the whole seldom errs at any look."""

import random
from collections.abc import Callable
from math import fsum

import pytest

from benchmarks import ladders
from referee.statistics.ladder_orders import ALPHA, LadderOrders, error_of_pair
from referee.statistics.paired import standard_deviation
from referee.statistics.sequential_tests import p_value


def with_bots(*keys: str, owners: dict[str, str] | None = None) -> LadderOrders:
    orders = LadderOrders()
    for key in keys:
        orders.enter(key, (owners or {}).get(key, ""))
    return orders


def test_the_errors_of_all_pairs_add_up_to_no_more_than_what_is_stated() -> None:
    spent = fsum((entered - 1) * error_of_pair(entered) for entered in range(2, 5000))
    assert 0.3 * ALPHA < spent < ALPHA
    assert error_of_pair(7) == pytest.approx(5 * error_of_pair(7, 0.01))
    with pytest.raises(ValueError, match="1 has nobody before it"):
        error_of_pair(1)


def test_the_p_value_is_that_of_the_differences_of_sets_in_which_both_sat() -> None:
    rng, orders, differences = random.Random(3), with_bots("a", "b", "c"), []  # noqa: S311
    for number in range(50):
        figures = {key: rng.random() + (key == "b") * 0.2 for key in ("ab" if number % 3 else "abc")}
        orders.add(figures)
        differences.append(figures["a"] - figures["b"])
    mean = fsum(differences) / 50
    t = mean / (standard_deviation(differences, mean) / 50**0.5)
    found = orders.finding("b", "a")
    assert (found.first, found.second, found.sets) == ("a", "b", 50)
    assert found.mean == pytest.approx(mean)
    assert found.p == pytest.approx(p_value(t, 50))
    assert found.error == error_of_pair(2)
    assert orders.finding("a", "c").sets == 17
    assert orders.finding("c", "a").error == error_of_pair(3)


def test_a_set_speaks_only_of_those_at_whom_its_table_was_aimed() -> None:
    def counts(*aimed: str) -> dict[str, int]:
        orders = with_bots(*"abcd")
        orders.add(dict.fromkeys("abcd", 0.5), aimed)
        return {one.first + one.second: one.sets for one in orders.findings("abcd")}

    assert set(counts().values()) == {1}
    assert counts("b") == {"ab": 1, "ac": 0, "ad": 0, "bc": 1, "bd": 1, "cd": 0}
    assert counts("b", "d") == {"ab": 0, "ac": 0, "ad": 0, "bc": 0, "bd": 1, "cd": 0}


def test_no_order_is_claimed_of_two_of_one_owner() -> None:
    orders = with_bots("a", "b", "c", owners={"a": "x", "b": "x"})
    for number in range(300):
        orders.add({"a": 1.0, "b": 0.0, "c": 0.0 + number % 2})
    assert orders.finding("a", "b").error == 0.0
    assert orders.orders("abc") == [("a", "c"), ("c", "b")]
    assert orders.sets("a") == 300


def test_sets_that_all_agree_show_an_order_and_sets_without_a_difference_none() -> None:
    orders = with_bots("a", "b")
    for number in range(1, 40):
        orders.add({"a": 0.1 + 0.2, "b": 0.3})
        assert not orders.orders("ab"), number
    orders = with_bots("a", "b")
    needed = next(number for number in range(1, 100) if orders.add({"a": 0.25, "b": 0.75}) or orders.orders("ab"))
    assert 13 <= needed <= 20
    assert orders.orders("ab") == [("b", "a")]
    assert orders.strength("b") == 0.75


def test_who_enters_twice_or_plays_without_having_entered_is_refused() -> None:
    orders = with_bots("a")
    with pytest.raises(ValueError, match="'a' has entered already"):
        orders.enter("a")
    with pytest.raises(KeyError):
        orders.add({"a": 1.0, "b": 0.0})


def wrong(is_wrong: Callable[[random.Random], bool], ladders_: int) -> int:
    return sum(is_wrong(random.Random(f"ladder {number}")) for number in range(ladders_))  # noqa: S311


CASES = {label: (is_wrong, promised) for label, is_wrong, promised in ladders.cases()}


@pytest.mark.parametrize("label", [label for label, (_, promised) in CASES.items() if promised])
def test_a_ladder_that_chases_its_leaders_seldom_shows_a_false_order(label: str) -> None:
    assert wrong(CASES[label][0], 20) <= 0.05 * 20


@pytest.mark.parametrize("label", [label for label, (_, promised) in CASES.items() if not promised])
def test_the_simulation_would_notice(label: str) -> None:
    """Without the aim of tables, or with a test that does not hold at every look, most ladders go wrong."""
    assert wrong(CASES[label][0], 10) >= 5


def test_the_best_is_found() -> None:
    found = [ladders.sets_until_shown(1.0, random.Random(number)) for number in range(5)]  # noqa: S311
    assert all(0 < sets < 400 for sets in found)
