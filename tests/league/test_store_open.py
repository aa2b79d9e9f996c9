"""What is said of a store that cannot be opened."""

from pathlib import Path

import pytest

from referee.league.store import Store, StoreError


def test_a_file_that_is_no_league_is_told_from_a_machine_that_lets_nobody_write(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to be looked at as one " * 40)
    with pytest.raises(StoreError, match=r"text\.sqlite is not a league: file is not a database"):
        Store.read(text)
    with pytest.raises(StoreError, match=r"text\.sqlite is not a league"):
        Store.write(text)
    league = tmp_path / "league.sqlite"
    Store.create(league, {}).close()
    (tmp_path / "league.sqlite-wal").mkdir()  # as where no file can be made
    with pytest.raises(StoreError, match=r"league\.sqlite cannot be opened: .* Is the disk full"):
        Store.write(league)
