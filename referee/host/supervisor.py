"""Starts the three processes of a host, keeps what they say, starts again whoever dies, and ends them all.

A part that dies starts again after a pause that grows from a second to a minute, and is short again once a part has lived that long. It is never given up:
whatever was under way is on the disk. The first Ctrl-C drains, the second kills. If this process itself is killed, each part sees
its standard input end, and ends too.
"""

import contextlib
import json
import logging
import logging.handlers
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Final

from referee.host.engine import EngineOptions
from referee.host.home import HostHome
from referee.host.part import ALL_DONE, PARTS
from referee.league.play.stop_signals import on_stop_signals
from referee.report.sanitize import sanitize
from referee.sandbox.command import os_error_text
from referee.sandbox.orphans import end_orphans

SHORTEST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
HEALTHY_SECONDS: Final = 60.0
"""A part that has lived so long is well: its next pause is short."""

DRAIN_SECONDS: Final = 60.0
"""So long the parts have for a clean end."""

_LOOK_SECONDS: Final = 0.1
_LOG_BYTES: Final = 5 << 20
_LOGS: Final = 5
_LINE: Final = 8192
_IMPORTANT: Final = ("NOTICE ", "WARNING ", "ERROR ", "CRITICAL ")

Tell = Callable[[str], None]
"""Shows somebody at the terminal a line."""


def commands_of(home: HostHome, options: EngineOptions, *, remote: bool = False) -> dict[str, list[str]]:
    """How each part is started. ``remote``: with the one for remote bots."""
    base = [sys.executable, "-m", "referee.host.part"]
    given = {"engine": asdict(options), "remote": {"sandbox": options.sandbox}}
    return {
        part: [*base, part, str(home.definition), json.dumps(given.get(part, {}))]
        for part in PARTS
        if part != "remote" or remote
    }


class PartLog(logging.handlers.RotatingFileHandler):
    """What a part says, a file of five MiB and the five before it; several threads may write."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=_LOG_BYTES, backupCount=_LOGS, encoding="utf-8", errors="replace")
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))

    def line(self, text: str) -> None:
        """Adds a line with the time."""
        self.handle(logging.makeLogRecord({"msg": text}))

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the library's name
        """A full disk keeps nobody from playing on."""


class _Part:
    """A part of the host: its process while it lives, and when it starts again."""

    def __init__(self, name: str, command: Sequence[str], log: PartLog, tell: Tell, held: Sequence[int]) -> None:
        self.name, self.log = name, log
        self._command, self._tell, self._held = command, tell, held
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._started = 0.0
        self._pause = SHORTEST_PAUSE
        self.again = float("-inf")

    @property
    def pid(self) -> int | None:
        """Its process, if it lives."""
        return None if self._process is None else self._process.pid

    def start(self, now: float) -> None:
        """Starts it, in a group of its own: Ctrl-C comes to us alone."""
        self._started = now
        self._process = subprocess.Popen(  # noqa: S603  # our own interpreter
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            pass_fds=tuple(self._held),
        )
        self._reader = threading.Thread(
            target=self._read, args=(self._process.stdout,), name=f"reads-{self.name}", daemon=True
        )
        self._reader.start()

    def _read(self, stream: IO[bytes] | None) -> None:
        if stream is None:
            return
        with stream:
            for text in _lines(stream):
                self.log.line(text)
                if text.startswith(_IMPORTANT):
                    self._tell(f"{self.name}: {sanitize(text.partition(' ')[2], 600)}")

    def ended(self) -> int | None:
        """Its exit code, negative for a signal, if it has ended since the last time; what it had started is ended then too."""
        process = self._process
        if process is None:
            return None
        # Its number, which is that of its group, is nobody else's until it has been waited for.
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            return None
        self.signal(signal.SIGKILL)
        code = process.wait()
        if process.stdin is not None:
            process.stdin.close()
        if self._reader is not None:
            self._reader.join(1.0)
        self._process = None
        return code

    def signal(self, number: int, *, group: bool = True) -> None:
        """Sends it a signal, and to all in its group."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.killpg if group else os.kill)(self._process.pid, number)

    def put_off(self, now: float) -> float:
        """Decides when it starts again: in so many seconds."""
        if now - self._started >= HEALTHY_SECONDS:
            self._pause = SHORTEST_PAUSE
        pause, self._pause = self._pause, min(self._pause * 2, LONGEST_PAUSE)
        self.again = now + pause
        return pause


class HostSupervisor:
    """Runs the parts of a host. ``look`` is called now and then while they run; ``held``: open files that they share with us."""

    def __init__(
        self,
        home: HostHome,
        commands: Mapping[str, Sequence[str]],
        tell: Tell,
        *,
        look: Callable[[], None] = lambda: None,
        held: Sequence[int] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home, self._tell, self._look, self._clock = home, _unharmed(tell), look, clock
        self._parts = [
            _Part(name, command, PartLog(home.log(name)), self._tell, held) for name, command in commands.items()
        ]
        self._asked = 0

    def stop(self) -> None:
        """The first time the parts are asked to end, the second time they are killed. May be called from a signal handler."""
        self._asked += 1

    def run(self) -> None:
        """Runs the parts until ``stop`` is called, or the engine has played what it was asked for."""
        try:
            with on_stop_signals(self.stop):
                self._watch()
                self._drain()
        finally:
            self._kill()
            for part in self._parts:
                part.log.close()

    def _watch(self) -> None:
        """Starts the parts, and again whoever dies."""
        while not self._asked:
            for part in self._parts:
                if part.pid is None:
                    if self._clock() >= part.again:
                        self._start(part)
                    continue
                code = part.ended()
                if code is None:
                    continue
                if part.name == "engine" and code == ALL_DONE:
                    return
                self._put_off(part, f"has ended by itself ({_told(code)})")
            self._look()
            time.sleep(_LOOK_SECONDS)

    def _start(self, part: _Part) -> None:
        try:
            part.start(self._clock())
        except OSError as error:  # such as no memory left; it may be there again in a while
            self._put_off(part, f"cannot start ({os_error_text(error)})")

    def _put_off(self, part: _Part, what: str) -> None:
        """Starts a part again in a while, and says so."""
        told = f"{part.name} {what} and starts again in {part.put_off(self._clock()):.0f} s"
        part.log.line(f"ERROR {told}")
        self._tell(f"{told}; its log: {self._home.log(part.name)}")

    def _drain(self) -> None:
        """Asks all to end, and waits for it; kills them at the second Ctrl-C, or when it takes too long."""
        asked, until = max(self._asked, 1), self._clock() + DRAIN_SECONDS
        if self._asked:
            self._tell("Stopping: what is under way goes on with the next start. Ctrl-C once more stops at once.")
        for part in self._parts:
            part.signal(signal.SIGTERM, group=False)
        while self._alive():
            if self._asked > asked:
                return
            if self._clock() > until:
                self._tell(f"{', '.join(self._alive())} did not end in {DRAIN_SECONDS:.0f} s and is killed")
                return
            time.sleep(_LOOK_SECONDS)

    def _alive(self) -> list[str]:
        """The parts that have not ended."""
        return [part.name for part in self._parts if part.pid is not None and part.ended() is None]

    def _kill(self) -> None:
        """Kills whoever is left, with the bots of an engine that could not end them."""
        left = [part for part in self._parts if part.pid is not None]
        for part in left:
            part.signal(signal.SIGKILL)
        for part in left:
            while part.ended() is None:
                time.sleep(0.01)
        if left:
            end_orphans()


def _unharmed(tell: Tell) -> Tell:
    """A host goes on when its terminal is gone, and nobody reads what it says."""

    def told(line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            tell(line)

    return told


def _told(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


def _lines(stream: IO[bytes]) -> Iterator[str]:
    """The lines of a stream as they come, long ones in pieces."""
    while piece := stream.readline(_LINE):
        yield piece.decode("utf-8", "replace").rstrip()
