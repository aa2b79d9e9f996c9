"""Unpacking what a stranger has handed in: a zip file, of which nothing is believed.

Every entry is looked at before the first byte is written, what is written is counted while it is written, and the folder
appears whole or not at all. A zip in a zip is a file like any other.

Left out are traces of tools (``.git``, ``__pycache__``, ``.venv`` ...) and what some zip programs add: they are no part of a
bot's digest, so nothing that plays may come from there. Where all the rest lies in one folder, that folder is taken off.
"""

import errno
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Final

from referee.league.definition.names import is_readable
from referee.league.definition.problems import shown
from referee.league.entrants.bot_digest import TRACES
from referee.sandbox.temporary_folder import remove_folder

MOST_ENTRIES: Final = 2000
"""Files and folders in an archive."""

MOST_BYTES: Final = 64 << 20
"""Bytes that are written, all files together."""

MOST_RATIO: Final = 100
"""How many times larger than the archive all that is in it may be."""

FREE_OF_RATIO: Final = 1 << 20
"""So many bytes may come out of any archive: a small table of zeros is no bomb."""

LONGEST_NAME: Final = 255
LONGEST_PATH: Final = 1000
DEEPEST: Final = 30

_MOST_READ: Final = 2 << 20
_CHUNK: Final = 64 << 10
ENCRYPTED: Final = 0x1 | 0x40 | 0x2000
"""Flags of an entry that is encrypted."""

METHODS: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How entries may be packed: other ways have libraries with errors of their own."""

DRIVE: Final = re.compile(r"[A-Za-z]:")
"""How a path of Windows begins."""

ADDED: Final = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})
"""What systems and zip programs add to folders."""

_PROGRAM: Final = (b"#!", b"\x7fELF")
_ZIP_AGAIN: Final = "zip the bot's folder again with the usual program of your system"


_Entry = tuple[zipfile.ZipInfo, tuple[str, ...]]
"""An entry, and the parts of its name below the bot's folder."""


class ArchiveError(Exception):
    """An archive that is not unpacked. One sentence, with the name of the entry and the remedy, harmless to show."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks an archive into a folder, which must not be there yet; it appears once all is in it.

    Files may be read by everybody; those that can be run are executable. Raises ``ArchiveError`` for what is wrong with the
    archive, ``OSError`` for what is wrong with our disk.
    """
    beside = folder.with_name(f".{folder.name}.part")
    remove_folder(beside)
    try:
        with _opened(archive) as (stream, size), zip_reading():
            try:
                zipped = zipfile.ZipFile(BoundedStream(stream))
            except zipfile.BadZipFile as error:
                if "not a zip file" not in str(error):
                    raise
                raise ArchiveError(f"This is no zip file: {_ZIP_AGAIN}.") from None
            with zipped:
                entries = _checked(zipped.infolist())
                _make(beside)
                _write_all(zipped, entries, beside, size)
        beside.rename(folder)
    except BaseException:
        remove_folder(beside)
        raise


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[IO[bytes], int]]:
    """The archive and its size; no link is followed."""
    handle = os.open(archive, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as stream:
        yield stream, os.fstat(stream.fileno()).st_size


_FAULTS: Final = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    ArithmeticError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
)
"""What the library raises for archives that are damaged, or made to damage: besides its own errors many that are not."""


@contextmanager
def zip_reading() -> Iterator[None]:
    """Has whatever the library says of an archive end as ``ArchiveError``."""
    try:
        yield
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # a place before the beginning of the file is the archive's own
            raise
        raise ArchiveError(f"The zip file is damaged: {_ZIP_AGAIN}.") from None
    except _FAULTS:
        raise ArchiveError(f"The zip file is damaged: {_ZIP_AGAIN}.") from None


class BoundedStream:
    """A file of which nobody reads much at once: the list of an archive's entries is read as a whole, whatever its size."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes; raises ``ArchiveError`` where that would be very many."""
        if size is not None and 0 <= size <= _MOST_READ:
            return self._stream.read(size)
        data = self._stream.read(_MOST_READ + 1)
        if len(data) > _MOST_READ:
            raise ArchiveError(
                f"The list of what is in the zip file is longer than {_MOST_READ >> 20} MiB: send only what the bot needs."
            )
        return data

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Goes to a place."""
        return self._stream.seek(place, whence)

    def tell(self) -> int:
        """The place."""
        return self._stream.tell()

    def seekable(self) -> bool:
        """It is."""
        return True

    def close(self) -> None:
        """The file is closed where it was opened."""


def _checked(found: Sequence[zipfile.ZipInfo]) -> list[_Entry]:
    """The entries that count, each with the parts of its name below the bot's folder. Raises ``ArchiveError``."""
    if len(found) > MOST_ENTRIES:
        raise ArchiveError(
            f"There are {len(found):,} files and folders in the zip file, and {MOST_ENTRIES:,} are allowed: "
            "leave out what can be built or fetched."
        )
    entries = [(entry, _parts(entry)) for entry in found]
    for entry, _ in entries:
        _check_kind(entry)
    entries = [one for one in entries if not (TRACES | ADDED).intersection(one[1])]
    _refuse_collisions(entries)
    while (top := _only_top(entries)) is not None:
        entries = [(entry, parts[1:]) for entry, parts in entries if parts[1:]]
        if not entries:
            raise ArchiveError(f"The folder {shown(top)} in the zip file is empty: put the bot's files into it.")
    _require_bot(entries)
    return entries


def _parts(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    """The parts of an entry's name. Raises ``ArchiveError`` for one that could lie elsewhere, or that nobody can read."""
    name = entry.orig_filename
    told = f"The zip file holds {shown(name)}"
    if not is_readable(name):
        raise ArchiveError(f"{told}, a name that cannot be read: use letters, digits and the usual signs.")
    if "\\" in name:
        raise ArchiveError(f"{told}, with a backslash in its name: {_ZIP_AGAIN}, so that folders are parted by /.")
    if name.startswith("/") or DRIVE.match(name):
        raise ArchiveError(f"{told}, a place outside of the bot's folder: {_ZIP_AGAIN}, from inside its parent folder.")
    parts = tuple(name.removesuffix("/").split("/"))
    if ".." in parts:
        raise ArchiveError(f"{told}, which leads out of the bot's folder by ..: {_ZIP_AGAIN}.")
    if "" in parts or "." in parts:
        raise ArchiveError(f"{told}, with an empty part in its name: {_ZIP_AGAIN}.")
    lengths = [len(part.encode()) for part in parts]
    if max(lengths) > LONGEST_NAME or sum(lengths) > LONGEST_PATH or len(parts) > DEEPEST:
        raise ArchiveError(
            f"{told}, which is named too long or nested too deeply: {LONGEST_NAME} bytes are allowed for a name, "
            f"{LONGEST_PATH:,} for all of it, and {DEEPEST} folders in each other; shorten it."
        )
    return parts


def _check_kind(entry: zipfile.ZipInfo) -> None:
    """Raises ``ArchiveError`` for what is neither a plain file nor a folder."""
    told = f"The zip file holds {shown(entry.orig_filename)}"
    if entry.flag_bits & ENCRYPTED:
        raise ArchiveError(f"{told}, which is encrypted: zip it without a password.")
    if entry.compress_type not in METHODS:
        raise ArchiveError(f"{told}, packed by method {entry.compress_type}: use the usual one of zip, Deflate.")
    mode = entry.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        raise ArchiveError(f"{told}, a link: put the file itself in its place.")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError(f"{told}, which is a pipe, a socket or a device: leave it out.")
    is_folder = entry.orig_filename.endswith("/")
    if (kind == stat.S_IFDIR and not is_folder) or (kind == stat.S_IFREG and is_folder):
        raise ArchiveError(f"{told}, which is called a file here and a folder there: {_ZIP_AGAIN}.")
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise ArchiveError(f"{told}, which runs with the rights of its owner: take them away (chmod ug-s).")
    if is_folder and entry.file_size:
        raise ArchiveError(f"{told}, a folder with a content of its own: {_ZIP_AGAIN}.")


def _refuse_collisions(entries: Sequence[_Entry]) -> None:
    """Raises ``ArchiveError`` for names that are the same for some file systems: by case, or by how letters are written."""
    known: dict[str, tuple[str, bool]] = {}
    for entry, parts in entries:
        for count in range(1, len(parts) + 1):
            name, whole = "/".join(parts[:count]), count == len(parts)
            folder = not whole or entry.orig_filename.endswith("/")
            key = folded_name(name)
            if key not in known:
                known[key] = name, folder
                continue
            before, was_folder = known[key]
            if before != name:
                raise ArchiveError(
                    f"The zip file holds {shown(before)} and {shown(name)}, which are one name on some systems: "
                    "rename one of them."
                )
            if not (folder and was_folder):
                raise ArchiveError(f"The zip file holds {shown(name)} twice: leave one of them out.")


def folded_name(name: str) -> str:
    """A name as file systems see it for which neither case nor the way of writing a letter counts."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _only_top(entries: Sequence[_Entry]) -> str | None:
    """The folder in which all entries lie; ``None`` if there is none such."""
    tops = {parts[0] for _, parts in entries}
    if len(tops) != 1:
        return None
    (top,) = tops
    is_folder = all(len(parts) > 1 or entry.orig_filename.endswith("/") for entry, parts in entries)
    return top if is_folder else None


def _require_bot(entries: Sequence[_Entry]) -> None:
    """Raises ``ArchiveError`` where no bot is in the folder: neither a bot.toml nor one program in Python."""
    files = [parts for entry, parts in entries if not entry.orig_filename.endswith("/")]
    if ("bot.toml",) in files:
        return
    scripts = [parts[0] for parts in files if len(parts) == 1 and PurePosixPath(parts[0]).suffix == ".py"]
    if len(scripts) == 1:
        return
    if scripts:
        raise ArchiveError(
            f"There is no bot.toml in the zip file, and {len(scripts)} .py files, such as {shown(scripts[0])}: "
            "add a bot.toml that says which one is run, or leave the others out."
        )
    deeper = next((parts for parts in files if parts[-1] == "bot.toml"), None)
    if deeper is not None:
        place = "/".join(deeper[:-1])
        raise ArchiveError(f"The bot.toml in the zip file lies in {shown(place)}: zip that folder by itself.")
    raise ArchiveError("There is neither a bot.toml nor one .py file in the zip file: add a bot.toml (referee new).")


def _make(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.chmod(0o755)  # whatever our mask is, other users' sandboxes have to read it


def _write_all(zipped: zipfile.ZipFile, entries: Sequence[_Entry], folder: Path, size: int) -> None:
    most = min(MOST_BYTES, max(FREE_OF_RATIO, MOST_RATIO * size))
    bomb = f"{MOST_RATIO} times the size of the zip file in it"
    limit = f"{MOST_BYTES >> 20} MiB in the zip file" if most == MOST_BYTES else bomb
    written = 0
    for entry, parts in entries:
        is_folder = entry.orig_filename.endswith("/")
        place = folder
        for part in parts if is_folder else parts[:-1]:
            place /= part
            if not place.is_dir():
                _make(place)
        if not is_folder:
            written += _write(zipped, entry, place / parts[-1], most - written, limit)


def _write(zipped: zipfile.ZipFile, entry: zipfile.ZipInfo, path: Path, most: int, limit: str) -> int:
    """Writes one file; returns how many bytes there were. Raises ``ArchiveError`` beyond ``most``."""
    told, written = f"The zip file holds {shown(entry.orig_filename)}", 0
    runs = entry.external_attr >> 16 & stat.S_IXUSR
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as into:
        try:
            with zipped.open(entry) as stream:
                while chunk := stream.read(_CHUNK):
                    runs = runs or (not written and chunk.startswith(_PROGRAM))
                    written += len(chunk)
                    if written > most:
                        raise ArchiveError(
                            f"{told}, with which there is more than {limit}: leave out what is not needed."
                        )
                    into.write(chunk)
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise ArchiveError(f"{told}, which is damaged: {_ZIP_AGAIN}.") from None
        if written != entry.file_size:
            raise ArchiveError(f"{told}, which is damaged: {_ZIP_AGAIN}.")
        os.fchmod(into.fileno(), 0o755 if runs else 0o644)
    return written
