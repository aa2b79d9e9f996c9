"""``referee host --cluster``: the rounds of a host are played by a Dask cluster, with the results of any number of workers."""

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.host.home import HostHome
from referee.league.store import Store
from tests.host.hosted import HOUSE, definition_text
from tests.host.test_host_command import parts_of, roots_of
from tests.league.test_cluster import cluster
from tests.program import PATIENCE, Started, referee


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in HOUSE.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "small.toml").write_text(definition_text(*HOUSE))
    return tmp_path


@pytest.fixture
def started() -> Iterator[list["Started"]]:
    """Processes of the test; all are ended afterwards."""
    processes: list[Started] = []
    yield processes
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def test_a_cluster_plays_the_rounds_of_a_host_and_comes_to_the_same_roots(folder: Path, started: list[Started]) -> None:
    run = referee(folder, "run", "small.toml", "--rounds", "2", "--sandbox", "none")
    assert run.returncode == 0, run.stderr
    address, _ = cluster(folder, started)  # type: ignore[arg-type]  # both are processes
    host = Started(folder, ["host", "small.toml", "--sandbox", "none", "--cluster", address, "--rounds", "2"])
    printed, told = host.communicate()
    assert host.returncode == 0, told
    assert re.search(r"The site is at http://127\.0\.0\.1:\d+\n", printed)
    ladder = HostHome.beside(folder / "small.toml").ladder
    assert roots_of(ladder) == roots_of(folder / "leagues/small.sqlite")
    assert len(roots_of(ladder)) == 2
    assert "Traceback" not in told
    log = (folder / "small.host/logs/engine.log").read_text()
    assert "Traceback" not in log
    scheduler = (folder / "scheduler.log").read_text()
    assert "Receive client connection" in scheduler  # they did play there
    assert referee(folder, "verify", str(ladder)).returncode == 0


def test_without_its_cluster_a_host_says_so_waits_and_ends_when_told(folder: Path) -> None:
    host = Started(folder, ["host", "small.toml", "--sandbox", "none", "--cluster", "tcp://127.0.0.1:1"])
    log = folder / "small.host/logs/engine.log"
    end = time.monotonic() + PATIENCE
    while not (log.exists() and "no Dask scheduler answers at tcp://127.0.0.1:1" in log.read_text()):
        assert host.poll() is None, host.communicate()
        assert time.monotonic() < end
        time.sleep(0.1)
    host.send_signal(signal.SIGINT)
    _, told = host.communicate()
    assert host.returncode == 0
    assert "start one: dask scheduler" in told
    assert "Traceback" not in log.read_text()
    assert parts_of(folder) == {}
    with Store.read(HostHome.beside(folder / "small.toml").ladder) as ladder:
        assert ladder.count_games() == 0
