"""``referee table`` and ``referee daily`` as they are typed: usage, names, what is kept, Ctrl-C, input that ends."""

import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from referee.league.definition.definition import load_definition
from referee.league.entrants.roster import enter
from referee.league.league import begin
from referee.rules import RuleSetError, variant
from referee.table.seating import SeatingError, names_of_copies, seat_all
from tests.program import REFEREE, referee

ANY_CARD = "\n".join([*map(str, range(1, 10)), "pass", "2", "3", "4", ""]) + "\n"
"""Lines of which something is always taken."""


def test_a_game_is_played_through_a_pipe_kept_verified_and_replayed(tmp_path: Path) -> None:
    words = ("--terminal", "--set", "max_deals=1", "--name", "Zoë <b>\x1b[31m")
    done = referee(tmp_path, "table", "random", *words, text=ANY_CARD * 30)
    assert done.returncode == 0, done.stderr
    assert "Replay: referee replay 1 --league leagues/table.sqlite" in done.stdout
    assert "\x1b" not in done.stdout
    verified = referee(tmp_path, "verify", "leagues/table.sqlite")
    assert verified.returncode == 0, verified.stdout
    assert "1 game, 1 deal" in verified.stdout
    replayed = referee(tmp_path, "replay", "1")
    assert replayed.returncode == 0
    assert "Zoe -b-31m" in replayed.stdout
    assert "still being played" not in replayed.stderr
    assert referee(tmp_path, "show", "1").returncode == 0
    assert sorted(path.name for path in (tmp_path / "leagues").iterdir() if path.suffix == ".sqlite") == [
        "table.sqlite"
    ]


def test_input_that_ends_leaves_nothing_behind(tmp_path: Path) -> None:
    done = referee(tmp_path, "table", "random", "--terminal", text="hand\n")
    assert done.returncode == 0
    assert "Your hand: " in done.stdout
    assert done.stdout.endswith(
        "Nothing more can be typed: the table is left.\nThe game was left before its end; it is not kept.\n"
    )
    assert list((tmp_path / "leagues").glob("*.sqlite*")) == []


def test_the_daily_deal_says_what_it_is_and_practice_keeps_nothing(tmp_path: Path) -> None:
    done = referee(tmp_path, "daily", "--date", "2026-12-24", "--terminal", "--practice", text="hand\n")
    again = referee(tmp_path, "daily", "--date", "2026-12-24", "--terminal", text="hand\n")
    assert done.returncode == again.returncode == 0
    assert done.stdout.startswith("Daily of 2026-12-24. The packs of a day follow from its date")
    assert "there is no table of players" in done.stdout
    hands = [re.search(r"Your hand: (.*?)\.", one.stdout.replace("\n", " ")) for one in (done, again)]
    assert hands[0] is not None
    assert hands[1] is not None
    assert hands[0][1] == hands[1][1]
    assert list(tmp_path.rglob("*.sqlite")) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["careful", "--name", "careful"], "a bot at the table is called careful"),
        (["nobody-knows"], "nobody-knows"),
        (["careful", "--variant", "pich"], "is not a variant"),
        (["careful", "--seats", "9"], "--seats"),
        (["careful", "careful", "careful", "--seats", "3"], "name 2 bots or fewer"),
        (["careful", "--seat", "4", "--seats", "3"], "give another --seat"),
        (["--variant", "cinch", "--seats", "3"], "is for 4 players"),
        (["careful", "--set", "target"], "HOUSE_RULE=VALUE"),
        (["careful", "--set", "max_bid=99"], "max_bid"),
        (["careful", "--clock", "1"], "--clock"),
        (["careful", "--terminal", "--port", "80"], "--port"),
        (["careful", "--practice", "--keep", "x.sqlite"], "--keep"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(tmp_path: Path, words: list[str], told: str) -> None:
    done = referee(tmp_path, "table", *words)
    assert done.returncode == 2, done.stdout
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_date_that_is_none_is_refused(tmp_path: Path) -> None:
    done = referee(tmp_path, "daily", "--date", "tomorrow")
    assert done.returncode == 2
    assert "is no date" in done.stderr


def test_ctrl_c_closes_the_page_and_ends_everything(tmp_path: Path) -> None:
    command = [*REFEREE, "table", "random", "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert re.fullmatch(r"Your table: http://127\.0\.0\.1:\d+/\?seat=[\w-]{32}\n", line), process.stderr.read()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out.endswith("The game was left before its end; it is not kept.\n")
    assert errors == ""
    assert list((tmp_path / "leagues").glob("*.sqlite*")) == []


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "kept.sqlite"
    with sqlite3.connect(path) as base:
        base.execute("create table mine (x)")
    before = path.read_bytes()
    done = referee(tmp_path, "table", "random", "--terminal", "--keep", "kept.sqlite")
    assert done.returncode != 0
    assert "kept.sqlite" in done.stderr
    assert path.read_bytes() == before


def test_a_league_that_is_there_and_has_no_game_yet_stays_to_the_byte(tmp_path: Path) -> None:
    (tmp_path / "league.toml").write_text(
        '[tournament]\nname = "Mine"\nvariant = "auction-pitch"\nseats = 3\n[[bots]]\npath = "random"\ncopies = 3\n'
    )
    path = tmp_path / "kept.sqlite"
    definition = load_definition(tmp_path / "league.toml")
    begin(definition, enter(definition), path, "none", {})
    before = {one.name: one.read_bytes() for one in tmp_path.glob("kept.sqlite*")}
    for command in (["table", "random", "--terminal"], ["daily", "--terminal"]):
        done = referee(tmp_path, *command, "--keep", "kept.sqlite")
        assert done.returncode != 0
        assert "kept.sqlite" in done.stderr
        assert {one.name: one.read_bytes() for one in tmp_path.glob("kept.sqlite*")} == before


def test_the_help_is_as_quick_as_before() -> None:
    """What a table needs is loaded by a table alone."""
    code = "import sys; from referee.cli import list_commands; list_commands(); sys.exit(any(m.startswith('referee.table') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("game", "bots", "seats", "seat", "seated"),
    [
        ("auction-pitch", ["a", "b"], None, 1, ("", "a", "b")),
        ("auction-pitch", ["a", "b"], None, 2, ("b", "", "a")),
        ("auction-pitch", ["a"], 4, 3, ("a", "a", "", "a")),
        ("auction-pitch", [], None, 1, ("", "careful", "montecarlo", "random")),
        ("cinch", ["a"], None, 1, ("", "a", "a", "a")),
        ("california-jack", [], None, 1, ("", "careful")),
    ],
)
def test_bots_sit_from_the_persons_left_on(
    game: str, bots: list[str], seats: int | None, seat: int, seated: tuple[str, ...]
) -> None:
    assert seat_all(variant(game), bots, seats, seat).bots == seated


def test_bots_that_sit_twice_are_told_apart() -> None:
    seating = seat_all(variant("cinch"), ["a", "b"], None, 2)
    assert seating.bots == ("a", "", "a", "b")
    assert names_of_copies(seating, {"a": "anna", "b": "bert"}) == {2: "anna", 3: "bert", 0: "anna-2"}


@pytest.mark.parametrize(("bots", "seats", "seat"), [(["a"], 8, 1), (["a"] * 7, None, 1), (["a"], 2, 3), (["a"], 2, 0)])
def test_nobody_sits_where_there_is_no_seat(bots: list[str], seats: int | None, seat: int) -> None:
    with pytest.raises(SeatingError) as refused:
        seat_all(variant("auction-pitch"), bots, seats, seat)
    assert isinstance(refused.value, RuleSetError)
