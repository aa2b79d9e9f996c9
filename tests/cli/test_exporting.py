"""export, verify of an export, rerun and ask, as a user types them: real processes."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from referee.check.ask import moment
from referee.league.store import Store
from tests.program import referee

BOTS = {"first": "turn.legal[0]", "last": "turn.legal[-1]", "chance": "turn.rng.choice(turn.legal)"}
LEAGUE = """
[tournament]
name = "Kept"
variant = "auction-pitch"
seats = 3
[schedule]
sets = 2
[[bots]]
path = "bots/first.py"
[[bots]]
path = "bots/last.py"
[[bots]]
path = "bots/chance.py"
"""


def bot(choice: str) -> str:
    return f"from referee.bot import run\nrun(lambda turn: {choice})\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished league of secret packs, and its export."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "bots").mkdir()
    for name, choice in BOTS.items():
        (folder / f"bots/{name}.py").write_text(bot(choice))
    (folder / "kept.toml").write_text(LEAGUE)
    done = referee(folder, "run", "kept.toml", "--sandbox", "none", "--output", "plain")
    assert done.returncode == 0, done.stderr
    done = referee(folder, "export", "leagues/kept.sqlite", "--out", "kept")
    assert done.returncode == 0, done.stderr
    assert "Export: kept" in done.stdout
    return folder


@pytest.fixture
def folder(played: Path, tmp_path: Path) -> Path:
    """A copy with bots and export, but without the league."""
    for name in ("bots", "kept"):
        shutil.copytree(played / name, tmp_path / name)
    return tmp_path


def test_the_command_in_an_export_verifies_it(folder: Path) -> None:
    command = json.loads((folder / "kept/export.json").read_text())["verify"].split()
    done = referee(folder, *command[1:])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Kept: everything agrees" in done.stdout
    assert referee(folder, *command[1:-1], "0" * 64).returncode == 1


def test_the_tables_are_keyed_by_name(folder: Path) -> None:
    with (folder / "kept/standings.csv").open() as file:
        assert {row["bot"] for row in csv.DictReader(file)} == set(BOTS)
    with (folder / "kept/games.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 6 * 3
    assert {path.name for path in (folder / "kept").glob("*.csv")} == {
        f"{name}.csv" for name in ("standings", "cross", "games", "rulings", "seats")
    }


def test_an_exported_league_is_played_again_to_the_same_results(folder: Path) -> None:
    done = referee(folder, "rerun", "kept", "--sandbox", "none", "--trust-bots", "--output", "plain")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Every result is the same as in the export" in done.stdout
    again = referee(folder, "verify", "leagues/kept.sqlite")
    assert again.returncode == 0, again.stdout
    refused = referee(folder, "rerun", "kept", "--store", "leagues/kept.sqlite", "--sandbox", "none", "--trust-bots")
    assert refused.returncode == 1
    assert "exists already" in refused.stderr


def test_other_bots_are_refused_unless_they_are_wanted(folder: Path) -> None:
    (folder / "bots/first.py").write_text(bot("turn.legal[-1]"))
    refused = referee(folder, "rerun", "kept", "--sandbox", "none", "--trust-bots")
    assert refused.returncode == 1
    assert "not the bots that played: first" in refused.stderr
    assert "--changed-bots" in refused.stderr
    played = referee(
        folder, "rerun", "kept", "--sandbox", "none", "--trust-bots", "--changed-bots", "--output", "plain"
    )
    assert played.returncode == 0, played.stderr
    assert "The results are not those of the export" in played.stdout


def test_a_bot_is_asked_what_it_would_do_and_one_that_played_there_does_it_again(folder: Path) -> None:
    record = json.loads((folder / "kept/records.jsonl").read_text().splitlines()[0])["record"]
    seat = next(seat for seat, name in enumerate(record["names"]) if name.startswith("chance "))
    turn = [turn for turn in range(1, 20) if moment(record, turn).seat == seat][1]
    again = referee(folder, "ask", "1", "bots/chance.py", "--turn", str(turn), "--league", "kept")
    assert again.returncode == 0, again.stdout
    then, now = again.stdout.splitlines()[-2:]
    assert then.partition(": ")[2] == now.partition(": ")[2] == moment(record, turn).done
    assert "held " in again.stdout
    told = referee(folder, "ask", "1", "random", "--turn", str(turn), "--league", "kept", "--output", "json")
    data = json.loads(told.stdout)
    assert (data["seat"], data["then"]["did"]) == (seat, moment(record, turn).done)
    assert data["now"]["did"]


def test_an_illegal_answer_a_bot_that_does_not_join_and_a_turn_that_there_is_not(folder: Path) -> None:
    (folder / "wrong.py").write_text(bot("15 if turn.kind == 1 else 63"))
    wrong = referee(folder, "ask", "1", "wrong.py", "--turn", "1", "--league", "kept", "--sandbox", "none")
    assert wrong.returncode == 1
    assert "which breaks AF-BID-" in wrong.stdout
    (folder / "gone.py").write_text("raise SystemExit(3)\n")
    gone = referee(folder, "ask", "1", "gone.py", "--turn", "1", "--league", "kept", "--sandbox", "none")
    assert gone.returncode == 1
    assert "did not join" in gone.stdout
    late = referee(folder, "ask", "1", "random", "--turn", "9999", "--league", "kept")
    assert late.returncode == 2
    assert "the last decision of the game is number" in late.stderr
    nothing = referee(folder, "ask", "99", "random", "--turn", "1", "--league", "kept")
    assert nothing.returncode == 2
    assert "game 99" in nothing.stderr


def test_a_strangers_export_runs_nothing_without_a_sandbox_or_trust(folder: Path) -> None:
    """Whoever wrote it chose what it runs: a command line, for one. To verify it runs no program at all."""
    facts = json.loads((folder / "kept/league.json").read_text())
    trap = {"command": ["sh", "-c", f"touch {folder}/sprung"], "name": "first", "remote": False, "copies": 1}
    facts["definition"]["bots"] = [trap, *facts["definition"]["bots"][1:]]
    (folder / "kept/league.json").write_text(json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    refused = referee(folder, "rerun", "kept", "--sandbox", "none", "--changed-bots")
    assert refused.returncode == 1
    assert "Who wrote an export chose what it runs: first, last, chance are not run like that" in refused.stderr
    assert "--trust-bots" in refused.stderr
    referee(folder, "verify", "kept")
    assert not (folder / "sprung").exists()
    assert not (folder / "leagues").exists()
    referee(folder, "rerun", "kept", "--sandbox", "none", "--changed-bots", "--trust-bots")
    assert (folder / "sprung").exists(), "the trap would not have sprung, so this test shows nothing"


def test_a_league_from_another_machine_is_a_strangers_too(played: Path, tmp_path: Path) -> None:
    for name in ("leagues", "bots"):
        shutil.copytree(played / name, tmp_path / name)
    with Store.write(tmp_path / "leagues/kept.sqlite") as store:
        elsewhere = {**store.league()["host"], "machine": "elsewhere", "boot": "another"}
        store.put(host=elsewhere, state="running")
    refused = referee(tmp_path, "resume", "leagues/kept.sqlite", "--sandbox", "none")
    assert refused.returncode == 1
    assert "This league was begun on another machine" in refused.stderr
    trusted = referee(tmp_path, "resume", "leagues/kept.sqlite", "--sandbox", "none", "--trust-bots")
    assert "another machine" not in trusted.stderr


def test_sample_bots_in_an_export_are_no_strangers(tmp_path: Path) -> None:
    done = referee(tmp_path, "play", "random", "careful", "-n", "2", "--keep", "x.sqlite")
    assert done.returncode == 0, done.stderr
    assert referee(tmp_path, "export", "x.sqlite", "--out", "kept").returncode == 0
    again = referee(tmp_path, "rerun", "kept", "--sandbox", "none", "--output", "plain")
    assert again.returncode == 0, again.stderr
