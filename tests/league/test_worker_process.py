"""A worker's process: it tells what happens as it happens, and nothing is left of it however it ends."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.league.league import LeagueError
from referee.league.play import event_sink, worker_process
from referee.league.play.event_sink import Event, GameFinished
from referee.league.play.run_figures import RunFigures
from referee.league.play.worker_process import FrameSink, WorkerProcess, _portable
from referee.league.play.workers import LocalWorkers
from referee.sandbox.process_tree import processes
from tests.league.test_leg import ANY, NAMES, games_of, plan_of
from tests.program import PATIENCE

SLOW = ANY.replace("run(lambda", "import time\nrun(lambda").replace("turn.rng", "time.sleep(0.01) or turn.rng")


def play(folder: Path, program: str, sets: int, during: Callable[[WorkerProcess, list[Event]], None]) -> list[Event]:
    """Plays two legs by a worker's process; ``during`` is called after each time that it has told something."""
    told: list[Event] = []
    process = WorkerProcess()

    def tell(events: list[Event]) -> None:
        told.extend(events)
        during(process, told)

    plan = plan_of(folder, dict.fromkeys(NAMES, program), max_in_flight=2)
    try:
        process.play(plan, [games_of(NAMES, sets, [leg]) for leg in (0, 1)], tell)
    finally:
        here = str(folder)
        left = [pid for pid in processes() if here in _folder_of(pid)]
        assert not left, "bots were left behind"
        assert process.pid not in processes()
    return told


def _folder_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""


def finished(told: list[Event]) -> list[str]:
    return [event.game.fixture_id for event in told if isinstance(event, GameFinished)]


def test_a_stage_is_played_leg_by_leg_and_told_as_it_is_played(tmp_path: Path) -> None:
    times: list[int] = []
    told = play(tmp_path, ANY, 6, lambda _process, told: times.append(len(told)))
    legs = [fixture.rpartition("-")[2] for fixture in finished(told)]
    assert legs == ["0"] * 6 + ["1"] * 6
    assert len(times) > 2
    figures = [event for event in told if isinstance(event, RunFigures)]
    assert sum(one.starts for one in figures) == 6
    assert sum(one.bots_s for one in figures) > 0


def test_of_a_killed_worker_nothing_is_lost_that_it_has_told(tmp_path: Path) -> None:
    told: list[Event] = []

    def kill(process: WorkerProcess, so_far: list[Event]) -> None:
        told[:] = so_far
        if finished(so_far):
            os.kill(process.pid, signal.SIGKILL)

    with pytest.raises(LeagueError, match="a worker process died; nothing is lost, run it again"):
        play(tmp_path, SLOW, 30, kill)
    assert 0 < len(finished(told)) < 60


def test_a_worker_that_is_told_to_stop_gives_up_what_is_under_way(tmp_path: Path) -> None:
    told = play(tmp_path, SLOW, 30, lambda process, so_far: process.stop() if finished(so_far) else None)
    assert 0 < len(finished(told)) < 60


def test_what_fails_in_a_worker_is_raised_here(tmp_path: Path) -> None:
    plan = replace(plan_of(tmp_path, dict.fromkeys(NAMES, ANY)), bots={})
    process = WorkerProcess()
    with pytest.raises(KeyError, match=NAMES[0]):
        process.play(plan, [games_of(NAMES, 1, [0])], lambda _events: None)
    assert process.pid not in processes()


def test_an_error_that_cannot_travel_is_told_in_words() -> None:
    class Local(Exception):  # nothing finds it by name elsewhere
        pass

    assert str(_portable(Local("no room"))) == "a worker process failed: Local: no room"
    error = OSError(28, "No space left on device")
    assert _portable(error) is error


def test_events_of_a_moment_are_sent_together(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[list[Event]] = []
    now = [100.0]
    monkeypatch.setattr(event_sink.time, "monotonic", lambda: now[0])
    sink = FrameSink(sent.append)
    sink.withdrawn("a", "It left.")
    sink.tick()
    sink.withdrawn("b", "It left.")
    sink.tick()
    assert [len(one) for one in sent] == [1]
    now[0] += 0.3
    sink.tick()
    assert [len(one) for one in sent] == [1, 1]
    for _ in range(64):
        sink.withdrawn("c", "It left.")
    sink.tick()
    assert [len(one) for one in sent] == [1, 1, 64]
    sink.flush()
    assert len(sent) == 3


def test_a_signal_that_comes_while_a_worker_process_is_being_stopped_stops_it_too() -> None:
    process = WorkerProcess()

    def stop_twice() -> None:
        with process._input:
            process.stop()

    thread = threading.Thread(target=stop_twice, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    hangs = thread.is_alive()
    process.kill()
    process._child.wait()
    worker_process._pipe(process._child.stdout).close()
    assert not hangs


def test_workers_that_were_told_to_stop_begin_nothing(tmp_path: Path) -> None:
    told: list[Any] = []
    with LocalWorkers(2) as workers:
        workers.tell()
        workers.play(plan_of(tmp_path, dict.fromkeys(NAMES, ANY)), [games_of(NAMES, 1, [0])], told.append)
    assert not told


def test_workers_that_are_killed_leave_no_bot(tmp_path: Path) -> None:
    async def story(workers: LocalWorkers) -> None:
        loop = asyncio.get_running_loop()
        plan = plan_of(tmp_path, dict.fromkeys(NAMES, SLOW))

        def heard(_events: list[Event]) -> None:
            loop.call_soon_threadsafe(workers.kill)

        work = [
            loop.run_in_executor(workers.threads, workers.play, plan, [games_of(NAMES, 20, [0])], heard)
            for _ in range(2)
        ]
        for error in await asyncio.gather(*work, return_exceptions=True):
            assert isinstance(error, LeagueError)

    with LocalWorkers(2) as workers:
        asyncio.run(story(workers))
    assert not [pid for pid in processes() if str(tmp_path) in _folder_of(pid)]
