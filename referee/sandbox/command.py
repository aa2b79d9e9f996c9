"""What a bot is started as: its command, the program file behind it, and its environment."""

import errno
import os
import re
import shutil
import site
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import referee
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.process_tree import MARKER

PACKAGE = Path(referee.__file__).resolve().parent
"""The folder of the package `referee`, which holds the Python SDK."""

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

_PYTHON = re.compile(r"(python|pypy)[0-9.]*t?")
_SIGNS_OF_INSTALLATION = ("lib", "lib64", "libexec", "pyvenv.cfg")
_WIDE = tuple(map(Path, ("/", "/home", "/root", "/tmp", "/var", "/etc", "/opt", "/usr", "/srv", "/mnt")))


_REMEDIES: Final = {
    errno.EMFILE: "too many files are open in this process: raise the limit (ulimit -n 4096), or let fewer bots play at once",
    errno.ENFILE: "too many files are open on this machine: end something, or let fewer bots play at once",
    errno.ENOSPC: "the disk is full: make room, then go on",
    errno.EDQUOT: "your quota of the disk is used up: make room, then go on",
    errno.EROFS: "the place is read-only: name a file elsewhere",
}
"""What can be done about errors of the machine."""

_OF_THE_TARGET: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""Where a file cannot be copied for these, only the copy is of interest."""


def os_error_text(error: OSError) -> str:
    """An error of the system in words: the file's name, what is wrong and what helps, without the system's number."""
    what = _REMEDIES.get(error.errno or 0) or (error.strerror or str(error)).lower()
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, str | bytes)]
    if error.errno in _OF_THE_TARGET:
        names = names[-1:]
    return ": ".join([*names, what])


class LaunchError(Exception):
    """A bot cannot be started. The message names the file and the remedy; to the league it is START_FAILED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """How to start a bot.

    `argv`        the program and its arguments; a program with a slash in it is looked up from `folder`, `python` and
                  `python3` are the interpreter that runs the referee.
    `folder`      the bot's own folder, where it runs; it cannot write there in a sandbox.
    `name`        for messages.
    `environment` what the bot's author wants set besides the usual.
    `cwd`         where in `folder` it runs: arguments are looked up from there.
    `only`        names in `folder` that a sandbox shows; empty = all. For a bot of one file that lies among others.
    `reads`       other files and folders that a sandbox shows, read-only.
    `whole`       whether a sandbox shows all of `folder` where `only` is empty; False for a command that was given no
                  folder of its own.
    `hides`       files and folders that a sandbox never shows, wherever they lie: the league's own.
    """

    argv: tuple[str, ...]
    folder: Path
    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    reads: tuple[Path, ...] = ()
    whole: bool = True
    hides: tuple[Path, ...] = ()
    cwd: str = ""


def bot_command(
    argv: Sequence[str], folder: Path, name: str, *, only: tuple[str, ...] = (), hides: tuple[Path, ...] = ()
) -> Command:
    """How to start a bot that was found. A folder with a `bot.toml` is the bot's own, and a sandbox shows all of it; from
    any other it shows what the command names.
    """
    if (folder / "bot.toml").is_file():
        return Command(argv=tuple(argv), folder=folder, name=name, only=only, hides=hides)
    return Command(
        argv=tuple(argv), folder=folder, name=name, only=only or named_entries(argv, folder), whole=False, hides=hides
    )


def named_entries(argv: Sequence[str], folder: Path) -> tuple[str, ...]:
    """What a command names of a folder, seen from there: a file of it, a folder below, for a file below its folder.

    Words are taken apart at `=`, `:` and `,`; after `-m` stands a module of Python. Nothing outside of the folder counts.
    """
    found: dict[str, None] = {}
    for before, word in zip(("", *argv), argv, strict=False):
        parts = [word, *re.split("[=:,]", word)]
        if before == "-m":
            module = word.partition(".")[0]
            parts = [module, f"{module}.py"]
        for part in filter(None, parts):
            path = Path(os.path.normpath(folder / part))
            if path == folder or not path.is_relative_to(folder) or not os.path.lexists(path):
                continue
            place = path if path.is_dir() or path.parent == folder else path.parent
            found[str(place.relative_to(folder))] = None
    return tuple(name for name in found if not any(name.startswith(f"{other}/") for other in found))


def find_program(command: Command) -> Path:
    """The absolute path of the program that a command runs, with its links as they are.

    Raises LaunchError if the folder or the program is missing, or cannot be executed.
    """
    if not command.folder.is_dir():
        raise LaunchError(f"bot {command.name}: folder {command.folder} does not exist: correct its path")
    if not command.argv or not command.argv[0]:
        raise LaunchError(f'bot {command.name}: the command is empty: give one, as ["./bot"]')
    if any("\0" in word for word in command.argv):
        raise LaunchError(f"bot {command.name}: the command holds a NUL character: take it out")
    first = command.argv[0]
    if first in {"python", "python3"}:
        return Path(sys.executable)
    if "/" in first:
        path = Path(os.path.normpath(command.folder.absolute() / first))
    else:
        found = shutil.which(first)
        if found is None:
            raise LaunchError(f"bot {command.name}: program {first} is not on the PATH: install it, or write ./{first}")
        path = Path(found).absolute()
    _check_executable(command.name, path)
    return path


def _check_executable(name: str, path: Path) -> None:
    if not path.is_file():
        raise LaunchError(f"bot {name}: program {path} does not exist: build it, or correct the command")
    if not os.access(path, os.X_OK):
        raise LaunchError(f"bot {name}: program {path} is not executable: chmod +x {path}")
    with path.open("rb") as file:
        start = file.read(2)
    # Without this a shell would take any text file for a script of its own.
    if start != b"#!" and start.isascii() and start.decode("ascii").isprintable():
        raise LaunchError(
            f"bot {name}: script {path} does not say what runs it: begin it with a line #!/usr/bin/env ..."
        )


def is_python(program: Path) -> bool:
    """Whether a program is a Python interpreter, by its name."""
    return _PYTHON.fullmatch(program.name) is not None


def is_own_python(program: Path) -> bool:
    """Whether a program is the very interpreter that runs the referee, so that the bot shares its libraries."""
    return str(program) in (sys.executable, os.path.realpath(sys.executable))


def user_site() -> Path | None:
    """The folder of libraries under the home of the referee's user, if its interpreter uses one."""
    folder = Path(site.getusersitepackages())
    return folder if site.ENABLE_USER_SITE and folder.is_dir() else None


def installations(program: Path, folder: Path) -> list[Path]:
    """What a program outside of the bot's `folder` needs to be seen: for each link on the way to the real file, that
    file, or the whole place it is installed in. `/opt/node/bin/node` needs `/opt/node`, which has a `lib`.

    A home folder or the root of the system is never taken as such a place.
    """
    found: list[Path] = []
    for path in _links(program):
        place = path.parent.parent
        installed = path.parent.name == "bin" and any((place / name).exists() for name in _SIGNS_OF_INSTALLATION)
        if not installed or is_too_wide(place) or path.is_relative_to(folder):
            place = path
        if place not in found:
            found.append(place)
    return found


def _links(path: Path) -> list[Path]:
    """A path and what it links to, step by step, up to the real file."""
    steps = [path]
    while steps[-1].is_symlink() and len(steps) < 40:
        steps.append(Path(os.path.normpath(steps[-1].parent / steps[-1].readlink())))
    steps.append(path.resolve())
    return steps


def is_too_wide(folder: Path) -> bool:
    """Whether a folder holds much that is no bot's business: the root of the system, a home and the like."""
    home = Path.home()
    return folder in {home, home / ".local", *_WIDE}


def bot_environment(
    command: Command, program: Path, *, address: str, token: str, marker: str, home: str, limits: ResourceLimits
) -> dict[str, str]:
    """The whole environment of a bot; nothing of the referee's own goes in, but for the path of programs.

    `home` is the private folder, which is also the one for temporary files.
    """
    path = f"{program.parent}:{SYSTEM_PATH}"
    environment = {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}
    # A virtual machine sizes itself by the machine unless it is told; 512 MiB would not even hold its first heap.
    environment["JAVA_TOOL_OPTIONS"] = f"-XX:MaxRAM={limits.memory_mib}m"
    if is_python(program):
        environment |= _python_environment(program)
    for name, value in command.environment.items():
        joined = name == "PYTHONPATH" and name in environment
        environment[name] = f"{value}:{environment[name]}" if joined else value
    return environment | {"REFEREE_ADDRESS": address, "REFEREE_TOKEN": token, MARKER: marker}


def _python_environment(program: Path) -> dict[str, str]:
    """What a Python bot needs: prompt output, no `__pycache__` left behind, a trace after a crash, and the SDK.

    The fixed hash seed lets a bot that walks through a set decide the same in every run.
    """
    values = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONFAULTHANDLER": "1", "PYTHONHASHSEED": "0"}
    if PACKAGE.parent.name not in {"site-packages", "dist-packages"}:
        values["PYTHONPATH"] = str(PACKAGE.parent)
    if is_own_python(program) and user_site() is not None:
        values["PYTHONUSERBASE"] = site.getuserbase()
    return values
