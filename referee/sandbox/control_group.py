"""Control groups, where this process may make one: what a bot uses in the kernel's own figures, and a sure way to end it.

Version 2 is asked for first: where it was delegated to us (`systemd-run --user --scope -p Delegate=yes`, a container),
it counts memory, bounds memory and tasks, lists the members, which no process leaves without rights, and ends them all
at once (`cgroup.kill`, Linux 5.14). Version 1 counts and bounds as well, each controller in a tree of its own. Elsewhere
`make_group` returns None; then `referee.sandbox.process_tree` finds the processes, and `referee.sandbox.resource_monitor` adds up what it can
see of their memory.
"""

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from referee.sandbox.limits import MIB, TASKS_FACTOR, ResourceLimits

_PREFIX = "referee-bot-"
_MAIN = "referee-main"

HELPER_TASKS: Final = 4
"""Tasks of the sandbox in the bot's group, with some to spare while it starts."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """The files that tell and bound a group's memory. `cache` are the lines of `stat` that the kernel can take back."""

    used: str
    bound: str
    swap: str
    events: str
    cache: frozenset[bytes]


_V2 = _Memory(
    "memory.current",
    "memory.max",
    "memory.swap.max",
    "memory.events",
    frozenset((b"inactive_file", b"active_file", b"slab_reclaimable")),
)
_V1 = _Memory(
    "memory.usage_in_bytes",
    "memory.limit_in_bytes",
    "memory.memsw.limit_in_bytes",
    "memory.oom_control",
    frozenset((b"total_inactive_file", b"total_active_file")),
)


class ControlGroup:
    """The control group of one bot: `folders` in the cgroup file systems, of a name that is unique on this machine."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        """The folders must exist."""
        self.folders = folders
        self._memory: tuple[Path, _Memory] | None = None
        for folder, files in ((folder, files) for folder in folders for files in (_V2, _V1)):
            if self._memory is None and (folder / files.used).exists():
                self._memory = folder, files

    def bound(self, limits: ResourceLimits) -> None:
        """Has the kernel hold the group to its limits where it can. Its limit on memory is an eighth above the bot's, so
        that `used_bytes` has a chance to tell first how much it was.
        """
        if self._memory is not None:
            folder, files = self._memory
            most = str(limits.memory_bytes + limits.memory_bytes // 8 + 4 * MIB)
            _write(folder / files.bound, most)
            _write(folder / files.swap, "0" if files is _V2 else most)
            _write(folder / "memory.oom.group", "1")
            _write(folder / "memory.kmem.tcp.limit_in_bytes", most)  # the kernel counts them once there is a limit
        for folder in self.folders:
            _write(folder / "pids.max", str(TASKS_FACTOR * limits.processes + HELPER_TASKS))

    @property
    def counts_memory(self) -> bool:
        """Whether the kernel tells what memory the group uses."""
        return self._memory is not None

    def used_bytes(self) -> int:
        """All memory that the kernel holds for the group: pages, page tables, buffers, inodes, stacks; what it has read of
        files is left out, for the kernel takes that back at need. 0 if it is not known.
        """
        if self._memory is None:
            return 0
        folder, files = self._memory
        total = _number(folder / files.used) + _number(folder / "memory.kmem.tcp.usage_in_bytes")
        for line in _read(folder / "memory.stat").splitlines():
            name, _, value = line.partition(b" ")
            if name in files.cache and value.isdigit():
                total -= int(value)
        return max(total, 0)

    def was_starved(self) -> bool:
        """Whether the kernel has ended a process of the group because its memory was at its end."""
        if self._memory is None:
            return False
        folder, files = self._memory
        counts = (line.split() for line in _read(folder / files.events).splitlines())
        return any(len(words) == 2 and words[0] == b"oom_kill" and words[1] != b"0" for words in counts)

    def members(self) -> set[int]:
        """The process numbers of its living members."""
        found: set[int] = set()
        for folder in self.folders:
            found.update(map(int, _read(folder / "cgroup.procs").split()))
        return found

    def kill(self) -> None:
        """Ends all members at once, with no gap for a fork to slip through; version 1 cannot."""
        for folder in self.folders:
            _write(folder / "cgroup.kill", "1")

    def remove(self) -> bool:
        """Removes the group. False if that must be tried again: the last member is still on its way out."""
        gone = True
        for folder in self.folders:
            try:
                folder.rmdir()
            except FileNotFoundError:
                continue
            except OSError:
                gone = False
        return gone


def make_group(marker: str, limits: ResourceLimits) -> ControlGroup | None:
    """A new group for the bot with this marker, bounded by `limits`, or None where that is not possible."""
    made: list[Path] = []
    for home in _homes():
        folder = home / f"{_PREFIX}{marker}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if os.access(folder / "cgroup.procs", os.W_OK):
                made.append(folder)
            else:
                folder.rmdir()
    if not made:
        return None
    group = ControlGroup(tuple(made))
    group.bound(limits)
    return group


def remove_groups(unwanted: Callable[[str], bool]) -> None:
    """Removes the groups of bots whose marker is `unwanted`, if they are empty."""
    for home in _homes():
        for folder in home.glob(f"{_PREFIX}*"):
            if unwanted(folder.name.removeprefix(_PREFIX)):
                ControlGroup((folder,)).remove()


@cache
def _homes() -> tuple[Path, ...]:
    """The folders in which groups for bots can be made: one of version 2, or some of version 1, or both."""
    found: list[Path] = []
    own = own_folders(_text("/proc/self/mountinfo"), _text("/proc/self/cgroup"))
    unified = own.pop("", None)
    if unified is not None:
        found.append(_home_with_memory(*unified))
    # A kernel counts memory by one version alone.
    if not any(_has_memory(home) for home in found):
        found += [folder for name in ("memory", "pids") if (folder := own.get(name, (None,))[0]) is not None]
    return tuple(home for home in found if os.access(home, os.W_OK))


def own_folders(mountinfo: str, cgroups: str) -> dict[str, tuple[Path, Path]]:
    """The control groups that this process is in, by controller ("" for version 2): its folder, and that of the mount."""
    groups: dict[str, str] = {}
    for line in cgroups.splitlines():
        _, controllers, place = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), place))
    found: dict[str, tuple[Path, Path]] = {}
    for mount in mountinfo.splitlines():
        fields, _, rest = mount.partition(" - ")
        root, point = fields.split()[3:5]
        kind, _, options = rest.split(" ", 2)
        names = [""] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []
        for name in names:
            where = groups.get(name)
            if where is not None and name not in found and f"{where}/".startswith(root if root == "/" else f"{root}/"):
                inside = where if root == "/" else where[len(root) :]
                found[name] = Path(point + inside.rstrip("/")), Path(point)
    return found


def _home_with_memory(own: Path, mount: Path) -> Path:
    """Where version 2 counts the memory of groups that we make: in our own group, or beside it; our own if nowhere.

    A group whose memory is shared out has no processes itself, but for the root of all. So if we are alone in ours, we
    move into a group below it.
    """
    if _shares_memory(own):
        return own
    beside = own.parent
    if own != mount and "memory" in _text(beside / "cgroup.subtree_control") and _may_move(beside):
        return beside
    with contextlib.suppress(OSError, ValueError):
        if "memory" in _text(own / "cgroup.controllers") and _members(own) == {os.getpid()} and _may_move(own):
            (own / _MAIN).mkdir(exist_ok=True)
            (own / _MAIN / "cgroup.procs").write_text("0")
            _shares_memory(own)
    return own


def _shares_memory(folder: Path) -> bool:
    """Whether the memory of groups in this one is counted, after an attempt to have it so."""
    for name in ("memory", "pids"):
        if name in _text(folder / "cgroup.controllers") and name not in _text(folder / "cgroup.subtree_control"):
            _write(folder / "cgroup.subtree_control", f"+{name}")
    return _has_memory(folder)


def _has_memory(folder: Path) -> bool:
    return "memory" in _text(folder / "cgroup.subtree_control").split()


def _may_move(folder: Path) -> bool:
    """Whether we may move our processes between the groups in this one."""
    return os.access(folder, os.W_OK) and os.access(folder / "cgroup.procs", os.W_OK)


def _members(folder: Path) -> set[int]:
    return set(map(int, _text(folder / "cgroup.procs").split()))


def _read(path: Path) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _text(path: Path | str) -> str:
    return _read(Path(path)).decode("utf-8", "surrogateescape")


def _number(path: Path) -> int:
    words = _read(path).split()
    return int(words[0]) if words and words[0].isdigit() else 0


def _write(path: Path, text: str) -> None:
    """Writes to a file of the cgroup file system, where there is such a file and we may."""
    with contextlib.suppress(OSError):
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(handle, text.encode())
        finally:
            os.close(handle)
