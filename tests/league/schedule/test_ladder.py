"""The drawing of a round: everybody plays, everybody meets everybody, owners are kept apart, and only pairs follow from results."""

import random
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.league.schedule.format import ScheduleError, Shape
from referee.league.schedule.ladder import (
    PLACEMENT,
    AimedTable,
    LadderBot,
    Meetings,
    RoundPlan,
    balanced_tables,
    draw_round,
    extra_tables,
    lots_of,
    newcomers_to_place,
    open_pairs,
    rounds_to_meet,
    table_numbers,
)
from referee.statistics.ladder_orders import LadderOrders

MASTER = bytes(range(32))


def bots_of(number: int, owners: int = 0) -> tuple[LadderBot, ...]:
    """So many bots; the first ones belong to so many owners, two bots each."""
    return tuple(
        LadderBot(f"b{place:03}", "1", f"o{place // 2}" if place < 2 * owners else "") for place in range(number)
    )


def drawn(shape: Shape, plan: RoundPlan, met: Meetings, master: bytes = MASTER) -> tuple[AimedTable, ...]:
    tables = draw_round(shape, plan, met, "ladder", master)
    met.add(plan.number, plan.balanced, [(table.order, bool(table.aimed)) for table in tables])
    return tables


SHAPES = [
    pytest.param(Shape(seats=3, sets=2), 5, 0, id="5 at 3"),
    pytest.param(Shape(seats=4, sets=6), 4, 0, id="one table"),
    pytest.param(Shape(seats=4, sets=1), 13, 3, id="13 at 4, owners, a set a round"),
    pytest.param(Shape(seats=4, sets=6), 40, 8, id="40 at 4, owners"),
    pytest.param(Shape(seats=7, sets=3), 30, 0, id="30 at 7"),
    pytest.param(Shape(seats=2, sets=4), 9, 2, id="9 at 2, owners"),
    pytest.param(Shape(seats=4, sides=2, sets=3), 7, 1, id="partners"),
]


@pytest.mark.parametrize(("shape", "number", "owners"), SHAPES)
def test_everybody_plays_every_round_and_meets_everybody_in_time(shape: Shape, number: int, owners: int) -> None:
    bots, met = bots_of(number, owners), Meetings()
    owner = {bot.key: bot.owner or bot.key for bot in bots}
    within = rounds_to_meet(shape, number)
    last: dict[tuple[str, ...], int] = {}
    for round_ in range(1, 3 * within + 2):
        tables = drawn(shape, RoundPlan(round_, bots), met, random.Random(round_).randbytes(32))  # noqa: S311
        seats = Counter(key for table in tables if not table.aimed for key in table.order)
        assert set(seats) == {bot.key for bot in bots}
        assert min(seats.values()) >= shape.sets
        assert max(seats.values()) <= shape.sets + 1
        assert balanced_tables(shape, number) <= sum(not table.aimed for table in tables)
        for table in tables:
            assert len({owner[key] for key in table.order}) == shape.table_size
            assert table.rotations == tuple(range(shape.rotations))
            last |= dict.fromkeys(combinations(sorted(table.order), 2), round_)
        for one, other in combinations(bots, 2):
            if owner[one.key] != owner[other.key]:
                assert round_ - last.get((one.key, other.key), 0) < within


def test_pairs_meet_about_equally_often() -> None:
    shape, met, bots = Shape(seats=4, sets=6), Meetings(), bots_of(16)
    meetings: Counter[tuple[str, ...]] = Counter()
    for number in range(1, 11):
        for table in drawn(shape, RoundPlan(number, bots), met):
            meetings.update(combinations(sorted(table.order), 2))
    assert len(meetings) == 16 * 15 // 2
    assert max(meetings.values()) - min(meetings.values()) <= 3


def test_newcomers_meet_others_drawn_by_lot_and_extra_tables_are_for_their_pairs() -> None:
    shape, bots = Shape(seats=4, sets=3), bots_of(12, 1)
    plan = RoundPlan(5, bots, ("b010", "b011"), (("b002", "b003"), ("b004", "b006")))
    tables = draw_round(shape, plan, Meetings(), "ladder", MASTER)
    placed = [table for table in tables if len(table.aimed) == 1]
    assert [table.aimed for table in placed] == [("b010",)] * PLACEMENT + [("b011",)] * PLACEMENT
    for table in tables:
        assert set(table.aimed) <= set(table.order)
        assert set(table.order) & {"b010", "b011"} <= set(table.aimed)
    assert [table.aimed for table in tables[-2:]] == [*plan.pairs]


def test_the_other_chairs_of_an_aimed_table_are_drawn_by_lot() -> None:
    shape, bots = Shape(seats=4, sets=1), bots_of(9)
    plan = RoundPlan(1, bots, (), (("b000", "b001"),) * 700)
    tables = draw_round(shape, plan, Meetings(), "ladder", MASTER)[-700:]
    others = Counter(key for table in tables for key in table.order if key not in table.aimed)
    assert sum(others.values()) == 1400
    assert set(others) == {bot.key for bot in bots[2:]}
    assert all(150 <= count <= 250 for count in others.values())  # 200 each, and a standard deviation of 12
    seats = Counter((table.order.index("b000") - table.order.index("b001")) % 4 for table in tables)
    assert all(180 <= count <= 290 for count in seats.values())


def test_everything_follows_from_the_master_and_nothing_else() -> None:
    shape, plan = Shape(seats=3, sets=4), RoundPlan(3, bots_of(8, 1), (), (("b002", "b003"),))
    one = draw_round(shape, plan, Meetings(), "ladder", MASTER)
    assert draw_round(shape, plan, Meetings(), "ladder", MASTER) == one
    assert draw_round(shape, plan, Meetings(), "ladder", bytes(32)) != one
    assert draw_round(shape, plan, Meetings(), "another", MASTER) != one
    assert [lots_of("ladder", 3, MASTER).below(1000) for _ in range(2)] == [
        lots_of("ladder", 3, MASTER).below(1000)
    ] * 2


def test_plain_deals_have_one_rotation_by_lot() -> None:
    tables = draw_round(
        Shape(seats=3, sets=30, duplicate=False), RoundPlan(1, bots_of(6)), Meetings(), "ladder", MASTER
    )
    assert {len(table.rotations) for table in tables} == {1}
    assert {table.rotations[0] for table in tables} == {0, 1, 2}


@given(st.integers(2, 2000), st.integers(0, 50))
def test_lots_are_below_their_bound_and_reach_all_of_it(bound: int, number: int) -> None:
    lots = lots_of("ladder", number, MASTER)
    drawn_ = [lots.below(bound) for _ in range(40)]
    assert all(0 <= one < bound for one in drawn_)
    small = lots_of("ladder", number, MASTER)
    assert {small.below(3) for _ in range(60)} == {0, 1, 2}
    assert sorted(lots.shuffled(range(bound))) == list(range(bound))


def test_newcomers_play_the_balanced_part_where_too_few_could_place_them() -> None:
    shape, bots = Shape(seats=4, sets=2), bots_of(6)
    assert newcomers_to_place(shape, bots, [bot.key for bot in bots]) == ()
    assert newcomers_to_place(shape, bots, ["b003", "b004", "b005"]) == ()
    assert newcomers_to_place(shape, bots, ["b004", "b005"]) == ("b004", "b005")
    mine = (*bots_of(4), LadderBot("new", "1", "me"), LadderBot("old", "1", "me"))
    assert newcomers_to_place(shape, mine, ["new"]) == ("new",)
    few = (*bots_of(2), LadderBot("x", "1", "me"), LadderBot("old", "1", "me"), LadderBot("new", "1", "me"))
    assert newcomers_to_place(Shape(seats=3, sets=2), few, ["new"]) == ("new",)
    assert newcomers_to_place(Shape(seats=4, sets=2), few, ["new"]) == ()


def test_bots_that_cannot_fill_a_table_are_told() -> None:
    with pytest.raises(ScheduleError, match="round 2: 4 bots cannot fill a table of 3 without two bots of one owner"):
        draw_round(Shape(seats=3), RoundPlan(2, bots_of(4, 2)), Meetings(), "ladder", MASTER)


def test_extra_tables_go_to_neighbours_from_the_top() -> None:
    evidence = LadderOrders()
    for key in "abcde":
        evidence.enter(key, "one" if key in "de" else "")
    for number in range(60):
        noise = 0.05 * (number % 7 - 3)
        figures = {"a": 0.9 + noise, "b": 0.6 - noise, "c": 0.601 + 2 * noise, "d": 0.2, "e": 0.1 + noise}
        evidence.add({key: figures[key] for key in (figures if number < 5 else "abcd")})
    assert evidence.finding("a", "b").is_shown
    assert open_pairs(evidence, "abcde", 3) == (("b", "c"),) * 3  # d and e have one owner, and e too few sets
    assert open_pairs(evidence, "abcde", 0) == ()
    assert open_pairs(evidence, "ab", 4) == ()


def test_the_same_table_again_has_the_next_number() -> None:
    tables = [("a", "b"), ("b", "a"), ("a", "c")]
    assert list(table_numbers(tables, {frozenset("ab"): 3})) == [3, 4, 0]


def test_how_many_extra_tables_there_are() -> None:
    assert extra_tables(Shape(seats=4, sets=6, format="ladder"), 8) == 3
    assert extra_tables(Shape(seats=4, sets=6, format="ladder", extra=0), 8) == 0
