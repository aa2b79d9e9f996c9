"""The schedule: everybody meets, nobody sits better, and nothing moves when somebody joins."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from math import comb, factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.league.schedule.format import MAX_SETS, ScheduleError, Shape, cyclic_orders, set_id
from referee.league.schedule.formats import plan
from referee.league.schedule.schedule import Schedule


@dataclass(frozen=True)
class Bot:
    key: str
    version: str = "1"


def bots(number: int) -> list[Bot]:
    return [Bot(f"bot{place:02}") for place in range(number)]


shapes = st.one_of(
    st.builds(Shape, seats=st.integers(2, 7), duplicate=st.booleans(), sets=st.integers(1, 7)),
    st.builds(
        lambda sides, partners, duplicate, sets: Shape(
            seats=sides * partners, sides=sides, duplicate=duplicate, sets=sets
        ),
        st.integers(2, 3),
        st.integers(1, 3),
        st.booleans(),
        st.integers(1, 7),
    ),
)


@st.composite
def leagues(draw: st.DrawFn) -> tuple[Shape, list[Bot]]:
    shape = draw(shapes)
    keys = draw(
        st.lists(
            st.text("abc #", min_size=1, max_size=4),
            min_size=shape.table_size,
            max_size=shape.table_size + 2,
            unique=True,
        )
    )
    return shape, [Bot(key, draw(st.sampled_from("123"))) for key in keys]


def by_id(schedule: Schedule) -> dict[str, object]:
    return {planned.id: planned for planned in schedule.sets}


@given(leagues())
def test_every_subset_sits_together_exactly_once_in_each_round_of_sets(league: tuple[Shape, list[Bot]]) -> None:
    shape, entrants = league
    schedule = plan(shape, entrants)
    expected = {frozenset(subset) for subset in combinations([bot.key for bot in entrants], shape.table_size)}
    for s in range(shape.sets):
        round_of_sets = schedule.sets[s * len(expected) : (s + 1) * len(expected)]
        tables = [frozenset(planned.table) for planned in round_of_sets]
        assert len(tables) == len(expected)
        assert set(tables) == expected


@given(leagues())
def test_each_bot_holds_each_seat_equally_often(league: tuple[Shape, list[Bot]]) -> None:
    """In every set where packs are repeated; else over every run of as many sets as there are entrants at a table."""
    shape, entrants = league
    size = shape.table_size
    shape = replace(shape, sets=shape.sets * (1 if shape.duplicate else size))
    schedule = plan(shape, entrants)
    block = 1 if shape.duplicate else size
    for table in schedule.tables:
        sets = [planned for planned in schedule.sets if planned.table == table]
        for start in range(0, len(sets), block):
            games = [fixture for planned in sets[start : start + block] for fixture in planned.fixtures]
            held = Counter((key, seat) for game in games for seat, key in enumerate(game.seats))
            assert set(held.values()) == {1}
            assert len(held) == size * shape.seats


@given(leagues())
def test_no_game_has_a_process_twice_and_partners_sit_where_partners_sit(league: tuple[Shape, list[Bot]]) -> None:
    shape, entrants = league
    schedule = plan(shape, entrants)
    assert all(set(game.seats) == set(planned.table) for planned in schedule.sets for game in planned.fixtures)
    for fixture in schedule.fixtures:
        assert len(set(fixture.processes)) == shape.seats == len(fixture.seats)
        assert set(fixture.slots) == set(range(shape.seats // shape.table_size))
        for seat, key in enumerate(fixture.seats):
            assert fixture.seats[seat % shape.table_size] == key


@given(leagues(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_matter(league: tuple[Shape, list[Bot]], random: object) -> None:
    shape, entrants = league
    shuffled = list(entrants)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plan(shape, shuffled) == plan(shape, entrants)


@given(leagues())
def test_a_new_bot_leaves_all_other_sets_as_they_are(league: tuple[Shape, list[Bot]]) -> None:
    shape, entrants = league
    before, after = by_id(plan(shape, entrants)), by_id(plan(shape, [Bot("new!"), *entrants]))
    assert before.items() <= after.items()
    for planned in plan(shape, [Bot("new!"), *entrants]).sets:
        assert (planned.id in before) == ("new!" not in planned.table)


@given(leagues(), st.integers(0, 3))
def test_a_new_version_changes_its_own_sets_and_no_others(league: tuple[Shape, list[Bot]], place: int) -> None:
    shape, entrants = league
    changed = entrants[place % len(entrants)]
    newer = [replace(bot, version="9") if bot is changed else bot for bot in entrants]
    before, after = plan(shape, entrants), plan(shape, newer)
    for old, new in zip(before.sets, after.sets, strict=True):
        assert (old.id == new.id) == (changed.key not in old.table)
        assert old.seatings == new.seatings


@given(leagues(), st.integers(1, 5))
def test_more_sets_go_on_where_fewer_ended(league: tuple[Shape, list[Bot]], more: int) -> None:
    shape, entrants = league
    longer = plan(replace(shape, sets=shape.sets + more), entrants)
    assert longer.sets[: len(plan(shape, entrants).sets)] == plan(shape, entrants).sets


@given(leagues())
def test_ids_are_unique_and_stay_the_same_from_run_to_run(league: tuple[Shape, list[Bot]]) -> None:
    shape, entrants = league
    schedule = plan(shape, entrants)
    fixtures = schedule.fixtures
    assert len({planned.id for planned in schedule.sets}) == len(schedule.sets)
    assert len({fixture.id for fixture in fixtures}) == len(fixtures)
    versions = {bot.key: bot for bot in entrants}
    for number, planned in enumerate(schedule.sets):
        s = number // len(schedule.tables)
        assert planned.id == set_id([versions[key] for key in planned.table], s)


def test_an_id_is_what_it_was_in_the_first_release() -> None:
    table = [Bot("careful", "1.0"), Bot("random", "1.0"), Bot("careful#2", "1.0")]
    assert set_id(table, 0) == set_id(table[::-1], 0) == "f3985408d794011c7fe2"
    assert plan(Shape(seats=3, sets=1), table).fixtures[2].id == "f3985408d794011c7fe2-2"


def test_names_cannot_be_composed_to_the_id_of_another_table() -> None:
    assert set_id([Bot("a", "b"), Bot("c", "d")], 0) != set_id([Bot("a", "bc"), Bot("", "d")], 0)
    assert set_id([Bot("a", "1")], 11) != set_id([Bot("a", "11")], 1)


@given(leagues(), st.integers(1, 9))
def test_legs_hold_every_game_of_a_stage_once_and_no_pack_twice(league: tuple[Shape, list[Bot]], size: int) -> None:
    shape, entrants = league
    schedule = plan(shape, entrants)
    stage = schedule.sets[:size]
    legs = schedule.legs(stage)
    assert len(legs) == (shape.table_size if shape.duplicate else 1)
    for leg in legs:
        assert [fixture.set_id for fixture in leg] == [planned.id for planned in stage]
    assert {fixture for leg in legs for fixture in leg} == {game for planned in stage for game in planned.fixtures}
    if shape.duplicate:
        assert [{fixture.rotation for fixture in leg} for leg in legs] == [{leg} for leg in range(shape.table_size)]


def test_the_counts_are_those_of_the_schedule() -> None:
    counts = plan(Shape(seats=3, sets=5), bots(4)).counts
    assert (counts.tables, counts.sets, counts.games, counts.legs, counts.processes) == (4, 20, 60, 3, 4)
    plain = plan(Shape(seats=4, sides=2, duplicate=False, sets=5), bots(4)).counts
    assert (plain.tables, plain.sets, plain.games, plain.legs, plain.processes) == (6, 30, 30, 1, 8)


def test_partners_take_two_rotations_in_which_sides_change_seats() -> None:
    (planned,) = plan(Shape(seats=4, sides=2, sets=1), [Bot("a"), Bot("b")]).sets
    assert [(game.seats, game.slots) for game in planned.fixtures] == [
        (("a", "b", "a", "b"), (0, 0, 1, 1)),
        (("b", "a", "b", "a"), (0, 1, 1, 0)),
    ]


def test_three_sides_of_two_sit_three_seats_apart() -> None:
    (planned,) = plan(Shape(seats=6, sides=3, sets=1), [Bot("a"), Bot("b"), Bot("c")]).sets
    assert [game.seats for game in planned.fixtures] == [tuple("abcabc"), tuple("bcabca"), tuple("cabcab")]


@pytest.mark.parametrize("size", range(2, 8))
def test_all_cyclic_orders_come_once_each_in_mirrored_pairs(size: int) -> None:
    orders = cyclic_orders(size, 10_000)
    assert len(orders) == factorial(size - 1)
    assert set(orders) == {(0, *tail) for tail in permutations(range(1, size))}
    if size > 2:
        for one, other in zip(orders[::2], orders[1::2], strict=True):
            assert other == (0, *reversed(one[1:]))


@pytest.mark.parametrize("duplicate", [True, False])
def test_over_all_orders_each_bot_follows_each_other_equally_often(duplicate: bool) -> None:
    shape = Shape(seats=4, duplicate=duplicate, sets=6 if duplicate else 24)
    followed = Counter(
        (game.seats[seat], game.seats[(seat + 1) % 4]) for game in plan(shape, bots(4)).fixtures for seat in range(4)
    )
    assert len(followed) == 12
    assert set(followed.values()) == {8}


def test_plain_games_use_every_arrangement_once_before_any_comes_again() -> None:
    fixtures = plan(Shape(seats=4, duplicate=False, sets=24), bots(4)).fixtures
    assert len({fixture.seats for fixture in fixtures}) == 24


def test_in_a_gauntlet_the_first_bot_meets_every_group_of_the_others_once() -> None:
    schedule = plan(Shape(seats=3, format="gauntlet", sets=1), [Bot("new"), *bots(5)])
    assert len(schedule.tables) == comb(5, 2)
    assert all("new" in table for table in schedule.tables)
    assert {planned.id for planned in schedule.sets} < set(by_id(plan(Shape(seats=3, sets=1), [*bots(5), Bot("new")])))


@pytest.mark.parametrize(
    ("shape", "number", "remedies"),
    [
        (Shape(seats=4), 3, ("enter 1 more", "copies = 2", "seats = 3")),
        (Shape(seats=4), 1, ("enter 3 more", "copies = 4", "fewest seats are 2")),
        (Shape(seats=4), 0, ("enter 4 more",)),
        (Shape(seats=4, sides=2), 1, ("enter 1 more", "copies = 2", "fewer seats do not help")),
        (Shape(seats=6, sides=3), 2, ("enter 1 more", "copies = 2", "fewer seats do not help")),
        (Shape(seats=3, format="gauntlet"), 2, ("enter 1 more", "copies = 2", "seats = 2")),
    ],
)
def test_too_few_entrants_for_a_table_is_an_error_with_the_remedies(
    shape: Shape, number: int, remedies: tuple[str, ...]
) -> None:
    with pytest.raises(ScheduleError) as caught:
        plan(shape, bots(number))
    for remedy in remedies:
        assert remedy in str(caught.value)


@pytest.mark.parametrize(("size", "format_"), [(2, "round-robin"), (2, "gauntlet"), (3, "gauntlet")])
def test_too_many_tables_is_an_error_that_says_how_many_and_how_many_bots_would_fit(size: int, format_: str) -> None:
    shape = Shape(seats=size, format=format_, sets=1, max_tables=50)  # type: ignore[arg-type]
    fitting = 0
    for number in range(size, 60):
        try:
            assert len(plan(shape, bots(number)).tables) <= 50
            fitting = number
        except ScheduleError as error:
            tables = comb(number - 1, size - 1) if format_ == "gauntlet" else comb(number, size)
            told = str(error)
            break
    assert f"{tables} tables of {size}" in told
    assert f"enter at most {fitting} bots" in told
    assert f"max_tables = {tables} in [schedule]" in told
    assert ('format = "gauntlet"' in told) == (format_ == "round-robin")


@pytest.mark.parametrize(
    ("number", "seats", "format_", "needed"), [(24, 4, "round-robin", 72), (19, 4, "gauntlet", 72)]
)
def test_where_even_a_design_has_too_many_tables_the_error_says_how_many(
    number: int, seats: int, format_: str, needed: int
) -> None:
    shape = Shape(seats=seats, format=format_, sets=1, max_tables=needed - 1)  # type: ignore[arg-type]
    with pytest.raises(ScheduleError, match=rf"a balanced part of them {needed}\b") as caught:
        plan(shape, bots(number))
    assert f"write max_tables = {needed} in [schedule]" in str(caught.value)
    assert len(plan(replace(shape, max_tables=needed), bots(number)).tables) == needed


def test_a_schedule_without_end_is_refused_before_it_is_made() -> None:
    with pytest.raises(ScheduleError, match="more than max_tables") as caught:
        plan(Shape(seats=7), bots(10_000))
    assert "write max_tables" not in str(caught.value)
    with pytest.raises(ScheduleError, match=f"write sets = {MAX_SETS // 10} or less"):
        plan(Shape(seats=2, sets=MAX_SETS), bots(5))


def test_two_entrants_of_one_key_are_refused() -> None:
    with pytest.raises(ScheduleError, match="same key"):
        plan(Shape(seats=2), [Bot("a"), Bot("a", "2")])


def test_notes_tell_what_is_not_balanced() -> None:
    assert plan(Shape(seats=4, sets=6), bots(4)).notes == ()
    assert plan(Shape(seats=4, sides=2, sets=1), bots(4)).notes == ()
    (neighbours,) = plan(Shape(seats=4, sets=7), bots(4)).notes
    assert "no multiple of 6" in neighbours
    seats, arrangements = plan(Shape(seats=3, duplicate=False, sets=8), bots(3)).notes
    assert "no multiple of 3" in seats
    assert "no multiple of 6" in arrangements


def test_a_schedule_that_is_asked_for_again_is_not_made_again() -> None:
    entrants = [Bot("a", "1"), Bot("b", "1")]
    made = plan(Shape(seats=2, sets=50), entrants)
    assert plan(Shape(seats=2, sets=50), list(entrants)) is made
    assert plan(Shape(seats=2, sets=50), [Bot("a", "1"), Bot("b", "2")]).sets != made.sets
