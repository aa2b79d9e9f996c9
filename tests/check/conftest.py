"""Python bots of these tests start at once, where nothing but their start would differ."""

import pytest

from referee.sandbox import launch
from tests import warm_start


@pytest.fixture(autouse=True)
def warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the bots that this process starts forked from one that has imported what they import."""
    monkeypatch.setattr(launch, "_spawn", warm_start.spawn)
