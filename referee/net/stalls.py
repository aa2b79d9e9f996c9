"""Why the referee stood still, and whether a bot made it: what it waited for, and who used most of that.

A stall is the referee's own fault unless the kernel's figures (Linux) say otherwise. They do where the referee waited for at
least half of it for a processor, for memory or for the disk, and one bot used at least half of all that the whole machine
used meanwhile: more threads at work than there are processors, most of the memory that came into use, most of what went to
and from the disks. A bot that keeps busy what it may keep busy has fewer threads at work than that, and is never blamed.
"""

import os
import threading
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeVar

from referee.sandbox.process_tree import proc_file
from referee.sandbox.processor_time import Usage, UsageMeter, scheduled
from referee.umpire.faults import Fault

Cause = Literal["processor", "memory", "disk", ""]
"""What the referee waited for; empty where it waited for nothing, or that cannot be known."""

K = TypeVar("K", bound=Hashable)

NEAR_US: Final = 1_000_000
"""A limit that was passed so near to a stall is taken for its cause."""

_HALF: Final = 0.5
_LEAST_BYTES: Final = 64 << 20
_TICK_US: Final = 1_000_000 // os.sysconf("SC_CLK_TCK")


class PressureSample(NamedTuple):
    """Sums at a time, which only grow; two samples tell what came between them.

    In microseconds: what the referee waited for a processor, what anybody waited for memory and for disks, and what all
    processors were busy. ``paged`` is in bytes, to and from the disks.
    """

    at_us: int
    processor_us: int
    memory_us: int
    disk_us: int
    busy_us: int
    paged: int


@dataclass(slots=True, kw_only=True)
class Stall:
    """One stall of the referee, in microseconds of its clock: from, until, why, and by whom, with a sentence.

    ``told`` are those of the guilty on whom it was acted. ``crowding`` are those who had more at work themselves than there
    are processors, or took much memory or disk: not guilty, but no stall like that wins them a replay.
    """

    since_us: int
    until_us: int
    cause: Cause
    guilty: Mapping[object, tuple[Fault, str]] = field(default_factory=dict)
    told: set[object] = field(default_factory=set)
    crowding: frozenset[object] = frozenset()

    @property
    def long_us(self) -> int:
        """How long it was."""
        return self.until_us - self.since_us

    def covers(self, at_us: int) -> bool:
        """Whether something that happened then, or was noticed then, may have made it."""
        return self.since_us - NEAR_US <= at_us <= self.until_us + NEAR_US


def waits(now_us: int) -> PressureSample:
    """The sums as of now; zeros where the system does not tell."""
    _, waited_ns = scheduled(os.getpid(), str(threading.get_native_id()))
    busy = proc_file("/proc/stat").split()[1:9]
    pages = proc_file("/proc/vmstat").split()
    return PressureSample(
        now_us,
        waited_ns // 1000,
        _pressure("memory"),
        _pressure("io"),
        sum(int(word) for place, word in enumerate(busy) if place not in (3, 4)) * _TICK_US if len(busy) == 8 else 0,
        1024 * sum(int(pages[place + 1]) for place, word in enumerate(pages) if word in (b"pgpgin", b"pgpgout")),
    )


def cause_of(before: PressureSample, after: PressureSample, stall_us: int) -> Cause:
    """What the referee waited for during a stall that lies between two looks."""
    if after.processor_us - before.processor_us >= _HALF * stall_us:
        return "processor"
    if after.memory_us - before.memory_us >= _HALF * stall_us:
        return "memory"
    return "disk" if after.disk_us - before.disk_us >= _HALF * stall_us else ""


def guilty_of(
    cause: Cause, before: PressureSample, after: PressureSample, stall_us: int, meters: Mapping[K, Iterable[UsageMeter]]
) -> dict[K, tuple[Fault, str]]:
    """Who made the stall between two looks: at most one, with the fault and a sentence."""
    found: dict[K, tuple[float, Fault, str]] = {}
    still = f"the referee stood still for {stall_us // 1000} ms"
    for who, own in meters.items():
        used = _Used.of(_spans(own, before.at_us, after.at_us))
        if cause == "processor":
            share = used.cpu_us / max(after.busy_us - before.busy_us, 1)
            if share >= _HALF and used.running > (os.cpu_count() or 1):
                told = f"{used.running} threads at work, {used.cpu_us / 1e6:.1f} s of processor time"
                found[who] = share, Fault.RESOURCE_CPU, f"It kept the machine so busy that {still}: {told}."
        elif cause == "memory" and used.grown >= _LEAST_BYTES:
            told = f"{used.grown >> 20} MiB more within {(after.at_us - before.at_us) / 1e6:.1f} s"
            found[who] = used.grown, Fault.RESOURCE_MEM, f"It took memory so fast that {still}: {told}."
        elif cause == "disk" and used.moved >= max(_HALF * (after.paged - before.paged), _LEAST_BYTES):
            told = f"{used.moved >> 20} MiB within {(after.at_us - before.at_us) / 1e6:.1f} s"
            found[who] = used.moved, Fault.RESOURCE_OUTPUT, f"It kept the disk so busy that {still}: {told}."
    if not found:
        return {}
    worst = max(found, key=lambda who: found[who][0])
    others = sum(one[0] for who, one in found.items() if who is not worst)
    return {worst: found[worst][1:]} if found[worst][0] > others else {}


def crowding(before: PressureSample, after: PressureSample, meters: Mapping[K, Iterable[UsageMeter]]) -> frozenset[K]:
    """Who had more threads at work between two looks than there are processors, or took much memory or disk."""
    found = {who: _Used.of(_spans(own, before.at_us, after.at_us)) for who, own in meters.items()}
    most = os.cpu_count() or 1
    return frozenset(
        who
        for who, used in found.items()
        if used.running > most or used.grown >= _LEAST_BYTES or used.moved >= _LEAST_BYTES
    )


class _Used(NamedTuple):
    """What a bot used between two looks."""

    cpu_us: int
    grown: int
    moved: int
    running: int

    @classmethod
    def of(cls, spans: list[list[Usage]]) -> "_Used":
        """Over all of its processes, one after another."""
        return cls(
            sum(span[-1].cpu_us - span[0].cpu_us for span in spans),
            sum(max(later.resident - earlier.resident, 0) for span in spans for earlier, later in pairwise(span)),
            sum(max(later.moved - earlier.moved, 0) for span in spans for earlier, later in pairwise(span)),
            max((one.running for span in spans for one in span[1:]), default=0),
        )


def _spans(meters: Iterable[UsageMeter], since_us: int, until_us: int) -> list[list[Usage]]:
    return [span for meter in meters if (span := _between(meter.recent, since_us, until_us))]


def _between(looks: Iterable[Usage], since_us: int, until_us: int) -> list[Usage]:
    """The looks from the last one before a time on; of a process that began later, all, from nothing."""
    known = [one for one in looks if one.at_us <= until_us]
    before = [one for one in known if one.at_us <= since_us]
    begin = before[-1:] if before else [Usage(since_us, 0, 0, 0, 0, 0)]
    return begin + [one for one in known if one.at_us > since_us] if known else []


def _pressure(of: str) -> int:
    """Microseconds, in all since the machine started, in which somebody waited for it."""
    words = proc_file(f"/proc/pressure/{of}").split()
    return next((int(word.removeprefix(b"total=")) for word in words[:5] if word.startswith(b"total=")), 0)
