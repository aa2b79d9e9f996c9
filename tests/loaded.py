"""The program ``referee``, loaded once: each command line runs in a child of this process, which has nothing left to load.

    python -m tests.loaded SOCKET

``SOCKET`` is the number of an open Unix socket, the end of a caller. For each command line the caller sends along it a byte
with one end of another socket, its own. On that one the child reads a line of JSON, what to run, with the child's standard
streams; the caller reads the child's process id and, when it has ended, its exit status, as ``waitpid`` has it. When the
caller's end is closed, so that nobody will ask any more, children that still run are killed, and this process ends.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from tests.program import without_roots_rights

REQUEST: Final = 1 << 20
"""Bytes of the largest command line, with its environment, that a child reads."""

STREAMS: Final = ("stdin", "stdout", "stderr")


def load() -> None:
    """Imports whatever a command may import of Referee, and what that brings.

    The command line itself is forgotten again: each child loads it anew, for what it registers depends on what is asked for.
    """
    import referee

    for module in pkgutil.walk_packages(referee.__path__, "referee."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in list(sys.modules):
        if name == "referee.cli" or name.startswith("referee.cli."):
            del sys.modules[name]


def serve(caller: socket.socket) -> Callable[[], None] | None:
    """Forks a child for each command line. In the child: what it has to do. In this process, when nobody asks: None."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C on a terminal reaches the children too: they are for it
    running: dict[int, socket.socket] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(caller, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in selector.select()}
            if woken in ready:
                with suppress(BlockingIOError):
                    os.read(woken, 1 << 16)
                for pid in list(running):
                    ended, status = os.waitpid(pid, os.WNOHANG)
                    if ended:
                        with running.pop(pid) as asker, suppress(OSError):
                            asker.sendall(b"%d\n" % status)
            if caller.fileno() in ready:
                word, handles, _, _ = socket.recv_fds(caller, 1, 1)
                if not word:
                    break
                asker = socket.socket(fileno=handles[0])
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    for handle in (woken, wake):
                        os.close(handle)
                    caller.close()
                    for other in running.values():
                        other.close()
                    return lambda: become(asker)
                running[pid] = asker
    for pid in running:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return None


def become(asker: socket.socket) -> None:
    """Makes of this process, a child, the program that was asked for, and runs it as ``python -m referee`` does."""
    with asker:
        asker.sendall(b"%d\n" % os.getpid())
        text, handles, _, _ = socket.recv_fds(asker, REQUEST, 3)
        while not text.endswith(b"\n"):
            more = asker.recv(REQUEST)
            if not more:
                os._exit(1)  # who asked is gone
            text += more
    wanted: dict[str, Any] = json.loads(text)
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    for number, name in enumerate(STREAMS):
        old = getattr(sys, name)
        new = open(  # noqa: SIM115  # as the interpreter opens them; those of a terminal too
            number,
            "w" if number else "r",
            buffering=1 if name == "stderr" or os.isatty(number) else -1,
            encoding=old.encoding,
            errors=old.errors,
            closefd=False,
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    if wanted["ordinary"]:
        without_roots_rights()
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.chdir(wanted["folder"])
    tempfile.tempdir = None  # it may have been found out in another environment
    sys.path[0] = os.getcwd()  # noqa: PTH109
    sys.argv = ["referee", *wanted["words"]]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    runpy.run_module("referee", run_name="__main__", alter_sys=True)


def main() -> None:
    """Serves until nobody asks; in a child, runs its command line."""
    load()
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a child has the thread alone that forks it"
    child = serve(socket.socket(fileno=int(sys.argv[1])))
    if child is not None:
        child()


if __name__ == "__main__":
    main()
