"""The closed rounds of a ladder as one file, for whoever wants to verify them: made once a round, in the background."""

import logging
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Final

from referee.host.web.aside import aside
from referee.league.export import copy_closed_rounds, write_export
from referee.league.league import read_league
from referee.league.store import Store

_LOG: Final = logging.getLogger("referee.host.web")
_UNFINISHED: Final = ".export-"
_KEPT: Final = 2
_REST: Final = 5
"""An archive that took so many seconds is not made again for so many times that."""
_AFTER_A_FAULT_S: Final = 30.0

FOLDER: Final = "ladder-export"
"""The folder in the archive."""


def make_archive(ladder: Path, archive: Path) -> int:
    """Writes the closed rounds of a ladder to a zip archive, and returns how many they are.

    Raises ``LeagueError`` if there is none, ``StoreError``, ``OSError``.
    """
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=archive.parent) as name:
        folder = Path(name)
        copy = folder / "ladder.sqlite"
        rounds = copy_closed_rounds(ladder, copy)
        with Store.read(copy) as store:
            written = write_export(store, read_league(store), folder / FOLDER, {})
        copy.unlink()
        made = folder / "made.zip"
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as out:
            for path in sorted(written.iterdir()):
                out.write(path, f"{FOLDER}/{path.name}")
        made.replace(archive)
    return rounds


class ClosedRounds:
    """The archive of the closed rounds; the newest one that is made. May be used by several threads."""

    def __init__(
        self, ladder: Path, folder: Path, ticks: Callable[[], float], *, in_thread: bool, name: str = "export"
    ) -> None:
        """``ticks``: a clock, in seconds; ``in_thread``: it is made in a thread, not in another process; ``name``: how archives begin."""
        self._ladder, self._folder, self._ticks, self._in_thread = ladder, folder, ticks, in_thread
        self._name = name
        self._pool = ThreadPoolExecutor(1, "export")
        self._lock = threading.Lock()
        self._work: Future[None] | None = None
        self._rest_until = float("-inf")
        self._closed = False
        for left in folder.glob(f"{name}-*.zip"):
            left.unlink(missing_ok=True)
        for unfinished in folder.glob(f"{_UNFINISHED}*"):
            if unfinished.is_dir():
                shutil.rmtree(unfinished, ignore_errors=True)
            else:
                unfinished.unlink(missing_ok=True)

    def archive(self, rounds: int, wait_s: float) -> Path | None:
        """The newest archive; ``None`` if there is none yet. If it has fewer rounds than that a newer one is begun.

        Waits for the newer one so long.
        """
        with self._lock:
            made = self._made()
            idle = self._work is None or self._work.done()
            rests = bool(made) and self._ticks() < self._rest_until
            if (not made or made[-1] < rounds) and idle and not rests and not self._closed:
                self._work = self._pool.submit(self._make, rounds)
            work = self._work
        if work is not None and not work.done():
            wait([work], wait_s)
        made = self._made()
        return self._path(made[-1]) if made else None

    def close(self) -> None:
        """Ends what runs."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def _made(self) -> list[int]:
        """Of how many rounds there are archives, ascending."""
        names = (path.stem.removeprefix(f"{self._name}-") for path in self._folder.glob(f"{self._name}-*.zip"))
        return sorted(int(name) for name in names if name.isdigit())

    def _path(self, rounds: int) -> Path:
        return self._folder / f"{self._name}-{rounds}.zip"

    def _make(self, rounds: int) -> None:
        path, begun = self._folder / f"{_UNFINISHED}{self._name}-{rounds}.zip", self._ticks()
        try:
            if self._in_thread:
                found = make_archive(self._ladder, path)
            else:
                found = aside(make_archive, self._ladder, path, is_over=lambda: self._closed)
        except Exception:  # noqa: BLE001  # whatever it is, the log has it, and we go on with what there is
            self._rest_until = self._ticks() + _AFTER_A_FAULT_S
            if not self._closed:
                _LOG.exception("the closed rounds cannot be written out")
            return
        path.replace(self._path(found))
        self._rest_until = self._ticks() + _REST * (self._ticks() - begun)
        for old in self._made()[:-_KEPT]:  # somebody may be about to open the last one
            self._path(old).unlink(missing_ok=True)
