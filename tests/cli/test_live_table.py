"""What the live table shows while a league is played: games so far until the first sets are whole, then standings."""

from pathlib import Path

import pytest

from referee.cli.run import live_lines
from referee.league.definition.definition import parse_definition
from referee.league.league import read_league
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from tests.league.inprocess import at_random, found_league, go_on, league_text, reneges

PLAYERS = {"a": fallback_move, "b": at_random, "c": reneges}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A league of three that has just begun: one stage, rotation after rotation of all its sets."""
    made = tmp_path / "league.sqlite"
    found_league(made, parse_definition(league_text(list(PLAYERS), sets=12, length="deal")), list(PLAYERS))
    return made


def lines(path: Path, width: int = 80, rows: int = 20) -> list[str]:
    with Store.read(path) as store:
        return live_lines(store, read_league(store), width, rows)


def games(table: list[str]) -> dict[str, int]:
    """The games of each bot."""
    return {line[6]: int(line.split()[-2]) for line in table[2:5]}


def test_before_the_first_game_there_is_a_table_of_nothing(path: Path) -> None:
    assert games(lines(path)) == {"a": 0, "b": 0, "c": 0}
    assert "under way" not in "\n".join(lines(path))


def test_games_of_sets_under_way_are_shown_without_ranks(path: Path) -> None:
    go_on(path, PLAYERS, most=14)
    table = lines(path)
    assert games(table) == {"a": 14, "b": 14, "c": 14}
    assert table[-1] == "14 games of 12 sets under way: ranks and intervals come with whole sets"
    assert not any(line.startswith(("1", "2", "3")) for line in table[2:5])
    assert " to " not in "\n".join(table[:-1])


def test_once_sets_are_whole_they_alone_count(path: Path) -> None:
    go_on(path, PLAYERS, most=34)
    table = lines(path)
    assert games(table) == {"a": 30, "b": 30, "c": 30}
    assert table[-1] == "4 games of 2 sets under way: will count when the sets are whole"
    assert any(line.startswith(("1", "2", "3")) for line in table[2:5])


@pytest.mark.parametrize("most", [0, 14, 34])
@pytest.mark.parametrize(("width", "rows"), [(80, 1), (80, 4), (200, 50)])
def test_it_fits_its_room(path: Path, most: int, width: int, rows: int) -> None:
    go_on(path, PLAYERS, most=most)
    table = lines(path, width, rows)
    assert len(table) <= max(rows, 4), "two lines of heading, one of rows left out, one of games under way"
    assert max(map(len, table)) <= width
