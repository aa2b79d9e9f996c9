"""What a bot uses of the machine, and how long it waits for a processor."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from referee.sandbox import processor_time as starvation
from referee.sandbox.process_tree import Process, process
from referee.sandbox.processor_time import UsageMeter

BUSY = "while True: pass"
SLEEPS = Process(0, 0, 0, "S", 0, 0)
IDLE = "import sys; print('up', flush=True); sys.stdin.read()"


class Tree:
    """A tree of one process."""

    def __init__(self, root: int) -> None:
        self.root, self.known = root, dict[int, Any]()


@contextlib.contextmanager
def processes(*programs: str) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Python programs that share one processor."""
    started = [
        subprocess.Popen(
            ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for program in programs
    ]
    try:
        yield started
    finally:
        for one in started:
            one.kill()
            one.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's figures are those of Linux")
def test_who_wants_to_run_and_may_not_is_starved_and_who_sleeps_is_not() -> None:
    """Six busy programs and a sleeper share a processor: each gets a sixth. However busy the machine is besides."""
    with processes(IDLE, *[BUSY] * 6) as (idle, busy, *_):
        assert idle.stdout is not None
        idle.stdout.readline()
        while (process(idle.pid) or SLEEPS).state != "S":  # it has said so, and has still to begin
            time.sleep(0.01)
        meters = {one: UsageMeter(Tree(one.pid)) for one in (idle, busy)}  # type: ignore[arg-type]
        starved = dict.fromkeys(meters, 0)
        give_up = time.monotonic() + 60
        for meter in meters.values():
            meter.look(time.monotonic_ns() // 1000)
        while starved[busy] < 300_000 and time.monotonic() < give_up:
            time.sleep(0.05)
            for one, meter in meters.items():
                starved[one] += meter.look(time.monotonic_ns() // 1000)
        assert starved[busy] >= 300_000
        assert starved[idle] < 30_000
        assert meters[busy].recent[-1].cpu_us > 0
        assert meters[busy].recent[-1].processes == 1


class Figures:
    """Made-up figures of the kernel: by thread, nanoseconds run and waited."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.threads: dict[str, tuple[int, int]] = {}
        monkeypatch.setattr(starvation, "_names", lambda _folder: list(self.threads))
        monkeypatch.setattr(starvation, "scheduled", lambda _pid, thread: self.threads[thread])
        monkeypatch.setattr(starvation, "_figures", lambda _pid: (0, 0))
        monkeypatch.setattr(starvation, "_moved", lambda _pid: 0)

    def of(self, *threads: tuple[float, float]) -> None:
        """Sets them, in seconds."""
        self.threads = {str(tid): (int(ran * 1e9), int(waited * 1e9)) for tid, (ran, waited) in enumerate(threads, 1)}


def looked(
    monkeypatch: pytest.MonkeyPatch, before: list[tuple[float, float]], after: list[tuple[float, float]]
) -> float:
    """Seconds without a processor, within a second."""
    figures = Figures(monkeypatch)
    meter = UsageMeter(Tree(1))  # type: ignore[arg-type]
    figures.of(*before)
    meter.look(0)
    figures.of(*after)
    return meter.look(1_000_000) / 1e6


@pytest.mark.parametrize(
    ("after", "starved"),
    [
        ([(0.0, 0.0)], 0.0),  # it slept
        ([(1.0, 0.0)], 0.0),  # it ran
        ([(0.06, 0.94)], 0.88),  # one of seventeen on a processor
        ([(0.02, 0.9), (0.02, 0.95)], 0.91),  # threads: the one that waited longest, less what all got
        ([(0.5, 0.5)] * 4, 0.0),  # it filled two processors itself
        ([(0.03, 0.97)] * 60, 0.0),  # sixty threads beside thirty programs of others
        ([(0.003, 0.99)] * 60, 0.0),  # which wait for one another, too, where the kernel shares by sessions
        ([(0.01, 0.99)] * 16, 0.83),  # a runtime with many threads that starts beside very many programs
        ([(0.0, 7.0)], 1.0),  # a wait from before ends now: no more than has passed
    ],
)
def test_waiting_counts_less_what_the_bot_got(
    monkeypatch: pytest.MonkeyPatch, after: list[tuple[float, float]], starved: float
) -> None:
    assert looked(monkeypatch, [(0.0, 0.0)] * len(after), after) == pytest.approx(starved, abs=1e-5)


def test_threads_that_come_and_go_are_no_riddle(monkeypatch: pytest.MonkeyPatch) -> None:
    assert looked(monkeypatch, [(5.0, 5.0), (9.0, 9.0)], [(5.1, 5.5)]) == pytest.approx(0.4, abs=1e-5)


def test_of_a_process_that_is_gone_nothing_is_said() -> None:
    with processes("") as (gone,):
        gone.wait()
        meter = UsageMeter(Tree(gone.pid))  # type: ignore[arg-type]
        assert (meter.look(0), meter.look(10**6)) == (0, 0)
        meter.close()
        assert meter.look(2 * 10**6) == 0
