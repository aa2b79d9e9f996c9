"""A host of which parts are killed while a bot is handed in and a round is played. ``make host-chaos`` does the same 200 times."""

from pathlib import Path

import pytest

from tests.host.chaos import Push, chaos
from tests.program import LAST

STORY = ((Push("ann", LAST, builds=True),),)


@pytest.mark.needs("bwrap")
def test_whatever_is_killed_nothing_is_lost_and_nothing_counts_twice(tmp_path: Path) -> None:
    seed = 43  # its first kill comes at once
    killed = chaos(tmp_path / "killed", None, seed, 5, story=STORY, sets=4)
    assert killed.total()
