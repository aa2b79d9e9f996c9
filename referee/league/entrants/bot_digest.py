"""A digest over the files of a bot: it tells when a bot that is registered has been changed.

What counts: every regular file below the folder, by relative name and content, whatever its size; links to files count
with the content behind them, links to folders by their target.

What does not count: traces of tools (``__pycache__``, ``.git``, virtual environments, caches; ``leagues`` and
``failures``, which ``referee play`` and ``check`` write where they are called), and, for a bot that says
how it is built, the folders that builds write to (``target``, ``build``, ``dist``, ``out``, ``bin``, ``obj``,
``node_modules``, ``.gradle``, ``.build-home``), because no compiler promises to write the same bytes again. A bot that is built must
therefore leave its products in one of these; a bot without ``build`` is judged by everything that is there.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

TRACES = frozenset(
    {
        ".DS_Store",
        ".git",
        ".hg",
        ".idea",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".venv",
        ".vscode",
        "__pycache__",
        "failures",
        "leagues",
    }
)
"""Names of files and folders that never count."""

PRODUCTS = frozenset({".build-home", ".gradle", "bin", "build", "dist", "node_modules", "obj", "out", "target"})
"""Names of folders that do not count for a bot that is built."""

_NOT_OURS = frozenset({".build-home", ".gradle", "node_modules", "obj", "target"})
_SYSTEM = ("/usr/", "/bin/", "/lib", "/sbin/")

MOST_FILES = 20_000
_MOST_STEPS = 40
MOST_BYTES = 1 << 30


class TooLarge(ValueError):
    """A bot with more files or bytes than anybody wants to read at every start."""


def folder_digest(folder: Path, *, built: bool) -> str:
    """SHA-256, in hexadecimal, over the files of a folder; ``built`` leaves the products of a build out.

    Raises ``OSError`` for what cannot be read and ``TooLarge`` beyond 20,000 files and folders or 1 GiB.
    """
    return _digest(folder, sorted(_files(folder, PRODUCTS if built else frozenset()), key=os.fsencode))


def file_digest(path: Path) -> str:
    """SHA-256, in hexadecimal, over one file: its name and content. Raises ``OSError`` and ``TooLarge``."""
    return _digest(path.parent, [path.name])


def command_digest(argv: Sequence[str], folder: Path) -> str:
    """SHA-256, in hexadecimal, over a command and those of its words that are files (seen from the folder).

    Raises ``OSError`` and ``TooLarge``.
    """
    return _digest(folder, sorted({word for word in argv if stat.S_ISREG(_mode(folder / word))}), argv)


def outer_links(folder: Path, names: Sequence[str] = ()) -> list[tuple[str, Path]]:
    """The links in a folder (or those of ``names`` in it) that lead out of it to something that is there, with the real place.

    Traces and stores of tools are not looked into, and links to the system's own files do not count. Raises ``OSError`` and ``TooLarge``.
    """
    home = folder.resolve()
    found = []
    for name in sorted(names or _files(folder, _NOT_OURS)):
        path = folder / name
        try:
            target = path.resolve(strict=True) if path.is_symlink() else None
        except (OSError, RuntimeError):
            continue  # it leads nowhere, or round in a circle
        if target is not None and not target.is_relative_to(home) and not str(target).startswith(_SYSTEM):
            found.append((name, target))
    return found


def linked_files(folder: Path, names: Sequence[str] = ()) -> tuple[Path, ...]:
    """What a sandbox has to show besides the folder for the links in it to lead somewhere: every step of each, to the file."""
    found: dict[Path, None] = {}
    with contextlib.suppress(OSError, TooLarge):
        for name, target in outer_links(folder, names):
            step = folder / name
            for _ in range(_MOST_STEPS):
                if not step.is_symlink():
                    break
                step = Path(os.path.normpath(step.parent / step.readlink()))
                found[step] = None
            found[target] = None
    return tuple(found)


def differing_files(one: tuple[Path, Sequence[str], bool], other: tuple[Path, Sequence[str], bool]) -> list[str]:
    """The names of files that two bots do not share, sorted. A bot is a folder, the one file of it that counts (or none), and
    whether it is built. Raises ``OSError`` and ``TooLarge``.
    """
    found = []
    for folder, only, built in (one, other):
        names = list(only) or _files(folder, PRODUCTS if built else frozenset())
        # A bot of one file has its name from that file, so that two of them differ in content alone.
        found.append({"its file" if only else name: _digest_of(folder / name) for name in names})
    return sorted(name for name in found[0].keys() | found[1].keys() if found[0].get(name) != found[1].get(name))


def _digest_of(path: Path) -> str:
    mode = _mode(path)
    return _content(path, MOST_BYTES)[0].hex() if stat.S_ISREG(mode) else f"no file, {mode}"


def _files(folder: Path, products: frozenset[str]) -> list[str]:
    """The names of all files below a folder, seen from it."""
    found: list[str] = []
    waiting, seen = [""], 0
    # Not recursive: folders may be nested deeper than Python's stack.
    while waiting:
        prefix = waiting.pop()
        with os.scandir(folder / prefix) as entries:
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if entry.name in TRACES or (is_folder and entry.name in products):
                    continue
                seen += 1
                if seen > MOST_FILES:
                    raise TooLarge(f"more than {MOST_FILES:,} files and folders")
                (waiting if is_folder else found).append(prefix + entry.name + "/" * is_folder)
    return found


def _digest(folder: Path, names: Sequence[str], words: Sequence[str] = ()) -> str:
    total = hashlib.sha256()
    for word in words:
        total.update(b"w" + _framed(os.fsencode(word)))
    left = MOST_BYTES
    for name in names:
        path = folder / name
        mode = _mode(path)
        if stat.S_ISREG(mode):
            kind, content, size = b"f", *_content(path, left)
            left -= size
        else:
            # A pipe would block and a device might never end: they count by their kind alone.
            target = os.fsencode(path.readlink()) if path.is_symlink() else b""
            kind, content = b"o", hashlib.sha256(target + stat.S_IFMT(mode).to_bytes(4, "big")).digest()
        total.update(kind + _framed(os.fsencode(name)) + content)
    return total.hexdigest()


def _framed(raw: bytes) -> bytes:
    return len(raw).to_bytes(8, "big") + raw


def _mode(path: Path) -> int:
    """The mode of what is there, behind links; 0 for nothing."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _content(path: Path, limit: int) -> tuple[bytes, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
            if size > limit:
                raise TooLarge(f"more than {MOST_BYTES >> 20:,} MiB")
    return digest.digest(), size
