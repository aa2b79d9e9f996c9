"""What is wrong with a league that was asked for on the command line is told of its words, not of a file that nobody wrote."""

import json
import os
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
        ("compare nowhere.py b/bot.py", 'command line: BOT "nowhere.py": found'),
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


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("show x", "'x' is not a whole number"),
        ("show 1.5", "'1.5' is not a whole number"),
        ("show 0", "0 is too small: at least 1"),
        ("play random -n 0", "0 is too small: at least 1"),
        ("play random -o foo", "'foo' is not one of 'rich', 'plain', 'json'"),
        ("check random --seconds x", "'x' is not a number"),
        ("check random --move-ms 99999999999", "99999999999 is too large: at most"),
    ],
)
def test_a_wrong_value_is_told_in_our_words(line: str, told: str, tmp_path: Path) -> None:
    done = referee(tmp_path, *line.split())
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert "Input should" not in done.stderr
    assert "Value error" not in done.stderr


@pytest.mark.parametrize(
    "line",
    ["play --script {}", "check random --replay {}", "check random --baseline {}", "run {}", "verify {}", "resume {}"],
)
@pytest.mark.parametrize("what", ["pipe", "latin-1", "brackets"])
def test_what_is_no_text_of_its_kind_is_refused_at_once(line: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "given"
    if what == "pipe":
        os.mkfifo(path)  # nobody writes there: who opened it would wait for ever
    else:
        path.write_bytes(b'name = "\xe4"\n' if what == "latin-1" else b"x = " + b"[" * 100_000)
    done = referee(tmp_path, *line.format("given").split())
    assert done.returncode in (1, 2), done.stderr
    assert "given" in done.stderr
    assert "Traceback" not in done.stderr
    assert "codec" not in done.stderr
    assert "recursion" not in done.stderr


def test_a_pipe_beside_a_bot_keeps_no_league_waiting(folder: Path) -> None:
    os.mkfifo(folder / "a" / "other.toml")
    done = referee(folder, "play", "a/bot.py", "random", "-n", "1")
    assert done.returncode == 0, done.stderr


def test_a_bot_whose_file_begins_with_a_dash_plays(tmp_path: Path) -> None:
    (tmp_path / "-dash.py").write_text(FIRST)
    done = referee(tmp_path, "play", "random", "-n", "1", "--", "-dash.py")
    assert done.returncode == 0, done.stderr
    assert "withdrawn" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "show 99",
        "show 99999999999999999999999",
        "show 1 --deal 999",
        "replay 99",
        "replay 99 --html",
        "report --game 99",
        "ask 99 --turn 1 random",
        "ask 1 --turn 99999 random",
    ],
)
def test_a_game_a_deal_or_a_turn_that_is_not_there_was_asked_for_wrongly(line: str, played: Path) -> None:
    done = referee(played, *line.split())
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a league of one game."""
    folder = tmp_path_factory.mktemp("played")
    assert referee(folder, "play", "random", "-n", "1").returncode == 0
    return folder
