"""Bots that take more than they may: the limit is named, and nothing is left."""

import signal
import sys

import pytest

from referee.sandbox.launch import Policy, ResourceLimits
from referee.umpire.faults import Fault
from tests.net.bot_processes import BotProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


def test_a_flood_of_output_ends_the_bot(bots_here: BotProcesses, sandbox: Policy) -> None:
    limits = ResourceLimits(output_total=256 * 1024, output_kept=4096)

    async def story() -> None:
        end, output = await bots_here.end_of("while True: print('x' * 99)", sandbox, limits)
        assert (end.fault, end.signal) == (Fault.RESOURCE_OUTPUT, signal.SIGKILL)
        assert end.sentence == "It wrote more than 262144 bytes of output, which is its limit."
        assert len(output) == 4096

    bots_here.run(story)
    assert (bots_here.logs / "bot.log").stat().st_size < 4 * 4096


def test_memory_without_end(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        end, _ = await bots_here.end_of(
            "held = []\nwhile True: held.append(b'x' * 2**22)", sandbox, ResourceLimits(memory_mib=64)
        )
        assert end.fault is Fault.RESOURCE_MEM
        assert "64 MiB" in end.sentence

    bots_here.run(story)


def test_memory_of_children_counts_together(bots_here: BotProcesses, sandbox: Policy) -> None:
    program = (
        "import os, time\nos.fork(), os.fork()\nheld = b'x' * (40 * 2**20)\nprint('up', flush=True)\ntime.sleep(3600)"
    )

    async def story() -> None:
        end, _ = await bots_here.end_of(program, sandbox, ResourceLimits(memory_mib=100))
        assert end.fault is Fault.RESOURCE_MEM
        assert end.signal == signal.SIGKILL

    bots_here.run(story)


def test_one_huge_request_for_memory(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        end, output = await bots_here.end_of("bytearray(2**40)", sandbox)
        assert (end.fault, end.code) == (Fault.RESOURCE_MEM, 1)
        assert "MemoryError" in output

    bots_here.run(story)


def test_processor_time(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        end, _ = await bots_here.end_of("while True: pass", sandbox, ResourceLimits(cpu_seconds=1))
        assert end.fault is Fault.RESOURCE_CPU
        assert end.sentence == "It used 1 s of processor time, which is its limit."

    bots_here.run(story)


def test_descriptors_without_end(bots_here: BotProcesses, sandbox: Policy) -> None:
    program = """
        held = []
        try:
            while True: held.append(open("/dev/null"))
        except OSError as error:
            print(len(held), error.strerror)
            raise SystemExit(7)
    """

    async def story() -> None:
        end, output = await bots_here.end_of(program, sandbox, ResourceLimits(descriptors=32))
        assert (end.fault, end.code) == (Fault.CRASH, 7)
        count, _, reason = output.strip().partition(" ")
        assert 16 < int(count) < 32
        assert reason == "Too many open files"

    bots_here.run(story)


def test_processes_without_end(bots_here: BotProcesses, sandbox: Policy) -> None:
    """A bomb of 40, each in a session of its own, where 16 are allowed."""
    program = """
        import os, time
        for _ in range(40):
            if os.fork() == 0:
                os.setsid()
                break
        time.sleep(3600)
    """

    async def story() -> None:
        end, _ = await bots_here.end_of(program, sandbox, ResourceLimits(processes=16))
        assert (end.fault, end.signal, end.survivors) == (Fault.RESOURCE_PIDS, signal.SIGKILL, ())
        assert "its limit is 16" in end.sentence

    bots_here.run(story)


def test_a_file_without_end(bots_here: BotProcesses, sandbox: Policy) -> None:
    program = """
        import os, signal, sys
        with open(os.environ["HOME"] + "/file", "wb", buffering=0) as file:
            try:
                for _ in range(64): file.write(b"x" * 2**20)
            except OSError as error:
                print(os.fstat(file.fileno()).st_size)
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            file.seek(2**25)
            file.write(b"x")
    """

    async def story() -> None:
        end, output = await bots_here.end_of(program, sandbox, ResourceLimits(disk_mib=2))
        assert int(output) == 2 * 2**20
        assert (end.fault, end.signal) == (Fault.RESOURCE_OUTPUT, signal.SIGXFSZ)
        assert end.sentence == "It wrote a file of more than 2 MiB, which is its limit."

    bots_here.run(story)
