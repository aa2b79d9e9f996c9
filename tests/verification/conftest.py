"""A finished league to verify, and copies of it to do as one likes with."""

import shutil
from pathlib import Path

import pytest

from referee.league.store import Store
from tests.league.inprocess import play_league
from tests.verification.findings import PLAYERS


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league of four sets with every kind of ruling in it."""
    path = play_league(tmp_path_factory.mktemp("sound") / "league.sqlite", PLAYERS, seats=4, sets=4)
    with Store.read(path) as store:
        faults = {row["fault"] for row in store.rulings()}
        assert faults >= {"ILLEGAL_ACTION", "MALFORMED", "TIMEOUT_MOVE", "CRASH"}
    return path


@pytest.fixture
def league(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to do as one likes with."""
    return Path(shutil.copy(sound, tmp_path / "league.sqlite"))
