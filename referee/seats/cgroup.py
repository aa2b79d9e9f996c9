"""Control groups (cgroup v2), where this process may make one: the sure way to end a bot without a sandbox.

No controller is needed, only the list of members, which no process leaves without rights, and `cgroup.kill`
(Linux 5.14). Elsewhere `make_group` returns None, and `referee.seats.trees` does the work alone.
"""

import contextlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

_PREFIX = "referee-bot-"


class Group:
    """The control group of one bot."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the group's folder in the cgroup file system; its name is unique on this machine."""
        self.folder = folder

    def members(self) -> set[int]:
        """The process numbers of its living members."""
        try:
            return set(map(int, (self.folder / "cgroup.procs").read_text().split()))
        except OSError:
            return set()

    def kill(self) -> None:
        """Ends all members at once, with no gap for a fork to slip through."""
        with contextlib.suppress(OSError):
            (self.folder / "cgroup.kill").write_text("1")

    def remove(self) -> bool:
        """Removes the group. False if that must be tried again: the last member is still on its way out."""
        try:
            self.folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True


def make_group(marker: str) -> Group | None:
    """A new group below our own for the bot with this marker, or None where that is not possible."""
    home = _own_folder()
    if home is None:
        return None
    group = Group(home / f"{_PREFIX}{marker}")
    try:
        group.folder.mkdir()
    except OSError:
        return None
    if all(os.access(group.folder / file, os.W_OK) for file in ("cgroup.kill", "cgroup.procs")):
        return group
    group.remove()
    return None


def remove_groups(unwanted: Callable[[str], bool]) -> None:
    """Removes the groups of bots whose marker is `unwanted`, if they are empty."""
    home = _own_folder()
    for folder in home.glob(f"{_PREFIX}*") if home is not None else ():
        if unwanted(folder.name.removeprefix(_PREFIX)):
            Group(folder).remove()


@cache
def _own_folder() -> Path | None:
    """The folder of the control group that this process is in."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    where = next((line.removeprefix("0::") for line in groups if line.startswith("0::")), None)
    for mount in mounts:
        fields, _, kind = mount.partition(" - ")
        root, point = fields.split()[3:5]
        if where is not None and kind.startswith("cgroup2 ") and root == "/":
            return Path(point + where)
    return None
