"""Finds and ends all processes of one bot, and nothing else (Linux; elsewhere only what a process group can do).

A process belongs to a bot if it is the process that was launched, in its session, or a child of one that belongs; or
if it bears one of the bot's signs, which are inherited by all that it starts:

* its control group, where the referee can make one;
* its brand, a number of its own in place of a limit that Linux ignores. It outlives `exec`, a new session, the loss of
  the parent, an emptied environment and even death; only root can change it;
* its marker in the environment, by which a later run finds the bots of one that was killed.

No signal goes to anything else. Signals go through a pidfd whose owner was looked at again, so a process number that
the system has given away meanwhile is safe.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from referee.sandbox.control_group import ControlGroup

MARKER = "REFEREE_BOT_ID"
"""The environment variable that marks every process of a bot. Its value: namespace.pid.start of the referee, random."""

PR_SET_CHILD_SUBREAPER = 36

_PAGE = os.sysconf("SC_PAGE_SIZE")
_DEAD = frozenset("ZXx")
_SIGNS: dict[tuple[int, int], tuple[int | None, str | None]] = {}


class Process(NamedTuple):
    """One process as /proc shows it. `started` is in clock ticks after boot, `resident` in bytes."""

    pid: int
    parent: int
    session: int
    state: str
    started: int
    resident: int
    threads: int = 1

    @property
    def dead(self) -> bool:
        """Whether it has ended, and at most waits to be reaped."""
        return self.state in _DEAD


def process(pid: int) -> Process | None:
    """Process `pid`, or None if there is none (or no /proc)."""
    text = proc_file(f"/proc/{pid}/stat", one_piece=True)
    if not text:
        return None
    # The command's name is in parentheses and may itself hold spaces and parentheses.
    words = text[text.rindex(b")") + 2 :].split(None, 22)
    return Process(
        pid, int(words[1]), int(words[3]), words[0].decode(), int(words[19]), int(words[21]) * _PAGE, int(words[17])
    )


def processes() -> dict[int, Process]:
    """All processes that this one can see, by number; empty where there is no /proc."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    found = (process(int(name)) for name in names if name.isdigit())
    return {one.pid: one for one in found if one is not None}


def descendants() -> dict[int, Process]:
    """All processes that descend from this one, and itself: after `adopt_orphans` every process of its bots is among them.

    Much cheaper than `processes` on a machine with much else to do, and good for a look that is taken again and again:
    where a process ends during the look, the kernel may leave another one out. All processes where the kernel does not
    tell children, or where to go through the threads of all descendants would be dearer.
    """
    me = os.getpid()
    myself = process(me)
    if myself is None or not adopt_orphans() or not _tells_children():
        return processes()
    most = os.stat("/proc").st_nlink  # one for each process on the machine, and a few
    found, todo = {me: myself}, [myself]
    while todo:
        parent = todo.pop()
        for thread in _threads(parent):
            most -= 1
            for word in proc_file(f"/proc/{parent.pid}/task/{thread}/children").split():
                child = process(int(word))
                if child is not None and child.pid not in found:
                    most -= 1
                    found[child.pid] = child
                    todo.append(child)
        if most < 0:
            return processes()
    return found


@cache
def _tells_children() -> bool:
    return Path("/proc/self/task", str(os.getpid()), "children").exists()


def _threads(one: Process) -> Iterable[int | str]:
    """The threads of a process; a dead one has no children, so there is no use in its."""
    if one.dead:
        return ()
    if one.threads == 1:
        return (one.pid,)
    try:
        return os.listdir(f"/proc/{one.pid}/task")
    except OSError:
        return ()


def marker_of(pid: int) -> str | None:
    """The marker in the environment that process `pid` was started with; None without one, or if it is not ours to see."""
    wanted = f"{MARKER}=".encode()
    for entry in proc_file(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(wanted):
            return entry[len(wanted) :].decode("ascii", "replace")
    return None


def brand_of(pid: int) -> int | None:
    """The brand of process `pid`, dead or alive: its limit on file locks. None if there is none."""
    for line in proc_file(f"/proc/{pid}/limits").splitlines():
        if line.startswith(b"Max file locks"):
            soft = line.split()[3]
            return int(soft) if soft.isdigit() else None
    return None


class ProcessMarks(NamedTuple):
    """The signs that all processes of one bot inherit."""

    brand: int
    marker: str


def _signs(one: Process) -> tuple[int | None, str | None]:
    """The signs of a process. Each is asked only once: they are inherited, never gained."""
    key = (one.pid, one.started)
    if key not in _SIGNS:
        if len(_SIGNS) > 10_000:
            _SIGNS.clear()
        _SIGNS[key] = brand_of(one.pid), marker_of(one.pid)
    return _SIGNS[key]


def proc_file(path: str, *, one_piece: bool = False) -> bytes:
    """All of a file of /proc, in `one_piece` where the kernel writes it so; empty if it cannot be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        text = os.read(handle, _PAGE)
        if one_piece or not text:
            return text
        parts = [text]
        while part := os.read(handle, 65536):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(handle)


def send(target: Process, number: int) -> bool:
    """Sends a signal to exactly this process. False if it is gone, or is not ours to signal."""
    try:
        handle = os.pidfd_open(target.pid)
    except (AttributeError, OSError):
        # Gone, or a kernel before 5.3. There a number could change hands between the look and the signal, in theory.
        return _is_same(target) and _attempt(lambda: os.kill(target.pid, number))
    try:
        return _is_same(target) and _attempt(lambda: signal.pidfd_send_signal(handle, number))
    finally:
        os.close(handle)


def _is_same(target: Process) -> bool:
    now = process(target.pid)
    return now is not None and now.started == target.started


def _attempt(call: Callable[[], None]) -> bool:
    try:
        call()
    except OSError:
        return False
    return True


def adopt_orphans() -> bool:
    """Makes orphans of our bots our own children, so that they can be reaped wherever init does not. Linux only."""
    return sys.platform == "linux" and _adopt_orphans_of(os.getpid())


@cache
def _adopt_orphans_of(_pid: int) -> bool:
    """The kernel is asked once by each process: a child that was forked does not inherit it."""
    import ctypes

    return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class ProcessTree:
    """The processes of one bot: `root` was launched, with these `signs`, and with `group` as its control group."""

    def __init__(self, root: int, signs: ProcessMarks, group: ControlGroup | None = None) -> None:
        """Call it while `root` is not reaped yet, so that its number cannot be another's."""
        self.root = root
        self.signs = signs
        self.group = group
        self.known: dict[int, Process] = {}
        """All of its processes as of the last look, with dead ones that nobody has reaped yet."""
        self.swept: set[int] = set()
        """Those that `strike` found alive."""
        first = process(root)
        self._born = first.started if first else 0

    def look(self, everything: dict[int, Process] | None = None) -> list[Process]:
        """Finds the bot's processes in a picture of the system (a new one by default), dead ones included.

        The picture may hold this process and its `descendants` alone; what was known before is then looked at by itself.
        """
        everything = processes() if everything is None else everything
        for pid in self.known.keys() - everything.keys():
            one = process(pid)
            if one is not None:
                everything[pid] = one
        # A process of an earlier look counts only if it is still the same one, not a new owner of its number.
        known = {pid for pid, old in self.known.items() if pid in everything and everything[pid].started == old.started}
        known |= {one.pid for one in everything.values() if one.pid == self.root or self._bears_our_sign(one)}
        if self.group is not None:
            known |= self.group.members() & everything.keys()
        self.known = {pid: everything[pid] for pid in with_kin(known, everything)}
        return list(self.known.values())

    def _bears_our_sign(self, one: Process) -> bool:
        """Whether a process bears a sign of this bot. What is older than the root cannot."""
        if one.started < self._born:
            return False
        brand, marker = _signs(one)
        return self.signs.marker == marker or self.signs.brand == brand

    def strike(self) -> tuple[int, ...]:
        """Sends SIGKILL to all but the root, reaps the dead that are our children, and tells who is not gone yet.

        Call it until it returns nothing: what was started meanwhile is found the next time.
        """
        left = [one for one in self.look() if one.pid != self.root]
        alive = [one for one in left if not one.dead]
        self.swept.update(one.pid for one in alive)
        if self.group is not None:
            self.group.kill()
        for one in alive:
            send(one, signal.SIGKILL)
        return tuple(one.pid for one in left if not self._gone(one))

    def _gone(self, one: Process) -> bool:
        if one.parent == os.getpid():
            return reap(one.pid)
        # A dead child of one of ours comes to us, to be reaped, as soon as its parent is gone.
        return one.dead and one.parent not in self.known


def with_kin(pids: Iterable[int], everything: dict[int, Process]) -> set[int]:
    """`pids`, all that share a session with one of them, and the children of all these, children's children and so on.

    Nobody can enter a session from outside: who is in one with a process of a bot comes from that bot.
    """
    found = set(pids)
    sessions = {everything[pid].session for pid in found} - {os.getsid(0), 0}
    children: dict[int, list[int]] = {}
    for one in everything.values():
        children.setdefault(one.parent, []).append(one.pid)
        if one.session in sessions:
            found.add(one.pid)
    todo = list(found)
    while todo:
        more = [pid for pid in children.get(todo.pop(), ()) if pid not in found]
        found.update(more)
        todo += more
    return found


def reap(pid: int) -> bool:
    """Takes the status of a dead child. True if it is reaped now, or was never ours to reap."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def owner() -> str:
    """This process as the first part of a marker: its pid namespace, number and start; nothing else ever has the same."""
    namespace = "0"
    with contextlib.suppress(OSError):
        namespace = str(os.stat("/proc/self/ns/pid").st_ino)
    me = process(os.getpid())
    return f"{namespace}.{os.getpid()}.{me.started if me else 0}"
