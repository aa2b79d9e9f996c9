"""run, resume and play, as a user types them: real processes, small leagues."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.program import FIRST, LAST, referee

LEAGUE = """
[tournament]
name = "Two of a kind"
variant = "auction-pitch-forced"
seats = 2
[schedule]
sets = 3
seed = "cli"
[[bots]]
path = "first.py"
[[bots]]
path = "last.py"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two bots and a definition."""
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "last.py").write_text(LAST)
    (tmp_path / "two.toml").write_text(LEAGUE)
    return tmp_path


def scored(path: Path) -> list[tuple[str, int]]:
    with sqlite3.connect(path) as db:
        return db.execute("SELECT fixture_id, redeal FROM game ORDER BY 1").fetchall()


def test_a_league_is_run_and_read_and_verified(folder: Path) -> None:
    done = referee(folder, "run", "two.toml", "--sandbox", "none", "--output", "plain")
    assert done.returncode == 0, done.stderr
    assert "first" in done.stdout
    assert "last" in done.stdout
    assert "Result root: " in done.stdout
    assert done.stdout.rstrip().endswith("Report: leagues/two.html")
    assert (folder / "leagues/two.html").stat().st_size > 10_000
    assert len(scored(folder / "leagues/two.sqlite")) == 6
    again = referee(folder, "standings", "leagues/two.sqlite", "--output", "json")
    table = json.loads(again.stdout)
    assert table["games"] == 6
    assert {row["entrant"] for row in table["rows"]} == {"first", "last"}
    verified = referee(folder, "verify", "leagues/two.sqlite")
    assert verified.returncode == 0, verified.stdout
    shown = referee(folder, "show", "1")
    assert "Deal 1" in shown.stdout
    assert "first" in shown.stdout


def test_the_same_seed_gives_the_same_results_and_a_finished_league_is_not_run_again(folder: Path) -> None:
    first = referee(folder, "run", "two.toml", "--sandbox", "none", "--output", "plain")
    again = referee(folder, "run", "two.toml", "--sandbox", "none")
    assert again.returncode == 0, again.stderr
    assert "is finished" in again.stderr
    assert "--new-season" in again.stderr
    assert again.stdout == first.stdout
    second = referee(folder, "run", "two.toml", "--sandbox", "none", "--output", "plain", "--new-season", "-w", "2")
    assert second.returncode == 0, second.stderr
    assert "leagues/two-2" in second.stdout

    def root(text: str) -> str:
        return text.partition("Result root: ")[2].split()[0]

    assert root(first.stdout) == root(second.stdout)


def test_what_a_run_took_is_told_when_asked_for_and_is_the_same_by_workers(folder: Path) -> None:
    took = {}
    for workers in ("1", "2"):
        options = ("--sandbox", "none", "--output", "json", "--verbose", "--new-season", "-w", workers)
        done = referee(folder, "run", "two.toml", *options)
        assert done.returncode == 0, done.stderr
        took[workers] = json.loads(done.stdout)["run"]
        with sqlite3.connect(folder / f"leagues/two{'-2' if workers == '2' else ''}.sqlite") as db:
            summaries = [json.loads(row[0]) for row in db.execute("SELECT summary FROM game")]
        assert took[workers]["games"] == len(summaries)
        assert took[workers]["decisions"] == sum(summary["decisions"] for summary in summaries)
        assert took[workers]["turns"] >= took[workers]["messages"] > 0
        assert took[workers]["turns"] == took["1"]["turns"], "no bot was started again, so each turn was sent once"
        assert took[workers]["starts"] >= 2
        assert took[workers]["referee_s"] > 0
        assert took[workers]["bots_s"] > 0
    plain = referee(folder, "run", "two.toml", "--sandbox", "none", "-o", "plain", "--verbose", "--new-season")
    assert f"Played {took['1']['games']} games of {took['1']['decisions']} decisions in " in plain.stderr
    silent = referee(folder, "run", "two.toml", "--sandbox", "none", "-o", "plain", "--new-season")
    assert "Played" not in silent.stderr


def test_a_dry_run_plays_nothing(folder: Path) -> None:
    done = referee(folder, "run", "two.toml", "--dry-run")
    assert done.returncode == 0
    assert "6 games in 2 legs of at most 2 bot processes" in done.stdout
    assert "games a minute, from a trial of 6 games in " in done.stdout
    assert not (folder / "leagues").exists()


def test_a_dry_run_starts_no_stranger_without_a_sandbox_and_says_so(folder: Path) -> None:
    (folder / "class").mkdir()
    for name in ("first.py", "last.py"):
        (folder / name).rename(folder / "class" / name)
    (folder / "two.toml").write_text(LEAGUE.partition("[[bots]]")[0] + '[[bots]]\nbots_from = "class/*.py"\n')
    done = referee(folder, "run", "two.toml", "--dry-run", "--sandbox", "none")
    assert done.returncode == 0, done.stderr
    assert "6 games" in done.stdout
    assert "How long it takes is not known: " in done.stdout
    assert "--trust-bots" in done.stdout


def test_as_many_sets_are_played_as_fit_into_a_time_and_the_league_goes_on_with_them(folder: Path) -> None:
    done = referee(folder, "run", "two.toml", "--sandbox", "none", "--output", "json", "--time", "2s")
    assert done.returncode == 0, done.stderr
    told, _, rest = done.stderr.partition(" for each table in 2 s, from a trial of ")
    sets = int(told.split()[-2].replace(",", ""))
    assert rest
    assert json.loads(done.stdout)["games"] == 2 * sets
    again = referee(folder, "run", "two.toml", "--sandbox", "none", "--time", "5s")
    assert "is finished" in again.stderr
    wrong = referee(folder, "run", "two.toml", "--time", "soon")
    assert wrong.returncode == 2


def test_a_new_version_plays_only_the_sets_that_have_it(folder: Path) -> None:
    (folder / "third.py").write_text(FIRST)
    more = (LEAGUE + '[[bots]]\npath = "third.py"\n').replace('seed = "cli"', "")
    (folder / "two.toml").write_text(more)
    assert referee(folder, "run", "two.toml", "--sandbox", "none").returncode == 0
    (folder / "third.py").write_text(LAST)
    done = referee(folder, "run", "two.toml", "--sandbox", "none", "--new-version", "--output", "plain")
    assert done.returncode == 0, done.stderr
    assert "3 sets kept from leagues/two.sqlite" in done.stderr
    kept = set(scored(folder / "leagues/two.sqlite")) & set(scored(folder / "leagues/two-2.sqlite"))
    assert len(kept) == 6
    assert referee(folder, "verify", "leagues/two-2.sqlite").returncode == 0


def test_changed_bots_are_refused_with_the_remedy(folder: Path) -> None:
    done = referee(folder, "run", "two.toml", "--sandbox", "none", "--output", "plain")
    assert done.returncode == 0
    with sqlite3.connect(folder / "leagues/two.sqlite") as db:
        db.execute("UPDATE game_set SET state = 'OPEN' WHERE position = 2")
        db.execute("UPDATE league SET value = '\"running\"' WHERE key = 'state'")
    (folder / "first.py").write_text(LAST)
    refused = referee(folder, "resume", "leagues/two.sqlite", "--sandbox", "none")
    assert refused.returncode == 1
    assert "first" in refused.stderr
    assert "--new-season" in refused.stderr


def test_quick_games_between_bots_named_on_the_command_line(folder: Path) -> None:
    done = referee(folder, "play", "first.py", "random", "-n", "4", "--output", "json", "--seed", "x")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["games"] == 4


def test_without_a_clock_the_bots_share_the_terminal(folder: Path) -> None:
    (folder / "stops.py").write_text(
        "import os\nfrom referee.bot import run\nrun(lambda turn: turn.legal[0] if os.read(0, 2) == b'7\\n' else None)\n"
    )
    done = referee(folder, "play", "stops.py", "random", "-n", "1", "--no-clock", text="7\n" * 4000)
    assert done.returncode == 0, done.stderr
    assert "CRASH" not in done.stderr


def test_a_ruling_is_told_with_its_rule_and_in_a_sentence(folder: Path) -> None:
    (folder / "greedy.py").write_text(
        "from referee.bot import run\nrun(lambda turn: 4 if turn.kind == 1 else turn.hand[0])\n"
    )
    done = referee(folder, "play", "greedy.py", "random", "-n", "4", "--output", "plain", "--seed", "x")
    assert done.returncode == 0
    assert "ruling   greedy: ILLEGAL_ACTION AF-" in done.stderr


def test_what_is_wrong_is_one_sentence_and_no_traceback(folder: Path) -> None:
    for arguments, told in (
        (("run", "none.toml"), "none.toml"),
        (("play", "firts.py", "random"), "firts.py"),
        (("play", "first.py", "random", "--variant", "auction-pich"), "auction-pitch"),
        (("standings", "leagues/none.sqlite"), "there is no league at leagues/none.sqlite"),
        (("show", "1"), "there is no league in leagues/"),
    ):
        done = referee(folder, *arguments)
        assert done.returncode in (1, 2)
        assert told in done.stderr
        assert "Traceback" not in done.stderr
