"""``referee report`` and ``referee replay`` as a user calls them."""

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from referee.cli import app, register
from referee.league.store import StoreError
from tests.program import PATIENCE
from tests.report.made_leagues import PLAYERS, make_league

register()

RUN = CliRunner()


@pytest.fixture
def leagues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to work in, with one league in leagues/."""
    make_league(tmp_path / "leagues" / "small.sqlite", PLAYERS, sets=2)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "leagues"


def test_the_report_stands_beside_the_league(leagues: Path) -> None:
    done = RUN.invoke(app, ["report"], catch_exceptions=False)
    assert done.output.strip() == "Report: leagues/small.html"
    assert (leagues / "small.html").read_text("utf-8").startswith("<!doctype html>")


def test_out_and_more_games(leagues: Path) -> None:
    done = RUN.invoke(
        app, ["report", "leagues/small.sqlite", "--out", "a/b.html", "--game", "3"], catch_exceptions=False
    )
    assert done.exit_code == 0
    assert 'href="#game-3"' in Path("a/b.html").read_text("utf-8")


def test_a_game_that_does_not_exist_is_an_error(leagues: Path) -> None:
    with pytest.raises(StoreError, match="no game 77"):
        RUN.invoke(app, ["report", "--game", "77"], catch_exceptions=False)
    with pytest.raises(StoreError, match="no game 77"):
        RUN.invoke(app, ["replay", "77"], catch_exceptions=False)


def test_markdown_and_csv_go_to_the_screen(leagues: Path) -> None:
    told = RUN.invoke(app, ["report", "--format", "markdown"], catch_exceptions=False).output
    assert told.startswith("# Made league\n")
    for table in ("standings", "cross", "games", "rulings", "seats"):
        csv = RUN.invoke(app, ["report", "-f", "csv", "--table", table, "--out", "x/t.csv"], catch_exceptions=False)
        assert csv.output.strip() == "Report: x/t.csv"
        lines = Path("x/t.csv").read_text("utf-8").splitlines()
        assert len(lines) > 1
        assert len({line.count(",") for line in lines if '"' not in line}) == 1


def test_a_replay_as_a_page(leagues: Path) -> None:
    done = RUN.invoke(app, ["replay", "2", "--html"], catch_exceptions=False)
    assert done.output.strip() == "Replay: leagues/small-game-2.html"
    page = (leagues / "small-game-2.html").read_text("utf-8")
    assert 'data-only="1"' in page
    assert "sound" in page


def test_a_replay_in_a_pipe_prints_every_frame(leagues: Path) -> None:
    whole = RUN.invoke(app, ["replay", "1"], catch_exceptions=False).output
    assert whole.startswith("Game 1, deal 1 of ")
    assert " wins (" in whole
    seat = RUN.invoke(app, ["replay", "1", "--seat", "2"], catch_exceptions=False).output
    assert "6 cards" in seat
    assert "6 cards" not in whole


def test_a_seat_that_does_not_exist(leagues: Path) -> None:
    done = RUN.invoke(app, ["replay", "1", "--seat", "4"])
    assert done.exit_code == 2
    assert "there are 3 seats" in done.output


def test_a_set_under_way_is_to_be_kept_secret(tmp_path: Path) -> None:
    path = make_league(tmp_path / "open.sqlite", PLAYERS, sets=2, finish=False)
    done = RUN.invoke(app, ["replay", "4", "--league", str(path)], catch_exceptions=False)
    assert "keep its packs to yourself" in done.stderr
    assert "keep its packs" not in done.stdout


def read_until(terminal: int, text: str) -> str:
    """What the terminal shows, up to that text."""
    shown, deadline = "", time.monotonic() + 60
    while text not in shown and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65536).decode("utf-8", "replace")
    assert text in shown
    return shown


def test_stepping_in_a_terminal(leagues: Path) -> None:
    """Keys step; the terminal is left as it was."""
    main, side = pty.openpty()
    try:
        running = subprocess.Popen(
            [sys.executable, "-c", "from referee.cli import main; main()", "replay", "1"],
            stdin=side,
            stdout=side,
            stderr=side,
            env=os.environ | {"TERM": "xterm", "COLUMNS": "150", "LINES": "40"},
        )
        read_until(main, "1 / ")
        os.write(main, b"\x1b[C")
        read_until(main, "2 / ")
        os.write(main, b"\x1b[D")
        read_until(main, "1 / ")
        os.write(main, b"q")
        read_until(main, "\x1b[?1049l")
        assert running.wait(timeout=PATIENCE) == 0
    finally:
        os.close(side)
        os.close(main)
