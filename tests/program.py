"""The command line as a user types it: a real process in a folder."""

import atexit
import ctypes
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

REFEREE: Final = (sys.executable, "-m", "referee")

ROOT: Final = Path(__file__).parents[1]

PATIENCE: Final = 900.0
"""Seconds after which a test gives up what hangs, on a machine that is twenty times as busy as ours too. Nothing is measured by it."""

FIRST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[0])\n"
LAST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])\n"
"""Two bots without chance."""


_DROP_FROM_BOUNDING_SET: Final = 24  # PR_CAPBSET_DROP
_MAY_READ_ALL: Final = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def without_roots_rights() -> None:
    """In a child, before its program: it may read and write what its user may, though that be root. For ``preexec_fn``."""
    if sys.platform == "linux" and os.geteuid() == 0:
        for right in _MAY_READ_ALL:
            if ctypes.CDLL(None, use_errno=True).prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "root's right to read everything cannot be given up")


def referee(folder: Path, *arguments: str, text: str = "", ordinary: bool = False) -> subprocess.CompletedProcess[str]:
    """Runs ``referee ARGUMENTS`` there, with ``text`` on its standard input, on a screen wide enough to wrap little.

    It is a process of its own, with its own folder, streams, environment and exit code; but one that finds its modules
    loaded, for it is forked from one that has them all. How the program starts is for tests that run `REFEREE`.

    ``ordinary``: what its user has no right to read, it cannot read, though that be root. This one is not forked.
    """
    if ordinary:
        return subprocess.run(
            [*REFEREE, *arguments],
            cwd=folder,
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, "COLUMNS": "300"},
            preexec_fn=without_roots_rights,
        )
    ours, given = socket.socketpair()
    reader, stdin = os.pipe()
    out, stdout = os.pipe()
    error, stderr = os.pipe()
    with ours, ours.makefile("rb") as answers:
        with given:
            socket.send_fds(_loaded(), [b"+"], [given.fileno()])
        pid = int(answers.readline())
        wanted = {
            "words": arguments,
            "folder": str(folder),
            "environment": {**os.environ, "COLUMNS": "300"},
        }
        request = json.dumps(wanted).encode() + b"\n"
        sent = socket.send_fds(ours, [request], [reader, stdout, stderr])
        for handle in (reader, stdout, stderr):
            os.close(handle)
        ours.sendall(request[sent:])
        overdue = threading.Timer(PATIENCE, os.kill, (pid, signal.SIGKILL))
        overdue.start()
        try:
            with open(out, encoding="utf-8") as told, open(error, encoding="utf-8") as complaints:  # noqa: PTH123
                reading = [_Reading(told), _Reading(complaints)]
                # Not all of them read their input.
                with suppress(BrokenPipeError), open(stdin, "w", encoding="utf-8") as typed:  # noqa: PTH123
                    typed.write(text)
                printed, complained = (stream.all() for stream in reading)
            code = os.waitstatus_to_exitcode(int(answers.readline()))
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            raise
        finally:
            overdue.cancel()
    assert code != -signal.SIGKILL, f"killed, after {PATIENCE:.0f} seconds at the latest: {arguments}"
    return subprocess.CompletedProcess(["referee", *arguments], code, printed, complained)


class _Reading(threading.Thread):
    """Reads a stream to its end, beside the other one."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__()
        self._stream = stream
        self._text = ""
        self.start()

    def run(self) -> None:
        self._text = self._stream.read()

    def all(self) -> str:
        self.join()
        return self._text


@functools.cache
def _loaded() -> socket.socket:
    """The caller's end of a process that has loaded the program: see tests/loaded.py."""
    ours, given = socket.socketpair()
    with given:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.loaded", str(given.fileno())],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[given.fileno()],
        )

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours
