"""A process of its own that plays one stage: all legs of some sets, one after another. It never touches the store.

Its parent writes what is to be played to standard input and leaves that open; when it closes it, or dies, the games under way
are given up and the process ends. What happens goes to standard output as it happens, in frames: so of a worker that is
killed, no game is lost that it has told of.
"""

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any, Final

from referee.league.league import LeagueError
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.event_sink import BufferSink, EntrantWithdrawn, Event, Pace
from referee.league.play.leg import Leg
from referee.league.play.run_figures import ProcessorTime
from referee.sandbox.orphans import end_orphans
from referee.sandbox.parent import end_with_parent

Legs = Sequence[Sequence[GamePlan]]
"""The games of a stage, leg by leg: no set is twice in one leg."""

Tell = Callable[[list[Event]], None]

_LENGTH: Final = 8


class WorkerProcess:
    """A child that plays one stage. ``play`` may be called once, from any thread; ``stop`` and ``kill`` from any other."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(  # noqa: S603  # ourselves
            [sys.executable, "-m", "referee.league.play.worker_process", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # the terminal's Ctrl-C is the main process's business
        )
        self._input = threading.RLock()  # a signal handler may come while the same thread holds it

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._child.pid

    def play(self, plan: LeaguePlan, legs: Legs, tell: Tell) -> None:
        """Plays the legs, and tells what happens, from this thread, as it happens. Returns when the child has ended.

        Raises what the child raised, or ``LeagueError`` if it died.
        """
        try:
            self._write(pickle.dumps((plan, legs)))
            error = self._told(tell)
            self._child.wait()
            if error is not None:
                raise error
            if self._child.returncode:
                raise LeagueError("a worker process died; nothing is lost, run it again")
        finally:
            self.kill()
            self._child.wait()
            self.stop()
            _pipe(self._child.stdout).close()
            if self._child.returncode:
                end_orphans()  # its bots, if it was killed

    def _write(self, task: bytes) -> None:
        with self._input, contextlib.suppress(BrokenPipeError, ValueError):
            pipe = _pipe(self._child.stdin)
            pipe.write(len(task).to_bytes(_LENGTH, "big") + task)
            pipe.flush()

    def _told(self, tell: Tell) -> BaseException | None:
        """Reads frames to the end; what the child raised is the last."""
        pipe = _pipe(self._child.stdout)
        while (frame := _read(pipe)) is not None:
            told = pickle.loads(frame)  # noqa: S301  # our own child wrote it
            if isinstance(told, BaseException):
                return told
            tell(told)
        return None

    def stop(self) -> None:
        """Tells it to give up the games under way, and to end."""
        with self._input, contextlib.suppress(OSError):
            _pipe(self._child.stdin).close()

    def kill(self) -> None:
        """Ends it at once."""
        self._child.kill()


def _pipe(pipe: "IO[bytes] | None") -> "IO[bytes]":
    if pipe is None:
        raise TypeError("the child has no such pipe")
    return pipe


def _read(pipe: "IO[bytes]") -> bytes | None:
    """The next frame; ``None`` at the end, or if it is cut short."""
    head = pipe.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    length = int.from_bytes(head, "big")
    frame = pipe.read(length)
    return frame if len(frame) == length else None


# In the child.


class FrameSink(BufferSink):
    """The event sink of a worker: sends home what happened, that of a fifth of a second together."""

    def __init__(self, send: Tell) -> None:
        super().__init__()
        self._send, self._pace = send, Pace()

    def tick(self) -> None:
        """Sends what there is, unless that was done a moment ago."""
        if self._pace.is_due(len(self.events)):
            self.flush()

    def flush(self) -> None:
        """Sends what there is."""
        events, self.events = self.events, []
        if events:
            self._send(events)
            self._pace.passed_on()


def play_legs(plan: LeaguePlan, legs: Legs, stopped: Callable[[], bool], tell: Tell) -> None:
    """Plays legs one after another until ``stopped``, which is asked a few times a second; tells what happens."""
    used, out = ProcessorTime(), set[str]()

    def heard(events: list[Event]) -> None:
        out.update(event.entrant for event in events if isinstance(event, EntrantWithdrawn))
        tell(events)

    sink = FrameSink(heard)

    async def play(games: Sequence[GamePlan]) -> None:
        stop = asyncio.Event()
        watch = asyncio.create_task(_relay(stop, stopped))
        await Leg(plan, games, sink, stop).play()
        watch.cancel()

    try:
        for games in legs:
            left = [game for game in games if not out & set(game.seats)]
            if left and not stopped():
                asyncio.run(play(left))
                sink.flush()
    finally:
        sink.took(used.taken())
        sink.flush()


async def _relay(stop: asyncio.Event, stopped: Callable[[], bool]) -> None:
    """Carries a stop from another thread into the event loop."""
    while not stopped():  # noqa: ASYNC110
        await asyncio.sleep(0.1)
    stop.set()


def main() -> None:
    """The child."""
    end_with_parent(int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not get between
    task = _read(sys.stdin.buffer)
    if task is None:
        return
    plan, legs = pickle.loads(task)  # noqa: S301  # our own parent wrote it
    stop = threading.Event()
    threading.Thread(target=_until_closed, args=(stop,), daemon=True).start()

    def send(told: Any) -> None:
        frame = pickle.dumps(told)
        out.write(len(frame).to_bytes(_LENGTH, "big") + frame)
        out.flush()

    try:
        play_legs(plan, legs, stop.is_set, send)
    except Exception as error:  # noqa: BLE001  # raised again in the parent
        send(_portable(error))


def _portable(error: Exception) -> Exception:
    """The error itself if it can travel, else what it says."""
    try:
        return pickle.loads(pickle.dumps(error)) and error  # noqa: S301  # our own
    except Exception:  # noqa: BLE001  # whatever it is that does not travel
        return LeagueError(f"a worker process failed: {type(error).__name__}: {error}")


def _until_closed(stop: threading.Event) -> None:
    while os.read(0, 1):
        continue
    stop.set()


if __name__ == "__main__":
    main()
