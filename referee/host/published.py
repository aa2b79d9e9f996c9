"""What a host publishes, on the machine of whoever wants to verify it: the export of the closed rounds, fetched and unpacked.

A host may wish us ill: an archive has the files of an export and nothing else, and no more of them than it honestly can.
"""

import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from referee.host.archive import ENCRYPTED, METHODS, ArchiveError, BoundedStream, zip_reading
from referee.host.client import HostAddress, HostClient, HostRequestError
from referee.league.store import Exported, StoreError
from referee.report.sanitize import sanitize

MOST_RATIO: Final = 200
"""How many times larger than its archive an export may be."""

MOST_ARCHIVES: Final = 20_000
"""Archives of a ladder; it has no room for more rounds."""

MOST_OF_ARCHIVES: Final = 64 << 30
"""Bytes of all archives that are fetched."""

_FREE_OF_RATIO: Final = 16 << 20
_MOST_FILES: Final = 40
_FILE: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._ -]{0,80}/)?([a-z][a-z_-]{0,40}\.(?:jsonl|json|toml|csv))")
_ARCHIVE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}\.jsonl\.gz")
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PublishedLadder:
    """What a host publishes: ``folder`` has the export of its closed rounds, ``archives`` are the records of old ones."""

    folder: Path
    archives: tuple[Path, ...]


@contextmanager
def fetched_export(
    url: str,
    got: Callable[[int, int], None] = lambda _, __: None,
    client: HostClient | None = None,
    *,
    remote: bool = False,
) -> Iterator[PublishedLadder]:
    """The export of a host's closed rounds, with the archives that it names and the host has, while the body runs.

    ``remote``: of its board of remote bots.

    ``got`` is told how many bytes have come, and of how many (0 = unknown). No token is sent, so it may also travel in the open.
    Raises ``HostRequestError``, also for an archive that is none of an export; ``OSError`` where our disk does not take it.
    """
    address = HostAddress.parse(url)
    with TemporaryDirectory(prefix="referee-export-") as work, client or HostClient(address, insecure=True) as host:
        archive, folder = Path(work) / "export.zip", Path(work) / "export"
        host.export(archive, got, remote=remote)
        folder.mkdir()
        try:
            _unpack(archive, folder)
        except _ExportError as error:
            raise HostRequestError(f"{address.url} sends an export that cannot be read: {error}") from None
        except ArchiveError:
            raise HostRequestError(f"{address.url} sends an export that cannot be read: it is damaged") from None
        archive.unlink()
        yield PublishedLadder(folder, tuple(_archives(host, folder, Path(work) / "archives", got)))


def _archives(host: HostClient, folder: Path, target: Path, got: Callable[[int, int], None]) -> Iterator[Path]:
    """Fetches the archives that an export names. Raises ``HostRequestError`` for more than there honestly are."""
    try:
        names = [one["file"] for one in Exported(folder).archives()]
    except StoreError:
        return  # whoever verifies it says what is wrong
    if len(names) > MOST_ARCHIVES or not all(map(_ARCHIVE.fullmatch, names)) or len(set(names)) < len(names):
        raise HostRequestError(f"{host.address.url} names archives of old rounds as no host does")
    target.mkdir()
    size = 0
    for name in names:
        try:
            host.old_records(name, target / name, got)
        except HostRequestError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            (target / name).unlink(missing_ok=True)  # the organiser keeps it elsewhere; the verdict says so
            continue
        size += (target / name).stat().st_size
        if size > MOST_OF_ARCHIVES:
            raise HostRequestError(
                f"{host.address.url} has more than {MOST_OF_ARCHIVES >> 30} GiB of old rounds; ask the organiser for them"
            )
        yield target / name


class _ExportError(Exception):
    """What is wrong with an archive that is no export, fit for a terminal."""


def _unpack(archive: Path, folder: Path) -> None:
    """Unpacks the files of an export. Raises ``_ExportError``, or ``ArchiveError`` for a damaged archive."""
    most = max(_FREE_OF_RATIO, MOST_RATIO * archive.stat().st_size)
    with archive.open("rb") as stream, zip_reading(), zipfile.ZipFile(BoundedStream(stream)) as zipped:
        found = [one for one in zipped.infolist() if not one.is_dir()]
        if len(found) > _MOST_FILES:
            raise _ExportError(f"it has {len(found)} files, an export has fewer")
        for one in found:
            name = _FILE.fullmatch(one.filename)
            if name is None or (folder / name[1]).exists():
                raise _ExportError(f"it has {sanitize(ascii(one.filename), 80)}, which no export has")
            if one.flag_bits & ENCRYPTED or one.compress_type not in METHODS:
                raise _ExportError(f"{name[1]} is packed in a way that no export is")
            with zipped.open(one) as source, (folder / name[1]).open("wb") as target:
                shutil.copyfileobj(_EntryReader(source.read, most), target, _CHUNK)
            most -= (folder / name[1]).stat().st_size


class _EntryReader:
    """A file of which no more than so many bytes are read."""

    def __init__(self, read: Callable[[int], bytes], most: int) -> None:
        self._read, self._left = read, most

    def read(self, size: int = _CHUNK) -> bytes:
        """The next bytes; raises ``_ExportError`` where there are too many."""
        data = self._read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _ExportError(f"it is more than {MOST_RATIO} times as large as it comes")
        return data
