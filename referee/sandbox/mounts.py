"""What a bot sees of the file system in its sandbox, as options of bubblewrap."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from referee.sandbox.command import (
    PACKAGE,
    Command,
    LaunchError,
    installations,
    is_own_python,
    is_python,
    is_too_wide,
    user_site,
)
from referee.sandbox.limits import ResourceLimits

HOME = "/tmp"
"""The private folder of a bot in a sandbox, also for temporary files."""

SOCKET_FOLDER = "/run/referee"
"""Where a bot in a sandbox finds its socket."""

_SYSTEM = ("/usr", "/nix/store", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d")
_TOP_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_MOST_ENTRIES = 1000
_MOST_SPECIAL = 100

_COUNTERS = (
    *("buddyinfo", "diskstats", "interrupts", "key-users", "keys", "loadavg", "locks", "pagetypeinfo", "schedstat"),
    *("slabinfo", "softirqs", "swaps", "timer_list", "vmstat", "zoneinfo", "sys/kernel/pty/nr"),
    "sys/kernel/random/entropy_avail",
)
_FOLDERS_OF_COUNTERS = ("fs", "irq", "pressure", "sys/fs")
"""Files of /proc that count for the whole machine, to the last unit: one bot could move a number that another reads."""


def mounts(
    command: Command, program: Path, limits: ResourceLimits, socket: Path | None, *, other_user: bool
) -> list[str]:
    """The options that build the file system of one bot.

    `other_user`: the bot runs under another user id than the referee, so what it needs must be readable for all.
    Raises LaunchError if its folder is too wide to be shown, or not readable.
    """
    made: set[Path] = set()
    options = [*_system(made), "--proc", "/proc", "--dev", "/dev", *_without_counters()]
    for place in ("/dev/shm", HOME):
        options += ["--perms", "1777", "--size", str(limits.disk_bytes), "--tmpfs", place]
    options += ["--remount-ro", "/dev"]
    if socket is not None:
        options += _parents(Path(SOCKET_FOLDER, socket.name), made)
        options += ["--ro-bind", str(socket), f"{SOCKET_FOLDER}/{socket.name}"]
    folder = command.folder.absolute()
    wanted = {path for path in _libraries(program, folder) if path.exists()}
    wanted |= {path.absolute() for path in command.reads}
    options += _read_only(sorted(path for path in wanted if not path.is_relative_to(folder)), made)
    options += _own_folder(command, program, made, other_user=other_user)
    names = _names_shown(command, program)
    own = [folder] if names is None else [folder / name for name in names]
    for shown in (*own, *command.reads):
        options += [option for path in _special_files(shown.absolute()) for option in _masked(path)]
    return options + [option for path in _hidden(command, wanted) for option in _masked(path)]


def _system(made: set[Path]) -> Iterator[str]:
    """The system's programs and libraries. /bin is a link to /usr/bin on most, a folder on some."""
    for name in _TOP_FOLDERS:
        if os.path.islink(name):
            yield from ("--symlink", os.readlink(name), name)
        elif os.path.isdir(name):
            yield from ("--ro-bind", name, name)
    for path in (*map(Path, _SYSTEM), *Path("/etc").glob("java*")):
        if path.exists():
            yield from (*_parents(path, made), "--ro-bind", str(path), str(path))


def _without_counters() -> Iterator[str]:
    """Covers what in /proc tells of the whole machine."""
    for name in (*_COUNTERS, *_FOLDERS_OF_COUNTERS):
        path = Path("/proc", name)
        if path.exists():
            yield from _masked(path)


def _masked(path: Path) -> Iterator[str]:
    """Covers a file with one that cannot be opened, a folder with an empty one."""
    if path.is_dir() and not path.is_symlink():
        yield from ("--perms", "0555", "--size", "4096", "--tmpfs", str(path), "--remount-ro", str(path))
    else:
        yield from ("--ro-bind", "/dev/null", str(path))


@cache
def _special_files(place: Path) -> tuple[Path, ...]:
    """The pipes, sockets and devices in a folder, links not followed. Looked for once: no bot can make any there.

    Through a pipe two bots could talk that share a folder, even where the folder is read-only. Raises LaunchError for
    too many of them.
    """
    found = [place] if os.path.exists(place) and not place.is_file() and not place.is_dir() else []
    waiting = [place]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry))
                elif not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
                    found.append(Path(entry))
        if len(found) > _MOST_SPECIAL:
            raise LaunchError(f"folder {place} holds many pipes or sockets: remove {found[0]} and its like")
    return tuple(found)


def _hidden(command: Command, shown: Iterable[Path]) -> Iterator[Path]:
    """What a bot must not see, wherever it lies in something that is shown as a whole."""
    folder = command.folder.absolute()
    places = [*map(Path, (*_SYSTEM, *_TOP_FOLDERS)), *shown]
    places += [folder / name for name in command.only] if command.only or not command.whole else [folder]
    inside = tuple(f"{place}/" for place in places)
    for path in command.hides:
        unlisted = path.parent == folder and path.name not in command.only and not _is_system(folder)
        if not unlisted and str(path).startswith(inside) and path.exists():
            yield path


def _names_shown(command: Command, program: Path) -> set[str] | None:
    """The entries of its folder that a bot sees: those it names, or all but some that it must not see; None for all."""
    folder = command.folder.absolute()
    hidden = {path.name for path in command.hides if path.parent == folder and os.path.lexists(path)}
    everything = command.whole and not command.only
    if everything and not hidden:
        return None
    names = set(os.listdir(folder) if everything else command.only) - hidden
    if program.is_relative_to(folder):
        names.add(_place_of(program, folder))
    # A bot may lie in the very checkout that the referee runs from: then the SDK is beside it.
    needed = (path for path in _libraries(program, folder) if path.is_relative_to(folder) and path.exists())
    names.update(str(path.relative_to(folder)) for path in needed if path != folder)
    return names


def _libraries(program: Path, folder: Path) -> Iterator[Path]:
    """What the program needs from outside of the bot's folder."""
    yield from installations(program, folder)
    if is_python(program):
        yield PACKAGE
        own_site = user_site() if is_own_python(program) else None
        if own_site is not None:
            yield own_site


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(place) for place in (*_SYSTEM, *_TOP_FOLDERS))


def _read_only(paths: Iterable[Path], made: set[Path]) -> Iterator[str]:
    """Options that show each path in its own place; sorted, so that a folder comes before what it holds."""
    shown: list[Path] = []
    for path in paths:
        if not _is_system(path) and not any(path.is_relative_to(place) for place in shown):
            shown.append(path)
            yield from (*_parents(path, made), "--ro-bind", str(path), str(path))


def _parents(path: Path, made: set[Path]) -> Iterator[str]:
    """Makes the folders above a path, readable for all: bubblewrap's own are for root alone."""
    for parent in reversed(path.parents[:-1]):
        if parent not in made:
            made.add(parent)
            yield from ("--perms", "0755", "--dir", str(parent))


def _own_folder(command: Command, program: Path, made: set[Path], *, other_user: bool) -> Iterator[str]:
    """Shows the bot's own folder, or those of its entries that the bot may see.

    A folder that only its owner may enter, as temporary ones are, is made anew and filled with its entries.
    """
    folder = command.folder.absolute()
    if _is_system(folder):
        return
    if command.whole and not command.only and is_too_wide(folder):
        raise LaunchError(f"bot {command.name}: folder {folder} holds more than a bot: move the bot to one of its own")
    names = _names_shown(command, program)
    if names is None and (not other_user or _is_public(folder)):
        yield from (*_parents(folder, made), "--ro-bind", str(folder), str(folder))
        return
    if names is None:
        names = set(os.listdir(folder))
    if len(names) > _MOST_ENTRIES:
        raise LaunchError(f"bot {command.name}: folder {folder} is closed to other users: chmod o+rx {folder}")
    yield from _parents(folder / "entry", made)
    for name in sorted(names):
        if not any(name.startswith(f"{other}/") for other in names):
            yield from _parents(folder / name, made)
            yield from _entry(command.name, folder / name, other_user=other_user)


def _place_of(program: Path, folder: Path) -> str:
    """What of a bot's folder its program needs: the place that it is installed in, as a virtual environment, or its file."""
    place = program.parent.parent
    if (
        program.parent.name == "bin"
        and place != folder
        and any((place / sign).exists() for sign in ("lib", "pyvenv.cfg"))
    ):
        return str(place.relative_to(folder))
    return str(program.relative_to(folder))


def _entry(bot: str, path: Path, *, other_user: bool) -> Iterator[str]:
    """Shows one entry of a bot's folder. A link stays a link: it must not open what it points to outside."""
    if path.name in {"", ".."} or not os.path.lexists(path):
        raise LaunchError(f"bot {bot}: {path} does not exist: correct the list of files")
    if path.is_symlink():
        yield from ("--symlink", str(path.readlink()), str(path))
        return
    if other_user and not _is_public(path):
        raise LaunchError(f"bot {bot}: {path} is closed to other users: chmod -R o+rX {path}")
    yield from ("--ro-bind", str(path), str(path))


def _is_public(path: Path) -> bool:
    """Whether all users may read a file, or read and enter a folder."""
    mode = path.stat().st_mode
    needed = 0o005 if stat.S_ISDIR(mode) else 0o004
    return mode & needed == needed


_BUILD_CONFIGURATION = ("/etc/maven", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls")
"""What tool-chains read besides programs and libraries; /etc/ssl itself holds private keys."""

_NETWORK_CONFIGURATION = ("resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf", "services", "protocols")

BUILD_TEMPORARY_BYTES = 512 * 1024 * 1024
"""The size of /tmp in a build; what is larger goes to the build's own home, on the disk."""


def build_mounts(folder: Path, reads: Iterable[Path], *, network: bool) -> list[str]:
    """The options that build the file system of a build: the system and ``reads`` read-only, ``folder`` writable.

    With ``network`` also what tells where names are looked up. Raises LaunchError if the folder holds more than a bot.
    """
    if is_too_wide(folder):
        raise LaunchError(f"bot {folder.name}: folder {folder} holds more than a bot: move the bot to one of its own")
    made: set[Path] = set()
    options = [*_system(made), "--proc", "/proc", "--dev", "/dev"]
    for place in ("/dev/shm", HOME):
        options += ["--perms", "1777", "--size", str(BUILD_TEMPORARY_BYTES), "--tmpfs", place]
    options += ["--remount-ro", "/dev"]
    names = [*_BUILD_CONFIGURATION, *(f"/etc/{name}" for name in _NETWORK_CONFIGURATION if network)]
    for path in map(Path, names):
        if path.exists():
            # Some are links into /run, which is not shown.
            options += [*_parents(path, made), "--ro-bind", str(path.resolve()), str(path)]
    wanted = {path.absolute() for path in reads if path.exists()}
    options += _read_only(sorted(path for path in wanted if not path.is_relative_to(folder)), made)
    if not _is_system(folder):
        options += _parents(folder, made)
    return [*options, "--bind", str(folder), str(folder)]
