"""What a bot uses of the machine, and how long it waited in vain for a processor: the kernel's own figures (Linux).

A bot that has no processor is not late. The kernel counts for every thread how long it was able to run and was not let
(`/proc/PID/task/TID/schedstat`); a thread that sleeps does not wait. What a bot did use is taken off again: one that fills
the processors itself, or has very many threads at work, was not starved by others. Elsewhere than on Linux nothing is known, and nobody is excused.
"""

import os
from collections import deque
from typing import Final, NamedTuple

from referee.sandbox.process_tree import Process, ProcessTree, proc_file

PERIOD: Final = 0.25
"""Seconds between two looks."""

_KEPT: Final = 16
_AT_WORK_NS: Final = 1_000_000
CROWD_A_PROCESSOR: Final = 4
"""Threads at work a processor; a bot with more of them crowds itself out, and is not starved by others."""

_CROWD: Final = 16
_TICK_US: Final = 1_000_000 // os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    """What a bot had used at a time: microseconds of processor, resident bytes, bytes read and written, processes.

    ``running``: how many of its threads had run since the look before. ``waited_us``: how long it was able to run, and was
    not let.
    """

    at_us: int
    cpu_us: int
    resident: int
    moved: int
    processes: int
    running: int = 0
    waited_us: int = 0


class UsageMeter:
    """The figures of one bot's processes. ``look`` now and then; ``recent`` holds the last looks, the newest last."""

    def __init__(self, tree: ProcessTree) -> None:
        """``tree`` finds the processes."""
        self._tree = tree
        self._threads: dict[int, tuple[int, int]] = {}
        self._cpu_us = self._counted_us = self._waited_us = 0
        self._last_us: int | None = None
        self.recent: deque[Usage] = deque(maxlen=_KEPT)
        self.closed = False

    def close(self) -> None:
        """Its first process has ended: its figures stay as they are."""
        self.closed = True

    def refresh(self, everything: dict[int, Process]) -> None:
        """Finds its processes in a picture of the system, for a look that must not miss those that have just begun."""
        if not self.closed:
            self._tree.look(everything)

    def look(self, now_us: int) -> int:
        """Reads the figures; returns how many microseconds since the last look the bot lacked a processor."""
        since = now_us - (self._last_us if self._last_us is not None else now_us)
        self._last_us = now_us
        if self.closed:
            return 0
        waited = ran = counted = resident = moved = alive = running = 0
        threads: dict[int, tuple[int, int]] = {}
        for pid in self._pids():
            figures = _figures(pid)
            if figures is None:
                continue
            alive += 1
            counted, resident, moved = counted + figures[0], resident + figures[1], moved + _moved(pid)
            for thread in _names(f"/proc/{pid}/task"):
                run_ns, wait_ns = scheduled(pid, thread)
                before = self._threads.get(int(thread), (0, 0))
                threads[int(thread)] = run_ns, wait_ns
                waited = max(waited, wait_ns - before[1])
                ran += max(run_ns - before[0], 0)
                running += run_ns - before[0] > _AT_WORK_NS
        self._threads = threads
        # The one is exact and misses what ended meanwhile; the other counts ticks, and with reaped children all they used.
        # What an orphan had used goes with it: then that sum falls, and only what comes after counts.
        self._cpu_us += max(counted - self._counted_us, ran // 1000, 0)
        self._counted_us = counted
        self._waited_us += min(waited // 1000, since)
        self.recent.append(Usage(now_us, self._cpu_us, resident, moved, alive, running, self._waited_us))
        if running > max(_CROWD, CROWD_A_PROCESSOR * (os.cpu_count() or 1)):
            return 0
        return max(min(waited // 1000, since) - ran // 1000, 0)

    def _pids(self) -> list[int]:
        known = [pid for pid, one in self._tree.known.items() if not one.dead]
        return known or [self._tree.root]


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def scheduled(pid: int, thread: str) -> tuple[int, int]:
    """Nanoseconds that a thread ran, and that it waited while it was able to run; (0, 0) if it is gone, or nobody tells."""
    words = proc_file(f"/proc/{pid}/task/{thread}/schedstat", one_piece=True).split()
    return (int(words[0]), int(words[1])) if len(words) > 1 else (0, 0)


def _figures(pid: int) -> tuple[int, int] | None:
    """Microseconds of processor that a process and its reaped children used, and its resident bytes; None if it is gone."""
    text = proc_file(f"/proc/{pid}/stat", one_piece=True)
    if not text:
        return None
    words = text[text.rindex(b")") + 2 :].split()  # the name in parentheses may hold anything
    return sum(map(int, words[11:15])) * _TICK_US, int(words[21]) * _PAGE


def _moved(pid: int) -> int:
    """Bytes that a process had brought from and to a disk; 0 if that is not ours to see."""
    words = proc_file(f"/proc/{pid}/io", one_piece=True).split()
    return sum(int(words[place + 1]) for place, word in enumerate(words) if word in (b"read_bytes:", b"write_bytes:"))
