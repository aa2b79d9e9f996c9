"""How much room the disk of a host has to have, and for what.

Jobs write most, and wait for the most: while the disk fills they stop first, and rounds go on being played for a while.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """Room on a disk, or as much as something needs. ``files``: how many more there may be; ``None`` where nobody counts them."""

    size: int
    files: int | None = None

    def lacks(self, needed: "DiskRoom") -> str:
        """What there is too little of, in words; empty if there is enough."""
        if self.size < needed.size:
            return f"{self.size >> 20:,} MiB left"
        if self.files is not None and needed.files is not None and self.files < needed.files:
            return f"room for {self.files:,} files left"
        return ""


FOR_JOBS: Final = DiskRoom(512 << 20, 20_000)
"""Else jobs wait, and what is building is ended: a build writes as much before anybody looks again."""

FOR_ROUNDS: Final = DiskRoom(200 << 20, 2_000)
"""Else no round begins or goes on: its games have to be stored, and with them what follows from them."""


def room_on(folder: Path) -> DiskRoom:
    """The room on the disk of a folder, for whoever is not root. Raises ``OSError``."""
    disk = os.statvfs(folder)
    return DiskRoom(disk.f_bavail * disk.f_frsize, disk.f_favail if disk.f_files else None)
