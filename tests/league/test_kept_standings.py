"""The standings that a finished league is stored with are shown as they are, unless anything about them is not as it should be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from referee.league import standings as league_standings
from referee.league.definition.definition import parse_definition
from referee.league.league import read_league
from referee.league.standings import kept_standings, standings_of
from referee.league.store import Store
from referee.statistics.bootstrap import RESAMPLES
from referee.statistics.results import GameSet
from referee.statistics.standings import FaultCounts, Standings, standings
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import at_random, found_league, go_on, league_text, play_league, reneges
from tests.league.leagues import any_league
from tests.league.tampered import edit_fact, sql

PLAYERS = {"a": fallback_move, "b": at_random, "c": reneges}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league of three, with sets enough for ranks, of single deals."""
    return play_league(tmp_path_factory.mktemp("kept") / "league.sqlite", PLAYERS, sets=12, length="deal")


@pytest.fixture
def path(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to do with as one likes."""
    copy = tmp_path / "league.sqlite"
    copy.write_bytes(finished.read_bytes())
    return copy


def kept(path: Path) -> Standings | None:
    with Store.read(path) as store:
        return kept_standings(store.league(), read_league(store), store.sets())


def shown(path: Path) -> Standings:
    with Store.read(path) as store:
        return standings_of(store, read_league(store))


def worked_out(path: Path) -> Standings:
    with Store.read(path) as store:
        return standings_of(store, read_league(store), RESAMPLES)


def test_what_is_kept_is_what_would_be_worked_out(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(finished) == kept(finished) == worked_out(finished)
    monkeypatch.setattr(league_standings, "standings", lambda *_, **__: pytest.fail("worked out again"))
    assert shown(finished).status == "ranked"


@settings(max_examples=20, deadline=None)
@given(any_league())
def test_standings_come_back_from_json_to_the_last_digit(sets: list[GameSet]) -> None:
    for more in ({}, {"certainty_at_any_look": 0.95}, {"yardstick": "a"}):
        table = standings(sets, {"a": FaultCounts(decision_ms_median=0.1)}, resamples=20, **more)  # type: ignore[arg-type]
        assert Standings.from_json(json.loads(json.dumps(table.to_json()))) == table


def test_a_league_that_goes_on_has_nothing_kept(tmp_path: Path) -> None:
    path = tmp_path / "league.sqlite"
    found_league(path, parse_definition(league_text(list(PLAYERS), sets=2, length="deal")), list(PLAYERS))
    go_on(path, PLAYERS, most=5)
    assert kept(path) is None
    assert shown(path).sets == 1
    go_on(path, PLAYERS)
    assert kept(path) is not None
    assert shown(path).sets == 2


def without(key: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda table: {name: value for name, value in table.items() if name != key}


def in_a_row(**values: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda table: table | {"rows": [{**table["rows"][0], **values}, *table["rows"][1:]]}


ODD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "of 0.1.0": without("method"),
    "of a later method": lambda table: table | {"method": 3},
    "a field too few": without("share"),
    "a field too many": lambda table: table | {"more": 1},
    "a text for a number": in_a_row(advantage="much"),
    "a number for a text": in_a_row(status=3),
    "a whole number for a figure": in_a_row(stakes=3),
    "an unknown bot": in_a_row(entrant="x"),
    "a row too few": lambda table: table | {"rows": table["rows"][1:]},
    "too few sets": lambda table: table | {"sets": 11},
    "too many games": lambda table: table | {"games": 37},
    "a quick one": lambda table: table | {"resamples": 20},
    "another seed": lambda table: table | {"seed": "x"},
    "another measure": lambda table: table | {"measure": "place"},
    "a void set": lambda table: table | {"void": [{"id": "x", "entrants": [], "reason": "none"}]},
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_not_as_it_should_be_is_worked_out(path: Path, what: str) -> None:
    edit_fact(path, "standings", ODD[what])
    assert kept(path) is None
    assert shown(path) == worked_out(path)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM league WHERE key = 'standings'",
        "UPDATE game_set SET state = 'VOID', reason = 'none' WHERE position = 3",
        "UPDATE game_set SET state = 'OPEN' WHERE position = 3",
        "UPDATE league SET value = '\"running\"' WHERE key = 'state'",
    ],
)
def test_standings_that_are_not_those_of_the_sets_are_worked_out(path: Path, statement: str) -> None:
    sql(path, statement)
    assert kept(path) is None
    assert shown(path) == worked_out(path)


def test_a_changed_figure_among_them_is_found_by_verify(path: Path) -> None:
    edit_fact(path, "standings", in_a_row(wins=99))
    assert shown(path).rows[0].wins == 99
    with Store.read(path) as store:
        assert not verify(store).ok
