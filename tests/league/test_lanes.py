"""Lanes and stages: however large stages are and however many lanes play them, no process meets a pack twice, and results stay.

Legs are made up here, with every disturbance that there is: games left to others, no contests, stops, workers that die.
"""

import asyncio
import contextlib
import os
import random
import shutil
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.league import LeagueError
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.worker_process import Legs, Tell
from referee.league.schedule.blocks import SetQueue
from referee.league.schedule.schedule import PlannedSet
from referee.league.sets_to_play import MOST_NO_CONTESTS
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import write_record
from tests.league.inprocess import (
    STALL,
    InProcess,
    Player,
    ThreadWorkers,
    at_random,
    end_of,
    found_league,
    go_on,
    league_text,
    play_game,
    reneges,
)

PLAYERS: dict[str, Player] = {"a": fallback_move, "b": at_random, "c": reneges, "d": fallback_move}


class Died(LeagueError):
    """A worker is gone."""


class Witness:
    """Sees which sets are in play, and by which processes they were seen. Raises if a pack could be met twice."""

    def __init__(self, seed: str = "") -> None:
        self.chance = random.Random(seed)  # noqa: S311  # repeatable on purpose
        self.alive: Counter[str] = Counter()
        self.legs = 0
        self.spoiled: Counter[tuple[str, int]] = Counter()
        self.lock = threading.Lock()
        self.broken: list[str] = []

    def begin(self, games: Sequence[GamePlan]) -> set[str]:
        """A leg begins: its processes will see these sets, which no living process may have seen."""
        with self.lock:
            self.legs += 1
            sets = [game.set_id for game in games]
            if len(set(sets)) < len(sets):
                self.broken.append(f"a leg has two games of a set: {games}")
            if met := [one for one in sets if self.alive[one]]:
                self.broken.append(f"processes that have seen {met} are alive")
            self.alive.update(sets)
            return set(sets)

    def end(self, sets: set[str]) -> None:
        """Its processes are dead."""
        with self.lock:
            self.alive.subtract(sets)

    def spoils(self, game: GamePlan) -> bool:
        """Whether this attempt is no contest; never so often that a set is void."""
        with self.lock:
            key = (game.fixture_id, game.redeal)
            if self.chance.random() < 0.2 and self.spoiled[key] < MOST_NO_CONTESTS - 1:
                self.spoiled[key] += 1
                return True
            return False

    def happens(self, share: float) -> bool:
        with self.lock:
            return self.chance.random() < share


class Lanes(InProcess):
    """A runner whose stages are of any size, and whose legs are played a bit at a time, in several lanes."""

    def __init__(self, store: Store, witness: Witness, lanes: int) -> None:
        super().__init__(store, PLAYERS)
        self.witness, self.number = witness, lanes

    def _open_lanes(self, number: int) -> Any:
        return super()._open_lanes(number if self._pool is not None else self.number)

    def _next_stage(self, _lane: Any) -> list[PlannedSet]:
        return self._queue.take(self.witness.chance.randint(1, 9))

    async def _play_leg(self, lane: Any, games: Sequence[GamePlan], *, first: bool) -> None:
        sets, left = self.witness.begin(games), list(games)
        while left and not self._halted:
            if first and self.witness.happens(0.1):
                self.witness.end({game.set_id for game in left})  # no process has seen anything of them
                sets -= {game.set_id for game in left}
                self._leave(lane, left)
                break
            game = left.pop(self.witness.chance.randrange(len(left)))
            self._event_sink.begin([game])
            await asyncio.sleep(0)
            if self.witness.spoils(game):
                self._event_sink.no_contest(game, STALL)
            elif self.witness.happens(0.02):
                self.stop()
            else:
                umpire = play_game(self._plan, game, self.players)
                self._event_sink.finished(game, umpire, write_record(umpire, self._plan.heading(game)))
        self.witness.end(sets)


class MortalWorkers(ThreadWorkers):
    """Workers that play as ``Lanes`` do, and may die after any game."""

    def __init__(self, witness: Witness, workers: int) -> None:
        super().__init__(workers, PLAYERS, threads=workers)
        self.witness, self.is_spoiled = witness, witness.spoils

    def play(self, plan: LeaguePlan, legs: Legs, tell: Tell) -> None:
        for leg in legs:
            sets = self.witness.begin(leg)
            try:
                super().play(plan, [leg], tell)
            finally:
                self.witness.end(sets)

    def play_one(self, plan: LeaguePlan, game: GamePlan, tell: Tell) -> None:
        os.sched_yield()
        super().play_one(plan, game, tell)
        if self.witness.happens(0.02):
            raise Died


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A league of four bots in which nothing is played yet: 28 sets of three games."""
    path = tmp_path_factory.mktemp("lanes") / "begun.sqlite"
    text = league_text(list(PLAYERS), sets=7, length="deal")
    found_league(path, parse_definition(text), list(PLAYERS))
    return path


@pytest.fixture(scope="module")
def undisturbed(begun: Path) -> tuple[Any, ...]:
    path = begun.with_name("undisturbed.sqlite")
    shutil.copy(begun, path)
    assert go_on(path, PLAYERS).finished
    return end_of(path)


def stored(path: Path) -> dict[str, str]:
    with Store.read(path) as store:
        return {game.fixture_id: game.record_digest for game in store.every_game()}


def play(path: Path, witness: Witness, lanes: int, workers: int) -> bool:
    """Plays until the end, a stop, or the death of a worker; whether the league is finished."""
    with Store.write(path) as store:
        runner = Lanes(store, witness, lanes)
        runner._settle_earlier_attempts()
        if workers:
            runner.share_with(MortalWorkers(witness, workers))
        with contextlib.suppress(Died):
            runner.play_rounds()
        return runner._close().finished


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("lanes", "workers"), [(1, 0), (2, 0), (5, 0), (1, 2), (1, 3)])
def test_no_process_meets_a_pack_twice_and_results_stay_for_all_stages_lanes_stops_and_deaths(
    tmp_path: Path, begun: Path, undisturbed: tuple[Any, ...], lanes: int, workers: int, seed: int
) -> None:
    path, witness = tmp_path / "league.sqlite", Witness(f"{lanes}/{workers}/{seed}")
    shutil.copy(begun, path)
    for _ in range(200):
        before = stored(path)
        over = play(path, witness, lanes, workers)
        assert not witness.broken
        assert not witness.alive.total()
        assert before.items() <= stored(path).items()
        if over:
            break
    assert end_of(path) == undisturbed


def test_the_rest_of_a_league_is_never_a_small_stage_of_its_own(begun: Path, tmp_path: Path) -> None:
    """70 sets are one stage, and two workers have 35 each."""
    path = tmp_path / "seventy.sqlite"
    found_league(path, parse_definition(league_text(["a", "b"], seats=2, sets=70)), ["a", "b"])
    for workers, expected in ((0, [70]), (2, [35, 35]), (3, [24, 24, 22])):
        with Store.write(path) as store:
            assert stages_of(InProcess(store, PLAYERS), workers) == expected
    with Store.write(begun) as store:
        assert stages_of(InProcess(store, PLAYERS), 1) == [28]


def stages_of(runner: InProcess, workers: int) -> list[int]:
    """The sizes of the stages that are played, in a run that stops after each."""
    sizes: list[int] = []

    async def stage(*what: Any) -> None:
        lane = what[-1]
        sizes.append(len(lane.sets))
        lane.sets = []

    runner._stage_here = runner._stage_by_worker = stage  # type: ignore[method-assign]
    if workers:
        runner.share_with(ThreadWorkers(workers))

    async def play_sets() -> None:
        await runner._play_sets(runner._schedule.sets)

    asyncio.run(play_sets())
    return sizes


def test_a_worker_that_has_played_a_stage_gets_as_many_sets_as_fit_into_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.sqlite"
    found_league(path, parse_definition(league_text(["a", "b"], seats=2, sets=1000)), ["a", "b"])
    monkeypatch.setattr(SetQueue, "back", lambda _queue, _sets: None)  # as if all were over
    sizes: list[int] = []

    async def stage(_pool: Any, lane: Any) -> None:
        sizes.append(len(lane.sets))
        lane.size = 200
        await asyncio.sleep(0)

    async def play_sets(runner: InProcess) -> None:
        await runner._play_sets(runner._schedule.sets)

    with Store.write(path) as store:
        runner = InProcess(store, PLAYERS)
        runner._stage_by_worker = stage  # type: ignore[method-assign]
        runner.share_with(ThreadWorkers(2))
        asyncio.run(play_sets(runner))
    assert sizes == [256, 256, 244, 128, 116]  # half as much more is taken along, and half of the last is the least
