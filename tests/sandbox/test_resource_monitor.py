"""The watch counts shared memory once, and looks at the whole machine only when it must."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest

import referee.sandbox.resource_monitor
from referee.sandbox.launch import Policy, ResourceLimits
from referee.sandbox.limits import TASKS_FACTOR
from referee.sandbox.process_tree import Process
from referee.sandbox.resource_monitor import Monitored, ResourceMonitor, judge, resident_bytes
from referee.umpire.faults import Fault
from tests.net.bot_processes import BotProcesses

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc: Linux only")

SHARES = """
    import os, time
    held = b"x" * (60 * 2**20)
    out, into = os.pipe()
    for _ in range(3):
        if os.fork() == 0:
            os.write(into, b"x")
            time.sleep(3600)
    for _ in range(3):
        os.read(out, 1)
    print("ready", flush=True)
    time.sleep(3600)
"""


@needs_linux
def test_memory_that_processes_share_counts_once(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        bot = await bots_here.ready(SHARES, sandbox)
        tree = bot._tree
        members = tree.look()
        resident = sum(one.resident for one in members)
        assert resident > 200 * 2**20
        assert (
            judge(Monitored(tree=tree, limits=ResourceLimits(memory_mib=200), stop=bot.stop), members, resident) is None
        )
        order = judge(Monitored(tree=tree, limits=ResourceLimits(memory_mib=40), stop=bot.stop), members, resident)
        assert order is not None
        assert order.fault is Fault.RESOURCE_MEM

    bots_here.run(story)


@needs_linux
def test_a_process_that_is_gone_uses_nothing() -> None:
    assert resident_bytes(2**22 + 1) == 0


def test_the_processes_of_the_sandbox_are_not_the_bots() -> None:
    members = [Process(pid, 1, 1, "S", 1, 0) for pid in range(10, 16)] + [Process(99, 1, 1, "Z", 1, 0)]
    limits = ResourceLimits(processes=4)
    tree: Any = SimpleNamespace(group=None)
    assert judge(Monitored(tree=tree, limits=limits, stop=lambda order: None, helpers=2), members, 0) is None
    order = judge(Monitored(tree=tree, limits=limits, stop=lambda order: None, helpers=1), members, 0)
    assert order is not None
    assert (order.fault, order.sentence) == (Fault.RESOURCE_PIDS, "It ran 5 processes at once; its limit is 4.")


def test_the_threads_of_the_sandbox_are_not_the_bots() -> None:
    """A bot that has as many threads as the kernel grants is within its limit."""
    members = [
        Process(10, 1, 1, "S", 1, 0),
        Process(11, 10, 1, "S", 1, 0),
        Process(12, 11, 1, "S", 1, 0, threads=TASKS_FACTOR),
    ]
    tree: Any = SimpleNamespace(group=None)
    limits = ResourceLimits(processes=1)
    assert judge(Monitored(tree=tree, limits=limits, stop=lambda order: None, helpers=2), members, 0) is None
    members[-1] = members[-1]._replace(threads=TASKS_FACTOR + 1)
    order = judge(Monitored(tree=tree, limits=limits, stop=lambda order: None, helpers=2), members, 0)
    assert order is not None
    assert (order.fault, order.sentence) == (Fault.RESOURCE_PIDS, "It ran 9 threads at once; its limit is 8.")


def test_the_machine_is_searched_only_when_something_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tasks = [100.0], [(50, 7000)]

    class Loop(asyncio.AbstractEventLoop):
        def time(self) -> float:
            return clock[0]

    monkeypatch.setattr(referee.sandbox.resource_monitor, "task_count", lambda: tasks[0])
    watch = ResourceMonitor(Loop())  # type: ignore[abstract]
    assert watch._is_stale()  # the first look
    clock[0] += 60
    assert not watch._is_stale()  # nothing new on the machine
    tasks[0] = (51, 7001)
    assert watch._is_stale()
    tasks[0] = (52, 7002)
    assert not watch._is_stale()  # so soon after the last look
    tasks[0] = (51 + 33, 7050)
    assert watch._is_stale()  # a bomb
    clock[0] += 1
    assert not watch._is_stale()
    tasks[0] = (50, 7051)
    assert watch._is_stale()
