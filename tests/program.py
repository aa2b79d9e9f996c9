"""The command line as a user types it, in a folder: a process of its own, most often forked from a loaded program."""

import atexit
import ctypes
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

REFEREE: Final = (sys.executable, "-m", "referee")

ROOT: Final = Path(__file__).parents[1]

PATIENCE: Final = 900.0
"""Seconds after which a test gives up what hangs, on a machine that is twenty times as busy as ours too. Nothing is measured by it."""

FIRST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[0])\n"
LAST: Final = "from referee.bot import run\nrun(lambda turn: turn.legal[-1])\n"
"""Two bots without chance."""


_DROP_FROM_BOUNDING_SET: Final = 24  # PR_CAPBSET_DROP
_MAY_READ_ALL: Final = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_CAPABILITIES_3: Final = 0x20080522  # _LINUX_CAPABILITY_VERSION_3


def without_roots_rights() -> None:
    """From now on this process, and what it starts, may read and write what its user may, though that be root."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0)
    rights = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same of those with higher numbers
    failed = any(libc.prctl(_DROP_FROM_BOUNDING_SET, right, 0, 0, 0) for right in _MAY_READ_ALL)
    failed = failed or libc.capget(header, rights)
    for place in range(3):
        rights[place] &= ~sum(1 << right for right in _MAY_READ_ALL)
    if failed or libc.capset(header, rights):
        raise OSError(ctypes.get_errno(), "root's right to read everything cannot be given up")


def referee(
    folder: Path, *arguments: str, text: str = "", ordinary: bool = False, forked: bool = True
) -> subprocess.CompletedProcess[str]:
    """Runs ``referee ARGUMENTS`` there, with ``text`` on its standard input, on a screen wide enough to wrap little.

    It is a process of its own, with its own folder, streams, environment and exit code; but one that finds its modules
    loaded, for it is forked from one that has them all, unless it is not to be ``forked``. How the program starts is
    for tests that run `REFEREE`.

    ``ordinary``: what its user has no right to read, it cannot read, though that be root.
    """
    if not forked:
        return subprocess.run(
            [*REFEREE, *arguments],
            cwd=folder,
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            env={**os.environ, "COLUMNS": "300"},
            preexec_fn=without_roots_rights if ordinary else None,
        )
    return run(folder, arguments, text, ordinary=ordinary)


def run(
    folder: Path, words: Sequence[str], text: str = "", *, ordinary: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs ``referee WORDS`` there, with these variables besides ours, and with ``text`` on its standard input."""
    started = Started(folder, words, text, ordinary=ordinary, **environment)
    printed, complained = started.communicate()
    code = started.returncode
    assert code is not None
    assert code != -signal.SIGKILL, f"killed, after {PATIENCE:.0f} seconds at the latest: {words}"
    return subprocess.CompletedProcess(["referee", *words], code, printed, complained)


class Started:
    """A command line that runs, as `subprocess.Popen` has it: in a child of a process that has loaded the program."""

    def __init__(
        self, folder: Path, words: Sequence[str], text: str = "", *, ordinary: bool = False, **environment: str
    ) -> None:
        self.returncode: int | None = None
        self._line, given = socket.socketpair()
        with given:
            socket.send_fds(_loaded(), [b"+"], [given.fileno()])
        self.pid = int(self._told())
        theirs, stdin = os.pipe()
        out, stdout = os.pipe()
        error, stderr = os.pipe()
        environment = os.environ | {"COLUMNS": "300"} | environment
        wanted = {"words": list(words), "folder": str(folder), "environment": environment, "ordinary": ordinary}
        request = json.dumps(wanted).encode() + b"\n"
        sent = socket.send_fds(self._line, [request], [theirs, stdout, stderr])
        for handle in (theirs, stdout, stderr):
            os.close(handle)
        self._line.sendall(request[sent:])
        self._reading = [_Reading(out), _Reading(error)]
        # Not all of them read their input.
        with suppress(BrokenPipeError), open(stdin, "w", encoding="utf-8") as typed:  # noqa: PTH123
            typed.write(text)

    def _told(self) -> bytes:
        """The next line that the process which has forked this one says of it."""
        line = b""
        while not line.endswith(b"\n"):
            more = self._line.recv(1)
            assert more, "the process that has loaded the program is gone"
            line += more
        return line

    def poll(self) -> int | None:
        """The exit code, negative if a signal ended it; ``None`` while it runs."""
        if self.returncode is None and select.select([self._line], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float = PATIENCE) -> int:
        """Waits for its end: the exit code. After so many seconds it is killed."""
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                os.kill(self.pid, signal.SIGKILL)
            self.returncode = os.waitstatus_to_exitcode(int(self._told()))
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Sends it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float = PATIENCE) -> tuple[str, str]:
        """Waits until it has ended, and nobody else holds its output: what it has printed, and its errors."""
        overdue = threading.Timer(timeout, self.send_signal, (signal.SIGKILL,))
        overdue.start()
        try:
            printed, complained = (stream.all() for stream in self._reading)
        except BaseException:
            self.send_signal(signal.SIGKILL)
            raise
        finally:
            overdue.cancel()
            overdue.join()
        self.wait(timeout)
        return printed, complained


class _Reading(threading.Thread):
    """Reads a stream to its end, beside the other one."""

    def __init__(self, handle: int) -> None:
        super().__init__(daemon=True)
        self._handle = handle
        self._text = ""
        self.start()

    def run(self) -> None:
        with open(self._handle, encoding="utf-8") as stream:  # noqa: PTH123
            self._text = stream.read()

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
