"""One process of a host: ``python -m referee.host.part PART DEFINITION OPTIONS``. The supervisor starts it.

Everything that it has to say goes to the error stream, a line each that begins with its level; the supervisor keeps it. Its
standard input is a pipe that nobody writes to: when that ends, so has the supervisor, however that came, and the part ends too.
"""

import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from referee.host.home import HostHome

PARTS: Final = ("web", "engine", "jobs", "remote")
"""The parts of a host, each a process. The last is for hosts that have a door for remote bots."""

ORPHAN_SECONDS: Final = 5.0
"""So long a part has for a clean end when its supervisor is gone."""


ALL_DONE: Final = 10
"""The exit code of a part that ended by itself because it has nothing more to do. Told to end, it is 0; failed, 1."""


def main(words: Sequence[str]) -> int:
    """Runs a part until it is told to stop, or has nothing more to do. Returns its exit code; why it failed stands in its log."""
    name, definition, options = words
    # Threads of uvicorn and of the games may write at the same time: a line is one write.
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(levelname)s %(message)s")
    logging.addLevelName(25, "NOTICE")
    logging.raiseExceptions = False  # a supervisor that is gone reads nothing more
    home, stop = HostHome.beside(Path(definition)), threading.Event()
    _end_when_told(stop)
    _end_with_the_supervisor(stop)
    try:
        _serving(name, json.loads(options))(home, stop)
    except Exception:
        logging.getLogger(__name__).exception("%s has failed", name)
        return 1
    return 0 if stop.is_set() else ALL_DONE


def _serving(name: str, options: dict[str, object]) -> Callable[[HostHome, threading.Event], None]:
    """What a part does. Each loads its own libraries alone: the engine has no web server in its memory."""
    if name == "web":
        from referee.host.web import serve

        return lambda home, stop: serve(home, stop, lambda address: _tell_address(home, address))
    if name == "jobs":
        from referee.host.jobs import serve as serve_jobs

        return serve_jobs
    from referee.host.engine import EngineOptions, play

    made = EngineOptions(**options)  # type: ignore[arg-type]  # our own supervisor wrote it
    if name == "remote":
        from referee.host.remote_engine import play_remote

        return lambda home, stop: play_remote(home, stop, made)
    return lambda home, stop: play(home, stop, made)


def _tell_address(home: HostHome, address: str) -> None:
    """Keeps where the site listens, for whoever makes a link to it."""
    from referee.host.store import HostStore

    with HostStore.open(home.store) as store:
        store.tell("address", address)


def _end_when_told(stop: threading.Event) -> None:
    """The first signal asks for a clean end, the second ends the process at once."""

    def on_signal(_number: int, _frame: object) -> None:
        if stop.is_set():
            os._exit(1)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)


def _end_with_the_supervisor(stop: threading.Event) -> None:
    """Ends this process soon after the supervisor, whatever has ended that. Nothing that we start inherits the pipe."""
    pipe = os.dup(0)
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)

    def watch() -> None:
        while os.read(pipe, 1):
            pass
        stop.set()
        threading.Event().wait(ORPHAN_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="watches-supervisor", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
