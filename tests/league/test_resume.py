"""What an operator can do to a league: kill it, stop it, start it twice, fill the disk. Nothing is lost or doubled.

``python -m tests.chaos`` does the killing a thousand times over.
"""

import contextlib
import json
import os
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from referee.league.store import Store, StoreError
from referee.league.store.store import draft_of
from referee.sandbox.process_tree import processes
from tests.chaos import GAMES, Ground, Result, chaos, kill_when, result_of, stored
from tests.program import PATIENCE, Started, run

KILLS: Final = {1: 3, 2: 1}


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("ground"), loaded=True)


@pytest.fixture(scope="module")
def undisturbed(ground: Ground) -> Result:
    """The league as it comes out when nothing happens to it."""
    path = ground.folder / "undisturbed.sqlite"
    ground.play(path)
    return result_of(path)


def until(referee: "subprocess.Popen[str] | Started", look: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not look():
        assert referee.poll() is None, referee.communicate()[1]
        assert time.monotonic() < end
        time.sleep(0.005)


def workers_of(referee: "subprocess.Popen[str] | Started") -> list[int]:
    """The worker processes of a referee that plays by workers."""
    children = [one.pid for one in processes().values() if one.parent == referee.pid and not one.dead]
    found = []
    for pid in children:
        with contextlib.suppress(OSError):
            if b"referee.league.play.worker_process" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


@pytest.mark.parametrize("workers", KILLS)
def test_a_league_that_was_killed_again_and_again_comes_out_as_if_nothing_had_happened(
    tmp_path: Path, workers: int
) -> None:
    leagues, hits = chaos(Ground(tmp_path), KILLS[workers], workers, seed=workers)
    assert leagues >= 1
    assert hits >= KILLS[workers]


@pytest.mark.parametrize(("workers", "in_flight"), [(2, 4), (1, 64), (2, 1)])
def test_results_depend_neither_on_workers_nor_on_how_much_is_played_at_once(
    tmp_path: Path, undisturbed: Result, workers: int, in_flight: int
) -> None:
    other = Ground(tmp_path, in_flight=in_flight, loaded=True)
    other.play(tmp_path / "other.sqlite", workers)
    found = result_of(tmp_path / "other.sqlite")
    assert (found.root, found.games) == (undisturbed.root, undisturbed.games)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(ground: Ground, undisturbed: Result, workers: int) -> None:
    path = ground.folder / f"stopped-{workers}.sqlite"
    referee = ground.start(path, workers)
    until(referee, lambda: bool(stored(path)) if workers == 1 else len(workers_of(referee)) == 2)
    referee.send_signal(signal.SIGINT)
    out, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 130, err
    assert f"Go on with: referee resume {path}" in out
    assert "Traceback" not in err
    assert not ground.left_running()
    assert len(stored(path)) < GAMES
    resumed = run(ground.folder, ["resume", str(path), "--sandbox", "none", "--output", "plain"])
    assert resumed.returncode == 0, resumed.stderr
    assert result_of(path) == undisturbed


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_the_second_signal_ends_all_at_once(tmp_path: Path, workers: int, number: signal.Signals) -> None:
    """With bots that do not leave at farewell; an exception in the event loop would not always be survived."""
    ground = Ground(tmp_path, sets=500, loaded=True)
    for file in (tmp_path / "bots").iterdir():
        file.write_text(
            f"try:\n    {file.read_text().replace(chr(10), chr(10) + '    ')}\nfinally:\n    __import__('time').sleep(3600)\n"
        )
    path = tmp_path / "hurried.sqlite"
    referee = ground.start(path, workers)
    until(referee, lambda: len(ground.left_running()) == 3 * workers and (workers == 2 or bool(stored(path))))
    referee.send_signal(number)
    time.sleep(0.3)
    referee.send_signal(number)
    out, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 130, err
    assert "Traceback" not in err
    assert "Result root" not in out
    assert not ground.left_running()


def test_a_second_referee_on_the_same_store_is_refused(ground: Ground, undisturbed: Result) -> None:
    path = ground.folder / "twice.sqlite"
    first = ground.start(path)
    until(first, lambda: bool(stored(path)))
    first.send_signal(signal.SIGSTOP)  # it must not be done before the second looks
    second = ground.start(path)
    out, err = second.communicate(timeout=PATIENCE)
    first.send_signal(signal.SIGCONT)
    assert second.returncode == 1
    assert f"{path} is in use by another referee; wait for it or stop it" in err
    assert "Traceback" not in err
    assert not out
    assert first.wait(PATIENCE) == 0
    first.communicate()
    assert result_of(path) == undisturbed


def test_a_full_disk_is_a_clear_error_and_the_league_goes_on_when_there_is_room(
    ground: Ground, undisturbed: Result
) -> None:
    path = ground.folder / "full.sqlite"
    referee = ground.start(path)
    until(referee, path.exists)
    until(referee, lambda: len(stored(path)) >= 1)
    room = sum(file.stat().st_size for file in ground.folder.glob("full.sqlite-wal"))
    resource.prlimit(referee.pid, resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    _, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 1, err
    assert "could not be written" in err
    assert "free some disk space and resume" in err
    assert "Traceback" not in err
    assert not ground.left_running()
    before = stored(path)
    assert before
    ground.play(path)
    assert before.items() <= stored(path).items()
    assert result_of(path) == undisturbed


def test_a_worker_that_is_killed_ends_the_run_with_the_remedy_and_leaves_nothing_behind(
    ground: Ground, undisturbed: Result
) -> None:
    path = ground.folder / "worker.sqlite"
    referee = ground.start(path, 2)
    until(referee, lambda: len(ground.left_running()) >= 6)  # the bots of both workers
    os.kill(workers_of(referee)[0], signal.SIGKILL)
    _, err = referee.communicate(timeout=PATIENCE)
    assert referee.returncode == 1, err
    assert "a worker process died; nothing is lost, run it again" in err
    assert not ground.left_running()
    ground.play(path, 2)
    assert result_of(path) == undisturbed


def test_workers_end_with_a_referee_that_is_killed_at_any_moment(ground: Ground) -> None:
    """Also in the moment in which they start: they used to wait for work for ever."""
    path = ground.folder / "orphans.sqlite"
    for wanted in (1, 2):
        referee = ground.start(path, 2)
        seen: set[int] = set()

        def started(
            referee: "subprocess.Popen[str] | Started" = referee, seen: set[int] = seen, wanted: int = wanted
        ) -> bool:
            seen.update(workers_of(referee))
            return len(seen) >= wanted

        kill_when(referee, started)  # returns when nobody holds its output any more
        end = time.monotonic() + PATIENCE
        while any(pid in processes() and not processes()[pid].dead for pid in seen):
            assert time.monotonic() < end
            time.sleep(0.01)


def test_a_league_that_is_being_begun_is_not_there_until_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "leagues" / "kitchen.sqlite"
    with contextlib.suppress(KeyError), draft_of(path) as draft, Store.create(draft, facts("half")):
        assert not path.exists()
        raise KeyError("killed here")
    assert list(path.parent.iterdir()) == []
    with draft_of(path) as draft, Store.create(draft, facts("whole")):
        assert not path.exists()
    assert path.stat().st_mode & 0o777 == 0o600
    assert name_in(path) == "whole"
    with pytest.raises(StoreError, match="exists already; resume it, or start a new season"), draft_of(path) as draft:
        Store.create(draft, facts("second")).close()
    assert name_in(path) == "whole"


def facts(name: str) -> dict[str, object]:
    """All that a store must hold of its league, empty but for the name."""
    needed = "definition folder digest rules master commitment seeded state host sandbox code"
    return dict.fromkeys(needed.split(), "") | {"name": name}


def name_in(path: Path) -> object:
    """The name of the league in a store."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        return json.loads(db.execute("SELECT value FROM league WHERE key = 'name'").fetchone()[0])


def test_what_a_killed_referee_left_of_a_beginning_is_removed_and_what_another_one_makes_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kitchen.sqlite"
    left = tmp_path / ".kitchen.sqlite.abc.draft"
    left.mkdir()
    (left / "kitchen.sqlite").write_bytes(b"half")
    second = contextlib.ExitStack()
    with draft_of(path) as mine:
        assert not left.exists()
        other = second.enter_context(draft_of(path))
        assert mine.parent != other.parent
        assert mine.parent.is_dir()
        Store.create(mine, {"whose": "mine"}).close()
        Store.create(other, {"whose": "another's"}).close()
    with pytest.raises(StoreError, match="exists already"):
        second.close()
    with Store.read(path) as store:
        assert store.league() == {"whose": "mine"}
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.endswith("draft")) == []


def test_where_nothing_can_be_made_the_error_names_the_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with (
        pytest.raises(StoreError, match=r"file/kitchen\.sqlite cannot be made"),
        draft_of(tmp_path / "file" / "kitchen.sqlite"),
    ):
        pass
