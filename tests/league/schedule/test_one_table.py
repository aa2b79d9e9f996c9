"""One table: everybody keeps a seat."""

import pytest

from referee.league.definition.definition import DefinitionError, parse_definition
from referee.league.schedule.format import MAX_SETS, ScheduleError, Shape
from referee.league.schedule.formats import plan
from tests.league.inprocess import league_text, roster


@pytest.mark.parametrize(("seats", "sides"), [(2, 0), (3, 0), (7, 0), (4, 2), (6, 3)])
def test_everybody_sits_where_the_definition_has_them_in_every_game(seats: int, sides: int) -> None:
    """Partners may be different bots: each has a seat of its own, and one process."""
    bots = [f"bot {number}" for number in reversed(range(seats))]
    made = plan(Shape(seats=seats, sides=sides, format="one-table", duplicate=False, sets=3), roster(bots).entrants)
    assert [game.seats for game in made.fixtures] == [tuple(bots)] * 3
    assert {game.slots for game in made.fixtures} == {(0,) * seats}
    assert len({planned.id for planned in made.sets}) == 3
    assert made.notes == ("Everybody keeps a seat: what the seats are worth is not balanced.",)
    assert made.counts.processes == seats


@pytest.mark.parametrize("bots", [["a", "b"], ["a", "b", "c", "d"]])
def test_there_is_one_entrant_a_seat(bots: list[str]) -> None:
    shape = Shape(seats=3, format="one-table", duplicate=False, sets=1)
    with pytest.raises(ScheduleError, match=f"a table of 3 seats needs one entrant for each, not {len(bots)}"):
        plan(shape, roster(bots).entrants)


def test_a_schedule_has_an_end() -> None:
    shape = Shape(seats=2, format="one-table", duplicate=False, sets=MAX_SETS + 1)
    with pytest.raises(ScheduleError, match=f"write sets = {MAX_SETS} or less"):
        plan(shape, roster(["a", "b"]).entrants)


def test_pairs_are_for_other_formats() -> None:
    text = league_text(["a", "b"], seats=4, sets=1).replace("[schedule]", '[schedule]\nformat = "one-table"')
    text = text.replace('"auction-pitch"', '"partnership-pitch"') + '[[pairs]]\nbots = ["a", "b"]\n'
    with pytest.raises(DefinitionError, match='no pairs where format = "one-table"'):
        parse_definition(text)
