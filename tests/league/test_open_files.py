"""What the bots of a league may cost in open files is named before it begins."""

import resource
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.league.league import LeagueError
from referee.league.play.open_files import files_wanted, make_room
from tests.program import REFEREE

NOFILE = resource.RLIMIT_NOFILE


@pytest.fixture
def limits() -> Iterator[None]:
    before = resource.getrlimit(NOFILE)
    yield
    resource.setrlimit(NOFILE, before)


@pytest.mark.usefixtures("limits")
def test_the_limit_of_this_process_is_raised_as_far_as_a_league_needs() -> None:
    hard = resource.getrlimit(NOFILE)[1]
    resource.setrlimit(NOFILE, (256, hard))
    make_room(2, 0)
    assert resource.getrlimit(NOFILE) == (256, hard)
    make_room(2, 300)
    assert resource.getrlimit(NOFILE) == (files_wanted(2, 300), hard)


@pytest.mark.parametrize(
    ("local", "remote", "told"),
    [
        (0, 1_000_000, r"1,000,000 remote bots at a time .* play with fewer bots"),
        (
            1,
            1_000_000,
            r"1 local bot and 1,000,000 remote bots at a time may need [0-9,]+ open files, .* \(ulimit -n \d+",
        ),
        (500_000, 0, r"500,000 local bots at a time .* a smaller max_processes"),
    ],
)
def test_more_than_the_system_allows_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, local: int, remote: int, told: str
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (1024, 4096))
    with pytest.raises(LeagueError, match=told):
        make_room(local, remote)


def test_a_limit_that_may_not_be_raised_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ValueError("not allowed to raise maximum limit")

    monkeypatch.setattr(resource, "getrlimit", lambda _which: (300, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    with pytest.raises(
        LeagueError, match=r"100 remote bots at a time may need \d+ open files, and this user may have 300"
    ):
        make_room(0, 100)


def test_without_any_limit_everything_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    make_room(100_000, 1_000_000)


def test_nothing_is_begun_that_needs_more_files_than_there_may_be(tmp_path: Path) -> None:
    bots = "".join(f'[[bots]]\nname = "bot{number}"\nremote = true\n' for number in range(100))
    head = (
        '[tournament]\nname = "many"\nvariant = "auction-pitch"\nseats = 2\n[schedule]\nsets = 1\nduplicate = false\n'
    )
    (tmp_path / "many.toml").write_text(head + bots, "utf-8")
    words = shlex.join([*REFEREE, "run", "many.toml", "--listen", "127.0.0.1:0"])
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -n 300; exec {words}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert " ".join(done.stderr.split()).startswith("referee: 100 remote bots at a time may need ")
    assert "ulimit -n" in done.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / "many.toml"]
