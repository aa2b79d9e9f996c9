"""A referee that dies right after any one thing it has written: the league goes on to the same end, for every such thing."""

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.play import event_sink
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from tests.league.inprocess import (
    InProcess,
    Player,
    ThreadWorkers,
    at_random,
    end_of,
    found_league,
    go_on,
    league_text,
    reneges,
    stumbles,
)

PLAYERS: dict[str, Player] = {
    "a": fallback_move,
    "b": at_random,
    "c": reneges,
    "d": stumbles,
    "e": fallback_move,
    "f": at_random,
}


class Killed(BaseException):
    """The referee is gone, at once: nobody catches it, and nothing is written after it."""


class Mortal(Store):
    """A store whose referee dies when ``left`` more things have been written."""

    left = 0

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with super()._transaction() as db:
            yield db
        Mortal.left -= 1
        if Mortal.left == 0:
            raise Killed


def play(path: Path, players: dict[str, Player], workers: int) -> None:
    """Plays what is left of a league, with a store whose referee may die."""
    with Mortal.write(path) as store:
        runner = InProcess(store, players)
        if workers == 1:
            runner.run()
            return
        runner._plan = replace(runner._plan, max_processes=0)
        runner._settle_earlier_attempts()
        runner.share_with(ThreadWorkers(workers, players))
        runner.play_rounds()
        runner._close()


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("seats", range(2, 7))
def test_wherever_the_referee_dies_the_league_ends_as_if_it_had_not(
    tmp_path: Path, seats: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_sink, "_MOST_TOGETHER", 1)  # each game is a thing by itself
    players = dict(list(PLAYERS.items())[:seats])
    begun, whole = tmp_path / "begun.sqlite", tmp_path / "whole.sqlite"
    text = league_text(list(players), seats=seats, sets=2 if workers > 1 else 1, length="deal")
    found_league(begun, parse_definition(text), list(players))
    shutil.copy(begun, whole)
    assert go_on(whole, players).finished
    undisturbed, deaths = end_of(whole), 0
    while True:
        path = tmp_path / f"{deaths}.sqlite"
        shutil.copy(begun, path)
        Mortal.left = deaths + 1
        try:
            play(path, players, workers)
        except Killed:
            deaths += 1
        else:
            break
        assert go_on(path, players).finished
        assert end_of(path) == undisturbed
    assert end_of(path) == undisturbed
    assert deaths > len(undisturbed[2])  # each game, and what is written besides
