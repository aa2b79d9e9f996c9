"""A ladder as a user plays it: rounds, newcomers, changed bots, a kill, workers, the end."""

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from referee.cli.exits import INCOMPLETE
from referee.league.definition.definition import load_definition
from referee.league.entrants.roster import enter
from referee.league.ladder import begin_round
from referee.league.league import read_league
from referee.league.store import Store
from referee.sandbox.isolation import choose_sandbox
from tests.program import FIRST, LAST, referee

TOURNAMENTS: Final = Path(__file__).resolve().parents[2] / "tournaments"
CHANCE: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"

HEAD: Final = """
[tournament]
name = "Small ladder"
variant = "auction-pitch"
seats = 2
length = "deal"
[schedule]
format = "ladder"
sets = 3
seed = "small"
"""


def entry(name: str, owner: str = "") -> str:
    return f'[[bots]]\npath = "{name}.py"\n' + (f'owner = "{owner}"\n' if owner else "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("first", FIRST), ("last", LAST), ("chance", CHANCE)):
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "small.toml").write_text(HEAD + entry("first", "ann") + entry("last", "bob") + entry("chance"))
    return tmp_path


def rounds_of(folder: Path) -> list[dict[str, Any]]:
    with Store.read(folder / "leagues/small.sqlite") as store:
        return [dict(one) for one in store.league()["rounds"]]


def test_a_bot_that_is_new_or_has_changed_enters_with_the_next_round(folder: Path) -> None:
    dry = referee(folder, "run", "small.toml", "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "A round of 3 bots: 5 tables in the balanced part, at most 2 extra tables" in dry.stdout
    assert "A round: about" in dry.stdout
    assert not (folder / "leagues").exists()
    done = referee(folder, "run", "small.toml", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    assert re.search(r"Round 2 is closed. Master: [0-9a-f]{64}, result root: [0-9a-f]{64}", done.stderr)
    assert "A ladder, after 2 closed rounds" in done.stdout
    shutil.copy(folder / "last.py", folder / "late.py")
    (folder / "small.toml").write_text((folder / "small.toml").read_text() + entry("late", "bob"))
    (folder / "chance.py").write_text(CHANCE + "# better\n")
    done = referee(folder, "run", "small.toml", "--output", "json")
    assert done.returncode == 0, done.stderr
    assert {row["entrant"] for row in json.loads(done.stdout)["rows"]} == {"first", "last", "late", "chance@2"}
    assert "enters as chance@2; its version before retires." in done.stderr
    assert [round_["placed"] for round_ in rounds_of(folder)] == [[], [], ["chance@2", "late"]]
    shown = referee(folder, "ladder", "leagues/small.sqlite")
    assert "retired after round 2" in shown.stdout
    assert "owner ann" in shown.stdout
    assert [round_["commitment"] in shown.stdout for round_ in rounds_of(folder)] == [True] * 3
    assert "Provisional" in referee(folder, "standings", "leagues/small.sqlite").stdout
    checked = referee(folder, "verify", "leagues/small.sqlite", "--commitment", rounds_of(folder)[1]["commitment"])
    assert checked.returncode == 0, checked.stdout
    marks = referee(folder, "report", "leagues/small.sqlite", "--format", "csv", "--table", "marks")
    assert [line.split(",")[0] for line in marks.stdout.splitlines()] == ["owner", "ann", "bob", "bob", ""]
    assert referee(folder, "export", "leagues/small.sqlite", "--out", "out").returncode == 0
    assert (folder / "out/marks.csv").read_text() == marks.stdout
    assert referee(folder, "verify", "out").returncode == 0
    again = referee(folder, "rerun", "out")
    assert again.returncode == 1
    assert "a ladder cannot be played again" in again.stderr
    page = referee(folder, "report", "leagues/small.sqlite")
    assert page.returncode == 0, page.stderr
    assert "panel points" in (folder / "leagues/small.html").read_text()


def test_the_root_is_the_same_with_workers(folder: Path) -> None:
    alone = referee(folder, "run", "small.toml", "--rounds", "2")
    assert alone.returncode == 0, alone.stderr
    roots = [round_["result_root"] for round_ in rounds_of(folder)]
    more = referee(folder, "run", "small.toml", "--rounds", "2", "--workers", "3", "--store", "leagues/other.sqlite")
    assert more.returncode == 0, more.stderr
    with Store.read(folder / "leagues/other.sqlite") as store:
        assert [round_["result_root"] for round_ in store.league()["rounds"]] == roots


def test_withdraw_pause_freeze_and_the_end(folder: Path) -> None:
    assert referee(folder, "run", "small.toml").returncode == 0
    ladder = ("ladder", "leagues/small.sqlite")
    assert referee(folder, *ladder, "--pause").returncode == 0
    paused = referee(folder, "run", "small.toml")
    assert paused.returncode == 1
    assert "is paused; let it go on with: referee ladder leagues/small.sqlite --go-on" in paused.stderr
    assert "Paused" in referee(folder, *ladder).stdout
    assert referee(folder, *ladder, "--go-on").returncode == 0
    told = referee(folder, *ladder, "--withdraw", "chance", "--reason", "its author asked")
    assert "chance is withdrawn: its author asked." in told.stdout
    done = referee(folder, "run", "small.toml")
    assert done.returncode == 0, done.stderr
    assert "chance" in done.stderr
    assert rounds_of(folder)[1]["bots"] == ["first", "last"]
    assert "Frozen after round 2" in referee(folder, *ladder, "--freeze").stdout
    shutil.copy(folder / "last.py", folder / "late.py")
    (folder / "small.toml").write_text((folder / "small.toml").read_text() + entry("late"))
    late = referee(folder, "run", "small.toml")
    assert late.returncode == 1
    assert "frozen since round 2, and late is new" in late.stderr
    ended = referee(folder, *ladder, "--finish")
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"Record root: [0-9a-f]{64}", ended.stdout)
    assert "is finished" in referee(folder, *ladder, "--pause").stderr
    assert referee(folder, "verify", "leagues/small.sqlite").returncode == 0


def test_finals_end_when_all_are_told_apart(folder: Path) -> None:
    (folder / "small.toml").write_text(HEAD.replace("sets = 3", "sets = 30") + entry("first") + entry("last"))
    early = referee(folder, "run", "small.toml", "--finals")
    assert early.returncode == 1
    assert "has no round yet" in early.stderr
    assert referee(folder, "run", "small.toml").returncode == 0
    done = referee(folder, "run", "small.toml", "--finals")  # so many rounds as it takes
    assert done.returncode == 0, done.stderr
    with Store.read(folder / "leagues/small.sqlite") as store:
        facts = read_league(store).facts
    assert facts["state"] == "finished", done.stdout
    assert len(facts["rounds"]) < 6
    assert "Record root" in done.stdout
    assert referee(folder, "verify", "leagues/small.sqlite").returncode == 0
    assert "is finished; for another ladder: --new-season" in referee(folder, "run", "small.toml").stderr


def facts_of(folder: Path) -> Any:
    with Store.read(folder / "leagues/small.sqlite") as store:
        return read_league(store).facts


def test_finals_that_may_not_begin_leave_the_ladder_as_it_was(folder: Path) -> None:
    assert referee(folder, "run", "small.toml").returncode == 0
    ladder = ("ladder", "leagues/small.sqlite")
    assert referee(folder, *ladder, "--pause").returncode == 0
    assert "is paused" in referee(folder, "run", "small.toml", "--finals").stderr
    assert referee(folder, *ladder, "--go-on").returncode == 0
    shutil.copy(folder / "last.py", folder / "late.py")
    before = (folder / "small.toml").read_text()
    (folder / "small.toml").write_text(before + entry("late"))
    late = referee(folder, "run", "small.toml", "--finals")
    assert late.returncode == 1
    assert "nobody enters in the finals, and late is new: take it out of the definition" in late.stderr
    assert "frozen" not in facts_of(folder)
    (folder / "small.toml").write_text(before)
    done = referee(folder, "run", "small.toml", "--finals", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    assert "Go on with: referee run small.toml --finals\n" in done.stdout
    assert facts_of(folder)["frozen"] == 1
    assert "Play it out with: referee run small.toml --finals" in referee(folder, *ladder, "--freeze").stdout


def test_finals_of_a_ladder_that_is_told_apart_play_no_more(folder: Path) -> None:
    (folder / "small.toml").write_text(HEAD.replace("sets = 3", "sets = 30") + entry("first") + entry("last"))
    assert referee(folder, "run", "small.toml", "--rounds", "5").returncode == 0
    done = referee(folder, "run", "small.toml", "--finals")
    assert done.returncode == 0, done.stderr
    assert (facts_of(folder)["state"], len(facts_of(folder)["rounds"])) == ("finished", 5)
    assert referee(folder, "verify", "leagues/small.sqlite").returncode == 0


def test_a_finished_ladder_with_a_withdrawal_is_told_alike_by_its_last_run_and_later(folder: Path) -> None:
    (folder / "small.toml").write_text(HEAD.replace("sets = 3", "sets = 30") + entry("first") + entry("last"))
    (folder / "small.toml").write_text((folder / "small.toml").read_text() + entry("chance"))
    assert referee(folder, "run", "small.toml").returncode == 0
    assert referee(folder, "ladder", "leagues/small.sqlite", "--withdraw", "chance").returncode == 0
    done = referee(folder, "run", "small.toml", "--finals")
    again = referee(folder, "run", "small.toml")
    assert facts_of(folder)["state"] == "finished"
    assert done.returncode == again.returncode == INCOMPLETE
    assert done.stdout == again.stdout


def test_what_is_known_of_a_run_is_said_once(folder: Path) -> None:
    done = referee(folder, "run", "small.toml", "--sandbox", "none", "--output", "json", "--verbose", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    line = choose_sandbox("none").line
    assert line
    assert done.stderr.count(line) == 1
    with Store.read(folder / "leagues/small.sqlite") as store:
        assert json.loads(done.stdout)["run"]["games"] == store.count_games()
    assert "Played" not in done.stderr
    (folder / "bad").mkdir()
    (folder / "bad/bad.py").write_text(CHANCE)
    (folder / "bad/bot.toml").write_text("name = 1\n")
    (folder / "small.toml").write_text((folder / "small.toml").read_text() + '[[bots]]\nbots_from = "b*"\n')
    done = referee(folder, "run", "small.toml", "--trust-bots")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("skipped bad") == 1


def test_who_is_gone_from_an_open_round_is_withdrawn_and_the_round_goes_on(folder: Path) -> None:
    assert referee(folder, "run", "small.toml").returncode == 0
    definition = load_definition(folder / "small.toml")
    with Store.write(folder / "leagues/small.sqlite") as store:
        begin_round(store, read_league(store), definition, enter(definition))
    (folder / "chance.py").unlink()
    text = (folder / "small.toml").read_text()
    (folder / "small.toml").write_text(text.replace(entry("chance"), ""))
    gone = referee(folder, "run", "small.toml")
    assert gone.returncode == 1
    remedy = "referee ladder leagues/small.sqlite --withdraw chance"
    assert "round 2 is open, and chance has changed since it began, or is gone: " in gone.stderr
    assert gone.stderr.rstrip().endswith(remedy)
    reason = "its author " + "said so " * 60
    assert referee(folder, *remedy.split()[1:], "--reason", "").returncode == 1
    told = referee(folder, *remedy.split()[1:], "--reason", reason)
    assert told.returncode == 0, told.stderr
    assert told.stdout.rstrip().endswith("What it has played stays; its open sets are void when the round goes on.")
    done = referee(folder, "run", "small.toml")
    assert done.returncode == 0, done.stderr
    assert len(rounds_of(folder)) == 2
    assert "\n  first " in referee(folder, "ladder", "leagues/small.sqlite").stdout
    assert referee(folder, "verify", "leagues/small.sqlite").returncode == 0


def test_what_makes_no_sense_on_a_ladder_or_elsewhere_is_refused(folder: Path) -> None:
    assert "it has no effect on a ladder" in referee(folder, "run", "small.toml", "--time", "5m").stderr
    plain = HEAD.replace('format = "ladder"', "") + entry("first") + entry("last")
    (folder / "plain.toml").write_text(plain)
    assert "it has no effect without a ladder" in referee(folder, "run", "plain.toml", "--rounds", "2").stderr
    assert "whose tables are drawn when a round begins" in referee(folder, "schedule", "small.toml").stderr
    (folder / "alone.toml").write_text(HEAD + entry("first", "ann") + entry("last", "ann"))
    alone = referee(folder, "run", "alone.toml")
    assert "cannot fill a table of 2 without two bots of one owner" in alone.stderr
    assert not list((folder / "leagues").glob("*"))


def test_the_example_is_played(tmp_path: Path) -> None:
    shutil.copy(TOURNAMENTS / "ladder.toml", tmp_path)
    done = referee(tmp_path, "run", "ladder.toml", "--rounds", "2")
    assert done.returncode == 0, done.stderr
    assert "The panel: random, careful." in done.stdout
    assert referee(tmp_path, "verify", "leagues/ladder.sqlite").returncode == 0
    resumed = referee(tmp_path, "resume", "leagues/ladder.sqlite")
    assert "goes on with the bots of its definition: referee run ladder.toml" in resumed.stderr
