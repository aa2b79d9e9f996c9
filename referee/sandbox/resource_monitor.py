"""Looks at the memory and the processes of all running bots, a few times a second and for all of them together.

The memory of a bot with a control group is what the kernel says. Else it is added up: resident pages, each shared one
once, page tables, stacks of threads, and now and then what waits behind its descriptors.

A full look goes through the referee's own descendants, at some 10 us for each of their threads. It is only taken when
something new was started anywhere (the kernel tells by one number in /proc/loadavg); else a look costs 6 us for each
known process of a bot.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from referee.sandbox.exit_status import KillReason
from referee.sandbox.kernel_memory import buffer_bytes, inode_bytes, table_bytes
from referee.sandbox.limits import TASKS_FACTOR, ResourceLimits
from referee.sandbox.mounts import HOME
from referee.sandbox.process_tree import Process, ProcessTree, descendants
from referee.umpire.faults import Fault

PERIOD = 0.25
"""Seconds between two looks."""

FULL_PERIOD = 0.5
"""Seconds between two full looks, if processes come and go."""

BUFFER_TICKS = 4
"""Looks between two at what waits behind the descriptors of a bot that has no control group."""

JUMP = 8
"""So many more tasks on the machine than at the last full look bring the next one forward."""


@dataclass(slots=True, kw_only=True)
class Monitored:
    """One bot under watch.

    `stop` is called once, when a limit is passed. `helpers` processes of the tree are the sandbox's, not the bot's.
    `peak` is the most memory that was seen, in bytes, `buffers` what the last full look found behind its descriptors.
    """

    tree: ProcessTree
    limits: ResourceLimits
    stop: Callable[[KillReason], None]
    helpers: int = 0
    peak: int = 0
    buffers: int = 0


class ResourceMonitor:
    """The watch of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Idle until the first bot is added."""
        self._loop = loop
        self._bots: list[Monitored] = []
        self._timer: asyncio.TimerHandle | None = None
        self._newest = -1
        self._tasks = self._ticks = 0
        self._full_at = 0.0

    def add(self, bot: Monitored) -> None:
        """Watches `bot` until `remove`."""
        self._bots.append(bot)
        self._newest = -1
        if self._timer is None:
            self._timer = self._loop.call_later(PERIOD, self._tick)

    def remove(self, bot: Monitored) -> None:
        """Ends the watch of `bot`; no error if it is not watched."""
        self._bots = [one for one in self._bots if one is not bot]
        if not self._bots and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = self._loop.call_later(PERIOD, self._tick)
        self._ticks += 1
        everything = descendants() if self._is_stale() else None
        for bot in list(self._bots):
            members = bot.tree.look(everything) if everything is not None else list(bot.tree.known.values())
            counted = counts_memory(bot)
            if not counted and self._ticks % BUFFER_TICKS == 0:
                bot.buffers = buffers_of(bot, members)
            resident = 0 if counted else sum(_quick_bytes(one, fresh=everything is not None) for one in members)
            order = judge(bot, members, resident)
            if order is not None:
                self.remove(bot)
                bot.stop(order)

    def _is_stale(self) -> bool:
        """Whether it is time for a full look."""
        tasks, newest = task_count()
        due = self._loop.time() >= self._full_at + FULL_PERIOD or tasks > self._tasks + JUMP or self._newest == -1
        if newest == self._newest or not due:
            return False
        self._newest, self._tasks, self._full_at = newest, tasks, self._loop.time()
        return True


def judge(bot: Monitored, members: Iterable[Process], resident: int) -> KillReason | None:
    """The order to end a bot that has passed a limit, or None. `resident` is not looked at if the kernel counts for us."""
    alive = [one for one in members if not one.dead]
    limits = bot.limits
    count = len(alive) - bot.helpers
    if count > limits.processes:
        sentence = f"It ran {count} processes at once; its limit is {limits.processes}."
        return KillReason(Fault.RESOURCE_PIDS, sentence)
    used = _used_bytes(bot, alive, resident)
    bot.peak = max(bot.peak, used)
    if used > limits.memory_bytes:
        sentence = f"It used {used >> 20} MiB of memory; its limit is {limits.memory_mib} MiB."
        return KillReason(Fault.RESOURCE_MEM, sentence)
    if counts_memory(bot) and bot.tree.group is not None and bot.tree.group.was_starved():
        sentence = f"The kernel ended a process of it for want of memory; its limit is {limits.memory_mib} MiB."
        return KillReason(Fault.RESOURCE_MEM, sentence)
    threads = sum(one.threads for one in alive) - bot.helpers  # each of these has one
    if threads > TASKS_FACTOR * limits.processes:
        sentence = f"It ran {threads} threads at once; its limit is {TASKS_FACTOR * limits.processes}."
        return KillReason(Fault.RESOURCE_PIDS, sentence)
    return None


def counts_memory(bot: Monitored) -> bool:
    """Whether the kernel counts the memory of this bot for us."""
    return bot.tree.group is not None and bot.tree.group.counts_memory


def _used_bytes(bot: Monitored, alive: Sequence[Process], resident: int) -> int:
    """The memory of a bot: by the kernel's count, or by ours, in which shared pages count once only near the limit."""
    if counts_memory(bot) and bot.tree.group is not None:
        return bot.tree.group.used_bytes()
    if resident + bot.buffers <= bot.limits.memory_bytes:
        return resident + bot.buffers
    # Pages that a bot's processes share were counted once for each. Now it is worth 0.1-1 ms to count them once.
    return sum(own_bytes(one.pid) + table_bytes(one.pid)[0] for one in alive) + bot.buffers


def buffers_of(bot: Monitored, members: Iterable[Process]) -> int:
    """What the kernel holds for a bot behind its descriptors, and for the files of its own file system in memory."""
    alive = [one.pid for one in members if not one.dead]
    buffers, files = buffer_bytes(alive)
    mapped = sum(table_bytes(pid)[1] for pid in alive)  # is among the resident pages already
    inodes = inode_bytes(alive, (HOME, "/dev/shm")) if bot.helpers else 0
    return buffers + max(files - mapped, 0) + inodes


def _quick_bytes(one: Process, *, fresh: bool) -> int:
    return (one.resident if fresh else resident_bytes(one.pid)) + table_bytes(one.pid)[0]


def task_count() -> tuple[int, int]:
    """How many tasks (processes and threads) the machine runs, and the number of the newest one."""
    try:
        with open("/proc/loadavg", "rb") as file:
            words = file.read().split()
    except OSError:
        return 0, 0
    return int(words[3].partition(b"/")[2]), int(words[4])


def resident_bytes(pid: int) -> int:
    """The resident memory of a process, 0 if it is gone."""
    try:
        with open(f"/proc/{pid}/statm", "rb", buffering=0) as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def own_bytes(pid: int) -> int:
    """The memory of a process where a page shared by n processes counts as 1/n; the resident memory if not to be had."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resident_bytes(pid)


_WATCHES: WeakKeyDictionary[asyncio.AbstractEventLoop, ResourceMonitor] = WeakKeyDictionary()


def watch() -> ResourceMonitor:
    """The watch of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _WATCHES:
        _WATCHES[loop] = ResourceMonitor(loop)
    return _WATCHES[loop]
