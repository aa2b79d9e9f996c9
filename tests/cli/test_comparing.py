"""compare, and leagues that stop when their ranks are resolved, as a user types them: real processes, few games."""

import json
from pathlib import Path
from typing import Any

import pytest

from referee.cli.compare import CompareExit, Length, definition_text
from referee.league.definition.definition import parse_definition
from referee.report.endings import verdict_lines
from referee.statistics.paired import Estimate
from referee.statistics.version_comparison import VersionAnswer, VersionVerdict
from tests.program import FIRST, LAST, referee

LEAGUE = """
[tournament]
name = "Two of a kind"
variant = "auction-pitch"
seats = 2
length = "deal"
[schedule]
sets = 60
seed = "cli"
[[bots]]
path = "first.py"
[[bots]]
path = "last.py"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "last.py").write_text(LAST)
    (tmp_path / "two.toml").write_text(LEAGUE)
    return tmp_path


def compared(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    common = ("--sandbox", "none", "--seats", "2", "--seed", "cli", "--output", "json")
    done = referee(folder, "compare", *arguments, *common)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_a_better_version_and_the_same_the_other_way_round(folder: Path) -> None:
    """Whoever always bids the least or passes loses less than whoever always bids a smudge."""
    code, found = compared(folder, "last.py", "first.py", "--keep", "up.sqlite")
    assert (code, found["answer"]) == (CompareExit.NOT_WORSE, "better")
    assert found["ended"]["reason"] == "the new version is better"
    assert found["games"] == 2 * found["sets"] < 4000
    assert found["difference"]["low"] > 0
    code, found = compared(folder, "first.py", "last.py", "--keep", "down.sqlite")
    assert (code, found["answer"]) == (CompareExit.WORSE, "worse")
    assert referee(folder, "verify", "up.sqlite").returncode == 0
    told = referee(folder, "standings", "up.sqlite", "--output", "plain").stdout
    assert "is better than old (last.py " in told
    report = (folder / "up.html").read_text("utf-8")
    assert "the new version is better" in report


def test_too_few_games_decide_nothing_and_a_finished_one_is_told_again(folder: Path) -> None:
    arguments = ("first.py", "first.py", "--margin", "0.001", "--max-games", "32", "--keep", "one.sqlite")
    code, found = compared(folder, *arguments)
    assert (code, found["answer"], found["ended"]) == (CompareExit.UNDECIDED, "open", None)
    assert compared(folder, *arguments) == (code, found)
    done = referee(folder, "compare", "first.py", "last.py", "--keep", "one.sqlite", "--sandbox", "none")
    assert done.returncode == 1
    assert "another file with --keep" in done.stderr


def test_when_the_time_is_up_it_can_go_on(folder: Path) -> None:
    slow = "import time\nfrom referee.bot import run\nrun(lambda turn: time.sleep(0.2) or turn.legal[0])\n"
    (folder / "slow.py").write_text(slow)
    done = referee(
        folder, "compare", "slow.py", "slow.py", "--time", "2s", "--keep", "slow.sqlite", "--sandbox", "none"
    )
    assert done.returncode == CompareExit.UNDECIDED
    assert "The time is up. Go on with: referee resume slow.sqlite" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("first.py", "nowhere.py"), "nowhere.py"),
        (("first.py", "last.py", "--time", "soon"), "90s"),
        (("first.py", "last.py", "--variant", "whist"), "whist"),
        (("first.py", "last.py", "--seats", "2", "-a", "first.py", "-a", "last.py"), "room for 1 others"),
        (("first.py", "last.py", "--alpha", "2"), "--alpha"),
    ],
)
def test_what_was_asked_wrongly_is_told(folder: Path, arguments: tuple[str, ...], told: str) -> None:
    done = referee(folder, "compare", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (folder / "leagues").exists()


def text_of(against: list[str], game: str = "auction-pitch", seats: int | None = None) -> str:
    return definition_text("a.py", "b.py", against, game, seats, Length.DEAL, 0.05, None, 64, None)


@pytest.mark.parametrize(
    ("against", "game", "seats", "wanted", "others"),
    [
        ([], "auction-pitch", None, 4, {"a.py": 3}),
        (["c.py"], "auction-pitch", None, 2, {"c.py": 1}),
        (["c.py", "d.py"], "auction-pitch", 6, 6, {"c.py": 3, "d.py": 2}),
        (["c.py"], "partnership-pitch", None, 4, {"c.py": 1}),
        ([], "seven-up", None, 3, {"a.py": 2}),
    ],
)
def test_the_others_fill_the_table(
    against: list[str], game: str, seats: int | None, wanted: int, others: dict[str, int]
) -> None:
    definition = parse_definition(text_of(against, game, seats))
    assert definition.tournament.seats == wanted
    assert {str(bot.path): bot.copies for bot in definition.bots[2:]} == others
    assert [bot.name for bot in definition.bots[:2]] == ["old", "new"]


def verdict(answer: VersionAnswer, plain_games: int | None) -> VersionVerdict:
    difference = Estimate(0.25, 0.05, 0.45, 50)
    return VersionVerdict(
        answer=answer,
        difference=difference,
        bound=0.45,
        margin=0.1,
        alpha=0.05,
        measure="points",
        games=100,
        sets=50,
        deals=50,
        plain_games=plain_games,
        plain_deals=plain_games,
    )


def test_savings_are_told_only_where_there_are_some() -> None:
    saved = verdict_lines(verdict("better", 340), "old", "new")
    assert saved[0] == ("new is better than old: +0.250 points a game (0.050 to 0.450), certainty 0.95 at every look.")
    assert saved[-1].endswith("saved 240 games and 290 distinct deals.")
    assert "saved no games" in verdict_lines(verdict("better", 90), "old", "new")[-1]
    assert len(verdict_lines(verdict("open", None), "old", "new")) == 3


def test_a_league_runs_until_its_ranks_are_resolved(folder: Path) -> None:
    done = referee(folder, "run", "two.toml", "--until-resolved", "0.95", "--sandbox", "none", "--output", "plain")
    assert done.returncode == 0, done.stderr
    assert "of 60 sets: all neighbours are told apart, with certainty 0.95." in done.stdout
    assert referee(folder, "verify", "leagues/two.sqlite").returncode == 0
    again = referee(folder, "run", "two.toml", "--sandbox", "none")
    assert "another definition" in again.stderr
