"""Where the referee puts what is temporary, and what it says before play where bots are not shut in."""

import sys
from pathlib import Path

import pytest

from tests.program import FIRST, LAST, referee

LEAGUE = """
[tournament]
name = "Two"
variant = "auction-pitch"
seats = 2

[schedule]
sets = 1
SEED

[[bots]]
path = "first.py"

[[bots]]
path = "last.py"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "first.py").write_text(FIRST)
    (tmp_path / "last.py").write_text(LAST)
    (tmp_path / "seeded.toml").write_text(LEAGUE.replace("SEED", 'seed = "known"'))
    (tmp_path / "secret.toml").write_text(LEAGUE.replace("SEED", ""))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap needs Linux")
@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("kind", ["long", "gone", "closed", "a file"])
def test_a_place_for_temporary_files_that_will_not_do_stops_no_league(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place = folder / ("t" * 120 if kind == "long" else "t")
    if kind == "a file":
        place.touch()
    elif kind != "gone":
        place.mkdir(mode=0o500 if kind == "closed" else 0o700)
    monkeypatch.setenv("TMPDIR", str(place))
    done = referee(folder, "run", "secret.toml", "--sandbox", "bubblewrap", "--output", "plain")
    assert done.returncode == 0, done.stderr
    assert "START_FAILED" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if kind == "long":
        assert list(place.iterdir()) == []


def test_without_a_sandbox_it_says_what_that_means_and_that_a_seed_is_known(folder: Path) -> None:
    means = "they can read all that you can, every card too, and do anything to each other"
    known = "The seed of this league stands in files that bots can read"
    done = referee(folder, "run", "seeded.toml", "--sandbox", "none", "--output", "plain")
    assert done.returncode == 0, done.stderr
    assert means in done.stderr
    assert known in done.stderr
    done = referee(folder, "run", "secret.toml", "--sandbox", "none", "--output", "plain")
    assert means in done.stderr
    assert known not in done.stderr
    played = referee(folder, "play", "first.py", "last.py", "-n", "2", "--output", "plain")
    assert played.returncode == 0, played.stderr
    assert means in played.stderr


@pytest.mark.needs("bwrap")
def test_in_a_sandbox_a_seed_is_not_known(folder: Path) -> None:
    done = referee(folder, "run", "seeded.toml", "--sandbox", "bubblewrap", "--output", "plain")
    assert done.returncode == 0, done.stderr
    assert "bots can read" not in done.stderr
