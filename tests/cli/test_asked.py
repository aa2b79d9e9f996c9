"""What is wrong with a league that was asked for on the command line is told of its words, not of a file that nobody wrote."""

import json
from pathlib import Path

import pytest

from tests.program import FIRST, referee


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two bots whose files have one name, and one whose name is beyond ASCII."""
    for name in ("a/bot.py", "b/bot.py", "zo\u00eb.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(FIRST)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("play a/bot.py nowhere.py", 'command line: BOT "nowhere.py": found'),
        ("play a/bot.py b/bot.py random --variant cinch", "command line: the number of bots: found 3"),
        ("play a/bot.py random --variant whist", 'command line: --variant: found "whist"'),
        ("play a/bot.py random --seed=", 'command line: --seed: found ""'),
        ("compare a/bot.py b/bot.py --variant cinch --seats 7", "remedy: give --seats 4"),
        ("compare a/bot.py nowhere.py", 'command line: BOT "nowhere.py": found'),
        ("compare a/bot.py b/bot.py --against nowhere.py", 'command line: BOT "nowhere.py": found'),
    ],
)
def test_an_error_names_what_was_typed(line: str, told: str, folder: Path) -> None:
    done = referee(folder, *line.split())
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert "definition:" not in done.stderr
    assert "[[bots]]" not in done.stderr
    assert not (folder / "leagues").exists()


def test_bots_of_one_name_play_under_two(folder: Path) -> None:
    done = referee(folder, "play", "a/bot.py", "b/bot.py", "zo\u00eb.py", "-n", "1", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert {row["entrant"] for row in json.loads(done.stdout)["rows"]} == {"bot", "b-bot", "zoe"}
