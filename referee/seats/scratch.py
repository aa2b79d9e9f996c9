"""The private folder of a bot without a sandbox."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

PREFIX = "bot-"
"""The folder's name is this and the bot's marker, so that a later run knows whose it was."""


def make_folder(work_dir: Path, marker: str) -> Path:
    """A new private folder in `work_dir`. Raises OSError if it cannot be made."""
    folder = work_dir.absolute() / f"{PREFIX}{marker}"
    folder.mkdir(mode=0o700, parents=True)
    return folder


def remove_folder(folder: Path) -> None:
    """Removes a folder, even if a bot took the rights from what it made there. What resists is left."""
    for path in _folders(folder):
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _folders(folder: Path) -> Iterator[Path]:
    """A folder and all below it, each before what it holds, so that its rights can be set before it is read."""
    yield folder
    for where, names, _ in os.walk(folder):
        yield from (Path(where, name) for name in names if not os.path.islink(os.path.join(where, name)))
