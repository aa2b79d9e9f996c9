"""A league on a Dask cluster: a scheduler and two workers, one of them killed in mid-league; the same results as at home."""

import contextlib
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.league import LeagueError, plan_of, read_league
from referee.league.plan import LeaguePlan
from referee.league.play import cluster as cluster_workers
from referee.league.play.cluster import ClusterWorkers
from referee.league.play.event_sink import EntrantWithdrawn, Event, LeagueObserver
from referee.league.play.runner import Runner
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import at_random, found_league, go_on, league_text
from tests.program import PATIENCE, referee

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = """
[tournament]
name = "Spread out"
variant = "auction-pitch"
seats = 3
[schedule]
sets = 12
seed = "cluster"
[[bots]]
path = "first.py"
[[bots]]
path = "last.py"
[[bots]]
path = "chance.py"
"""
BOTS = {"first": "turn.legal[0]", "last": "turn.legal[-1]", "chance": "turn.rng.choice(turn.legal)"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three bots and a league; each bot takes its time, so that there is a mid-league to be killed in."""
    for name, choice in BOTS.items():
        (tmp_path / f"{name}.py").write_text(
            f"import time\nfrom referee.bot import run\n\n\ndef choose(turn):\n    time.sleep(0.002)\n    return {choice}\n\n\nrun(choose)\n"
        )
    (tmp_path / "league.toml").write_text(LEAGUE)
    return tmp_path


@pytest.fixture
def started() -> Iterator[list["subprocess.Popen[str]"]]:
    """Processes of the test; all are ended afterwards."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def start(
    folder: Path, processes: list["subprocess.Popen[str]"], name: str, *arguments: str
) -> "subprocess.Popen[str]":
    """Starts a process whose output goes to a file."""
    with (folder / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    processes.append(process)
    return process


def cluster(folder: Path, processes: list["subprocess.Popen[str]"]) -> tuple[str, list["subprocess.Popen[str]"]]:
    """A scheduler and two workers of one thread; the address, and the workers."""
    file = folder / "scheduler.json"
    quiet = ("--no-dashboard", "--scheduler-file", file.name)
    start(
        folder,
        processes,
        "scheduler",
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        *quiet,
    )
    wait_for(lambda: file.exists() and file.stat().st_size > 0)
    single = ("-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-nanny")
    workers = [
        start(folder, processes, name, *single, "--local-directory", str(folder / name), *quiet)
        for name in ("one", "two")
    ]
    return str(json.loads(file.read_text())["address"]), workers


def wait_for(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.1)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return referee(folder, "run", "league.toml", "--sandbox", "none", *arguments)


def root(path: Path) -> str:
    with contextlib.closing(sqlite3.connect(path)) as db:
        found = dict(db.execute("SELECT key, value FROM league"))
    assert json.loads(found["state"]) == "finished"
    return str(json.loads(found["result_root"]))


def attempts(path: Path) -> list[str | None]:
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as db:
        return [outcome for (outcome,) in db.execute("SELECT outcome FROM attempt")]
    return []


def test_a_cluster_that_loses_a_worker_in_mid_league_has_the_results_of_any_number_of_workers(
    folder: Path, started: list["subprocess.Popen[str]"]
) -> None:
    address, workers = cluster(folder, started)
    log = folder / "leagues/league.logs"
    playing = start(
        folder,
        started,
        "main",
        "-c",
        "from referee.cli import main; main()",
        "run",
        "league.toml",
        "--sandbox",
        "none",
        "--cluster",
        address,
    )
    wait_for(lambda: log.is_dir() and len(attempts(folder / "leagues/league.sqlite")) > 0)
    assert "SCORED" not in attempts(folder / "leagues/league.sqlite")
    workers[0].kill()
    assert playing.wait(timeout=PATIENCE) == 0, (folder / "main.log").read_text()
    assert attempts(folder / "leagues/league.sqlite") == ["SCORED"] * 36
    for number, count in enumerate(("1", "2", "8"), 2):
        done = run(folder, "--new-season", "--workers", count)
        assert done.returncode == 0, done.stderr
        assert root(folder / f"leagues/league-{number}.sqlite") == root(folder / "leagues/league.sqlite")


def refused(folder: Path, program: str) -> str:
    """What a program in which ``ClusterWorkers`` is there says when it ends with an error."""
    head = "import sys\nfrom referee.league.play import cluster\nfrom referee.league.league import LeagueError\n"
    tail = f"try:\n    {program}\nexcept LeagueError as error:\n    sys.exit(str(error))\n"
    done = subprocess.run(
        [sys.executable, "-c", head + tail], capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


def test_without_dask_the_error_names_what_to_install(folder: Path) -> None:
    told = refused(folder, "sys.modules['distributed'] = None; cluster.ClusterWorkers('tcp://127.0.0.1:1')")
    assert "pip install 'allfours-referee[cluster]'" in told


def test_a_scheduler_that_does_not_answer_and_one_without_workers_are_errors_with_the_remedy(
    folder: Path, started: list["subprocess.Popen[str]"]
) -> None:
    told = refused(folder, "cluster.PATIENCE_SECONDS = 1; cluster.ClusterWorkers('tcp://127.0.0.1:1')")
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in told
    address, workers = cluster(folder, started)
    for worker in workers:
        worker.kill()
        worker.wait()
    told = refused(folder, f"cluster.PATIENCE_SECONDS = 2; cluster.ClusterWorkers({address!r})")
    assert f"has no workers; start some: dask worker {address}" in told


def test_workers_of_another_version_are_refused() -> None:
    told = refused(Path(), "cluster._check_versions({'tcp://a': '0.0.1'})")
    assert "worker tcp://a has Referee 0.0.1" in told
    assert "install the same one on every worker" in told


class Scheduler:
    """Dask without a network, as far as ``ClusterWorkers`` uses it: every stage sends one event, and then fails or ends."""

    def __init__(self, threads: dict[str, int], error: Exception | None = None) -> None:
        self.threads, self.error = threads, error
        self.plans: list[LeaguePlan] = []
        self.sent: list[tuple[str, bytes]] = []
        self.comm = SimpleNamespace(get_address_host=lambda address: address.removeprefix("tcp://").partition(":")[0])

    def Client(self, *_: Any, **__: Any) -> Any:  # noqa: N802  # Dask's name
        return SimpleNamespace(
            wait_for_workers=lambda *_, **__: None,
            run=lambda *_, **__: {},
            nthreads=lambda: self.threads,
            submit=self.submit,
            close=lambda: None,
        )

    def Event(self, *_: Any, **__: Any) -> Any:  # noqa: N802
        return SimpleNamespace(set=lambda: None)

    def Queue(self, *_: Any, **__: Any) -> Any:  # noqa: N802
        return SimpleNamespace(get=self.get, close=lambda: None)

    def submit(self, _function: Any, plan: LeaguePlan, *_: Any, **__: Any) -> Any:
        self.plans.append(plan)
        self.sent.append(("run", pickle.dumps([EntrantWithdrawn("a", "It left.")])))
        return SimpleNamespace(
            done=lambda: True, status="error" if self.error else "finished", result=self.result_of_stage
        )

    def result_of_stage(self) -> tuple[str, int]:
        if self.error is not None:
            raise self.error
        return "run", 1

    def get(self, *, timeout: float = 0, batch: bool = False) -> Any:
        if not batch:
            return self.sent.pop(0)
        rest, self.sent = self.sent, []
        return rest


@pytest.mark.parametrize(
    ("threads", "sharers"),
    [
        ({"tcp://10.0.0.1:4001": 1, "tcp://10.0.0.2:4001": 1}, 1),
        ({"tcp://10.0.0.1:4001": 2, "tcp://10.0.0.1:4002": 3, "tcp://10.0.0.2:4001": 4}, 5),
    ],
)
def test_stages_on_one_host_share_its_processors_and_its_bot_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: dict[str, int], sharers: int
) -> None:
    scheduler = Scheduler(threads)
    monkeypatch.setattr(cluster_workers, "_distributed", lambda: scheduler)
    told = list[Event]()
    found_league(tmp_path / "league.sqlite", parse_definition(league_text(list(BOTS))), list(BOTS))
    with ClusterWorkers("tcp://10.0.0.1:8786") as workers, Store.write(tmp_path / "league.sqlite") as store:
        league = read_league(store)
        plan = replace(plan_of(league, tmp_path, "none"), max_processes=20)
        workers.play(plan, [], told.extend)
        assert workers.workers == sum(threads.values())
        runner = Runner(store, league, plan, LeagueObserver())
        runner._pool = workers
        assert runner._share == 20 // sharers
    assert [one.sharers for one in scheduler.plans] == [sharers]
    assert told == [EntrantWithdrawn("a", "It left.")]


def test_what_a_stage_had_sent_before_it_failed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class KilledWorker(Exception):  # as Dask calls it
        pass

    found_league(tmp_path / "league.sqlite", parse_definition(league_text(list(BOTS))), list(BOTS))
    with Store.read(tmp_path / "league.sqlite") as store:
        plan = plan_of(read_league(store), tmp_path, "none")
    for error, said in (
        (LeagueError("no room on the disk"), "no room on the disk"),
        (KilledWorker(), "a worker process died"),
    ):
        scheduler, told = Scheduler({"tcp://10.0.0.1:4001": 1}, error), list[Event]()
        monkeypatch.setattr(cluster_workers, "_distributed", lambda scheduler=scheduler: scheduler)
        with ClusterWorkers("tcp://10.0.0.1:8786") as workers, pytest.raises(LeagueError, match=said):
            workers.play(plan, [], told.extend)
        assert told == [EntrantWithdrawn("a", "It left.")]


def test_what_a_cluster_left_open_is_dealt_anew_for_nobody_here_can_prove_its_bots_dead(tmp_path: Path) -> None:
    players = {"a": fallback_move, "b": at_random, "c": fallback_move}
    for elsewhere in (True, False):
        path = tmp_path / f"{elsewhere}.sqlite"
        found_league(path, parse_definition(league_text(list(players), sets=2)), list(players))
        with Store.write(path) as store:
            begun = store.sets()[0].id
            store.begin([(f"{begun}-0", 0)])
            store.put(cluster=elsewhere)
        assert go_on(path, players).finished
        with Store.read(path) as store:
            assert [row.redeal for row in store.sets()] == [int(elsewhere), 0]
            assert store.league()["cluster"] is False
            assert verify(store).ok
