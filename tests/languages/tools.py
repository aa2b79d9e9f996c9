"""The sample bots by language: which tools they need, what makes them clean, and building them once a session."""

import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.entrants.build_process import HOME
from tests.shared import alone

ROOT: Final = shipped_folder("sample_bots")
BOTS: Final = ("random", "careful")


@dataclass(frozen=True, slots=True)
class Language:
    """``needs`` are tools as tests/conftest.py knows them, ``clean`` a line for sh that fails where a bot's sources are
    not laid out or not clean, ``sources`` the files written by hand, as patterns.
    """

    needs: tuple[str, ...]
    clean: str
    sources: tuple[str, ...]


LANGUAGES: Final = {
    "python": Language((), f"{shlex.quote(sys.executable)} -m ruff check . && ruff format --check .", ("*.py",)),
    "typescript": Language(("npm",), "npm run check", ("src/*.ts",)),
    "go": Language(("go",), 'test -z "$(gofmt -l *.go ../allfours)" && go vet ./...', ("*.go",)),
    "rust": Language(
        ("cargo",),
        "cargo fmt --check && cargo clippy --release --target-dir ../random/target -- -D warnings",
        ("src/*.rs", "build.rs"),
    ),
    "java": Language(("mvn",), "mvn -B -q spotless:check", ("src/main/java/**/*.java",)),
    "cpp": Language(("cmake", "grpc++", "clang-format"), "clang-format --dry-run --Werror src/*", ("src/*",)),
}
"""Every language that there are sample bots in."""

MOST_LINES: Final = {"random": 80, "careful": 205}
"""The most lines of the sources written by hand, as ``lines_of`` counts them: about 80 and about 200."""


def params(*bots: str) -> list[Any]:
    """A parameter for each language and bot, skipped with one line where the tools are missing."""
    return [
        pytest.param(language, bot, marks=pytest.mark.needs(*told.needs), id=f"{language}-{bot}")
        for language, told in LANGUAGES.items()
        for bot in bots
    ]


def command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The referee's command line."""
    line = [sys.executable, "-c", "from referee.cli import main; main()", *arguments]
    return run(line, folder)


def run(line: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A program in a folder, with the tools of this environment on its PATH."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"COLUMNS": "200", "PATH": path}
    return subprocess.run(
        line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


@cache
def built(language: str, bot: str) -> BotSource:
    """The sample bot, built: once in a run of the tests, whichever worker comes first."""
    folder = ROOT / language / bot
    if language != "cpp" and bot != "random":
        begin_with(built(language, "random").folder, folder)
    with _alone(folder) as done_before:
        if not done_before:
            done = command("build", str(folder), "--network", "--quiet", "--seconds", "3600", folder=folder)
            assert done.returncode == 0, done.stdout + done.stderr
    return find_bot(str(folder), folder)


def begin_with(theirs: Path, ours: Path) -> None:
    """What tools have fetched and compiled for one bot, copied to another, so that it is fetched and compiled once."""
    for name in [HOME, *["target"] * (theirs / "Cargo.toml").exists()]:
        with _alone(ours, f"copied-{name}"):
            if (theirs / name).is_dir() and not (ours / name).exists():
                shutil.copytree(theirs / name, ours / name, symlinks=True)


@contextlib.contextmanager
def _alone(folder: Path, what: str = "built") -> Iterator[bool]:
    """One worker at a time; tells whether another has done this in this run."""
    with (folder / "bot.toml").open() as manifest, alone(f"{what} {folder}") as note:
        fcntl.flock(manifest, fcntl.LOCK_EX)  # another run of the tests may build in this checkout too
        yield note.exists()
        note.touch()


def lines_of(language: str, bot: str) -> int:
    """How many lines of code somebody wrote for it: no comments, imports or lone brackets, no generated code."""
    folder = ROOT / language / bot
    files = [path for pattern in LANGUAGES[language].sources for path in folder.glob(pattern) if path.is_file()]
    assert files
    lines = [line.strip() for path in files for line in path.read_text("utf-8").splitlines()]
    return sum(1 for line in lines if line.strip("{}()[];,") and not line.startswith(_SAYS_NOTHING))


_SAYS_NOTHING: Final = ("//", "#", "/*", "*", "import ", "use ", "from ", "package ", "using ")
