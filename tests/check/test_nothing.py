"""Never green on nothing: each way in which a check could look at nothing, and what comes of it instead."""

import inspect
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from referee.check import cases, probes
from referee.check.judge import CheckExit
from referee.cli import app, check, submit
from tests.check.conftest import FOUND
from tests.check.helpers import ANY_LEGAL, ZOO

QUICK = ("--deals", "0", "--sandbox", "none")
BARE = ("--sandbox", "none")
assert check, submit  # they register their commands


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text(ANY_LEGAL, "utf-8")
    return tmp_path


def referee(*words: str) -> Result:
    return CliRunner().invoke(app, ["check", *words])


def code(*words: str) -> int:
    return referee(*words).exit_code


def write(folder: Path, text: str, name: str = "odd.py") -> str:
    (folder / name).write_text(text, "utf-8")
    return name


def test_no_bot_at_all(here: Path) -> None:
    assert code() == CheckExit.USAGE
    assert code("--listen", "127.0.0.1:7401", "bot.py") == CheckExit.USAGE


@pytest.mark.parametrize("path", ["nowhere.py", "empty", "empty.py", "note.txt"])
def test_a_bot_that_is_none(here: Path, path: str) -> None:
    (here / "empty").mkdir()
    (here / "empty.py").touch()
    (here / "note.txt").write_text("hello", "utf-8")
    assert code(path) == CheckExit.USAGE


@pytest.mark.parametrize(
    "words",
    [
        ("--rule", "AF-PLAY-999"),
        ("--rule", "AF-PLAY-003", "--rule", "AF-NO-*"),
        ("--area", "WEATHER"),
        ("--area", "SCORE"),
        ("--rule", "AF-SCORE-001"),
        ("--rule", "AF-BID-004"),
        ("--rule", "AF-ROBUST-007"),
        ("--variant", "cinch", "--rule", "AF-BID-003"),
        ("--rule", "AF-PLAY-003", "--area", "BID"),
        ("--variant", "whist"),
        ("--seats", "7", "--variant", "cinch"),
        ("--ruleset", "1999.1"),
        ("--baseline", "none.toml"),
        ("--report", "xml=out.xml"),
        ("--report", "json"),
        ("--listen", "everywhere"),
        ("--replay", "nowhere.json"),
    ],
    ids=" ".join,
)
def test_what_matches_nothing_is_a_usage_error(here: Path, words: tuple[str, ...]) -> None:
    options = BARE if words[0] == "--replay" else QUICK
    done = referee("bot.py", *options, *words) if words[0] != "--listen" else referee(*words)
    assert done.exit_code == CheckExit.USAGE, done.output


def test_a_folder_without_witnesses_replays_nothing(here: Path) -> None:
    (here / "failures").mkdir()
    assert code("bot.py", *BARE, "--replay", "failures") == CheckExit.USAGE


def test_a_witness_that_is_garbled_or_of_tomorrow_is_no_replay(here: Path) -> None:
    write(here, "{}", "w.json")
    assert code("bot.py", *BARE, "--replay", "w.json") == CheckExit.USAGE
    write(here, json.dumps({"format": "allfours-check-witness/99"}), "w.json")
    assert code("bot.py", *BARE, "--replay", "w.json") == CheckExit.USAGE


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pass\n", "It ended before it joined"),
        ("raise SystemExit(0)\n", "It ended before it joined"),
        ("import nonexistent_module\n", "nonexistent_module"),
    ],
    ids=["does nothing", "exits 0", "no module"],
)
def test_a_bot_that_never_joins_never_became_ready(here: Path, text: str, told: str) -> None:
    done = referee(write(here, text), *QUICK)
    assert done.exit_code == CheckExit.NOT_READY
    assert told in done.output


def test_a_bot_for_another_game_never_became_ready(here: Path) -> None:
    text = ANY_LEGAL.replace("run(lambda", "Bot.variants = ('cinch',)\nrun(lambda").replace(
        "import run", "import Bot, run"
    )
    done = referee(write(here, text), *QUICK, "--variant", "auction-pitch")
    assert done.exit_code == CheckExit.NOT_READY
    assert "cinch" in done.output


def test_without_a_game_named_the_bot_is_checked_in_what_it_claims(here: Path) -> None:
    text = ANY_LEGAL.replace("run(lambda", "Bot.variants = ('cinch', 'rubber')\nrun(lambda").replace(
        "import run", "import Bot, run"
    )
    done = referee(write(here, text), *QUICK, "--rule", "AF-DRAW-*")
    assert done.exit_code == CheckExit.CONFORMS, done.output
    assert "in cinch: conforms" in done.output


LEAVES = """
from referee.bot import run
def choose(turn):
    os._exit(0)
run(choose)
"""


def test_a_bot_that_leaves_at_its_first_turn_is_no_success(here: Path) -> None:
    done = referee(write(here, LEAVES), *QUICK)
    assert done.exit_code == CheckExit.FAILS
    assert "AF-LIFE-002" in done.output
    assert code("odd.py", *QUICK, "--rule", "AF-PLAY-*") == CheckExit.INCOMPLETE


def test_a_doctor_is_no_check(here: Path) -> None:
    done = referee("bot.py", *BARE, "--doctor")
    assert done.exit_code == CheckExit.INCOMPLETE
    assert "no check of the rules" in done.output


def test_a_bot_that_sends_no_move_is_told_both_sides_of_the_talk(here: Path) -> None:
    silent = write(here, "import time\nfrom referee.bot import run\nrun(lambda turn: time.sleep(60))\n")
    done = referee(silent, *QUICK, "--move-ms", "500")
    assert done.exit_code == CheckExit.FAILS
    assert '"turns"' in done.output
    assert '"join"' in done.output


def test_cases_that_are_gone_are_the_harness_failing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "cases_for", lambda *_: list(cases._read("gone.toml", "")))
    monkeypatch.setattr(probes, "_positions", inspect.unwrap(FOUND))  # what was found before is kept elsewhere
    done = referee("bot.py", *QUICK)
    assert done.exit_code == CheckExit.HARNESS
    assert "says nothing about the bot" in done.output


def test_an_umpire_that_fails_is_the_harness_failing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> object:
        raise ArithmeticError("the umpire has a headache")

    monkeypatch.setattr("referee.check.games.breakable", broken)
    done = referee("bot.py", *QUICK)
    assert done.exit_code == CheckExit.HARNESS
    assert "headache" in done.output


def test_an_error_at_a_table_is_the_harness_failing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_turn: object) -> int:
        raise LookupError("our own player is lost")

    monkeypatch.setattr("referee.check.games._any_legal", lambda _chance, turn: broken(turn))
    done = referee("bot.py", "--deals", "20", "--sandbox", "none")
    assert done.exit_code == CheckExit.HARNESS
    assert "our own player is lost" in done.output


def test_an_interruption_concludes_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("referee.cli.check.check", interrupted)
    assert code("bot.py", *QUICK) == CheckExit.INTERRUPTED


def test_a_bot_with_a_memory_is_driven_by_play(here: Path) -> None:
    command = f"{sys.executable} {ZOO / 'good.py'} has-a-memory"
    done = referee(command, "--deals", "30", "--sandbox", "none", "-v")
    assert done.exit_code == CheckExit.CONFORMS, done.output
    assert "N/A AF-ROBUST-002" in done.output


def test_one_good_bot_does_not_hide_a_bad_one(here: Path) -> None:
    bad = f"{sys.executable} {ZOO / 'mutants.py'} renege"
    assert code("bot.py", bad, *QUICK, "--area", "PLAY") == CheckExit.FAILS
    assert code(bad, "bot.py", *QUICK, "--area", "PLAY") == CheckExit.FAILS


def test_it_is_green_when_everything_was_exercised(here: Path) -> None:
    done = referee("bot.py", *QUICK)
    assert done.exit_code == CheckExit.CONFORMS
    assert done.output.rstrip().endswith("rules exercised 22/22")
    assert not list(Path("failures").glob("AF-*"))
