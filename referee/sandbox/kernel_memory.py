"""Memory that the kernel holds for a process besides its pages, seen from outside: where no control group counts it (Linux).

Page tables and stacks of threads stand in /proc. What waits in a socket, and how large it is, the socket itself tells
whoever holds it: so it is borrowed for a moment. A pipe can be opened again by way of /proc. Files in memory that are
only held open (`memfd`, /dev/shm) count by their blocks.
"""

import contextlib
import ctypes
import os
import socket
import stat
import struct
import sys
from collections.abc import Iterable
from typing import Final

STACK_BYTES: Final = 16 * 1024
"""The kernel's own stack of a thread."""

INODE_BYTES: Final = 1024
"""What an empty file in memory takes: an inode with its name, rounded up."""

_KIB = 1024
_SO_MEMINFO, _RECEIVED, _SENT, _MEMINFO = 55, 0, 2, struct.Struct("9I")
_PIDFD_GETFD: Final = 438

if sys.platform == "linux":
    import fcntl
    import termios


def table_bytes(pid: int) -> tuple[int, int]:
    """Of a process: bytes of its page tables and kernel stacks, and bytes of files in memory among its pages.

    Zeros if it is gone.
    """
    tables = threads = shared = 0
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/status", "rb", buffering=0) as file:
        for line in file.read().splitlines():
            if line.startswith((b"VmPTE:", b"VmPMD:")):
                tables += int(line.split()[1]) * _KIB
            elif line.startswith(b"Threads:"):
                threads = int(line.split()[1])
            elif line.startswith(b"RssShmem:"):
                shared = int(line.split()[1]) * _KIB
    return tables + threads * STACK_BYTES, shared


def buffer_bytes(pids: Iterable[int]) -> tuple[int, int]:
    """What lies behind the open descriptors of some processes: bytes in pipes and sockets, and bytes of files in memory.

    Each counts once, however many hold it. What cannot be looked at counts nothing.
    """
    buffers = files = 0
    seen: set[str] = set()
    for pid in pids:
        with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    target = os.readlink(entry.path)
                    if target in seen:
                        continue
                    if target.startswith("pipe:"):
                        buffers += _pipe_bytes(entry.path)
                    elif target.startswith("socket:"):
                        buffers += _socket_bytes(pid, int(entry.name))
                    elif target.startswith(("/memfd:", "/dev/shm/", "/SYSV")):
                        about = os.stat(entry.path)
                        target = f"{about.st_dev}:{about.st_ino}"
                        files += 0 if target in seen or not stat.S_ISREG(about.st_mode) else about.st_blocks * 512
                    else:
                        continue
                    seen.add(target)
    return buffers, files


def inode_bytes(pids: Iterable[int], places: Iterable[str]) -> int:
    """What the files in some processes' own file systems in memory take besides their content, each system once.

    ``places`` is where such a file system is. What this process sees too is the machine's: its files are nobody's here, though
    a helper of the sandbox looks at them from outside.
    """
    ours, total = set(_memory_file_systems("self").values()), 0
    for pid in pids:
        theirs = _memory_file_systems(str(pid))
        for place in places:
            device = theirs.get(place)
            if device is not None and device not in ours:
                with contextlib.suppress(OSError):
                    about = os.statvfs(f"/proc/{pid}/root{place}")
                    total += (about.f_files - about.f_ffree) * INODE_BYTES
                ours.add(device)
    return total


def _memory_file_systems(pid: str) -> dict[str, str]:
    """Where a process has a file system in memory, and the number of its device; nothing if it is gone."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError), open(f"/proc/{pid}/mountinfo", encoding="utf-8", errors="replace") as file:
        for line in file:
            fields, _, rest = line.partition(" - ")
            words = fields.split(" ")
            if rest.startswith("tmpfs ") and len(words) > 4:
                found[words[4]] = words[2]
            elif len(words) > 4:
                found.pop(words[4], None)  # something else is mounted over it
    return found


def _pipe_bytes(path: str) -> int:
    """The size of a pipe that is not empty: a page of it may hold a single byte."""
    if sys.platform != "linux":
        return 0
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        waiting = struct.unpack("i", fcntl.ioctl(handle, termios.FIONREAD, struct.pack("i", 0)))[0]
        return fcntl.fcntl(handle, fcntl.F_GETPIPE_SZ) if waiting else 0
    finally:
        os.close(handle)


def _socket_bytes(pid: int, number: int) -> int:
    """What waits in a socket, or has been sent from it and is not read yet."""
    if sys.platform != "linux":
        return 0
    owner = os.pidfd_open(pid)
    try:
        handle = ctypes.CDLL(None, use_errno=True).syscall(_PIDFD_GETFD, owner, number, 0)
    finally:
        os.close(owner)
    if handle < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    with socket.socket(fileno=handle) as one:
        told = one.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        figures = _MEMINFO.unpack(told.ljust(_MEMINFO.size, b"\0"))
        return int(figures[_RECEIVED] + figures[_SENT])
