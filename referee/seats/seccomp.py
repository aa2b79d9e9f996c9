"""A system-call filter for the sandbox: what no bot needs, and what would get around its limits.

bubblewrap loads it. A denied call fails with an error that programs know how to live with; nothing is killed. The
numbers come from Linux's `unistd.h` of each architecture. It is an addition to the sandbox, not the sandbox: on another
architecture there is none, and everything else still holds.
"""

import errno
import platform
import struct
from dataclasses import dataclass

CLONE_NEWUSER = 0x10000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16


@dataclass(frozen=True, slots=True)
class Numbers:
    """System calls of one architecture. `absent` fail with ENOSYS; `clone` and `unshare` with EPERM for a user namespace."""

    architecture: int
    clone: int
    unshare: int
    absent: dict[str, int]
    highest: int | None = None


_SHARED = {"io_uring_setup": 425, "clone3": 435, "memfd_secret": 447}

NUMBERS = {
    "x86_64": Numbers(
        0xC000003E,
        clone=56,
        unshare=272,
        # Calls from 0x40000000 on are those of the x32 ABI: the same calls under other numbers.
        highest=0x3FFFFFFF,
        absent=_SHARED
        | {"shmget": 29, "semget": 64, "msgget": 68, "memfd_create": 319}
        | {"add_key": 248, "request_key": 249, "keyctl": 250}
        | {"perf_event_open": 298, "bpf": 321, "userfaultfd": 323},
    ),
    "aarch64": Numbers(
        0xC00000B7,
        clone=220,
        unshare=97,
        absent=_SHARED
        | {"shmget": 194, "semget": 190, "msgget": 186, "memfd_create": 279}
        | {"add_key": 217, "request_key": 218, "keyctl": 219}
        | {"perf_event_open": 241, "bpf": 280, "userfaultfd": 282},
    ),
}
"""By the name of the machine. Memory that no limit counts: `memfd_create`, `memfd_secret`, `shmget` and its like, a
tmpfs in a user namespace of one's own, rings of io_uring. `clone3` hides its flags from the filter: libraries fall back
to `clone`. The rest are interfaces of the kernel with a history of holes."""


def bot_filter(machine: str | None = None) -> bytes | None:
    """The filter as BPF code for bubblewrap's `--seccomp`; None for a machine that is not in the table."""
    numbers = NUMBERS.get(machine or platform.machine())
    if numbers is None:
        return None
    absent = _error(errno.ENOSYS)
    code = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, numbers.architecture, 1, 0), absent, _step(_LOAD, _NUMBER)]
    if numbers.highest is not None:
        code += [_step(_AT_LEAST, numbers.highest + 1, 0, 1), absent]
    for number in sorted(numbers.absent.values()):
        code += [_step(_EQUAL, number, 0, 1), absent]
    # To the test of the flags for these two; all others are allowed.
    code += [_step(_EQUAL, numbers.clone, 2, 0), _step(_EQUAL, numbers.unshare, 1, 0), _step(_RETURN, _ALLOW)]
    code += [_step(_LOAD, _FIRST_ARGUMENT), _step(_ANY_BIT, CLONE_NEWUSER, 0, 1), _error(errno.EPERM)]
    code.append(_step(_RETURN, _ALLOW))
    return b"".join(code)


def _error(number: int) -> bytes:
    return _step(_RETURN, _ERROR | number)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction of classic BPF; the jumps count instructions from the next one."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
