"""Workers: processes that play blocks of whole sets and send home what happened. They never touch the store."""

import asyncio
import ctypes
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any, Protocol, Self

from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.event_sink import BufferSink, EntrantWithdrawn, Event
from referee.league.play.leg import Leg
from referee.league.play.run_figures import ProcessorTime
from referee.sandbox.orphans import end_orphans

Legs = Sequence[Sequence[GamePlan]]

_STOP: Any = None
_USED = ProcessorTime()  # from the start of the process, for nothing but the blocks is its work


class Stoppable(Protocol):
    """What plays games at the moment, here or in workers. Both methods may be called from a signal handler."""

    def tell(self) -> None:
        """Tells it to stop: games under way are given up."""

    def kill(self) -> None:
        """Ends the work at once."""


class Pool(Stoppable, Protocol):
    """Where blocks are played. A context manager: nothing of it is left afterwards."""

    def submit(self, *task: Any) -> "Future[list[Event]]":
        """Has a worker play a block."""


class LocalWorkers:
    """Spawned processes on this machine, and a way to tell them to stop."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(workers, context, _prepare_worker, (self._stop, os.getpid()))

    def __enter__(self) -> Self:
        return self

    def submit(self, *task: Any) -> "Future[list[Event]]":
        """Has a worker play a block."""
        return self._pool.submit(*task)

    def tell(self) -> None:
        """Tells the workers to stop."""
        self._stop.set()

    def kill(self) -> None:
        """Ends the workers at once. Their bots are ended when the pool is left."""
        for worker in list((self._pool._processes or {}).values()):  # noqa: SLF001  # a pool has no such method before 3.14
            worker.kill()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        end_orphans()  # those of a worker that was killed


def _prepare_worker(stop: Any, parent: int) -> None:
    """In a worker: the terminal's Ctrl-C and its end are the main process's business, and the worker ends when that ends."""
    global _STOP  # noqa: PLW0603  # what a pool's initializer leaves for its tasks
    _STOP = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _end_with(parent)


def _end_with(parent: int) -> None:
    """Linux: has the kernel end this process when its parent ends, however that happens; at once if it has already."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        os._exit(1)


def play_block(plan: LeaguePlan, legs: Legs) -> list[Event]:
    """A worker's task: plays the legs of a block one after another and returns what happened."""
    return play_legs(plan, legs, lambda: _STOP is not None and _STOP.is_set())


def play_legs(plan: LeaguePlan, legs: Legs, stopped: Callable[[], bool]) -> list[Event]:
    """Plays legs one after another until ``stopped``, which is asked a few times a second; returns what happened."""
    event_sink = BufferSink()

    async def play(games: Sequence[GamePlan]) -> None:
        stop = asyncio.Event()
        watch = asyncio.create_task(_relay(stop, stopped))
        await Leg(plan, games, event_sink, stop).play()
        watch.cancel()

    for games in legs:
        if not stopped():
            gone = {event.entrant for event in event_sink.events if isinstance(event, EntrantWithdrawn)}
            asyncio.run(play([game for game in games if not gone & set(game.seats)]))
    event_sink.took(_USED.taken())
    return event_sink.events


async def _relay(stop: asyncio.Event, stopped: Callable[[], bool]) -> None:
    """Carries a stop from elsewhere into the event loop; what another process says can only be looked at."""
    while not stopped():  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    stop.set()
