"""Why the referee stood still, and whether a bot made it. The figures are made up; the system's own are only looked at."""

import sys
import time
from collections import deque
from typing import Any

import pytest

from referee.net import stalls
from referee.net.stalls import PressureSample, Stall, cause_of, guilty_of, waits
from referee.sandbox.processor_time import Usage
from referee.umpire.faults import Fault

MIB = 1 << 20
NOTHING = PressureSample(0, 0, 0, 0, 0, 0)


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls.os, "cpu_count", lambda: 2)


class Meter:
    """What a bot used, look by look."""

    def __init__(self, *looks: Usage) -> None:
        self.recent = deque(looks)


def used(cpu_s: float = 0, grown_mib: int = 0, moved_mib: int = 0, running: int = 1) -> list[Any]:
    """A bot that used so much between 0 and 1 s."""
    before = Usage(0, 10_000_000, 50 * MIB, 7 * MIB, 3, 1)
    after = Usage(1_000_000, 10_000_000 + int(cpu_s * 1e6), (50 + grown_mib) * MIB, (7 + moved_mib) * MIB, 3, running)
    return [Meter(before, after)]


@pytest.mark.parametrize(
    ("after", "cause"),
    [
        (PressureSample(1_000_000, 260_000, 0, 0, 0, 0), "processor"),
        (PressureSample(1_000_000, 200_000, 260_000, 0, 0, 0), "memory"),
        (PressureSample(1_000_000, 0, 0, 400_000, 0, 0), "disk"),
        (PressureSample(1_000_000, 200_000, 200_000, 200_000, 0, 0), ""),  # its own doing: nothing explains half of it
        (NOTHING, ""),
    ],
)
def test_the_cause_is_what_was_waited_for_during_half_of_the_stall(after: PressureSample, cause: str) -> None:
    assert cause_of(NOTHING, after, 500_000) == cause


def guilty(cause: Any, busy_s: float = 2.0, paged_mib: int = 0, **bots: list[Any]) -> dict[str, tuple[Fault, str]]:
    after = PressureSample(1_000_000, 500_000, 500_000, 500_000, int(busy_s * 1e6), paged_mib * MIB)
    return guilty_of(cause, NOTHING, after, 500_000, bots)


def test_more_threads_than_processors_and_half_of_all_processor_time_make_a_bot_guilty() -> None:
    found = guilty("processor", bad=used(cpu_s=1.5, running=40), good=used(cpu_s=0.4))
    said = "It kept the machine so busy that the referee stood still for 500 ms: 40 threads at work, 1.5 s of processor time."
    assert found == {"bad": (Fault.RESOURCE_CPU, said)}


@pytest.mark.parametrize(
    "bot",
    [
        used(cpu_s=1.9, running=2),  # it may keep both processors busy: that makes nobody wait
        used(cpu_s=0.9, running=40),  # most of the processor time went elsewhere
        used(),
        [],
        [Meter()],
    ],
)
def test_who_is_not_what_made_the_machine_busy_is_not_guilty(bot: list[Any]) -> None:
    assert guilty("processor", bot=bot) == {}


def test_two_who_share_the_blame_equally_are_not_told_apart() -> None:
    assert guilty("processor", a=used(cpu_s=1.0, running=9), b=used(cpu_s=1.0, running=9)) == {}


def test_whoever_the_rest_of_the_machine_starves_is_not_guilty() -> None:
    """Thirty programs of others, and a bot with four threads: it got an eighth of the time."""
    assert guilty("processor", bot=used(cpu_s=0.25, running=4)) == {}


def test_memory_that_grows_by_far_the_fastest_makes_a_bot_guilty() -> None:
    found = guilty("memory", bad=used(grown_mib=900), good=used(grown_mib=70))
    said = "It took memory so fast that the referee stood still for 500 ms: 900 MiB more within 1.0 s."
    assert found == {"bad": (Fault.RESOURCE_MEM, said)}
    assert guilty("memory", bot=used(grown_mib=63)) == {}
    assert guilty("memory", a=used(grown_mib=100), b=used(grown_mib=60)) != {}
    assert guilty("memory", a=used(grown_mib=100), b=used(grown_mib=70), c=used(grown_mib=70)) == {}


def test_most_of_what_goes_to_the_disks_makes_a_bot_guilty() -> None:
    found = guilty("disk", paged_mib=500, bad=used(moved_mib=300))
    said = "It kept the disk so busy that the referee stood still for 500 ms: 300 MiB within 1.0 s."
    assert found == {"bad": (Fault.RESOURCE_OUTPUT, said)}
    assert guilty("disk", paged_mib=700, bot=used(moved_mib=300)) == {}
    assert guilty("disk", paged_mib=20, bot=used(moved_mib=20)) == {}


def test_who_crowds_the_machine_itself_is_known_though_not_guilty() -> None:
    bots = {
        "threads": used(running=3),
        "memory": used(grown_mib=64),
        "disk": used(moved_mib=64),
        "two": used(cpu_s=2, running=2),
        "calm": used(grown_mib=63, moved_mib=63),
        "gone": [],
    }
    after = PressureSample(1_000_000, 0, 0, 0, 0, 0)
    assert stalls.crowding(NOTHING, after, bots) == {"threads", "memory", "disk"}


def test_without_a_cause_nobody_is_guilty() -> None:
    assert guilty("", bad=used(cpu_s=2, grown_mib=900, moved_mib=900, running=400)) == {}


def test_the_process_before_counts_with_the_one_that_came_after_it() -> None:
    ended = Meter(Usage(0, 1_000_000, 0, 0, 1, 1), Usage(400_000, 1_700_000, 0, 0, 20, 20))
    begun = Meter(Usage(700_000, 300_000, 0, 0, 20, 20), Usage(1_000_000, 500_000, 0, 0, 20, 20))
    assert "bad" in guilty("processor", bad=[ended, begun])
    assert guilty("processor", bad=[ended]) == {}


def test_a_limit_that_is_passed_about_a_stall_belongs_to_it() -> None:
    stall = Stall(since_us=5_000_000, until_us=6_000_000, cause="")
    assert [stall.covers(at) for at in (3_999_999, 4_000_000, 5_500_000, 7_000_000, 7_000_001)] == [
        False, True, True, True, False,
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's figures are those of Linux")
def test_the_systems_figures_are_sums_that_grow() -> None:
    before = waits(0)
    give_up = time.monotonic() + 60
    while (after := waits(1)).busy_us <= before.busy_us and time.monotonic() < give_up:
        pass
    assert after.busy_us > before.busy_us
    assert all(late >= early for early, late in zip(before, after, strict=True))
