"""Unpacking behind the wall: the reader of archives runs in the sandbox of builds, and what it has made is looked over again.

The reader believes nothing of an archive; but it stands on libraries in C. Whoever takes it over there has an empty folder of their
own, no network and no other file, and can make nothing of it but what ``look_over`` lets through.

    python -m referee.host.unpacking ARCHIVE FOLDER
"""

import asyncio
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from referee.host.archive import MOST_BYTES, MOST_ENTRIES, ArchiveError, unpack
from referee.league.entrants.build_process import BuildStep, run_step
from referee.sandbox.isolation import SandboxKind, own_user_id
from referee.sandbox.temporary_folder import remove_folder

UNPACK_SECONDS: Final = 120.0
"""Time for it; a moment is the rule, but the machine may be busy."""

_MEMORY_MIB: Final = 512
_REFUSED: Final = 3
_WORD: Final = "refused: "


def unpack_in_sandbox(archive: Path, folder: Path, sandbox: SandboxKind) -> None:
    """Unpacks an archive into a folder, which must not be there yet, as ``unpack`` does, and may raise all that it does.

    Killed, it leaves a folder that begins with a dot, which the next try removes. Raises ``LaunchError`` where the sandbox fails.
    """
    if sandbox == "none":
        unpack(archive, folder)
        return
    box = folder.with_name(f".{folder.name}.part")
    remove_folder(box)
    try:
        box.mkdir(mode=0o700)
        shutil.copyfile(archive, box / "archive.zip", follow_symlinks=False)
        if os.geteuid() == 0:
            user = own_user_id()
            for path in (box, box / "archive.zip"):
                os.chown(path, user, user)
        _run(box, sandbox)
        made = box / "bot"
        look_over(made)
        made.rename(folder)
    finally:
        remove_folder(box)


def _run(box: Path, sandbox: SandboxKind) -> None:
    step = BuildStep(
        name="unpack",
        argv=(sys.executable, "-m", __name__, "archive.zip", "bot"),
        folder=box,
        sandbox=sandbox,
        memory_mib=_MEMORY_MIB,
    )
    with tempfile.TemporaryDirectory(prefix="referee-unpack-") as place:
        ended = asyncio.run(run_step(step, Path(place, "log"), seconds=UNPACK_SECONDS, live=False))
    if ended.exit.code == 0 and not ended.late:
        return
    said = ended.words.strip().splitlines() or [ended.exit.sentence]
    if ended.exit.code == _REFUSED and said[-1].startswith(_WORD):
        raise ArchiveError(said[-1].removeprefix(_WORD))
    told = f"it took longer than {UNPACK_SECONDS:.0f} seconds" if ended.late else said[-1]
    raise OSError(f"the archive could not be unpacked: {told}")


def look_over(folder: Path) -> None:
    """Makes what was unpacked ours, and readable for all. Raises ``ArchiveError`` where it is nothing that the reader makes."""
    count = size = 0
    for path, state in _all_in(folder):
        count, size = count + 1, size + (state.st_size if stat.S_ISREG(state.st_mode) else 0)
        is_folder = stat.S_ISDIR(state.st_mode)
        if not is_folder and (not stat.S_ISREG(state.st_mode) or state.st_nlink != 1):
            raise ArchiveError(
                "What came out of the zip file holds more than files and folders: zip the bot's folder again."
            )
        if count > MOST_ENTRIES * 2 or size > MOST_BYTES:
            raise ArchiveError("More came out of the zip file than it may hold: zip the bot's folder again.")
        if os.geteuid() == 0:
            os.chown(path, 0, 0, follow_symlinks=False)
        path.chmod(0o755 if is_folder or state.st_mode & 0o100 else 0o644)


def _all_in(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """A folder and all that is in it, each before what it holds; no link is followed."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        state = path.lstat()
        yield path, state
        if stat.S_ISDIR(state.st_mode):
            waiting.extend(path.iterdir())


def main(archive: str, folder: str) -> int:
    """Unpacks an archive; the sentence of a refusal is the last line of the output, its exit code 3."""
    try:
        unpack(Path(archive), Path(folder))
    except ArchiveError as error:
        sys.stdout.write(f"{_WORD}{error}\n")
        return _REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
