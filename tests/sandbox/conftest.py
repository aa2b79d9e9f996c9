"""Fixtures for the tests of bot processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import referee.sandbox.launch
from referee.net import supervisor
from tests.net.bot_processes import BotProcesses


@pytest.fixture
def bots_here(tmp_path: Path) -> Iterator[BotProcesses]:
    """A place to start bots in."""
    place = BotProcesses(tmp_path)
    yield place
    place.server.close()


@pytest.fixture(params=["none", "no groups", pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap"))])
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of sandbox in turn; none also as on a machine where we may make no control groups."""
    kind: str = request.param
    if kind == "no groups":
        monkeypatch.setattr(referee.sandbox.launch, "make_group", lambda name, limits: None)
        return "none"
    return kind


@pytest.fixture
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supervisors wait shortly, where the story is about what comes after; where it is not, it does not come to that."""
    monkeypatch.setattr(supervisor, "_VERDICT_SECONDS", 0.05)
    monkeypatch.setattr(supervisor, "_PARTING_SECONDS", 0.05)
