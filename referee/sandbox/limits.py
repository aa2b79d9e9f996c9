"""Limits of a bot process, and the small shell wrapper that sets them.

`preexec_fn` is not safe in a process that runs threads (gRPC does), so the limits are set by `/bin/sh`, which then
turns itself into the bot with `exec`. It costs half a millisecond; a Python wrapper costs nine.

Kernel limits count virtual memory and tasks, not what an author means by "memory" and "processes". They are therefore
set wide, as a stop for the moment between two looks of `referee.sandbox.resource_monitor`, which judges by resident memory and by
processes.
"""

import resource
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

KIB = 1024
MIB = 1024 * KIB

DATA_FACTOR = 2
"""RLIMIT_DATA is this many times the memory limit: thread stacks and reserved heaps count there, used or not."""

TASKS_FACTOR = 8
"""RLIMIT_NPROC is this many times the process limit: it counts threads, and runtimes start one or more a core."""

CPU_GRACE_SECONDS = 2
"""Seconds of processor time between SIGXCPU and SIGKILL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceLimits:
    """What one bot process, with everything it starts, may use. All values are whole numbers above 0.

    `memory_mib`   memory of the whole tree, with what the kernel holds for it, in MiB.
    `processes`    processes in the tree at one time; it may have `TASKS_FACTOR` times as many threads in all.
    `descriptors`  open files of one process.
    `disk_mib`     with a sandbox the size of the private folder (and of /dev/shm), in MiB; without one, of one file.
    `cpu_seconds`  processor time of one process, in seconds; None (the default) is no limit.
    `output_kept`  bytes of output kept in memory and at either end of the log.
    `output_total` bytes of output after which the bot is ended.

    Raises ValueError for a value below 1.
    """

    memory_mib: int = 512
    processes: int = 64
    descriptors: int = 128
    disk_mib: int = 16
    cpu_seconds: int | None = None
    output_kept: int = 64 * KIB
    output_total: int = 8 * MIB

    def __post_init__(self) -> None:
        """Refuse what no process could live with."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value < 1:
                raise ValueError(f"limits.{field.name} is {value}: give a whole number above 0")

    @property
    def memory_bytes(self) -> int:
        """The memory limit in bytes."""
        return self.memory_mib * MIB

    @property
    def disk_bytes(self) -> int:
        """The disk limit in bytes."""
        return self.disk_mib * MIB


def limited(
    argv: Sequence[str],
    limits: ResourceLimits,
    *,
    own_user: bool,
    brand: int | None = None,
    cgroups: Sequence[Path] = (),
) -> list[str]:
    """The command that sets `limits` on itself and then becomes `argv`.

    `own_user`: the user id runs nothing but this bot, so that a limit on its tasks is a limit on the bot.
    `brand`: a number that marks all its processes; it becomes their limit on file locks, which Linux has long ignored.
    `cgroups`: folders of control groups to enter first.
    """
    steps = [*_entering(cgroups), "ulimit -c 0"]
    steps.append(f"ulimit -n {_within_hard(resource.RLIMIT_NOFILE, limits.descriptors)}")
    steps.append(f"ulimit -f {_within_hard(resource.RLIMIT_FSIZE, limits.disk_bytes) // 512}")
    if sys.platform == "linux":
        steps.append(f"ulimit -d {_within_hard(resource.RLIMIT_DATA, DATA_FACTOR * limits.memory_bytes) // KIB}")
    if limits.cpu_seconds is not None:
        hard = _within_hard(resource.RLIMIT_CPU, limits.cpu_seconds + CPU_GRACE_SECONDS)
        steps += [f"ulimit -H -t {hard}", f"ulimit -S -t {min(hard, limits.cpu_seconds)}"]
    if own_user:
        tasks = TASKS_FACTOR * limits.processes
        # Two options have no portable letter: the first is that of bash, ksh and zsh, the second of dash and busybox.
        steps.append(f"ulimit -u {tasks} 2>/dev/null || ulimit -p {tasks}")
    if brand is not None and sys.platform == "linux":
        steps.append(f"{{ ulimit -x {brand} || ulimit -w {brand}; }} 2>/dev/null")
    return ["/bin/sh", "-c", "; ".join([*steps, 'exec "$@"']), "referee", *argv]


def grouped(argv: Sequence[str], cgroups: Sequence[Path]) -> list[str]:
    """The command that enters these control groups and then becomes `argv`."""
    if not cgroups:
        return list(argv)
    return ["/bin/sh", "-c", "; ".join([*_entering(cgroups), 'exec "$@"']), "referee", *argv]


def _entering(cgroups: Sequence[Path]) -> list[str]:
    return [f"echo 0 > {shlex.quote(str(folder / 'cgroup.procs'))} || exit 125" for folder in cgroups]


def _within_hard(which: int, wanted: int) -> int:
    """`wanted`, or the hard limit of this very process where that is lower: only root may go above it."""
    hard = resource.getrlimit(which)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
