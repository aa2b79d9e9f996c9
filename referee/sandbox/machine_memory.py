"""How much memory this machine has to give at the moment."""

import os
from pathlib import Path
from typing import Final

from referee.sandbox.limits import MIB

_SYSTEM: Final = Path("/proc/meminfo")
_GROUPS: Final = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def available_mib() -> int:
    """MiB that new processes may take before the machine, or the container that we are in, has to swap or to end some.

    Where the system does not say, half of what is built in.
    """
    found = [_available()]
    for limit, used in _GROUPS:
        most = _number(limit)
        if most is not None:
            found.append(max(most - (_number(used) or 0), 0) // MIB)
    return min(found)


def _available() -> int:
    try:
        for line in _SYSTEM.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) // 1024
    except (OSError, ValueError, IndexError):
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2 // MIB


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None  # there is none, or it is "max"
