"""Reads what a bot prints, so that no full pipe ever slows it, and keeps a bounded part of it.

Both ends of a long output are of use: the start says how the bot came up, the end how it went down. The log holds the
first and the last `kept` bytes, on disk at every moment; memory holds the last `kept`.
"""

import asyncio
import codecs
import contextlib
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

CHUNK = 64 * 1024
"""Bytes read at one go, between which other work of the event loop gets its turn."""

OF_THE_SDK: Final = "[referee] "
"""How the lines begin that our library, not the bot, writes to the bot's output: what the referee said, and the like."""

_SUSPECT = re.compile(r"[^\n\t\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u052f]")
"""Characters that need a closer look: all but the plain letters of Latin, Greek and Cyrillic."""

_HARMFUL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that are shown as an escape: controls, direction and format marks, line separators."""


def harmless(text: str) -> str:
    r"""`text` as it may be shown on any terminal or page of plain text: `\x1b` and the like become visible escapes.

    New lines and tabs stay; a carriage return becomes a new line, so that a progress bar cannot overwrite a message.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _SUSPECT.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if unicodedata.category(character) not in _HARMFUL:
        return character
    return character.encode("unicode_escape").decode("ascii")


class BoundedLog:
    """A file that keeps the first and the last `kept` bytes of all that is written to it.

    An existing file is continued, so the log of a bot that was started again still tells of its first life. A disk
    error ends the writing, never the referee: `trouble` then says what it was.
    """

    def __init__(self, path: Path, kept: int) -> None:
        """Opens the file, and makes its folder. Raises OSError if that is impossible."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.trouble = ""
        self._kept = kept
        self._file: BinaryIO | None = path.open("ab", buffering=0)
        self._start = self._file.tell()
        self._room = kept
        self._left_out = 0
        self._recent = bytearray()

    def write(self, data: bytes) -> None:
        """Appends `data`; what lies neither in the first nor in the last `kept` bytes gives way."""
        if self._file is None:
            return
        try:
            self._write(self._file, data)
        except OSError as error:
            self.trouble = f"the log ends early: {error}"
            self.close()

    def _write(self, file: BinaryIO, data: bytes) -> None:
        file.write(data)
        self._recent += data[self._room :]
        self._room -= min(self._room, len(data))
        if len(self._recent) > 2 * self._kept:
            self._left_out += len(self._recent) - self._kept
            del self._recent[: -self._kept]
            file.truncate(self._start + self._kept)
            file.write(b"\n[... %d bytes left out ...]\n" % self._left_out + self._recent)

    def close(self) -> None:
        """Closes the file. May be called again."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None


class OutputReader:
    """Reads a pipe in the event loop until it ends, or until `finish`.

    Past `budget` bytes it calls `flooded` once and throws away what still comes.
    """

    def __init__(self, pipe: int, log: BoundedLog, *, kept: int, budget: int, flooded: Callable[[], None]) -> None:
        """Starts to read `pipe`, which now belongs to the drain. Call it in the running event loop."""
        self.total = 0
        self._pipe: int | None = pipe
        self._log = log
        self._kept = kept
        self._budget = budget
        self._flooded = flooded
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode
        self._tail = ""
        os.set_blocking(pipe, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(pipe, self._read)

    def tail(self) -> str:
        """The last `kept` characters that were written, harmless to show."""
        return self._tail

    def _read(self) -> bool:
        """Reads one chunk. False when there is nothing to read now or ever."""
        if self._pipe is None:
            return False
        try:
            data = os.read(self._pipe, CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._close()
            return False
        self._take(data)
        return True

    def _take(self, data: bytes) -> None:
        before = self.total
        self.total += len(data)
        if before <= self._budget:
            self._keep(self._decode(data))
            if self.total > self._budget:
                self._flooded()

    def _keep(self, text: str) -> None:
        shown = harmless(text)
        self._log.write(shown.encode())
        self._tail = (self._tail + shown)[-self._kept :]

    def _close(self) -> None:
        if self._pipe is not None:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = None

    def finish(self) -> None:
        """Reads what the pipe still holds (a bounded amount), then closes pipe and log. May be called again.

        It does not wait for the end of the pipe: a process that escaped could hold it open.
        """
        while self._read() and self.total <= self._budget:
            continue
        self._close()
        if self.total <= self._budget:
            self._keep(self._decode(b"", True))
        self._log.close()
