"""Keeps an eye on the ladder's file: what is quickly seen is looked at when it changes, the standings are worked out behind."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from referee.host.web.aside import aside
from referee.host.web.board import Board, LadderNow, look_at, work_out
from referee.host.web.kept_board import keep_board, kept_board
from referee.host.web.tables import TablesFollowed
from referee.league.league import LeagueError
from referee.league.store import StoreError
from referee.league.store.schema import NoLeagueError

_LOG: Final = logging.getLogger("referee.host.web")
_TOLD: Final = (StoreError, LeagueError)
"""Errors that say all in their sentence."""
_EVERY_S: Final = 1.0
"""How often the file is looked at, at most."""
_LOOKS: Final = 0.05
"""What part of the time looks may take."""
_REST: Final = 1
"""Standings that took so many seconds are worked out again after so many times that."""


class LadderWatch:
    """What is known of a ladder that another process plays. Nothing here waits, except ``settle``.

    ``aside``: the standings are worked out in another process; else in a thread.
    """

    def __init__(self, path: Path, ticks: Callable[[], float], *, aside: bool, kept: Path) -> None:
        """``kept``: the file that the last board is kept in."""
        self._path, self._ticks, self._aside, self._kept = path, ticks, aside, kept
        self._pool = ThreadPoolExecutor(1, "standings")
        self._looking = ThreadPoolExecutor(1, "ladder")
        self._lock = threading.RLock()
        self._seen: tuple[object, ...] = ()
        self._looked = float("-inf")
        self._look_took_s = 0.0
        self._rest_until = float("-inf")
        self._look: Future[None] | None = None
        self._work: Future[None] | None = None
        self._closed = self._is_asked = False
        self._tables = TablesFollowed()
        self.now: LadderNow | None = None
        self.board: Board | None = kept_board(kept) if path.exists() else None
        self.fault = ""
        self.changes = 0
        """Counts what watchers of the board want to know: it grows with each game."""

    @property
    def shown(self) -> str:
        """Changes when the board does, but for the progress of the round."""
        now, board = self.now, self.board
        return f"{board.mark if board else ''} {now.mark[1:] if now else ''}"

    def refresh(self, *, at_once: bool = False) -> None:
        """Has a look behind the caller's back if the file has changed."""
        with self._lock:
            tick = self._ticks()
            if self._closed or (self._look is not None and not self._look.done()):
                return
            if tick - self._looked < max(_EVERY_S, self._look_took_s / _LOOKS) and not at_once:
                return
            self._looked = tick
            signature = self._signature()
            if signature != self._seen:
                self._seen = signature
                self._look = self._looking.submit(self._look_again)
            else:
                self._work_if_due()

    def settle(self, seconds: float, *, standings: bool = True) -> None:
        """Waits until all that can be known is known (with the ``standings``), but no longer than so many seconds."""
        until = time.monotonic() + seconds
        with self._lock:
            self._rest_until = float("-inf")
        self.refresh(at_once=True)
        for _ in range(2):
            with contextlib.suppress(Exception):
                if (look := self._look) is not None:
                    look.result(max(until - time.monotonic(), 0))
                if standings and (work := self._work) is not None:
                    work.result(max(until - time.monotonic(), 0))

    def first(self, seconds: float) -> None:
        """Has a look; whoever asks first waits for the first standings, so long at most, if none were kept. Nobody else waits."""
        with self._lock:
            waits, self._is_asked = not self._is_asked, True
        if waits:
            self.settle(seconds, standings=self.board is None)
        else:
            self.refresh()

    def close(self) -> None:
        """Ends what runs."""
        with self._lock:
            self._closed = True
        self._looking.shutdown(cancel_futures=True)
        self._pool.shutdown(cancel_futures=True)

    def _signature(self) -> tuple[object, ...]:
        found: list[object] = []
        for path in (self._path, self._path.with_name(f"{self._path.name}-wal")):
            try:
                status = os.stat(path)  # noqa: PTH116  # twice a second
            except OSError:
                found.append(None)
            else:
                found += [status.st_ino, status.st_size, status.st_mtime_ns]
        return tuple(found)

    def _look_again(self) -> None:
        begun = time.thread_time()
        try:
            now = look_at(self._path, self._tables)
        except Exception as error:  # noqa: BLE001  # a damaged file may make anything of itself
            if isinstance(error, NoLeagueError) and not self._path.exists():
                return  # none has been begun
            if str(error) != self.fault:
                _LOG.warning("the ladder cannot be read: %s", error, exc_info=not isinstance(error, _TOLD))
            with self._lock:
                self.fault = str(error)
                self._seen = ()  # it may be read the next time, though nobody has changed it
            return
        with self._lock:
            if self.now is None and self.board is not None and self.board.mark > now.mark:
                self.board = None  # it was kept of another ladder
            self.now, self.fault = now, ""
            self._look_took_s = time.thread_time() - begun
            self.changes += 1
            self._work_if_due()

    def _work_if_due(self) -> None:
        """Begins to work the standings out, if they are of another state than the ladder's, and nobody does it yet."""
        now, board = self.now, self.board
        if now is None or self._closed or not now.rounds or (self._work is not None and not self._work.done()):
            return
        if (board is not None and board.mark == now.mark) or self._ticks() < self._rest_until:
            return
        self._work = self._pool.submit(self._work_out, now.mark)

    def _work_out(self, mark: tuple[int, ...]) -> None:
        """Works the standings out, and shows them before anybody hears that it is done."""
        try:
            if self._aside:
                board: Board = aside(work_out, self._path, mark, is_over=lambda: self._closed)
            else:
                board = work_out(self._path, mark)
        except Exception:  # noqa: BLE001  # whatever it is, the log has it, and it is tried again
            self._rest_until = self._ticks() + 10
            if not self._closed:
                _LOG.exception("the standings cannot be worked out")
            return
        with self._lock:
            self.board = board
            self._rest_until = self._ticks() + _REST * board.took_s
            self.changes += 1
        try:
            keep_board(board, self._kept)
        except OSError as error:  # the next start works it out
            _LOG.warning("the board cannot be kept: %s", error)
