"""``referee submit`` and ``withdraw`` as commands: the check is the gate."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from referee.check.judge import CheckExit
from referee.cli import app, run, submit
from referee.league.definition.definition import load_definition
from referee.league.entrants.roster import enter
from tests.check.helpers import ANY_LEGAL

DEFINITION = """\
[tournament]
name = "Club" # ours
variant = "auction-pitch"
seats = 4
[rules]
all_pass = "dealer_forced"
[limits]
move_ms = 10000
[policy]
checked = true
[[bots]]
path = "random"
copies = 4
"""
FORCED = """
from referee.bot import Kind, run
def choose(turn):
    if turn.kind is Kind.BID and 0 not in turn.legal and turn.seats == 4:
        return 0
    return turn.rng.choice(turn.legal)
run(choose)
"""
QUICK = ("--seconds", "0.1", "--sandbox", "none")
COMMANDS = (run, submit)
"""Importing them registers their commands."""


@pytest.fixture
def club(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "club.toml").write_text(DEFINITION, "utf-8")
    (tmp_path / "good.py").write_text(ANY_LEGAL, "utf-8")
    (tmp_path / "forced.py").write_text(FORCED, "utf-8")
    return tmp_path / "club.toml"


def referee(*words: str) -> Result:
    return CliRunner().invoke(app, words)


def names(club: Path) -> set[str]:
    return {one.name for one in enter(load_definition(club)).entrants}


def test_a_bot_that_conforms_is_entered_and_has_a_receipt(club: Path) -> None:
    done = referee("submit", "good.py", "club.toml", *QUICK)
    assert done.exit_code == CheckExit.CONFORMS, done.output
    assert "Entered good" in done.output
    assert "# ours" in club.read_text("utf-8")
    assert names(club) == {"random", "good"}
    again = referee("submit", "good.py", "club.toml", *QUICK)
    assert "is in club.toml already, file by file as it is here.\nNothing differs" in again.output
    assert "random" in referee("run", "club.toml", "--dry-run").exception.__str__()
    recorded = referee("submit", "random", "club.toml", *QUICK)
    assert recorded.exit_code == CheckExit.CONFORMS
    assert "is not on record, so it is checked now" in recorded.output
    assert referee("run", "club.toml", "--dry-run").exit_code == 0


def test_a_bot_that_breaks_a_house_rule_is_not_and_is_told_what_to_mend(club: Path) -> None:
    done = referee("submit", "forced.py", "club.toml", *QUICK)
    assert done.exit_code == CheckExit.FAILS
    assert "Not entered. Fix AF-BID-004 and submit it again" in done.output
    assert club.read_text("utf-8") == DEFINITION
    assert not club.with_suffix(".checked.json").exists()


def test_what_cannot_arise_with_two_seats_keeps_nobody_out(club: Path) -> None:
    text = DEFINITION.replace("seats = 4", "seats = 2").replace('all_pass = "dealer_forced"', "")
    club.write_text(text, "utf-8")
    done = referee("submit", "good.py", "club.toml", *QUICK)
    assert done.exit_code == CheckExit.CONFORMS, done.output


def test_a_bot_that_never_joins_is_not_entered(club: Path) -> None:
    (club.parent / "dead.py").write_text("raise SystemExit(1)\n", "utf-8")
    done = referee("submit", "dead.py", "club.toml", *QUICK)
    assert done.exit_code == CheckExit.NOT_READY
    assert club.read_text("utf-8") == DEFINITION


def test_a_bot_for_another_game_is_not_entered(club: Path) -> None:
    text = ANY_LEGAL.replace("import run\n", "import Bot, run\nBot.variants = ('cinch',)\n")
    (club.parent / "cincher.py").write_text(text, "utf-8")
    assert referee("submit", "cincher.py", "club.toml", *QUICK).exit_code == CheckExit.NOT_READY
    assert club.read_text("utf-8") == DEFINITION


def test_a_bot_is_taken_out_again(club: Path) -> None:
    referee("submit", "good.py", "club.toml", *QUICK)
    done = referee("withdraw", "good", "club.toml")
    assert done.exit_code == 0
    assert names(club) == {"random"}
