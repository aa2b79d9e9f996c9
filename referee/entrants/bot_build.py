"""The build step of a bot: running it, and telling whether it has been run.

A bot is built when every product that its ``run`` names is there: each word of it that is a path into a folder that
builds write to (``target/release/mybot``, ``dist/bot.js``). A ``:`` in a word separates paths, as in a class path.
"""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Protocol

from referee.definitions.problems import Problem, plain
from referee.entrants.bot_digest import PRODUCTS
from referee.entrants.bot_source import BotError, BotSource
from referee.seats.trees import MARKER, Signs, Tree, adopt_orphans, owner

TOOLS: Final = {
    "cargo": "Rust 1.88 or newer: https://rustup.rs",
    "cmake": "apt install g++ cmake pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc",
    "g++": "apt install g++",
    "go": "Go 1.24 or newer: https://go.dev/dl, or apt install golang",
    "gradle": "https://gradle.org/install",
    "java": "apt install default-jdk-headless",
    "javac": "apt install default-jdk-headless",
    "make": "apt install make",
    "mvn": "apt install maven",
    "node": "Node.js 20 or newer: https://nodejs.org, or apt install nodejs",
    "npm": "Node.js 20 or newer: https://nodejs.org, or apt install npm",
    "npx": "Node.js 20 or newer: https://nodejs.org, or apt install npm",
}
"""What brings a program that builds call, by its name."""

SHOWN_LINES: Final = 60
_ENDING_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a build went. ``failure`` is one sentence, empty if it went well; ``words`` the end of its output if kept."""

    seconds: float
    failure: str = ""
    words: str = ""


class Built(Protocol):
    """What is known of a bot that may have to be built: a ``BotSource`` or an entrant."""

    @property
    def argv(self) -> tuple[str, ...]:
        """How it is started."""

    @property
    def build(self) -> tuple[str, ...]:
        """How it is built; empty = not at all."""

    @property
    def folder(self) -> Path | None:
        """Its folder; ``None`` for one that dials in."""


def missing_products(source: Built) -> tuple[str, ...]:
    """The products that the bot's ``run`` names and that are not there; empty where nothing is built."""
    folder = source.folder
    if not source.build or folder is None:
        return ()
    paths = [path for word in source.argv for path in word.split(":") if _is_product(path)]
    return tuple(path for path in paths if not (folder / path).exists())


def _is_product(path: str) -> bool:
    place = Path(path)
    return not place.is_absolute() and "*" not in path and not PRODUCTS.isdisjoint(place.parts)


def unbuilt(source: Built) -> Problem | None:
    """That the bot has to be built first, with the command that does it; ``None`` if it need not be."""
    missing, folder = missing_products(source), _seen_from_here(source.folder or Path())
    if not missing:
        return None
    found = f"no {plain(missing[0])} in its folder: it is not built"
    return Problem(plain(folder), 0, "the bot", found, "a bot that is built", f"run referee build {plain(folder)}")


def require_built(sources: Iterable[Built]) -> None:
    """Raises ``BotError`` with every bot that has to be built first."""
    problems = [problem for source in sources if (problem := unbuilt(source)) is not None]
    if problems:
        raise BotError(dict.fromkeys(problems))


def _seen_from_here(folder: Path) -> str:
    here = Path.cwd()
    return str(folder.relative_to(here)) if folder.is_relative_to(here) else str(folder)


def missing_tools(build: Sequence[str]) -> tuple[str, ...]:
    """The programs that a build step calls and that are not on the PATH, each with what brings it."""
    words = [build[0], *(word for word in re.findall(r"[\w+-]+", " ".join(build)) if word in TOOLS)] if build else []
    missing = [word for word in dict.fromkeys(words) if "/" not in word and shutil.which(word) is None]
    return tuple(f"{word} ({TOOLS[word]})" if word in TOOLS else word for word in missing)


def build(source: BotSource, *, seconds: float, live: bool) -> Outcome:
    """Runs the build step in the bot's folder, for at most so many seconds, with the caller's own environment.

    With ``live`` its output goes where ours goes, else the end of it is kept. Whatever it has started is ended when it
    ends, is late, or an exception (Ctrl-C) comes by.
    """
    started = time.monotonic()
    with tempfile.TemporaryFile() as kept:
        try:
            code = _run(source, None if live else kept, seconds)
        except OSError as error:
            return Outcome(0.0, f"{source.build[0]} cannot be started: {error.strerror}")
        took = time.monotonic() - started
        failure = _failure(source, code, seconds)
        return Outcome(took, failure, _end_of(kept) if failure else "")


def _failure(source: BotSource, code: int | None, seconds: float) -> str:
    if code is None:
        return f"it was not done after {seconds:g} seconds and was ended; --seconds gives it more"
    if code:
        return f"its build step ended with exit code {code}" if code > 0 else f"its build step ended by signal {-code}"
    missing = missing_products(source)
    if missing:
        return f'its build step brought no {missing[0]}, which "run" names: correct build or run in its bot.toml'
    return ""


def _run(source: BotSource, output: IO[bytes] | None, seconds: float) -> int | None:
    """The exit code of the build step, ``None`` if it was late. Raises ``OSError`` if it cannot be started."""
    adopt_orphans()
    signs = Signs(secrets.randbits(62), f"{owner()}.{secrets.token_hex(8)}")
    popen = subprocess.Popen(  # noqa: S603  # starting what a bot's manifest says is what it is for
        source.build,
        cwd=source.folder,
        env=os.environ | {MARKER: signs.marker},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )
    tree = Tree(popen.pid, signs)
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return popen.wait(seconds)
        return None
    finally:
        if popen.poll() is None:
            popen.kill()
        _sweep(tree)
        popen.wait()


def _sweep(tree: Tree) -> None:
    """Ends what the build step has started and left."""
    end = time.monotonic() + _ENDING_S
    while tree.strike() and time.monotonic() < end:
        time.sleep(0.01)


def _end_of(output: IO[bytes]) -> str:
    output.seek(0, os.SEEK_END)
    output.seek(max(output.tell() - 64 * 1024, 0))
    lines = output.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-SHOWN_LINES:])
