"""Ctrl-C ends a run of the tests, with its workers and whatever they have started."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from referee.sandbox.process_tree import processes
from tests.program import PATIENCE, ROOT

SUITE = """
import subprocess
import sys
import time
from pathlib import Path

import pytest


@pytest.mark.parametrize("number", range(20))
def test_waits(number):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]):
        with Path({begun!r}).open("w") as begun:
            begun.write("x")
        time.sleep(3600)
"""


def in_session(leader: int) -> list[int]:
    """The processes of a session that still run."""
    found = []
    for one in processes().values():
        try:
            if not one.dead and os.getsid(one.pid) == leader:
                found.append(one.pid)
        except ProcessLookupError:
            continue
    return found


@pytest.mark.parametrize("ignored", [False, True], ids=["on a terminal", "in the background of a script"])
def test_ctrl_c_ends_a_run(tmp_path: Path, ignored: bool) -> None:
    """The whole foreground hears it, as on a terminal; what a script starts in the background is told to ignore it."""
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "conftest.py").read_bytes())
    begun = tmp_path / "begun"
    (tmp_path / "test_slow.py").write_text(SUITE.format(begun=str(begun)), "utf-8")
    os.mkfifo(begun)
    words = ["-n", "2", "--dist", "worksteal", "-W", "ignore", "-o", "markers=needs(tool)", "-o", f"pythonpath={ROOT}"]
    background = ["bash", "-c", 'trap "" INT; exec "$@"', "bash"] if ignored else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "REFEREE_"))}
    with (
        begun.open("r+b", buffering=0) as fifo,  # to write too: so that it has no end when a test has closed it
        subprocess.Popen(
            [*background, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words, tmp_path],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as run,
    ):
        try:
            ended = os.pidfd_open(run.pid)
            for _ in range(2):  # each of the two workers is in a test
                ready, _, _ = select.select([fifo, ended], [], [], PATIENCE)
                assert ready == [fifo], run.communicate(timeout=PATIENCE)[0]
                fifo.read(1)
            os.close(ended)
            os.killpg(run.pid, signal.SIGINT)
            told, _ = run.communicate(timeout=PATIENCE)  # to the end of its output, which all that it started inherits
            left = in_session(run.pid)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
    assert run.returncode == pytest.ExitCode.INTERRUPTED == 2, told
    assert "KeyboardInterrupt" in told
    assert "INTERNALERROR" not in told
    assert left == []
