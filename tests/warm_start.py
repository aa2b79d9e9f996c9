"""Python bots that start at once: forked from a process that has imported what bots import. For tests of the check.

What a bot imports takes most of its start, and the check of a faulty bot and both replays start it six times.
A bot that is forked is like one that was launched: a process of its own, child of the referee, in its own session and
folder, with the same limits, environment, arguments and handles (tests/check/test_warm_start.py compares them). Only
``/proc/PID/environ`` shows that of the process it was forked from: it is known by its brand instead.
"""

import atexit
import json
import os
import re
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from referee.sandbox import launch

SERVER: Final = Path(__file__).with_name("warm_server.py")

_STEP: Final = re.compile(r"ulimit (?:-([HS]) )?-([a-z]) (\d+)")
_ENTER: Final = re.compile(r"echo 0 > (\S+/cgroup\.procs) \|\| exit 125")
_MOST: Final = 1 << 17
launched: Final = launch._spawn


class WarmBot:
    """What a ``BotProcess`` wants of a ``Popen``."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None


class WarmServer:
    """The process that bots are forked from, for one set of Python's own variables."""

    def __init__(self, variables: dict[str, str]) -> None:
        """``variables`` are all those whose name begins with PYTHON."""
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, str(SERVER), str(theirs.fileno())],
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **variables},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        atexit.register(self.close)

    def start(self, job: dict[str, Any], out: int) -> int:
        """Starts a bot whose output goes to ``out``; its process number. It is our child."""
        socket.send_fds(self._line, [json.dumps(job).encode()], [out])
        return int(self._line.recv(_MOST))

    def close(self) -> None:
        """Ends the server; bots that it has started are not its own."""
        self._line.close()
        self._process.wait()


@cache
def _server(variables: tuple[tuple[str, str], ...], _pid: int) -> WarmServer:
    return WarmServer(dict(variables))


def spawn(name: str, start: Any, *, terminal: bool) -> tuple[Any, int]:
    """In place of ``_spawn`` of ``referee.sandbox.launch``: a Python bot without a sandbox starts at once, any other as ever."""
    job = None if terminal else job_of(start)
    if job is None:
        return launched(name, start, terminal=terminal)
    variables = tuple(sorted((name, value) for name, value in start.environment.items() if name.startswith("PYTHON")))
    out, into = os.pipe()
    try:
        return WarmBot(_server(variables, os.getpid()).start(job, into)), out
    finally:
        os.close(into)


def job_of(start: Any) -> dict[str, Any] | None:
    """What the server has to know of a start, ``None`` for one that it is not for."""
    if sys.platform != "linux" or len(start.argv) < 6 or start.argv[:2] != ("/bin/sh", "-c"):
        return None
    steps, _, program, *arguments = start.argv[2:]
    script = start.folder / arguments[0]
    if program != sys.executable or script.suffix != ".py" or not script.is_file():
        return None
    return {
        "arguments": arguments,
        "environment": start.environment,
        "folder": str(start.folder),
        "groups": _ENTER.findall(steps),
        "limits": [step for step in _STEP.findall(steps) if step[1] != "w"],
        "script": str(script),
    }
