"""Workers elsewhere: blocks of whole sets through the scheduler of a Dask cluster.

Dask finds the workers, moves blocks to them, and gives the block of a worker that is lost to another one. Each block is
played in a process of its own on its worker. The store, the master's commitment, remote bots and all ratings stay in the main
process; a worker needs this version of Referee and the bots at the same paths.
"""

import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final, Self

from referee import __version__
from referee.league.league import LeagueError
from referee.league.plan import LeaguePlan
from referee.league.play.block import play_in_child
from referee.league.play.event_sink import Event
from referee.league.play.workers import Legs

PATIENCE_SECONDS: Final = 30
"""How long to wait for the scheduler, and for the first worker."""


class ClusterWorkers:
    """The workers of a Dask cluster. ``workers``: how many blocks it plays at once."""

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
            self.workers = sum(self._client.nthreads().values())
        except TimeoutError:
            self._client.close()
            raise LeagueError(f"the cluster at {address} has no workers; start some: dask worker {address}") from None
        except BaseException:
            self._client.close()
            raise
        self._name = f"referee-stop-{secrets.token_hex(8)}"
        self._stop = distributed.Event(self._name, client=self._client)
        self._executor = self._client.get_executor(pure=False)

    def __enter__(self) -> Self:
        return self

    def submit(self, _play: object, plan: LeaguePlan, legs: Legs) -> "Future[list[Event]]":
        """Has a worker play a block; how, is its business."""
        future: Future[list[Event]] = self._executor.submit(play_on_worker, plan, legs, self._name)
        return future

    def tell(self) -> None:
        """Tells the workers to stop. May be called from a signal handler, so it does not wait."""
        threading.Thread(target=self._stop.set, daemon=True).start()

    def kill(self) -> None:
        """As ``tell``: processes elsewhere are not ours to kill, but they end within moments."""
        self.tell()

    def __exit__(self, *_: object) -> None:
        try:
            self._stop.set()
            self._executor.shutdown(wait=False)
        finally:
            self._client.close()


def play_on_worker(plan: LeaguePlan, legs: Legs, stop: str) -> list[Event]:
    """A worker's task: plays a block in a child of its own. ``stop`` is the name of the event that ends it."""
    told = _distributed().Event(stop)
    return play_in_child(plan, legs, told.is_set)


def version_here() -> str:
    """The version of Referee on a worker."""
    return __version__


def lost_worker(error: BaseException) -> bool:
    """Whether this is what Dask raises when workers died over and over with a block."""
    return type(error).__name__ in ("KilledWorker", "CommClosedError", "CancelledError", "FutureCancelledError")


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
