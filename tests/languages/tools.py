"""The sample bots by language: which tools they need, what makes them clean, and building them once a session."""

import contextlib
import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from referee.league.definition.shipped import shipped_folder
from referee.league.entrants.bot_source import BotSource, find_bot
from referee.league.entrants.build_process import HOME
from tests import program
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
    # clippy-driver is rustc that lints too, and `cargo clippy` no more than a cargo that runs it: so what the build has
    # compiled of libraries is used again, which `cargo clippy` would do a second time. It works on a copy, for what it
    # writes is not what the build wrote. Its words come again each time, so they are looked through for warnings.
    "rust": Language(
        ("cargo",),
        """
        set -e
        cargo fmt --check
        rm -rf target/lint
        mkdir target/lint
        cp -Rp target/release target/lint/
        export CARGO_HOME="$PWD/.build-home/.cargo" RUSTC_WORKSPACE_WRAPPER=clippy-driver
        cargo build --release --target-dir target/lint >target/lint/said 2>&1 || { cat target/lint/said; exit 1; }
        if grep -q ^warning target/lint/said; then cat target/lint/said; exit 1; fi
        rm -rf target/lint
        """,
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
    """The referee's command line, for all but builds, which may take longer than it has patience with others."""
    return program.run(folder, arguments, **variables())


def run(line: Sequence[str], folder: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """A program in a folder, with the tools of this environment on its PATH; ``place`` is where it finds that folder."""
    if place != folder:
        line = [*SHOWN, "--bind", str(folder), str(place), "--chdir", str(place), "--", *line]
    return subprocess.run(
        line,
        cwd=folder,
        env=os.environ | variables(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def variables() -> dict[str, str]:
    """What is in the environment of all these programs: the tools of ours, and a Maven that starts soon."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {"COLUMNS": "200", "PATH": path, "MAVEN_OPTS": os.environ.get("MAVEN_OPTS", SHORT_LIVED)}


@cache
def built(language: str, bot: str) -> BotSource:
    """The sample bot, built: once in a run of the tests, whichever worker comes first."""
    folder = ROOT / language / bot
    if bot != "random":
        begin_with(built(language, "random").folder, folder)
    with _alone(folder) as done_before:
        if not done_before:
            build(language, folder)
    return find_bot(str(folder), folder)


def build(language: str, folder: Path) -> None:
    """`referee build`, where tools find again what they have compiled for another bot of the language: see `place_of`."""
    place = place_of(language, folder)
    words = ("build", str(place), "--network", "--quiet", "--seconds", "3600")
    done = run([*program.REFEREE, *words], folder, place)
    assert done.returncode == 0, done.stdout + done.stderr


def place_of(language: str, folder: Path) -> Path:
    """Where the tools of a language see a bot's folder: all of a language at one place.

    Cargo and Go compile a library anew if it lies elsewhere, as it does in the home of another bot. So every bot is shown
    to its build where ``random`` is, if bubblewrap can do that, and Referee's sandbox works inside.
    """
    return ROOT / language / "random" if can_show() else folder


@cache
def can_show() -> bool:
    """Whether a folder can be shown to a program at another place."""
    try:
        done = subprocess.run(
            [*SHOWN, "--", "bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


SHOWN: Final = ("bwrap", "--die-with-parent", "--dev-bind", "/", "/")
"""Runs a program that sees all that we see, but for what is bound elsewhere by further arguments."""

SHORT_LIVED: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"
"""For the Java of Maven: it lives for seconds, and spends most of them compiling itself."""


def begin_with(theirs: Path, ours: Path) -> None:
    """What tools have fetched and compiled for one bot, copied to another, so that it is fetched and compiled once.

    Of what CMake has made the bot's own program is left out: whether that is old would be told by times alone, and
    those of sources say nothing in a fresh checkout.
    """
    kept = {"Cargo.toml": "target", "CMakeLists.txt": "build"}
    left = {"build": ("bot", "bot.dir"), "target": ("lint",)}
    for name in [HOME, *[made for file, made in kept.items() if can_show() and (ours / file).exists()]]:
        with _alone(ours, f"copied-{name}"):
            if (theirs / name).is_dir() and not (ours / name).exists():
                shutil.copytree(
                    theirs / name, ours / name, symlinks=True, ignore=shutil.ignore_patterns(*left.get(name, ()))
                )


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
