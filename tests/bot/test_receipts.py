"""Receipts in the SDK: a line a game, appended and whole after a crash; said once where they cannot be kept."""

from pathlib import Path

import pytest

from referee.bot import wire
from referee.bot._receipts import Receipts, receipts_for
from referee.verification.receipts import GameReceipt, read_receipts

LEAGUE = "ab" * 32


def one(seed: int) -> wire.Receipt:
    return wire.Receipt(game_id=9, seat=2, bot_seed=seed, record_digest=f"{seed:064x}")


def test_a_line_a_game_is_appended_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "some" / "far.receipts"
    for seeds in ((1, 2), (3,)):  # two processes, one after another
        kept = Receipts(str(path))
        kept.joined("one + two", LEAGUE)
        kept.keep([one(seed) for seed in seeds])
    assert read_receipts(path, LEAGUE) == (
        [GameReceipt("one + two", 2, seed, f"{seed:064x}") for seed in (1, 2, 3)],
        0,
        0,
    )
    assert read_receipts(path, "cd" * 32) == ([], 3, 0)
    assert path.read_text().startswith("allfours-receipt/1 20")
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_line_that_a_crash_has_cut_is_ended_and_read_by_nobody(tmp_path: Path) -> None:
    path = tmp_path / "far.receipts"
    kept = Receipts(str(path))
    kept.joined("far", LEAGUE)
    kept.keep([one(1), one(2)])
    path.write_bytes(path.read_bytes()[:-20])
    assert read_receipts(path, LEAGUE) == ([GameReceipt("far", 2, 1, f"{1:064x}")], 0, 1)
    kept.keep([one(2), one(2)])
    assert read_receipts(path, LEAGUE)[0] == [GameReceipt("far", 2, seed, f"{seed:064x}") for seed in (1, 2)]


def test_where_nothing_can_be_written_it_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    kept = Receipts(str(tmp_path / "file" / "far.receipts"))
    kept.joined("far", LEAGUE)
    kept.keep([one(1)])
    kept.keep([one(2)])
    told = capsys.readouterr().err
    assert told.count("receipts cannot be kept in") == 1
    assert "REFEREE_RECEIPTS" in told


def test_a_file_is_named_by_the_bot_in_the_league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = Receipts(None)
    kept.joined("../évil\n x", LEAGUE)
    kept.keep([one(1)])
    (path,) = (tmp_path / "leagues").iterdir()
    assert path.name == "..__vil_x.receipts"
    assert len(read_receipts(path, LEAGUE)[0]) == 1


def test_remote_bots_keep_them_local_ones_where_they_are_asked_to() -> None:
    assert receipts_for(None, {}, remote=True) is not None
    assert receipts_for(None, {}, remote=False) is None
    assert receipts_for(None, {"REFEREE_RECEIPTS": "a file"}, remote=False) is not None
    assert receipts_for("off", {"REFEREE_RECEIPTS": "a file"}, remote=True) is None
    for off in ("off", ""):
        assert receipts_for(None, {"REFEREE_RECEIPTS": off}, remote=True) is None
