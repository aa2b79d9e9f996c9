"""Endurance: whether a bot grows with the number of deals."""

import os
from dataclasses import dataclass
from pathlib import Path

from referee.check.bench import Bench
from referee.check.phases import at_random
from referee.sandbox.process_tree import processes, with_kin
from referee.umpire.faults import Fault

RULE = "AF-ROBUST-007"
_WARM_UP = 0.2
_MIB = 1 << 20
_MORE_BYTES = 16 * _MIB
_MORE_SHARE = 0.25
_MORE_DESCRIPTORS = 8
_MORE_PROCESSES = 2
_OUTGROWN = frozenset({Fault.RESOURCE_MEM, Fault.RESOURCE_PIDS})


@dataclass(frozen=True, slots=True)
class Size:
    """What a bot takes up, with all that it started: resident bytes, open descriptors, processes."""

    resident: int
    descriptors: int
    processes: int

    def growth_to(self, later: "Size") -> str:
        """What has grown beyond what is usual, in words; empty if nothing has."""
        told = []
        more = later.resident - self.resident
        if more > _MORE_BYTES and more > _MORE_SHARE * self.resident:
            told.append(f"memory from {self.resident // _MIB} to {later.resident // _MIB} MiB")
        if later.descriptors - self.descriptors > _MORE_DESCRIPTORS:
            told.append(f"open descriptors from {self.descriptors} to {later.descriptors}")
        if later.processes - self.processes > _MORE_PROCESSES:
            told.append(f"processes from {self.processes} to {later.processes}")
        return ", ".join(told)


def size_of(pid: int) -> Size | None:
    """The size of a process and all that it started; ``None`` where there is no /proc to tell, or no such process."""
    everything = processes()
    if pid not in everything:
        return None
    members = [everything[member] for member in with_kin([pid], everything)]
    return Size(sum(one.resident for one in members), sum(_descriptors(one.pid) for one in members), len(members))


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(Path("/proc") / str(pid) / "fd"))  # noqa: PTH208  # only their number
    except OSError:
        return 0


async def endurance(bench: Bench, deals: int) -> None:
    """So many deals, and a look at the bot's size after the first fifth of them and at the end.

    What has grown is put to as many deals again: only who goes on growing grows with the number of deals.
    """
    scribe = bench.scribe
    warm = int(deals * _WARM_UP)
    await at_random(bench, 0, warm, "endurance")
    early, losses = _now(bench), bench.losses
    await at_random(bench, 0, deals - warm, "endurance")
    late = _now(bench)
    if early is None or late is None:
        scribe.tally.waive(RULE, "the size of its process cannot be seen from here")
        return
    if bench.losses > losses or bench.over:
        scribe.tally.excuse(RULE, "it was lost on the way")
        return
    scribe.tally.chance(RULE, "endurance")
    scribe.log.emit("size", early=[early.resident, early.descriptors], late=[late.resident, late.descriptors])
    grown = early.growth_to(late)
    if not grown:
        return
    await at_random(bench, 0, deals - warm, "endurance")  # a bot that has taken what it needs grows no more
    last, end = _now(bench), 2 * deals - warm
    told = f"Between deal {warm} and deal {deals} it grew: {grown}"
    if bench.losses > losses and bench.last_loss is not None and bench.last_loss.fault in _OUTGROWN:
        scribe.breach(RULE, Fault.RESOURCE_MEM, f"{told}; and before deal {end} beyond its limit.")
    elif last is None or bench.losses > losses or bench.over:
        scribe.tally.excuse(RULE, f"{told}; then it was lost.")
    else:
        scribe.log.emit("size", early=[late.resident, late.descriptors], late=[last.resident, last.descriptors])
        again = late.growth_to(last)
        if again:
            scribe.breach(RULE, Fault.RESOURCE_MEM, f"{told}; and until deal {end} again: {again}.")


def _now(bench: Bench) -> Size | None:
    process = bench.scribe.process
    return size_of(process.pid) if process is not None and bench.attendant.local else None
