"""A site that starts again shows the last board at once, and only one of its own ladder and version."""

import json
import shutil
from pathlib import Path

import pytest

from referee.host.home import HostHome
from referee.host.web import ladder_watch
from referee.host.web.kept_board import kept_board
from referee.umpire.fallback_player import fallback_move
from tests.host.sites import made_site
from tests.league.inprocess import at_random
from tests.league.ladders import Ladder


def fails(*_: object) -> None:
    raise OSError("there is no time for that")


@pytest.fixture
def home(tmp_path: Path) -> HostHome:
    """A host whose site has shown a ladder after one round, and has ended."""
    home = HostHome.beside(tmp_path / "ladder.toml")
    home.make()
    ladder = Ladder(home.ladder, {"a": at_random, "b": fallback_move, "c": at_random, "d": at_random})
    ladder.play(1)
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        board = at.site.ladder.board
    assert board is not None
    assert kept_board(home.board) == board
    assert home.board.stat().st_mode & 0o077 == 0
    return home


def test_a_site_that_starts_shows_the_last_board_before_it_has_worked_out_another(
    home: HostHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = kept_board(home.board)
    monkeypatch.setattr(ladder_watch, "work_out", fails)
    with made_site(tmp_path) as at:
        page = at.get("/").text
        assert at.site.ladder.board == kept
        assert "being worked out" not in page
        assert all(f"/bots/{name}" in page for name in "abcd")


@pytest.mark.parametrize("what", ["damaged", "another version", "no board", "another ladder", "no ladder"])
def test_a_board_that_is_none_of_this_ladder_and_version_is_not_shown(
    home: HostHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(ladder_watch, "work_out", fails)
    told = json.loads(home.board.read_bytes())
    match what:
        case "damaged":
            home.board.write_bytes(home.board.read_bytes()[:-9])
        case "another version":
            home.board.write_text(json.dumps({**told, "referee": "0"}))
        case "no board":
            home.board.write_text(json.dumps({**told, "board": {**told["board"], "rows": [1]}}))
        case "another ladder" | "no ladder":
            for file in home.folder.glob("ladder.sqlite*"):
                file.unlink()
            shutil.rmtree(home.folder / "ladder.logs", ignore_errors=True)
            if what == "another ladder":
                Ladder(home.ladder, {"a": at_random, "b": fallback_move, "c": at_random}).begin()
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        assert at.site.ladder.board is None
        assert at.get("/").status_code == 200


def test_a_disk_that_takes_no_board_harms_nobody(
    home: HostHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.board.unlink()
    monkeypatch.setattr(ladder_watch, "keep_board", fails)
    with made_site(tmp_path) as at:
        at.site.ladder.settle(60)
        assert at.site.ladder.board is not None
    assert not home.board.exists()
