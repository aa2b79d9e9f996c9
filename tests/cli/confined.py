"""Commands of ``referee`` run in a process that may take little memory and little processor time.

    with Confined() as confined:
        code, output = confined.run(folder, ["verify", "league.sqlite"])

One process loads the program; each command runs in a child of it, so that many cost little.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from types import TracebackType
from typing import Final, Self

MEMORY: Final = 1 << 30
"""Bytes that a command may take beyond those of the loaded program."""

PROCESSOR_SECONDS: Final = 60
"""Processor time after which the system ends a command; it does not run while the machine does something else."""


class Confined:
    """The loaded program."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.confined"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "300"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def run(self, folder: Path, words: list[str]) -> tuple[int, str]:
        """The exit code of a command in a folder, negative if a signal ended it, and all that it printed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([str(folder), words]) + "\n")
            self._process.stdin.flush()
            code, output = json.loads(self._process.stdout.readline())
        except BaseException:  # an answer that comes later would be taken for that to the next command
            self._process.kill()
            raise
        return code, output


def _used() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()


def _child(folder: str, words: list[str], output: int) -> None:
    """Runs a command; never returns."""
    from referee import cli

    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(folder)
    most = _used() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
    code = 0
    sys.argv = ["referee", *words]
    try:
        cli.main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException:  # noqa: BLE001  # whatever it is, Python would print it too
        traceback.print_exc()
        code = 1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _serve() -> None:
    from referee import cli

    cli.register()
    for line in sys.stdin:
        folder, words = json.loads(line)
        with tempfile.TemporaryFile() as output:
            child = os.fork()
            if not child:
                _child(folder, words, output.fileno())
            _, status = os.waitpid(child, 0)
            output.seek(0)
            told = output.read().decode(errors="replace")
        sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(status), told]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    _serve()
