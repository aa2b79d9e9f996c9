"""One archive of a whole host, made while it runs; and a host made of such an archive, on this machine or another.

The archive is a compressed tar: the definition, the stores as they stood at one moment each, the bots as they were built, what
was handed in and what the checks found, and last a manifest with the SHA-256 of each file and the target of each link. Without its manifest an archive is
not whole. The ladder and the board of remote bots are copied before the store of the host: so every bot that plays is one that the store knows.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee import __version__
from referee.host.home import HostHome
from referee.host.rows import VersionState
from referee.host.schema import HostStoreError
from referee.host.store import HostStore
from referee.league.definition.problems import plain
from referee.league.store import Store, StoreError
from referee.league.store.archived_records import ENDING

FORMAT: Final = "referee-host-1"

BACKUP_WORK: Final = ".backup-"
"""How the folder begins in which a backup is prepared; one that is left was killed."""

_MANIFEST: Final = "manifest.json"
_DEFINITION: Final = "ladder.toml"
_STORES: Final = ("ladder.sqlite", "remote.sqlite", "host.sqlite")
_KNOWN: Final = re.compile(
    rf"{_MANIFEST}|{_DEFINITION}|(ladder|remote|host)\.sqlite|records/(remote-)?rounds-[0-9]+-[0-9]+\.jsonl\.gz|uploads/[0-9a-f]{{64}}\.zip|(bots|jobs)/[0-9]+(/.+)?",
    re.DOTALL,
)
_LINK: Final = "link to "
_CHUNK: Final = 1 << 20
_MOST_MANIFEST: Final = 64 << 20


class BackupError(HostStoreError):
    """An archive that cannot be made, or of which no host can be made. Names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Backup:
    """What an archive holds: how many files, how many bytes of them, how many bots, and whether there is a ladder yet."""

    files: int
    size: int
    bots: int
    ladder: bool


def back_up(home: HostHome, target: Path, now: float) -> Backup:
    """Writes the archive of a host, which may run meanwhile. An earlier file of that name stays until the new one is whole.

    ``now``: seconds since 1970. Raises ``BackupError``.
    """
    if not home.store.exists():
        raise BackupError(f"{home.folder} is no host yet; start it once: referee host {home.definition}")
    beside = target.with_name(f".{target.name}.part")
    try:
        with tempfile.TemporaryDirectory(prefix=BACKUP_WORK, dir=home.folder) as work:
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with _private(beside) as file:
                    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
                        backup = _write(home, Path(work), tar, now)
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(target)
            finally:
                beside.unlink(missing_ok=True)
            return backup
    except (OSError, sqlite3.Error, tarfile.TarError) as error:
        raise BackupError(f"{target} cannot be written: {error}; is the disk full, or the folder not yours?") from None


@contextlib.contextmanager
def _private(path: Path) -> Iterator[io.BufferedWriter]:
    """A new file that its owner alone reads: an archive holds the masters of rounds that are not over."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:  # noqa: PTH123  # of a descriptor
        yield file


def _write(home: HostHome, work: Path, tar: tarfile.TarFile, now: float) -> Backup:
    digests: dict[str, str] = {}
    size = 0

    def add(path: Path, name: str) -> None:
        """Adds a file, a link or a folder; what is gone by now, or is neither, is left out."""
        nonlocal size
        try:
            about = tar.gettarinfo(path, name)
            if about.islnk():  # a second name of a file that is in it already
                about.type, about.linkname, about.size = tarfile.REGTYPE, "", path.lstat().st_size
            if not (about.isreg() or about.issym() or about.isdir()):
                return
            about.uid = about.gid = 0
            about.uname = about.gname = ""
            if not about.isreg():
                if about.issym():
                    digests[name] = f"{_LINK}{about.linkname}"
                tar.addfile(about)
                return
            content = path.read_bytes() if about.size < _CHUNK else None
            about.size = about.size if content is None else len(content)  # somebody may be writing to it
            digests[name] = hashlib.sha256(content).hexdigest() if content is not None else _digest(path)
            with path.open("rb") as file:
                tar.addfile(about, io.BytesIO(content) if content is not None else file)
            size += about.size
        except FileNotFoundError:
            return

    add(home.definition, _DEFINITION)
    for name, path in zip(_STORES, (home.ladder, home.remote, home.store), strict=True):
        if path.exists():
            _snapshot(path, work / name)
            add(work / name, name)
    for old in sorted(home.records.glob(f"*rounds-*{ENDING}")):
        add(old, f"records/{old.name}")
    with HostStore.read(work / "host.sqlite") as store:
        versions = store.versions()
        jobs = store.jobs(most=1 << 30)
    for archive in sorted({one.archive for one in versions}):
        if home.archive(archive).exists():
            add(home.archive(archive), f"uploads/{archive}.zip")
    built = [one for one in versions if one.state not in (VersionState.WAITING, VersionState.REFUSED)]
    for folder, name in [(home.bot(one.id), f"bots/{one.id}") for one in built] + [
        (home.findings(one.id), f"jobs/{one.id}") for one in jobs if one.ended is not None
    ]:
        for path in _below(folder):
            add(path, f"{name}/{path.relative_to(folder)}" if path != folder else name)
    manifest = {
        "format": FORMAT,
        "referee": __version__,
        "at": now,
        "definition": home.definition.name,
        "files": digests,
    }
    text = json.dumps(manifest, indent=1).encode()
    about = tarfile.TarInfo(_MANIFEST)
    about.size, about.mode = len(text), 0o600
    tar.addfile(about, io.BytesIO(text))
    return Backup(len(digests), size, len(built), home.ladder.exists())


def _below(folder: Path) -> Iterator[Path]:
    """A folder and all that is in it, the folder before its content; links are not followed."""
    if not folder.is_dir():
        return
    yield folder
    for here, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *files]):
            yield Path(here) / name


def _snapshot(path: Path, copy: Path) -> None:
    """A copy of a store as it stands at one moment, whole in itself, whoever writes to it meanwhile."""
    source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30)
    with contextlib.closing(source), contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")
        target.execute("PRAGMA application_id = 0")  # nobody writes to this one


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"{_LINK}{path.readlink()}"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def restore(archive: Path, home: HostHome) -> Backup:
    """Makes a host of an archive: its folder, and its definition where there is none. Raises ``BackupError``.

    All or nothing: the folder appears when everything in it is found to be as it was written.
    """
    if home.folder.exists():
        raise BackupError(
            f"{home.folder} exists already; move it away, or name another definition: its host goes beside it"
        )
    home.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".restore-", dir=home.folder.parent) as work:
        folder = Path(work) / "host"
        folder.mkdir(mode=0o700)
        try:
            files = _unpack(archive, folder)
        except (OSError, tarfile.TarError, EOFError, ValueError) as error:
            raise BackupError(f"{archive} is no backup of a host, or is damaged: {plain(str(error))[:200]}") from None
        backup = _checked(archive, folder, files)
        definition = folder / _DEFINITION
        if not home.definition.exists():
            with _private(home.definition) as out:
                out.write(definition.read_bytes())
        definition.unlink()
        folder.rename(home.folder)
    home.make()
    return backup


def _unpack(archive: Path, folder: Path) -> list[str]:
    """Unpacks what a backup may hold, and returns the names of its files. Raises ``ValueError`` for anything else."""
    files = []
    with tarfile.open(archive, "r:gz") as tar:
        for about in tar:
            if not _KNOWN.fullmatch(about.name) or not (about.isreg() or about.isdir() or about.issym()):
                raise ValueError(f"it has {about.name[:80]!r}, which no backup has")
            # Where a link of a bot leads is the sandbox's business; nothing is ever written through one.
            judge = tarfile.tar_filter if about.issym() and about.name.startswith("bots/") else tarfile.data_filter
            tar.extract(about, folder, set_attrs=True, filter=judge)
            if not about.isdir():
                files.append(about.name)
    return files


def _checked(archive: Path, folder: Path, files: list[str]) -> Backup:
    """What was unpacked, if it is all that the manifest says."""
    manifest = folder / _MANIFEST
    if _MANIFEST not in files or manifest.stat().st_size > _MOST_MANIFEST:
        raise BackupError(f"{archive} is not whole: its end is missing. Take another backup")
    try:
        said = json.loads(manifest.read_bytes())
        format_, expected = said["format"], dict(said["files"])
    except (ValueError, KeyError, TypeError):
        raise BackupError(f"{archive} is no backup of a host: its manifest cannot be read") from None
    if format_ != FORMAT:
        raise BackupError(f"{archive} is of another version of Referee ({plain(str(format_))[:40]}); use that one")
    manifest.unlink()
    found = [name for name in files if name != _MANIFEST]
    wrong = sorted(expected.keys() ^ set(found)) + [
        name for name in found if _digest(folder / name) != expected.get(name)
    ]
    if wrong:
        raise BackupError(f"{archive} is damaged at {plain(wrong[0])[:80]}; take another backup")
    if not {_DEFINITION, "host.sqlite"} <= set(found):
        raise BackupError(f"{archive} is no backup of a host: it has no store")
    try:
        with HostStore.open(folder / "host.sqlite") as store:  # an older one is brought forward
            built = [one for one in store.versions() if one.state not in (VersionState.WAITING, VersionState.REFUSED)]
        ladder = (folder / "ladder.sqlite").exists()
        for name in ("ladder.sqlite", "remote.sqlite"):
            if (folder / name).exists():
                Store.read(folder / name).close()
    except (HostStoreError, StoreError) as error:
        raise BackupError(f"{archive} cannot be used: {error}") from None
    return Backup(len(found), sum((folder / name).lstat().st_size for name in found), len(built), ladder)
