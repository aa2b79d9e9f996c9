"""Whose a process is: told by its descent and its signs, never guessed."""

import os
import signal
import subprocess
import sys

import pytest

from referee.sandbox.launch import ResourceLimits
from referee.sandbox.limits import limited
from referee.sandbox.process_tree import MARKER, Process, brand_of, marker_of, process, processes, send, with_kin

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc: Linux only")

HELD = "import sys; print('up', flush=True); sys.stdin.read()"


def test_a_name_that_looks_like_the_rest_of_the_line() -> None:
    rename = f"import ctypes; ctypes.CDLL(None).prctl(15, b') Z 1 (x 9'); {HELD}"
    with subprocess.Popen([sys.executable, "-c", rename], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        one = process(child.pid)
        assert one is not None
        assert (one.pid, one.parent, one.session, one.dead) == (child.pid, os.getpid(), os.getsid(0), False)
        assert one.resident > 2**20
        assert processes()[child.pid].started == one.started
        child.communicate()
    assert process(child.pid) is None


def test_a_number_that_has_a_new_owner_is_safe() -> None:
    with subprocess.Popen([sys.executable, "-c", HELD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        one = process(child.pid)
        assert one is not None
        assert not send(one._replace(started=one.started - 1), signal.SIGKILL)
        assert child.poll() is None
        assert send(one, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        assert not send(one, signal.SIGKILL)


def test_brand_and_marker_are_read_from_any_process() -> None:
    argv = limited([sys.executable, "-c", HELD], ResourceLimits(), own_user=False, brand=123_456_789_012_345_678)
    with subprocess.Popen(argv, env={MARKER: "m.1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert (brand_of(child.pid), marker_of(child.pid)) == (123_456_789_012_345_678, "m.1")
        child.communicate()
    assert (brand_of(os.getpid()), marker_of(os.getpid())) == (None, None)


def made_up(*rows: tuple[int, int, int]) -> dict[int, Process]:
    """Processes from (number, parent, session)."""
    return {pid: Process(pid, parent, session, "S", 1, 0) for pid, parent, session in rows}


def test_kin_is_descent_and_session() -> None:
    everything = made_up(
        (1, 0, 1),
        (10, 1, 10),  # the bot
        (11, 10, 10),
        (12, 11, 12),  # a child with a session of its own
        (13, 1, 12),  # its orphan
        (14, 13, 14),
        (20, 1, 20),  # somebody else
        (21, 20, 20),
    )
    assert with_kin([10], everything) == {10, 11, 12}
    assert with_kin([10, 12], everything) == {10, 11, 12, 13, 14}
    assert with_kin([], everything) == set()


def test_our_own_session_makes_nobody_kin() -> None:
    ours = os.getsid(0)
    everything = made_up((os.getpid(), 1, ours), (50, os.getpid(), ours), (51, 50, ours), (60, 1, 0), (61, 2, 0))
    assert with_kin([50], everything) == {50, 51}
    assert with_kin([60], everything) == {60}
