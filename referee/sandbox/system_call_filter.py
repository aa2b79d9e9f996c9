"""A system-call filter for the sandbox: what no bot needs, what would get around its limits, and how it would talk to others.

bubblewrap loads it. A denied call fails with an error that programs know how to live with; nothing is killed. The
numbers come from Linux's `unistd.h` of each architecture, the flags from its other headers. It is an addition to the
sandbox, not the sandbox: on another architecture there is none, and everything else still holds.

Bots that are shut in see the same files of the system, read-only. A file is a meeting place all the same: a lock, a
lease or a watch of one bot is felt by another. So file locks seem to succeed and lock nothing (a bot alone has nobody
to lock out), leases and watches do not exist, nor do the calls that tell which pages of a file are in memory.
"""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

CLONE_NEWUSER = 0x10000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16

_SUCCESS = 0
"""In place of an error number: the call seems to succeed, and does nothing."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """System calls of one architecture by their names; calls from above `highest` on are another one's."""

    architecture: int
    calls: Mapping[str, int]
    highest: int | None = None


@dataclass(frozen=True, slots=True)
class FilterRule:
    """How one argument of a call (counted from 0) decides: `error` is what the call then fails with.

    It does if the argument is one of `values`, or has any bit of `bits`, or is none of `only`.
    """

    argument: int
    error: int
    values: Sequence[int] = ()
    bits: int = 0
    only: Sequence[int] = ()


NUMBERS: Final = {
    "x86_64": Numbers(
        0xC000003E,
        {
            "add_key": 248,
            "bpf": 321,
            "cachestat": 451,
            "clone": 56,
            "clone3": 435,
            "fadvise64": 221,
            "fanotify_init": 300,
            "fcntl": 72,
            "flock": 73,
            "inotify_init": 253,
            "inotify_init1": 294,
            "io_setup": 206,
            "io_uring_setup": 425,
            "keyctl": 250,
            "madvise": 28,
            "memfd_create": 319,
            "memfd_secret": 447,
            "mincore": 27,
            "mq_open": 240,
            "msgget": 68,
            "open_by_handle_at": 304,
            "perf_event_open": 298,
            "preadv2": 327,
            "request_key": 249,
            "semget": 64,
            "shmget": 29,
            "socket": 41,
            "sync": 162,
            "syncfs": 306,
            "syslog": 103,
            "unshare": 272,
            "userfaultfd": 323,
        },
        # Calls from 0x40000000 on are those of the x32 ABI: the same calls under other numbers.
        highest=0x3FFFFFFF,
    ),
    "aarch64": Numbers(
        0xC00000B7,
        {
            "add_key": 217,
            "bpf": 280,
            "cachestat": 451,
            "clone": 220,
            "clone3": 435,
            "fadvise64": 223,
            "fanotify_init": 262,
            "fcntl": 25,
            "flock": 32,
            "inotify_init1": 26,
            "io_setup": 0,
            "io_uring_setup": 425,
            "keyctl": 219,
            "madvise": 233,
            "memfd_create": 279,
            "memfd_secret": 447,
            "mincore": 232,
            "mq_open": 180,
            "msgget": 186,
            "open_by_handle_at": 265,
            "perf_event_open": 241,
            "preadv2": 286,
            "request_key": 218,
            "semget": 190,
            "shmget": 194,
            "socket": 198,
            "sync": 81,
            "syncfs": 267,
            "syslog": 116,
            "unshare": 97,
            "userfaultfd": 282,
        },
    ),
}
"""By the name of the machine."""

WHOLE: Final = (
    # Memory that no limit counts. A tmpfs in a user namespace of one's own is another, see `clone` below.
    dict.fromkeys(("memfd_create", "memfd_secret", "shmget", "semget", "msgget", "mq_open"), errno.ENOSYS)
    # Calls that hide their arguments from the filter: libraries fall back to `clone` and to plain reads.
    | dict.fromkeys(("clone3", "io_uring_setup", "io_setup"), errno.ENOSYS)
    # Interfaces of the kernel with a history of holes.
    | dict.fromkeys(("add_key", "request_key", "keyctl", "perf_event_open", "bpf", "userfaultfd"), errno.ENOSYS)
    # Meeting places: watches on shared files, which of their pages are in memory, the kernel's log, files by number.
    | dict.fromkeys(("inotify_init", "inotify_init1", "fanotify_init", "mincore", "cachestat"), errno.ENOSYS)
    | dict.fromkeys(("syslog", "open_by_handle_at"), errno.EPERM)
    # What may as well do nothing: a lock on a file that others see, and writing out the disks of the whole machine.
    | dict.fromkeys(("flock", "sync", "syncfs"), _SUCCESS)
)
"""Calls that fail whatever they ask, with these errors."""

RULES: Final[Mapping[str, Sequence[FilterRule]]] = {
    "clone": [FilterRule(0, errno.EPERM, bits=CLONE_NEWUSER)],
    "unshare": [FilterRule(0, errno.EPERM, bits=CLONE_NEWUSER)],
    "fcntl": [
        # F_SETLK, F_SETLKW, and those of open file descriptions.
        FilterRule(1, _SUCCESS, values=(6, 7, 37, 38)),
        # F_GETLK (its success would say that somebody holds the lock), F_OFD_GETLK, F_SETLEASE, F_GETLEASE, F_NOTIFY, F_SET_RW_HINT, F_SET_FILE_RW_HINT, F_GETDELEG, F_SETDELEG.
        FilterRule(1, errno.EINVAL, values=(5, 36, 1024, 1025, 1026, 1036, 1038, 1039, 1040)),
    ],
    # RWF_NOWAIT tells whether a page is in memory: here none ever is. POSIX_FADV_DONTNEED, MADV_COLD and MADV_PAGEOUT take it from there.
    "preadv2": [FilterRule(5, errno.EAGAIN, bits=0x8)],
    "fadvise64": [FilterRule(3, _SUCCESS, values=(4,))],
    "madvise": [FilterRule(2, errno.EINVAL, values=(20, 21))],
    # Unix, IPv4, IPv6, netlink. Others, such as those between virtual machines, are not part of a network namespace.
    "socket": [FilterRule(0, errno.EAFNOSUPPORT, only=(1, 2, 10, 16))],
}
"""Calls that fail for some of their arguments."""


def bot_filter(machine: str | None = None) -> bytes | None:
    """The filter as BPF code for bubblewrap's `--seccomp`; None for a machine that is not in the table."""
    numbers = NUMBERS.get(machine or platform.machine())
    if numbers is None:
        return None
    absent = _failure(errno.ENOSYS)
    code = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, numbers.architecture, 1, 0), absent, _step(_LOAD, _NUMBER)]
    if numbers.highest is not None:
        code += [_step(_AT_LEAST, numbers.highest + 1, 0, 1), absent]
    for name, number in numbers.calls.items():
        block = [_failure(WHOLE[name])] if name in WHOLE else _decide(RULES[name])
        code += [_step(_EQUAL, number, 0, len(block)), *block]
    return b"".join([*code, _step(_RETURN, _ALLOW)])


def _decide(rules: Sequence[FilterRule]) -> list[bytes]:
    """Returns from the filter by the arguments of a call. The number of the call is lost on the way."""
    code = []
    for rule in rules:
        code.append(_step(_LOAD, _FIRST_ARGUMENT + 8 * rule.argument))
        if rule.bits:
            code += [_step(_ANY_BIT, rule.bits, 0, 1), _failure(rule.error)]
        for value in rule.values:
            code += [_step(_EQUAL, value, 0, 1), _failure(rule.error)]
        for value in rule.only:
            code += [_step(_EQUAL, value, 0, 1), _step(_RETURN, _ALLOW)]
        if rule.only:
            code.append(_failure(rule.error))
    return [*code, _step(_RETURN, _ALLOW)]


def _failure(error: int) -> bytes:
    return _step(_RETURN, _ERROR | error)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction of classic BPF; the jumps count instructions from the next one."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
