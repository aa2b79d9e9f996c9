"""A league that has been played, for tests that damage it."""

from pathlib import Path

import pytest

from referee.league.export import write_export
from referee.league.league import read_league
from referee.league.store import Store
from tests.league.inprocess import at_random, play_league


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league."""
    path = tmp_path_factory.mktemp("sound") / "league.sqlite"
    return play_league(path, {"a": at_random, "b": at_random}, seats=2, sets=2, length="deal")


@pytest.fixture(scope="module")
def exported(sound: Path) -> Path:
    """Its export."""
    with Store.read(sound) as store:
        return write_export(store, read_league(store), sound.with_name("export"), {})
