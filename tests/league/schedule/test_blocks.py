"""Blocks of sets: few bots live at once, few are started twice, and every open set has its turn."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.league import read_league
from referee.league.schedule import blocks
from referee.league.schedule.blocks import SetQueue, by_processes
from referee.league.schedule.blocks import bots_of as processes_of
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import plan
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from tests.league.inprocess import at_random, found_league, go_on, league_text


@dataclass(frozen=True)
class Bot:
    key: str
    version: str = "1"


def round_robin(number: int, sets: int = 2, seats: int = 3, max_tables: int = 2000) -> Schedule:
    return plan(Shape(seats=seats, sets=sets, max_tables=max_tables), [Bot(f"b{place:02}") for place in range(number)])


def bots_of(sets: list[PlannedSet]) -> int:
    return len({key for planned in sets for key in planned.table})


@pytest.mark.parametrize("most_tables", [3000, 0])
def test_sets_are_grouped_so_that_few_processes_live_at_once(most_tables: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_TABLES", most_tables)
    sets = round_robin(6).sets
    for most in (3, 4, 6, 0):
        groups = by_processes(sets, most)
        assert sorted(planned.id for group in groups for planned in group) == sorted(planned.id for planned in sets)
        assert max(map(bots_of, groups)) <= (most or 6)
        for group in groups:
            assert group == sorted(group, key=sets.index)
    assert by_processes(sets, 0) == by_processes(sets, 6) == [list(sets)]
    assert len(by_processes(sets, 2)) == 20  # a table that needs more is a group by itself
    assert by_processes([], 4) == []


def test_a_pair_of_processes_of_one_bot_counts_twice() -> None:
    sets = plan(Shape(seats=4, sides=2, sets=1), [Bot("a"), Bot("b"), Bot("c")]).sets
    assert [bots_of(group) for group in by_processes(sets, 4)] == [2, 2, 2]
    assert len(by_processes(sets, 6)) == 1


def test_tables_that_share_bots_come_together() -> None:
    """Forty bots, eight at a time: in name order nearly every table would be a group by itself."""
    sets = round_robin(40, sets=1, seats=4, max_tables=200).sets
    groups = by_processes(sets, 8)
    assert all(bots_of(group) <= 8 for group in groups)
    assert sum(map(bots_of, groups)) < 0.8 * 4 * len(sets)


@pytest.fixture
def league(tmp_path: Path) -> Path:
    """A league of four bots at tables of three, in which nothing is played yet."""
    path = tmp_path / "league.sqlite"
    found_league(path, parse_definition(league_text(["a", "b", "c", "d"], sets=3)), ["a", "b", "c", "d"])
    return path


def schedule_of(store: Store) -> Schedule:
    found = read_league(store)
    return plan(found.definition.shape(), found.entrants)


def test_in_schedule_order_every_open_set_has_its_turn_once(league: Path) -> None:
    with Store.write(league) as store:
        schedule = schedule_of(store)
        ahead = SetQueue(store, schedule.sets, 0)
        assert len(ahead) == 12
        store.close_set(schedule.sets[1].id, "VOID", "for the test")
        first = ahead.take(5)
        assert first == [schedule.sets[number] for number in (0, 2, 3, 4)]
        store.score_sets(planned.id for planned in first[:3])
        ahead.back(reversed(first))
        second = ahead.take(3)
        assert second == [schedule.sets[number] for number in (4, 5, 6)]
        store.score_sets([second[0].id])
        ahead.back(second)
        assert ahead.take(100) == list(schedule.sets[5:])
        assert ahead.take(100) == []
        assert len(ahead) == 0


def test_grouped_all_sets_of_some_tables_are_a_stage_and_lanes_have_a_group_each(league: Path) -> None:
    with Store.write(league) as store:
        ahead = SetQueue(store, schedule_of(store).sets, 3)
        first, second = ahead.take(100), ahead.take(100)
        for taken in (first, second):
            assert len({planned.table for planned in taken}) == 1
            assert len(taken) == 3
            assert len(processes_of(taken)) == 3
        assert first[0].table != second[0].table
        assert ahead.take(100, most=2) == []  # its bots would be too many beside others
        ahead.back(second[1:])
        assert ahead.take(100, most=3) == second[1:]  # in their own group, before the next


def test_a_part_of_a_league_is_read_by_itself(league: Path) -> None:
    players = {"a": fallback_move, "b": at_random, "c": fallback_move, "d": at_random}
    assert not go_on(league, players, most=7).finished
    with Store.read(league) as store:
        rows = store.sets()
        assert store.sets_of([rows[2].id, rows[0].id]) == {rows[0].id: rows[0], rows[2].id: rows[2]}
        assert store.sets_of([]) == {}
        games = {(game.fixture_id, game.redeal) for game in store.games()}
        assert store.played(row.id for row in rows) == games
        assert store.count_games() == len(games) == 7
        own = {game for game in games if game[0].startswith(rows[1].id)}
        assert store.played([rows[1].id]) == own
        assert own
