"""The process that Python bots of the tests are forked from: see tests/warm_start.py. It has imported what they import.

A program by itself, which knows nothing of the referee but what a bot knows.
"""

import importlib
import json
import os
import random
import resource
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final

IMPORTED: Final = (
    "asyncio",
    "concurrent.futures",
    "dataclasses",
    "grpc",
    "grpc.aio",
    "referee.bot",
    "referee.bot._dial",
    "referee.bot._unix_stream",
)
MOST: Final = 1 << 17
"""Bytes of a job."""

LIMITS: Final = {
    "c": (resource.RLIMIT_CORE, 512),
    "d": (resource.RLIMIT_DATA, 1024),
    "f": (resource.RLIMIT_FSIZE, 512),
    "n": (resource.RLIMIT_NOFILE, 1),
    "t": (resource.RLIMIT_CPU, 1),
    "x": (10, 1),  # file locks, which Linux ignores: the brand
}
"""By the letter that ``ulimit`` has for it: the limit, and its unit."""


def serve(line: socket.socket) -> dict[str, Any]:
    """Forks a process for every job; returns in each of these, with its job, ready to become the bot."""
    while True:
        data, handles, _, _ = socket.recv_fds(line, MOST, 1)
        if not data:
            sys.exit()
        job: dict[str, Any] = json.loads(data)
        told, tells = os.pipe()
        between = os.fork()
        if between == 0:
            if os.fork() == 0:
                # Before anybody knows of it: what ends a bot ends its session, and must not find it in ours.
                os.setsid()
                os.write(tells, str(os.getpid()).encode())
                line.close()
                os.close(told)
                os.close(tells)
                become(job, handles[0])
                return job
            os._exit(0)
        os.close(tells)
        os.waitpid(between, 0)  # now the bot is an orphan, and with that a child of the referee
        line.send(os.read(told, 64))
        for handle in (told, *handles):
            os.close(handle)


def become(job: dict[str, Any], out: int) -> None:
    """Takes on handles, groups, limits, folder and environment of the bot, in the order of a launch."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for handle, place in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(handle, place)
    os.close(nothing)
    os.close(out)
    os.chdir(job["folder"])
    for group in job["groups"]:
        Path(group).write_text("0", "utf-8")
    for which, letter, value in job["limits"]:
        limit, unit = LIMITS[letter]
        soft, hard = resource.getrlimit(limit)
        wanted = int(value) * unit
        resource.setrlimit(limit, (soft if which == "H" else wanted, hard if which == "S" else wanted))
    os.environ.clear()
    os.environ.update(job["environment"], PWD=str(Path.cwd()))  # as the shell does that sets the limits


def run(job: dict[str, Any]) -> None:
    """Runs the bot's script as Python does: as ``__main__``, its folder first on the path."""
    random.seed()
    path = job["script"]
    sys.argv = job["arguments"]
    sys.path[0] = str(Path(path).parent)
    main = ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    exec(compile(Path(path).read_bytes(), path, "exec"), main.__dict__)  # noqa: S102  # the bot


if __name__ == "__main__":
    for module in IMPORTED:
        importlib.import_module(module)
    run(serve(socket.socket(fileno=int(sys.argv[1]))))
