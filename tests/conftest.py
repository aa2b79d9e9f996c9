"""Shared by all tests: optional tools, how the tests are spread, and settings of hypothesis that keep the clock out of the verdict."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from functools import cache
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from tests.shared import FOLDER

# Bytecode is kept, whatever the environment says: else each worker rewrites the assertions of all tests (a quarter of a
# minute of a processor), and each of the thousand processes that they start compiles the program anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

CI: Final = os.environ.get("CI", "").lower() == "true"

# A test fails for what it finds, never for how busy the machine is: no deadlines, and pytest's time-out ends a hang.
# People look for new examples at every run; CI looks at the same ones, so that it fails for the change it is shown.
settings.register_profile(
    "referee", deadline=None, print_blob=True, derandomize=CI, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("referee")

TOOLS: Final[dict[str, tuple[list[str], str]]] = {
    # name: (a command that succeeds only where the tool works, the Debian package that brings it)
    "bwrap": (["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true"], "bubblewrap"),
    "caddy": (["caddy", "version"], "caddy"),
    "chromium": (["chromium", "--version"], "chromium"),
    "cargo": (["cargo", "clippy", "--version"], "cargo rust-clippy rustfmt, or https://rustup.rs"),
    "clang-format": (["clang-format", "--version"], "clang-format"),
    "cmake": (["cmake", "--version"], "cmake"),
    "go": (["go", "version"], "golang"),
    "grpc++": (
        ["pkg-config", "--print-errors", "--exists", "grpc++"],
        "g++ pkg-config libgrpc++-dev libprotobuf-dev protobuf-compiler-grpc",
    ),
    "mvn": (["mvn", "--version"], "maven default-jdk-headless"),
    "nginx": (["nginx", "-v"], "nginx-light"),
    "npm": (["npm", "--version"], "npm"),
    "systemd-analyze": (["systemd-analyze", "--version"], "systemd"),
    "unshare": (["unshare", "--mount", "true"], "util-linux, and the right to mount"),
}

LONGEST: Final = (
    "tests/languages/test_languages.py",
    "tests/languages/test_league.py",
    "tests/check/test_kill_matrix.py",
    "tests/check/test_blame.py",
    "tests/check/test_replay.py",
    "tests/badbots/",
    "tests/league/test_resume.py",
    "tests/league/test_cluster.py",
    "tests/verification/",
    "tests/cli/test_hostile.py",
    "tests/host/test_host_end_to_end.py",
)
"""Where the long tests are, the longest first: begun last, one of them would run alone beside idle cores."""


def pytest_configure(config: pytest.Config) -> None:
    """Whoever begins the run makes the folder that its workers share; signals are heard however the run was started."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; programs would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as by nohup
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if FOLDER not in os.environ:
        made = tempfile.TemporaryDirectory(prefix="referee-tests-")
        os.environ[FOLDER] = made.name
        config.add_cleanup(lambda: os.environ.pop(FOLDER, None))
        config.add_cleanup(made.cleanup)


def pytest_xdist_auto_num_workers() -> int:
    """Two workers for each core: while one waits for a process or for a bot that hangs, another computes."""
    return 2 * (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is loaded and collected stays to the end: the search for garbage does not go through it again and again.

    A worker collects in four fifths of the time, and what computes in it takes a tenth less.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long tests first; all others stay in the random order that they have."""

    def place(item: pytest.Item) -> int:
        return next((at for at, path in enumerate(LONGEST) if item.nodeid.startswith(path)), len(LONGEST))

    items.sort(key=place)


@cache
def why_unusable(tool: str) -> str | None:
    """Why the tests of an optional tool cannot run on this machine, with the remedy; None if they can."""
    probe, package = TOOLS[tool]
    if shutil.which(probe[0]) is None:
        return f"{tool} is not installed: apt install {package}"
    try:
        done = subprocess.run(probe, capture_output=True, stdin=subprocess.DEVNULL, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{tool} does not run here: {error}"
    if done.returncode != 0:
        return f"{tool} does not work here: {done.stderr.decode(errors='replace').strip()}"
    return None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Carries out ``@pytest.mark.needs("bwrap")``: one visible line where the tool is missing, an error under CI."""
    for marker in item.iter_markers("needs"):
        for tool in marker.args:
            reason = why_unusable(tool)
            if reason is None:
                continue
            if CI:
                pytest.fail(f"{reason} (with CI=true nothing is skipped)", pytrace=False)
            pytest.skip(reason)
