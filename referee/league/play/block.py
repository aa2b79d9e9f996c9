"""A block of sets played in a process of its own, fed by its parent: for workers that are not ours to fork in.

The parent writes what is to be played to standard input and leaves it open; when it closes it, or dies, the games under way
are given up and the process ends. What happened goes to standard output.
"""

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

from referee.league.league import LeagueError
from referee.league.plan import LeaguePlan
from referee.league.play.event_sink import Event
from referee.league.play.workers import Legs, play_legs
from referee.sandbox.orphans import end_orphans

_LENGTH = 8
_LOOK_SECONDS = 0.5


def play_in_child(plan: LeaguePlan, legs: Legs, stopped: Callable[[], bool]) -> list[Event]:
    """Plays the legs of a block in a child, until ``stopped``, which is asked twice a second; returns what happened.

    Raises ``LeagueError`` if the child dies.
    """
    task = pickle.dumps((plan, legs))
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "referee.league.play.block"],
            stdin=subprocess.PIPE,
            stdout=out,
            start_new_session=True,
        )
        try:
            _feed(child, task, stopped)
        finally:
            child.kill()
            child.wait()
            end_orphans()  # its bots, if it was killed
        if child.returncode:
            raise LeagueError("a process that played a block died; nothing is lost, go on with: referee resume")
        out.seek(0)
        events: list[Event] = pickle.load(out)  # noqa: S301  # our own child wrote it
        return events


def _feed(child: "subprocess.Popen[bytes]", task: bytes, stopped: Callable[[], bool]) -> None:
    """Hands the task over and waits for the end of the child; tells it to stop if we are."""
    if child.stdin is None:
        raise TypeError("the child has no standard input")
    try:
        child.stdin.write(len(task).to_bytes(_LENGTH, "big") + task)
        child.stdin.flush()
        while child.poll() is None:
            if stopped() and not child.stdin.closed:
                child.stdin.close()
            try:
                child.wait(_LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
    except BrokenPipeError:
        child.wait()


def main() -> None:
    """The child."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not get between
    length = int.from_bytes(sys.stdin.buffer.read(_LENGTH), "big")
    plan, legs = pickle.loads(sys.stdin.buffer.read(length))  # noqa: S301  # our own parent wrote it
    stop = threading.Event()
    threading.Thread(target=_until_closed, args=(stop,), daemon=True).start()
    with out:
        pickle.dump(play_legs(plan, legs, stop.is_set), out)


def _until_closed(stop: threading.Event) -> None:
    while os.read(0, 1):
        continue
    stop.set()


if __name__ == "__main__":
    main()
