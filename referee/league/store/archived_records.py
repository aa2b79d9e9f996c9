"""Records of old rounds of a ladder in a file of their own: the lines of ``records.jsonl`` of an export, compressed by gzip.

The ladder knows the file's SHA-256, and the digest of each record in it: the file needs to say nothing of itself.
"""

import gzip
import hashlib
import os
import shlex
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO, Final, Self, cast

from referee.league.store.json_text import MOST_BYTES, TextError, read_json
from referee.league.store.league_facts import ArchivedRecords
from referee.league.store.schema import NoGameError, StoreError
from referee.umpire.record import Record, canonical

ENDING: Final = ".jsonl.gz"
"""How the name of an archive ends."""

_LEVEL: Final = 6
_CHUNK: Final = 1 << 20


def archived_in(archives: Sequence[ArchivedRecords], number: int) -> ArchivedRecords | None:
    """Where the record of a game lies, if it lies in one of these archives, which are in order."""
    place = bisect_right(archives, number, key=lambda one: one["first_game"]) - 1
    return archives[place] if place >= 0 and number <= archives[place]["last_game"] else None


def told_archived(place: Path, number: int, archive: ArchivedRecords) -> str:
    """Where the record of a game lies, and how it is got from there, in a sentence."""
    file, line = archive["file"], number - archive["first_game"] + 1
    return (
        f"{place} does not hold the record of game {number} any more: it lies in {file}, {told_rounds(archive)}, "
        f"SHA-256 {archive['digest']}; print it with: zcat {shlex.quote(file)} | sed -n {line}p"
    )


def told_rounds(archive: ArchivedRecords) -> str:
    """The rounds of an archive in words."""
    first, last = archive["first_round"], archive["last_round"]
    return f"round {first}" if first == last else f"rounds {first} to {last}"


def file_digest(path: Path) -> str:
    """SHA-256 of a file. Raises ``StoreError`` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from None


def write_records(file: IO[bytes], records: Iterable[tuple[int, Record]]) -> None:
    """Writes an archive; the same records make the same file."""
    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as packed:
        for number, record in records:
            packed.write(canonical({"number": number, "record": record}) + b"\n")


class RecordArchive:
    """An archive to look at: a context manager. Its records are read one after another, so ask for them in their order.

    Raises ``StoreError`` that names the file for one that cannot be read, or is not written as an archive is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: Iterator[tuple[int, Record]] | None = None
        self._at = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        if self._lines is not None:
            self._lines.close()  # type: ignore[attr-defined]  # it is a generator
        self._lines, self._at = None, 0

    def record(self, number: int) -> Record:
        """The record of the game with that number; raises ``NoGameError`` if there is none."""
        if self._lines is None or number <= self._at:
            self.close()
            self._lines = self.lines()
        for found, record in self._lines:
            self._at = found
            if found == number:
                return record
            if found > number:
                break
        raise NoGameError(f"{self.path} has no record of game {number}")

    def lines(self) -> Iterator[tuple[int, Record]]:
        """All records with the numbers of their games, which ascend."""
        before = 0
        try:
            with closing(self._opened()) as raw, gzip.GzipFile(fileobj=raw) as packed:
                for at, line in enumerate(iter(lambda: packed.readline(MOST_BYTES + 1), b""), 1):
                    number, record = self._read(at, line)
                    if number <= before:
                        raise StoreError(f"{self.path}, line {at}: game {number} follows game {before}")
                    before = number
                    yield number, record
        except (OSError, EOFError, zlib.error) as error:
            told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise StoreError(f"{self.path} cannot be read: {told}") from None

    def _opened(self) -> IO[bytes]:
        handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would keep us for ever
        return os.fdopen(handle, "rb", _CHUNK)

    def _read(self, at: int, line: bytes) -> tuple[int, Record]:
        place = f"{self.path}, line {at}"
        try:
            found = read_json(line)
        except TextError as error:
            raise StoreError(f"{place}: {error}") from None
        if not isinstance(found, dict) or found.keys() != {"number", "record"} or type(found["number"]) is not int:
            raise StoreError(f"{place}: not a record with its number")
        if not isinstance(found["record"], dict) or canonical(found) + b"\n" != line:
            raise StoreError(f"{place}: not written as records are")
        return found["number"], cast("Record", found["record"])
