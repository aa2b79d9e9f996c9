"""Whose a process is: told by its descent and its signs, never guessed."""

import os
import signal
import subprocess
import sys

import pytest

from referee.sandbox import process_tree
from referee.sandbox.launch import ResourceLimits
from referee.sandbox.limits import limited
from referee.sandbox.process_tree import (
    MARKER,
    Process,
    ProcessMarks,
    ProcessTree,
    brand_of,
    descendants,
    marker_of,
    process,
    processes,
    send,
    with_kin,
)

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


FAMILY = f"""
import subprocess, sys, threading
def start(code):
    return subprocess.Popen([sys.executable, "-c", code], stdin=sys.stdin, stdout=subprocess.PIPE, start_new_session=True)
held, kept = {HELD!r}, []
threading.Thread(target=lambda: (kept.append(start(held)), threading.Event().wait()), daemon=True).start()
while not kept: pass
leaves = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', sys.argv[1]], stdout=subprocess.DEVNULL).pid, flush=True)"
orphan = subprocess.run([sys.executable, "-c", leaves, "import sys; sys.stdin.read()"], stdout=subprocess.PIPE, text=True)
print(kept[0].pid, int(orphan.stdout), flush=True)
sys.stdin.read()
"""


def test_our_descendants_are_those_of_every_thread_and_all_orphans_of_these() -> None:
    with subprocess.Popen([sys.executable, "-c", FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert descendants().keys() >= {os.getpid(), child.pid}
        of_a_thread, orphan = map(int, child.stdout.readline().split())
        ours = descendants()
        assert ours.keys() >= {os.getpid(), child.pid, of_a_thread, orphan}
        assert ours[orphan].parent == os.getpid()
        assert 1 not in ours
        assert os.getppid() not in ours
        child.communicate()
        for one in (orphan, of_a_thread):  # that one too has lost its parent
            os.waitpid(one, 0)
    assert not {child.pid, of_a_thread, orphan} & descendants().keys()


def test_where_the_kernel_tells_no_children_all_processes_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "_tells_children", lambda: False)
    assert descendants().keys() >= {os.getpid(), os.getppid()}


def test_a_look_misses_no_process_that_was_known_before() -> None:
    with subprocess.Popen([sys.executable, "-c", HELD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        tree = ProcessTree(child.pid, ProcessMarks(1, "m.2"))
        assert [one.pid for one in tree.look()] == [child.pid]
        assert [one.pid for one in tree.look({})] == [child.pid]
        child.communicate()
    assert tree.look({}) == []


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
