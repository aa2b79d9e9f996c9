"""Shared by all tests: optional tools, and settings of hypothesis that keep the clock out of the verdict."""

import os
import shutil
import subprocess
from functools import cache
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

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
    "npm": (["npm", "--version"], "npm"),
    "unshare": (["unshare", "--mount", "true"], "util-linux, and the right to mount"),
}


@cache
def why_unusable(tool: str) -> str | None:
    """Why the tests of an optional tool cannot run on this machine, with the remedy; None if they can."""
    probe, package = TOOLS[tool]
    if shutil.which(probe[0]) is None:
        return f"{tool} is not installed: apt install {package}"
    try:
        done = subprocess.run(probe, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False)
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
