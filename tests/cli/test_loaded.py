"""Most tests run commands in a process that has the program loaded already: it does what the program does that a user starts."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.program import FIRST, referee

COMMANDS = {
    "all is well": (["rules", "auction-pitch"], ""),
    "help": (["--help"], ""),
    "help of a command": (["check", "--help"], ""),
    "no such command": (["gamble"], ""),
    "a wrong option": (["run", "--workers", "none"], ""),
    "nothing there": (["verify", "nothing.sqlite"], ""),
    "a finding": (["schedule", "league.toml"], ""),
    "from standard input": (["replay", "-"], "{}\n"),
    "a game": (["play", "first.py", "first.py", "-n", "2", "--seed", "1", "--sandbox", "none", "--output", "json"], ""),
    "two workers": (["run", "league.toml", "--workers", "2", "--sandbox", "none", "--output", "json"], ""),
}

LEAGUE = """
[tournament]
name = "Two"
variant = "auction-pitch"
seats = 2
[schedule]
sets = 2
seed = "x"
[[bots]]
path = "first.py"
copies = 2
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_it_is_the_same_program(tmp_path: Path, command: str) -> None:
    words, text = COMMANDS[command]
    seen = []
    for number in range(2):
        folder = tmp_path / "here"
        folder.mkdir()
        (folder / "first.py").write_text(FIRST)
        (folder / "league.toml").write_text(LEAGUE)
        done = referee(folder, *words, text=text, forked=bool(number))
        printed = re.sub(r'("decision_ms_\w+": )[\d.]+', r"\1 0", done.stdout)
        seen.append((done.returncode, printed, done.stderr, sorted(path.name for path in folder.rglob("*"))))
        folder.rename(tmp_path / str(number))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("ordinary", [False, True])
def test_root_reads_all_unless_it_is_to_be_like_others(tmp_path: Path, ordinary: bool) -> None:
    """So it is in the forked program, and in what that starts."""
    (tmp_path / "secret.toml").write_text("x = 1")
    (tmp_path / "secret.toml").chmod(0)
    (tmp_path / "makes").mkdir()
    build = "import pathlib; pathlib.Path('dist').mkdir(); print(open('../secret.toml').read())"
    (tmp_path / "makes" / "bot.toml").write_text(
        f'name = "makes"\nversion = "1"\nbuild = ["python", "-c", "{build}"]\nrun = ["python", "dist"]\n'
    )
    seen = []
    for forked in (False, True):
        for words in (["schedule", "secret.toml"], ["build", "makes", "--sandbox", "none"]):
            done = referee(tmp_path, *words, ordinary=ordinary, forked=forked)
            seen.append(bool(re.search("x = 1|unknown field", done.stdout + done.stderr)))
            shutil.rmtree(tmp_path / "makes" / "dist", ignore_errors=True)
    assert seen == [not ordinary and os.geteuid() == 0] * 4
