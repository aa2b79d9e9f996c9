"""build, as a user types it, and what says that a bot has to be built first. Python stands in for the compilers."""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.entrants.bot_build import missing_products, missing_tools, require_built
from referee.league.entrants.bot_source import BotSourceError, find_bot
from referee.league.entrants.roster import enter
from tests.program import PATIENCE, referee

MAKE = """\
import pathlib, sys
print("compiling")
pathlib.Path("dist").mkdir(exist_ok=True)
pathlib.Path("dist/bot.py").write_text("from referee.bot import run\\nrun(lambda turn: turn.rng.choice(turn.legal))\\n")
"""
LEAGUE = """\
[tournament]
name = "Built"
variant = "auction-pitch"
seats = 2
[[bots]]
path = "random"
copies = 2
[[bots]]
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """The folder of a bot that a step of its own brings forth."""
    return make_bot(tmp_path / "made", MAKE)


def make_bot(folder: Path, make: str, build: str = '["python", "make.py"]') -> Path:
    folder.mkdir()
    (folder / "make.py").write_text(dedent(make))
    manifest = f'name = "{folder.name}"\nversion = "1"\nbuild = {build}\nrun = ["python", "dist/bot.py"]\n'
    (folder / "bot.toml").write_text(manifest)
    return folder


def test_a_bot_is_built_in_its_own_folder_and_then_plays(bot: Path) -> None:
    built = referee(bot.parent, "build", "made")
    assert built.returncode == 0, built.stderr
    assert built.stdout.splitlines()[0].startswith("made: ")
    assert "compiling" in built.stdout
    assert "made: built in " in built.stdout
    played = referee(bot.parent, "play", "made", "random", "-n", "2", "--output", "plain")
    assert played.returncode == 0, played.stderr
    assert "place points a game" in played.stdout
    inside = referee(bot, "build", "--quiet")
    assert inside.returncode == 0
    assert "compiling" not in inside.stdout


@pytest.mark.parametrize("command", [["play", "made", "random"], ["check", "made"], ["submit", "made", "club.toml"]])
def test_what_plays_a_bot_that_is_not_built_names_the_command(command: list[str], bot: Path) -> None:
    (bot.parent / "club.toml").write_text(LEAGUE + 'path = "careful"')
    refused = referee(bot.parent, *command)
    assert refused.returncode == 2, refused.stdout
    assert "no dist/bot.py in its folder: it is not built" in refused.stderr
    assert "remedy: run referee build made\n" in refused.stderr


def test_a_league_names_every_bot_that_is_not_built_and_leaves_submissions_out(bot: Path) -> None:
    (bot.parent / "club.toml").write_text(LEAGUE + 'path = "made"')
    refused = referee(bot.parent, "run", "club.toml", "--sandbox", "none")
    assert refused.returncode == 2
    assert refused.stderr.count("referee build made") == 1
    roster = enter(parse_definition(LEAGUE + 'bots_from = "m*"', folder=bot.parent))
    assert [entrant.key for entrant in roster.entrants] == ["random", "random#2"]
    assert "it is not built" in roster.skipped[0].reason


def test_products_are_the_paths_into_the_folders_that_builds_write_to(bot: Path) -> None:
    manifest = bot / "bot.toml"
    manifest.write_text(
        'name = "x"\nversion = "1"\nbuild = "make"\nrun = ["java", "-cp", "target/x.jar:target/libs/*", "/opt/bin/x", "conf"]'
    )
    source = find_bot(str(bot), bot)
    assert missing_products(source) == ("target/x.jar",)
    with pytest.raises(BotSourceError, match=r"no target/x\.jar"):
        require_built([source])
    (bot / "target").mkdir()
    (bot / "target" / "x.jar").touch()
    require_built([source])


def test_a_build_that_fails_shows_why_and_leaves_the_others_alone(bot: Path) -> None:
    make_bot(bot.parent / "broken", "import sys\nprint('line 7: no such card')\nsys.exit(3)")
    done = referee(bot.parent, "build", "broken", "made", "random", "-q")
    assert done.returncode == 1
    assert "line 7: no such card" in done.stderr
    assert "broken: its build step ended with exit code 3" in done.stderr
    assert "made: built in" in done.stdout
    assert "random: nothing to build" in done.stdout


def test_a_build_that_brings_nothing_has_failed(tmp_path: Path) -> None:
    make_bot(tmp_path / "idle", "pass")
    done = referee(tmp_path, "build", "idle")
    assert done.returncode == 1
    assert 'brought no dist/bot.py, which "run" names' in done.stderr


def test_a_missing_compiler_is_named_with_what_brings_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)  # there nothing is left out
    make_bot(tmp_path / "exotic", "", '["no-such-compiler", "all"]')
    done = referee(tmp_path, "build", "exotic")
    assert done.returncode == 3
    assert "exotic: not on the PATH: no-such-compiler; install it" in done.stderr
    left_out = referee(tmp_path, "build", "exotic", "--skip-missing")
    assert left_out.returncode == 0
    assert "left out" in left_out.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    assert missing_tools(["sh", "-c", "npm ci && npx tsc"])[1].startswith("npm (Node.js")
    assert missing_tools(["./build.sh"]) == ()


def test_a_build_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    make_bot(tmp_path / "slow", SLOW)
    done = referee(tmp_path, "build", "slow", "--seconds", "2")
    assert done.returncode == 1
    assert "it was not done after 2 seconds" in done.stderr
    assert not running_in(tmp_path)


SLOW = """\
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
with open("pids", "w") as file:
    print(os.getpid(), child.pid, file=file)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_build_leaves_nothing_running(number: signal.Signals, tmp_path: Path) -> None:
    make_bot(tmp_path / "slow", SLOW)
    program = "from referee.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "build", "slow"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        pids = tmp_path / "slow" / "pids"
        while not (pids.exists() and pids.read_text().endswith("\n")) and command.poll() is None:
            time.sleep(0.02)
        command.send_signal(number)
        _, err = command.communicate(timeout=PATIENCE)
    assert command.returncode == 130
    assert b"interrupted" in err
    assert not running_in(tmp_path)


def running_in(folder: Path) -> set[str]:
    """The numbers of the processes that run in a folder or below, seen from outside of any sandbox."""
    found = set()
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (place / "cwd").readlink().is_relative_to(folder):
                found.add(place.name)
    return found
