"""A referee that dies right after any one thing it has written: the league goes on to the same end, for every such thing."""

import asyncio
import contextlib
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.plan import GamePlan
from referee.league.play import event_sink
from referee.league.play.event_sink import BufferSink
from referee.league.play.worker_process import Tell
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import write_record
from tests.league.inprocess import (
    InProcess,
    Player,
    at_random,
    end_of,
    found_league,
    go_on,
    league_text,
    play_game,
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


class Workers:
    """Workers that play in this process."""

    def __init__(self, players: dict[str, Player], workers: int) -> None:
        self._players, self.workers = players, workers
        self.threads = ThreadPoolExecutor(1)
        self._told = False

    def play(self, plan_: Any, legs: Sequence[Sequence[GamePlan]], tell: Tell) -> None:
        for game in (game for leg in legs for game in leg):
            if self._told:
                return
            played = BufferSink()
            umpire = play_game(plan_, game, self._players)
            played.finished(game, umpire, write_record(umpire, plan_.heading(game)))
            tell(played.events)

    def tell(self) -> None:
        self._told = True

    def kill(self) -> None:
        self._told = True


def play(path: Path, players: dict[str, Player], workers: int) -> None:
    """Plays what is left of a league, with a store whose referee may die."""
    with Mortal.write(path) as store:
        runner = InProcess(store, players)
        if workers == 1:
            runner.run()
            return
        runner._workers, runner._plan = workers, replace(runner._plan, max_processes=0)
        runner._settle_earlier_attempts()
        pool = runner._pool = Workers(players, workers)
        try:
            asyncio.run(runner._play_rounds())
        finally:
            pool.tell()
            pool.threads.shutdown()
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
