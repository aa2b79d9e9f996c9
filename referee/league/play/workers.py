"""Workers: each plays one stage at a time, by bot processes of its own, and tells the main process what happens."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol, Self

from referee.league.plan import LeaguePlan
from referee.league.play.worker_process import Legs, Tell, WorkerProcess
from referee.sandbox.orphans import end_orphans


class Pool(Protocol):
    """Where stages are played. A context manager: nothing of it is left afterwards.

    ``workers``: how many stages it plays at once; ``sharers``: how many of them on one machine, which share it. ``threads``:
    where to call ``play``. ``tell`` and ``kill`` may be called from a signal handler.
    """

    workers: int
    sharers: int
    threads: ThreadPoolExecutor

    def play(self, plan: LeaguePlan, legs: Legs, tell: Tell) -> None:
        """Has a worker play a stage, and tells from this thread what happens. Raises what went wrong."""

    def tell(self) -> None:
        """Tells the workers to stop: games under way are given up."""

    def kill(self) -> None:
        """Ends the work at once."""


class LocalWorkers:
    """Processes on this machine, which share its processors."""

    def __init__(self, workers: int) -> None:
        self.workers = self.sharers = workers
        self.threads = ThreadPoolExecutor(workers, "worker")
        self._playing: set[WorkerProcess] = set()
        self._told = False
        self._lock = threading.RLock()  # a signal handler may come while the same thread holds it

    def __enter__(self) -> Self:
        return self

    def play(self, plan: LeaguePlan, legs: Legs, tell: Tell) -> None:
        """Has a process of its own play a stage."""
        with self._lock:
            if self._told:
                return
            process = WorkerProcess()
            self._playing.add(process)
        try:
            process.play(replace(plan, sharers=self.sharers), legs, tell)
        finally:
            with self._lock:
                self._playing.discard(process)

    def tell(self) -> None:
        """Tells them to stop, and begins nothing more."""
        with self._lock:
            self._told = True
            playing = list(self._playing)
        for process in playing:
            process.stop()

    def kill(self) -> None:
        """Ends them at once. Their bots are ended with them, or when this is left."""
        with self._lock:
            self._told = True
            for process in self._playing:
                process.kill()

    def __exit__(self, *_: object) -> None:
        self.tell()
        self.threads.shutdown(wait=True, cancel_futures=True)
        end_orphans()  # those of a worker that was killed
