"""Fixtures for the tests of bot processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import referee.seats.launch
from referee.seats import keeper
from tests.seats.camp import Camp


@pytest.fixture
def camp(tmp_path: Path) -> Iterator[Camp]:
    """A place to start bots in."""
    place = Camp(tmp_path)
    yield place
    place.server.close()


@pytest.fixture(params=["none", "no groups", pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap"))])
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of sandbox in turn; none also as on a machine where we may make no control groups."""
    kind: str = request.param
    if kind == "no groups":
        monkeypatch.setattr(referee.seats.launch, "make_group", lambda name, limits: None)
        return "none"
    return kind


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keepers wait shortly, where the story is about what comes after; where it is not, it does not come to that."""
    monkeypatch.setattr(keeper, "_VERDICT_SECONDS", 0.05)
    monkeypatch.setattr(keeper, "_PARTING_SECONDS", 0.05)
