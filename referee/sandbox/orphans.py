"""Finds and ends the bots that a killed referee left behind."""

import contextlib
import os
import signal
import time
from pathlib import Path

from referee.sandbox.control_group import remove_groups
from referee.sandbox.process_tree import Process, brand_of, marker_of, owner, processes, reap, send, with_kin
from referee.sandbox.temporary_folder import PREFIX, discard_folder, temporary_places


def end_orphans(work_dir: Path | None = None, *, seconds: float = 3.0) -> list[int]:
    """Ends bots whose referee is gone: it was killed, and they had no sandbox that dies with it.

    Call it before a league is taken up again: it makes sure that no bot of the broken run still plays. It waits for
    their end, at most so many `seconds`, and removes the private folders that they had in `work_dir` (by default in all
    places for temporary files); one that cannot be removed is named in a line of the log. Bots of a referee that still
    runs are left alone. Returns the process numbers of those that it ended. Linux only; elsewhere it ends nothing.
    """
    ended: set[int] = set()
    brands: set[int] = set()
    end = time.monotonic() + seconds
    while left := [one for one in _orphans(brands) if one.parent == os.getpid() or not one.dead]:
        for one in left:
            if one.dead:
                reap(one.pid)
            elif send(one, signal.SIGKILL):
                ended.add(one.pid)
        if time.monotonic() > end:
            break
        time.sleep(0.005)
    everything = processes()
    remove_groups(lambda marker: _is_orphaned(marker, everything))
    for place in [work_dir] if work_dir is not None else temporary_places():
        for folder in _stale_folders(place):
            if _is_orphaned(folder.name.removeprefix(PREFIX), everything):
                discard_folder(folder)
    return sorted(ended)


def _stale_folders(place: Path) -> list[Path]:
    """The private folders in a place that are our user's own: those of others are not ours to remove, or to tell of."""
    found: list[Path] = []
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        found = [Path(entry) for entry in entries if entry.name.startswith(PREFIX)]
    return [folder for folder in found if _is_ours(folder)]


def _is_ours(folder: Path) -> bool:
    try:
        return folder.lstat().st_uid == os.geteuid()
    except OSError:
        return False


def _orphans(brands: set[int]) -> list[Process]:
    """All processes of bots whose referee is gone, dead ones included. Their brands are added to `brands`."""
    everything = processes()
    marked = {one.pid for one in everything.values() if _is_orphaned(marker_of(one.pid) or "", everything)}
    brands.update(brand for pid in marked if (brand := brand_of(pid)) is not None)
    branded = {one.pid for one in everything.values() if brands and brand_of(one.pid) in brands}
    return [everything[pid] for pid in with_kin(marked | branded, everything)]


def _is_orphaned(marker: str, everything: dict[int, Process]) -> bool:
    """Whether a marker is that of a bot whose referee ran in our pid namespace and is gone."""
    parts = marker.split(".")
    if len(parts) != 4 or parts[0] != owner().split(".")[0] or not all(part.isdigit() for part in parts[:3]):
        return False
    referee = everything.get(int(parts[1]))
    return referee is None or referee.dead or referee.started != int(parts[2])
