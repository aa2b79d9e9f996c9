"""The closed rounds of a ladder as one file, for whoever wants to verify them: made once a round, in the background."""

import logging
import tempfile
import threading
import zipfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from referee.host.web.aside import aside
from referee.league.export import copy_closed_rounds, write_export
from referee.league.league import read_league
from referee.league.store import Store

_LOG: Final = logging.getLogger("referee.host.web")
FOLDER: Final = "ladder-export"
"""The folder in the archive."""


def make_archive(ladder: Path, archive: Path) -> int:
    """Writes the closed rounds of a ladder to a zip archive, and returns how many they are.

    Raises ``LeagueError`` if there is none, ``StoreError``, ``OSError``.
    """
    with tempfile.TemporaryDirectory(prefix=".export-", dir=archive.parent) as name:
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

    def __init__(self, ladder: Path, folder: Path, *, in_thread: bool) -> None:
        """``in_thread``: it is made in a thread, not in another process."""
        self._ladder, self._folder, self._in_thread = ladder, folder, in_thread
        self._pool = ThreadPoolExecutor(1, "export")
        self._lock = threading.Lock()
        self._work: Future[None] | None = None
        self._closed = False
        for left in (*folder.glob("export-*.zip"), *folder.glob(".export-*/*")):
            left.unlink(missing_ok=True) if left.is_file() else None

    def archive(self, rounds: int, wait_s: float) -> Path | None:
        """The archive of so many rounds, or of those that were closed before, if it is not made yet; ``None`` if there is none.

        Begins to make it, and waits for it so long.
        """
        path = self._path(rounds)
        if not path.is_file():
            with self._lock:
                if not self._closed and (self._work is None or self._work.done()):
                    self._work = self._pool.submit(self._make, rounds)
                work = self._work
            if work is not None:
                try:
                    work.result(wait_s)
                except TimeoutError:
                    pass
                except Exception:  # noqa: BLE001  # whatever it is, the log has it, and we go on with what there is
                    _LOG.exception("the closed rounds cannot be written out")
        return next((made for made in map(self._path, range(rounds, 0, -1)) if made.is_file()), None)

    def close(self) -> None:
        """Ends what runs."""
        self._closed = True
        self._pool.shutdown(cancel_futures=True)

    def _path(self, rounds: int) -> Path:
        return self._folder / f"export-{rounds}.zip"

    def _make(self, rounds: int) -> None:
        path = self._path(rounds)
        is_over: Callable[[], bool] = lambda: self._closed  # noqa: E731
        found = (
            make_archive(self._ladder, path)
            if self._in_thread
            else aside(make_archive, self._ladder, path, is_over=is_over)
        )
        if found != rounds:  # one more was closed meanwhile
            path.replace(self._path(found))
        for old in self._folder.glob("export-*.zip"):
            if old != self._path(found):
                old.unlink(missing_ok=True)
