"""Workers elsewhere: stages through the scheduler of a Dask cluster.

Dask finds the workers, moves stages to them, and gives the stage of a worker that is lost to another one. Each is played in a
process of its own on its worker, and what happens comes home as it happens, through a queue of the scheduler. The store,
the master's commitment, remote bots and all ratings stay in the main process; a worker needs this version of Referee and the
bots at the same paths.
"""

import pickle
import secrets
import threading
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from typing import Any, Final, Self

from referee import __version__
from referee.league.league import LeagueError
from referee.league.plan import LeaguePlan
from referee.league.play.event_sink import Event
from referee.league.play.worker_process import Legs, Tell, WorkerProcess

PATIENCE_SECONDS: Final = 30
"""Seconds to wait for the scheduler, for the first worker, and for the last of what a worker has sent."""

_LOOK_SECONDS: Final = 0.5


class ClusterWorkers:
    """The workers of a Dask cluster: one stage at a time for each of their threads."""

    def __init__(self, address: str) -> None:
        """Raises ``LeagueError`` with the remedy if the cluster cannot be used."""
        distributed = _distributed()
        try:
            self._client = distributed.Client(address, timeout=PATIENCE_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise LeagueError(f"no Dask scheduler answers at {address} ({error}); start one: dask scheduler") from None
        try:
            self._client.wait_for_workers(1, timeout=PATIENCE_SECONDS)
            _check_versions(self._client.run(version_here, on_error="return"))
            threads = self._client.nthreads()
            self.workers, self.sharers = sum(threads.values()), _most_on_a_host(threads)
        except TimeoutError:
            self._client.close()
            raise LeagueError(f"the cluster at {address} has no workers; start some: dask worker {address}") from None
        except BaseException:
            self._client.close()
            raise
        self._name = f"referee-stop-{secrets.token_hex(8)}"
        self._stop = distributed.Event(self._name, client=self._client)
        self._numbers = count()
        self.threads = ThreadPoolExecutor(self.workers, "cluster")

    def __enter__(self) -> Self:
        return self

    def play(self, plan: LeaguePlan, legs: Legs, tell: Tell) -> None:
        """Has a worker play a stage. If it is lost, another one plays the stage, and what the first has sent counts all the same."""
        name = f"{self._name}-{next(self._numbers)}"
        queue = _distributed().Queue(name, client=self._client)
        shared = replace(plan, sharers=self.sharers)
        done = self._client.submit(play_on_worker, shared, legs, self._name, name, pure=False)
        heard: Counter[str] = Counter()
        try:
            while True:
                over = done.done()
                if over and done.status != "finished":
                    self._tell_rest(queue, tell)
                    break
                if over:
                    run, times = done.result()
                    if heard[run] == times:
                        break
                try:
                    run, sent = queue.get(timeout=PATIENCE_SECONDS if over else _LOOK_SECONDS)
                except TimeoutError:
                    if over:
                        raise LeagueError("what a worker sent did not arrive; nothing is lost, run it again") from None
                    continue
                heard[run] += 1
                tell(pickle.loads(sent))  # noqa: S301  # our own worker's
            done.result()
        except Exception as error:
            if lost_worker(error):
                raise LeagueError("a worker process died; nothing is lost, run it again") from None
            raise
        finally:
            queue.close()

    @staticmethod
    def _tell_rest(queue: Any, tell: Tell) -> None:
        """Tells what a stage that has failed had sent before: those games are played."""
        try:
            rest = queue.get(batch=True)
        except OSError:  # the scheduler has gone, too
            return
        for _, sent in rest:
            tell(pickle.loads(sent))  # noqa: S301  # our own worker's

    def tell(self) -> None:
        """Tells the workers to stop. May be called from a signal handler, so it does not wait."""
        threading.Thread(target=self._stop.set, daemon=True).start()

    def kill(self) -> None:
        """As ``tell``: processes elsewhere are not ours to kill, but they end within moments."""
        self.tell()

    def __exit__(self, *_: object) -> None:
        try:
            self._stop.set()
            self.threads.shutdown(wait=True, cancel_futures=True)
        finally:
            self._client.close()


def play_on_worker(plan: LeaguePlan, legs: Legs, stop: str, name: str) -> tuple[str, int]:
    """A worker's task: plays a stage in a child of its own. ``stop`` is the name of the event that ends it.

    Sends what happens to the queue of that ``name``; returns a name of this run, and how often it has sent.
    """
    run, sent = secrets.token_hex(8), 0
    told, queue = _distributed().Event(stop), _distributed().Queue(name)
    process = WorkerProcess()
    over = threading.Event()

    def send(events: list[Event]) -> None:
        nonlocal sent
        queue.put((run, pickle.dumps(events)))  # it carries plain data alone
        sent += 1

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            if told.is_set():
                process.stop()
                return

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        process.play(plan, legs, send)
    finally:
        over.set()
        watching.join()
    return run, sent


def version_here() -> str:
    """The version of Referee on a worker."""
    return __version__


def lost_worker(error: BaseException) -> bool:
    """Whether this is what Dask raises when workers died over and over with a stage."""
    return type(error).__name__ in ("KilledWorker", "CommClosedError", "CancelledError", "FutureCancelledError")


def _most_on_a_host(threads: Mapping[str, int]) -> int:
    """How many stages are played on one machine at once, on that with the most; ``threads`` of each worker, by address."""
    hosts: Counter[str] = Counter()
    for address, number in threads.items():
        hosts[_distributed().comm.get_address_host(address)] += number
    return max(hosts.values(), default=1)


def _check_versions(versions: Mapping[str, Any]) -> None:
    for worker, version in sorted(versions.items()):
        if version != __version__:
            raise LeagueError(
                f"worker {worker} has Referee {version}, this is {__version__}; install the same one on every worker"
            )


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise LeagueError(
            "a cluster needs Dask distributed, which is not installed; remedy: pip install 'allfours-referee[cluster]'"
        ) from None
    return distributed
