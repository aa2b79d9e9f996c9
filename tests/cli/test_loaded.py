"""Most tests run commands in a process that has the program loaded already: it does what the program does that a user starts."""

import re
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
        done = referee(folder, *words, text=text, ordinary=not number)
        printed = re.sub(r'("decision_ms_\w+": )[\d.]+', r"\1 0", done.stdout)
        seen.append((done.returncode, printed, done.stderr, sorted(path.name for path in folder.rglob("*"))))
        folder.rename(tmp_path / str(number))
    assert seen[0] == seen[1]
