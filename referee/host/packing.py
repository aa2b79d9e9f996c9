"""What of a bot's folder is sent to a host, and the archive of it: the same bytes for the same files.

Sent is what ``.gitignore`` files leave, as git reads them: those of the folder, of folders in it, and of the repository around it.
Traces of tools, products of builds and what looks like a secret are never sent. Nothing here uses the network.
"""

import fnmatch
import hashlib
import json
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from referee.host.archive import (
    ADDED,
    DEEPEST,
    DRIVE,
    LONGEST_NAME,
    LONGEST_PATH,
    MOST_BYTES,
    MOST_ENTRIES,
    folded_name,
)
from referee.host.gitignore import IgnorePattern, is_ignored, read_gitignore
from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_digest import PRODUCTS, TRACES
from referee.league.entrants.bot_source import BotSource

_IGNORE_BYTES: Final = 1 << 20
_MOST_SEEN: Final = 200_000
_RATIO: Final = 20  # a file that shrinks more is stored as it is: a host takes it for one that wants to fill the disk
_NEVER: Final = frozenset({"node_modules"})
_REPORTS: Final = "rules-check"  # what the action for GitHub writes beside a bot
_TIME: Final = (1980, 1, 1, 0, 0, 0)

_SECRETS: Final = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".htpasswd",
    ".ssh",
    ".aws",
    ".gnupg",
)
_NO_SECRETS: Final = (".env.example", ".env.sample", ".env.template")

IGNORED: Final = "as .gitignore says"
TRACE: Final = "a trace of a tool"
PRODUCT: Final = "what a build makes"
SECRET: Final = "it looks like a secret"
DANGLING: Final = "a link that leads nowhere"


class PackingError(Exception):
    """A folder that cannot be sent as it is. Names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file that is sent: its name in the archive, its bytes by now, whether it is a program, and where it lies.

    ``content``: of a file that lies nowhere, for it is made for the archive.
    """

    name: str
    size: int
    executable: bool
    path: Path
    content: bytes = b""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file, or a folder with a ``/`` at its end, that is not sent, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Packing:
    """What of a bot is sent, by name, and what not."""

    bot: str
    files: tuple[PackedFile, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def size(self) -> int:
        """Bytes of all files that are sent, before they are packed."""
        return sum(file.size for file in self.files)


def packing_of(source: BotSource, *, token_file: Path | None = None) -> Packing:
    """What of a bot is sent. ``token_file`` never is. Raises ``PackingError``.

    A bot of one file gets a ``bot.toml`` of its own, for a host takes folders alone.
    """
    _refuse_compiled_sample(source)
    files, left_out = _of_one_file(source) if source.only else _of_a_folder(source, token_file)
    files.sort(key=lambda file: os.fsencode(file.name))
    _check_names(files)
    packing = Packing(source.name, tuple(files), tuple(sorted(left_out, key=lambda one: os.fsencode(one.name))))
    if len(files) > MOST_ENTRIES:
        raise PackingError(
            f"{len(files):,} files are more than the {MOST_ENTRIES:,} that a host takes; name in .gitignore what the bot does not need"
        )
    if packing.size > MOST_BYTES:
        largest = max(files, key=lambda file: file.size)
        raise PackingError(
            f"{_mib(packing.size)} are more than the {MOST_BYTES >> 20} MiB that a host unpacks (the largest is {_shown(largest.name)}, "
            f"{_mib(largest.size)}); name in .gitignore what the bot does not need"
        )
    return packing


def write_archive(packing: Packing, target: Path, *, secret: str = "") -> str:
    """Writes the archive and returns its SHA-256, in hexadecimal. Names, order, times and modes depend on the files alone.

    ``secret``: a token that no file may hold. Raises ``PackingError``, also if a file has grown beyond what a host takes.
    """
    left = MOST_BYTES
    with zipfile.ZipFile(target, "w") as archive:
        for file in packing.files:
            content = file.content or _content(file, left)
            left -= len(content)
            if secret and secret.encode() in content:
                raise PackingError(f"{_shown(file.name)} holds your token, and would be sent; take it out of that file")
            told = zipfile.ZipInfo(file.name, _TIME)
            told.create_system = 3  # Unix, wherever this is
            told.external_attr = (stat.S_IFREG | (0o755 if file.executable else 0o644)) << 16
            packed = len(zlib.compress(content, 6)) * _RATIO >= len(content)
            told.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
            archive.writestr(told, content, compresslevel=6)
    with target.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _content(file: PackedFile, left: int) -> bytes:
    try:
        with file.path.open("rb") as stream:
            content = stream.read(left + 1)
    except OSError as error:
        raise PackingError(_unreadable(file.name, error)) from None
    if len(content) > left:
        raise PackingError(
            f"{_shown(file.name)} has grown while it was read; wait until nothing writes to the bot's folder"
        )
    return content


def _refuse_compiled_sample(source: BotSource) -> None:
    """Samples of compiled languages share files beside their folders, which no host has."""
    samples = shipped_folder("sample_bots").resolve()
    folder = source.folder.resolve()
    if source.build and folder.is_relative_to(samples):
        language = folder.relative_to(samples).parts[0]
        raise PackingError(
            f"the sample {source.name} is built with files outside its folder; make a bot of your own of it, and push that: "
            f"referee new {language} mybot"
        )


def _of_one_file(source: BotSource) -> tuple[list[PackedFile], list[LeftOut]]:
    (name,) = source.only
    path = source.folder / name
    run = name if not name.startswith("-") else f"./{name}"
    values = {"name": source.name, "version": source.version, "run": ["python", run]}
    manifest = "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items()).encode()
    return [
        PackedFile(name, path.stat().st_size, False, path),
        PackedFile("bot.toml", len(manifest), False, path, manifest),
    ], []


def _of_a_folder(source: BotSource, token_file: Path | None) -> tuple[list[PackedFile], list[LeftOut]]:
    home = source.folder.resolve()
    files, left_out = list[PackedFile](), list[LeftOut]()
    never = None if token_file is None else token_file.resolve()
    for name, path, why in _walk(home, built=bool(source.build)):
        if not why and path.resolve() == never:
            why = SECRET  # noqa: PLW2901
        if why:
            left_out.append(LeftOut(name, why))
            continue
        mode = path.stat()
        files.append(PackedFile(name, mode.st_size, bool(mode.st_mode & stat.S_IXUSR), path))
    sent = {file.name for file in files}
    if "bot.toml" not in sent:
        why = next((one.why for one in left_out if one.name == "bot.toml"), "it is not a file")
        raise PackingError(f"bot.toml would not be sent ({why}), and without it a folder is no bot; let it be sent")
    if not source.build:
        _refuse_missing_program(source, home, sent)
    return files, left_out


def _refuse_missing_program(source: BotSource, home: Path, sent: set[str]) -> None:
    """Of a bot that is not built, what its command names has to be sent."""
    for word in source.argv:
        path = home / source.cwd / word
        if Path(word).is_absolute() or not path.is_file() or not Path(os.path.normpath(path)).is_relative_to(home):
            continue
        name = Path(os.path.normpath(path)).relative_to(home).as_posix()
        if name not in sent:
            raise PackingError(
                f"run in bot.toml names {_shown(name)}, which is not sent: let it be sent, or say with build how it is made"
            )


def _walk(home: Path, *, built: bool) -> Iterator[tuple[str, Path, str]]:
    """What lies in a folder, by name, with why it is not sent, or nothing. Folders that are sent are not told of."""
    rules = _rules_around(home)
    waiting, seen = [("", rules)], 0
    while waiting:  # not recursive: folders may be nested deeper than Python's stack
        prefix, above = waiting.pop()
        folder = home / prefix
        own = _rules_of(folder)
        here = above if own is None else (*above, (folder, own))
        for entry in _entries(folder, prefix):
            seen += 1
            if seen > _MOST_SEEN:
                raise PackingError(f"{home} holds more than {_MOST_SEEN:,} files; push a bot's own folder")
            is_folder = entry.is_dir(follow_symlinks=False)
            name = prefix + entry.name + "/" * is_folder
            path = Path(entry.path)
            why = _why_left_out(entry.name, path, here, is_folder=is_folder, built=built)
            if why:
                yield name, path, why
            elif is_folder:
                waiting.append((name, here))
            else:
                yield name, path, _refuse_odd(name, path, home)


def _entries(folder: Path, prefix: str) -> Sequence["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise PackingError(_unreadable(prefix or str(folder), error)) from None


_Rules = tuple[tuple[Path, tuple[IgnorePattern, ...]], ...]


def _why_left_out(name: str, path: Path, rules: _Rules, *, is_folder: bool, built: bool) -> str:
    if name in TRACES | ADDED or name == _REPORTS or (is_folder and (path / "pyvenv.cfg").is_file()):
        return TRACE
    if is_folder and (name in _NEVER or (built and name in PRODUCTS)):
        return PRODUCT
    if _ignored(path, rules, is_folder=is_folder):
        return IGNORED
    return SECRET if _looks_secret(name) else ""


def _looks_secret(name: str) -> bool:
    plain = name.lower()
    return plain not in _NO_SECRETS and any(fnmatch.fnmatchcase(plain, one) for one in _SECRETS)


def _refuse_odd(name: str, path: Path, home: Path) -> str:
    """Raises ``PackingError`` for what is no file of the bot's own; a link to nothing is left out."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        if path.is_symlink():
            return DANGLING
        raise PackingError(
            f"{_shown(name)} cannot be read; try again when nothing writes to the bot's folder"
        ) from None
    if not real.is_relative_to(home):
        raise PackingError(f"{_shown(name)} is a link that leads out of the bot's folder; put the file itself there")
    mode = real.stat().st_mode
    if stat.S_ISDIR(mode):
        raise PackingError(f"{_shown(name)} is a link to a folder, which no archive holds; put the folder itself there")
    if not stat.S_ISREG(mode):
        raise PackingError(f"{_shown(name)} is neither a file nor a folder; take it out of the bot's folder")
    parts = real.relative_to(home).parts  # a link may lead into a folder that is left out
    return SECRET if any(part in TRACES or _looks_secret(part) for part in parts) else ""


def _rules_around(home: Path) -> _Rules:
    """The rules of the repository that the folder stands in; none of them if they would leave the folder itself out."""
    if (home / ".git").exists():
        return ()
    above: list[Path] = []
    for parent in home.parents:
        above.insert(0, parent)
        if (parent / ".git").exists():
            break
    else:
        return ()
    rules: _Rules = ()
    for folder, below in zip(above, [*above[1:], home], strict=True):
        own = _rules_of(folder)
        rules = rules if own is None else (*rules, (folder, own))
        if _ignored(below, rules, is_folder=True):
            return ()
    return rules


def _rules_of(folder: Path) -> tuple[IgnorePattern, ...] | None:
    """What the .gitignore of a folder says; git follows no link to one."""
    path = folder / ".gitignore"
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            text = file.read(_IGNORE_BYTES)
    except OSError as error:
        raise PackingError(_unreadable(str(path), error)) from None
    return read_gitignore(text)


def _ignored(path: Path, rules: _Rules, *, is_folder: bool) -> bool:
    """Whether the rules leave something out whose folder they leave in: the innermost file that speaks of it decides."""
    for folder, patterns in reversed(rules):
        said = is_ignored(patterns, path.relative_to(folder).as_posix(), is_folder=is_folder)
        if said is not None:
            return said
    return False


def _check_names(files: Sequence[PackedFile]) -> None:
    """Refuses names that do not mean the same file everywhere."""
    seen: dict[str, str] = {}
    for file in files:
        parts = os.fsencode(file.name).split(b"/")
        fits = max(map(len, parts)) <= LONGEST_NAME and sum(map(len, parts)) <= LONGEST_PATH and len(parts) <= DEEPEST
        if not (fits and file.name.isprintable() and "\\" not in file.name and not DRIVE.match(file.name)):
            raise PackingError(
                f"{_shown(file.name)} is no name that a host takes: at most {LONGEST_NAME} bytes and {DEEPEST} folders in each other, no "
                "control characters, no backslash, no drive; give that file another name"
            )
        names = file.name.split("/")
        for name in ("/".join(names[:count]) for count in range(1, len(names) + 1)):
            if (other := seen.setdefault(folded_name(name), name)) != name:
                raise PackingError(
                    f"{_shown(other)} and {_shown(name)} are one name where capitals do not count; give one another name"
                )


def _unreadable(name: str, error: OSError) -> str:
    return f"{_shown(name)} cannot be read ({error.strerror or error}); check its permissions"


def _shown(name: str) -> str:
    return ascii(name)[1:-1] if not name.isprintable() else name


def _mib(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
