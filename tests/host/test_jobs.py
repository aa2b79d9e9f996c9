"""The jobs of a host: whoever is killed, at whatever moment, the verdict on a bot is the same in the end."""

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest

from referee.host import jobs
from referee.host.disk import FOR_JOBS, FOR_ROUNDS, DiskRoom, room_on
from referee.host.job import JobExit, is_too_large
from referee.host.jobs import JobLane, JobOptions, JobsError, serve, sweep
from referee.host.rows import Job, JobState, VersionState
from referee.host.schema import SCHEMA
from referee.host.store import MOST_ATTEMPTS, HostStore
from referee.sandbox.process_tree import processes
from tests.host.gates import BUILDS, GOOD, RENEGES, WAITING_BOT, WAITING_BUILD, Host, open_host

QUICK: Final = JobOptions(check_seconds=0, pause=0, lease=600)
DAY: Final = 86_400.0


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = open_host(tmp_path)
    with made.store:
        yield made


@contextmanager
def serving(host: Host, options: JobOptions = QUICK) -> Iterator[threading.Event]:
    """The jobs of a host, done in a thread."""
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(host.home, stop, options))
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join()


def until(found: Callable[[], bool]) -> None:
    """Waits for what another process does."""
    while not found():
        time.sleep(0.02)


def ended(host: Host, job: Job) -> Job:
    until(lambda: host.store.job(job.id).state in (JobState.DONE, JobState.FAILED))
    return host.store.job(job.id)


def of_jobs(host: Host) -> list[int]:
    """The processes of the jobs of this host."""
    found = []
    for pid in processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"referee.host.job" in words and os.fsencode(host.home.folder) in words:
            found.append(pid)
    return found


def kill_at(host: Host, job: Job, stage: str, attempt: int) -> None:
    """Kills the process of a job when it has come to a stage, where it waits."""
    wait_for(host, job, stage, attempt)
    for pid in of_jobs(host):
        os.kill(pid, signal.SIGKILL)


def wait_for(host: Host, job: Job, stage: str, attempt: int) -> None:
    def there() -> bool:
        now = host.store.job(job.id)
        assert now.state is not JobState.DONE, now.sentence
        return now.attempt == attempt and now.stage == stage

    until(there)


def allow(host: Host, job: Job, attempt: int, *stages: str) -> None:
    """Lets a bot that waits in its build, or when it joins, go on."""
    wait_for(host, job, "build", attempt)
    for stage in stages:
        (host.home.bot(job.version) / stage).touch()


def test_a_job_whose_process_is_killed_in_its_build_and_in_its_check_ends_as_if_nothing_had_been(host: Host) -> None:
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": WAITING_BOT, "make.sh": WAITING_BUILD})
    refused = host.hand_in({"bot.py": RENEGES}, "other")
    with serving(host):
        kill_at(host, handed, "build", 1)
        allow(host, handed, 2, "built")
        kill_at(host, handed, "check", 2)
        allow(host, handed, 3, "checked", "built")
        assert ended(host, handed).sentence == "It keeps the rules, and plays from the next round on."
        assert ended(host, refused).sentence == "It breaks 2 rules: AF-PLAY-002, AF-PLAY-003."
    assert host.store.job(handed.id).attempt == 3
    assert host.store.job(refused.id).attempt == 1
    assert [one.version for one in host.store.entered()] == [handed.version]
    assert [row.about for row in host.store.audit() if row.what == "could not do"] == [
        f"job {handed.id}, attempt {number}: its process ended by signal 9" for number in (2, 1)
    ]
    assert [path.name for path in host.home.findings(0).parent.iterdir() if path.suffix] == []


SERVE: Final = """
import sys, threading
from pathlib import Path
from referee.host.home import HostHome
from referee.host.jobs import JobOptions, serve
serve(HostHome.beside(Path(sys.argv[1])), threading.Event(), JobOptions(check_seconds=0, pause=0))
"""


def test_when_the_worker_itself_is_killed_its_job_ends_with_it_and_is_done_again_at_the_next_start(host: Host) -> None:
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": WAITING_BOT, "make.sh": WAITING_BUILD})
    with subprocess.Popen([sys.executable, "-c", SERVE, str(host.home.definition)]) as worker:
        try:
            allow(host, handed, 1, "built")
            wait_for(host, handed, "check", 1)
        finally:
            worker.kill()
    until(lambda: not of_jobs(host))
    assert host.store.job(handed.id).state is JobState.RUNNING
    with serving(host):
        allow(host, handed, 2, "checked", "built")
        assert ended(host, handed).sentence == "It keeps the rules, and plays from the next round on."
    assert host.store.job(handed.id).attempt == 2


def test_a_job_that_dies_again_and_again_is_given_up_and_says_nothing_of_the_bot(host: Host) -> None:
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "sleep 600\n"})
    with serving(host):
        for attempt in range(1, MOST_ATTEMPTS + 1):
            kill_at(host, handed, "build", attempt)
        job = ended(host, handed)
    assert job.state is JobState.FAILED
    assert "says nothing of the bot" in job.sentence
    assert host.store.version(job.version).state is VersionState.WAITING
    assert host.store.again(host.owner, job.id, 1).id != job.id


def test_a_stop_gives_the_job_back_at_once_and_however_often_that_does_not_count(host: Host) -> None:
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "sleep 600\n"})
    for attempt in range(1, MOST_ATTEMPTS + 2):
        with serving(host):
            until(lambda number=attempt: host.store.job(handed.id).attempt == number)
            until(lambda: host.store.job(handed.id).stage == "build")
        job = host.store.job(handed.id)
        assert (job.state, job.stage) == (JobState.WAITING, "waiting")
        assert not of_jobs(host)
    assert host.lease().attempt == MOST_ATTEMPTS + 2


def test_a_stop_in_the_moment_of_a_fork_leaves_nothing(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JobLane, "program", "tests.host.forking_job")
    handed, told = host.hand_in({"bot.py": GOOD}), host.home.folder / "forked"
    with serving(host):
        until(told.exists)
    forked = int(told.read_text())
    assert forked not in processes()
    assert host.store.job(handed.id).state is JobState.WAITING


def test_two_jobs_are_done_at_once_where_there_are_processors_for_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    for processors, at_once in ((1, 1), (3, 1), (4, 2), (64, 2)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, count=processors: set(range(count)))
        assert jobs._at_once() == at_once
    monkeypatch.undo()
    two = [host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "sleep 600\n"}, bot) for bot in ("a", "b")]
    with serving(host, JobOptions(check_seconds=0, at_once=2)):
        until(lambda: [host.store.job(one.id).stage for one in two] == ["build", "build"])
    assert [host.store.job(one.id).state for one in two] == [JobState.WAITING] * 2


def test_the_lease_is_kept_while_the_process_of_a_job_lives(host: Host) -> None:
    def left() -> float:
        with sqlite3.connect(host.home.store) as db:
            found = db.execute("SELECT lease FROM job").fetchone()[0]
        db.close()
        return float(found or 0)

    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "sleep 600\n"})
    with serving(host, JobOptions(check_seconds=0, lease=1.5)):
        until(lambda: host.store.job(handed.id).stage == "build")
        begun = time.time()
        until(lambda: time.time() > begun + 1.5 and left() > time.time())
        assert host.store.job(handed.id).attempt == 1


def test_a_job_that_takes_too_long_is_a_slow_bots_in_the_check_and_ours_elsewhere(host: Host) -> None:
    lane = JobLane(host.home, host.store, threading.Event(), QUICK)
    handed = host.hand_in({"bot.py": GOOD})
    for stage, state in (("build", JobState.RUNNING), ("check", JobState.DONE)):
        job = host.lease() if stage == "build" else host.store.lease(time.time() + 1, 600)
        assert job is not None
        assert host.store.go_on(job, stage, "", time.time(), 600)
        lane._cut_short(job, "It was not over after 40 minutes")
        assert host.store.job(handed.id).state is state
    assert host.store.job(handed.id).sentence.startswith("It was not over after 40 minutes, and a check takes a few")
    assert host.store.version(handed.version).state is VersionState.REFUSED


def test_a_job_has_its_time_and_is_then_ended_with_all_that_it_started(host: Host) -> None:
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": "sleep 600\n"})
    with serving(host, JobOptions(check_seconds=0, pause=0, most=-119)):  # with the 120 s of its build
        job = ended(host, handed)
        assert not of_jobs(host)
    assert job.state is JobState.FAILED
    told = [row.about for row in host.store.audit() if row.what == "could not do"]
    assert told[0] == f"job {job.id}, attempt 3: It was not over after 0 minutes"


def test_a_build_that_fills_the_disk_is_ended_and_refused_and_else_jobs_wait_for_room(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    free = [FOR_JOBS.size]

    def disk(_: object) -> SimpleNamespace:
        return SimpleNamespace(f_files=0, f_favail=0, f_bavail=free[0], f_frsize=1)

    monkeypatch.setattr(os, "statvfs", disk)
    monkeypatch.setattr(jobs, "MOST_BUILT_BYTES", 1 << 20)
    fills = "dd if=/dev/zero of=full bs=1M count=2 2>/dev/null; sleep 600\n"
    handed = host.hand_in({"bot.toml": BUILDS, "bot.py": GOOD, "make.sh": fills})
    with serving(host):
        wait_for(host, handed, "build", 1)
        until(lambda: is_too_large(host.home.bot(handed.version), 1 << 20))
        free[0] -= 1
        assert ended(host, handed).sentence.startswith("Its build has written more than ")
        assert host.store.version(handed.version).state is VersionState.REFUSED
        until(lambda: not host.home.bot(handed.version).exists())
        other = host.hand_in({"bot.py": GOOD}, "other")
        until(lambda: "jobs wait until there is room" in caplog.text)
    assert host.store.job(other.id).attempt == 0


def test_a_disk_that_has_room_for_bytes_but_not_for_files_is_full(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    lane = JobLane(host.home, host.store, threading.Event(), QUICK)
    for total, left, room in ((0, 0, True), (1_000_000, 19_999, False), (1_000_000, 20_000, True)):
        disk = SimpleNamespace(f_files=total, f_favail=left, f_bavail=FOR_JOBS.size, f_frsize=1)
        monkeypatch.setattr(os, "statvfs", lambda _, disk=disk: disk)
        assert lane._has_room() is room


def test_while_a_disk_fills_jobs_stop_before_rounds_do(tmp_path: Path) -> None:
    assert not FOR_JOBS.lacks(FOR_JOBS)
    assert not FOR_JOBS.lacks(FOR_ROUNDS)
    assert FOR_ROUNDS.lacks(FOR_JOBS) == "200 MiB left"
    assert DiskRoom(FOR_JOBS.size, 2_000).lacks(FOR_JOBS) == "room for 2,000 files left"
    assert not DiskRoom(FOR_JOBS.size).lacks(FOR_JOBS)  # nobody counts its files
    assert room_on(tmp_path).size > 0
    with pytest.raises(OSError, match="nowhere"):
        room_on(tmp_path / "nowhere")


def test_without_a_sandbox_all_jobs_wait(host: Host) -> None:
    host.store.tell("sandbox", "")
    host.store.tell("sandbox_line", "bwrap not found (apt install bubblewrap)")
    host.hand_in({"bot.py": GOOD})
    lane = JobLane(host.home, host.store, threading.Event(), QUICK)
    assert lane._next() is None
    host.store.tell("sandbox", "bubblewrap")
    assert lane._next() is not None


def test_one_process_alone_does_the_jobs_of_a_host(host: Host) -> None:
    stop = threading.Event()
    stop.set()
    with (host.home.folder / "jobs.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(JobsError, match="stop that host first"):
            serve(host.home, stop, QUICK)
    serve(host.home, stop, QUICK)


def test_an_error_of_ours_ends_neither_the_lane_nor_the_job(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    stop = threading.Event()

    class Broken(JobLane):
        def _next(self) -> Job | None:
            stop.set()
            raise sqlite3.OperationalError("disk I/O error")

    Broken(host.home, host.store, stop, QUICK).run()
    assert "disk I/O error" in caplog.text


def old_version(host: Host, bot: str, state: VersionState, now: float) -> int:
    job = host.hand_in({"bot.py": f"{GOOD}# {bot}"}, bot, now)
    leased = host.store.lease(now, 1)
    assert leased is not None
    host.home.bot(job.version).mkdir()
    (host.home.bot(job.version) / "bot.py").touch()
    host.home.findings(job.id).mkdir()
    host.store.finish(leased, state, "so it is", now)
    os.utime(host.home.archive(host.store.version(job.version).archive), (now, now))
    return job.version


def left_of(host: Host, version: int) -> tuple[bool, bool]:
    one = host.store.version(version)
    return host.home.bot(version).exists(), host.home.archive(one.archive).exists()


def test_what_was_refused_is_removed_after_a_while_and_nothing_else(host: Host, tmp_path: Path) -> None:
    now = 1_800_000_000.0
    gone = [
        old_version(host, "a", VersionState.REFUSED, now - 15 * DAY),
        old_version(host, "b", VersionState.REFUSED, now - 20 * DAY),
    ]
    kept = [
        old_version(host, "c", VersionState.ACCEPTED, now - 50 * DAY),
        old_version(host, "d", VersionState.APPROVAL, now - 50 * DAY),
        old_version(host, "e", VersionState.REFUSED, now - 13 * DAY),
    ]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    (host.home.bot(gone[0]) / "link").symlink_to(outside)
    (host.home.archive("f" * 64)).symlink_to(outside / "file")
    os.utime(host.home.archive("f" * 64), (now - 2 * DAY,) * 2, follow_symlinks=False)
    half = host.home.archive("").parent / "half.tmp"
    half.touch()
    os.utime(half, (now, now))
    host.home.bot(900).mkdir()
    os.utime(host.home.bot(900), (now - 2 * DAY,) * 2)
    sweep(host.home, host.store, now)
    assert [left_of(host, version) for version in gone] == [(False, False)] * 2
    assert [left_of(host, version) for version in kept] == [(True, True)] * 3
    assert (outside / "file").exists()
    assert not host.home.archive("f" * 64).is_symlink()
    assert half.exists()
    assert not host.home.bot(900).exists()
    assert {int(path.name) for path in host.home.findings(0).parent.iterdir()} == {5}


def test_what_was_given_up_or_left_half_made_goes_and_what_is_done_again_stays(host: Host) -> None:
    now = 1_800_000_000.0
    withdrawn, again = (old_version(host, bot, VersionState.REFUSED, now - 20 * DAY) for bot in "ab")
    job = host.hand_in({"bot.py": f"{GOOD}# c"}, "c", now - 20 * DAY)
    for minute in range(3):
        leased = host.store.lease(now - 20 * DAY + 60 * minute, 1)
        assert leased is not None
        host.store.failed(leased, "no room", leased.started or 0, 1)
    host.home.bot(job.version).mkdir()
    owner = next(one for one in host.store.owners() if one.name == host.store.version(again).owner)
    host.store.again(owner, next(one.id for one in host.store.jobs() if one.version == again), now)
    halves = [host.home.bot(again).with_name(name) for name in (f"{again}x", f".{again}.part", f"{again}xx")]
    halves += [host.home.findings(1).with_name("1x"), host.home.folder / ".backup-abc"]
    for path in halves:
        path.mkdir()
        os.utime(path, (now - 2 * DAY,) * 2)
    sweep(host.home, host.store, now)
    assert not [path.name for path in halves if path.exists()]
    assert not host.home.bot(job.version).exists()
    assert left_of(host, withdrawn) == (False, False)
    assert left_of(host, again) == (True, True)


def test_a_job_whose_verdict_came_first_is_not_cut_short(host: Host) -> None:
    job = host.hand_in({"bot.py": GOOD}, "a", 1.0)
    leased = host.store.lease(2.0, 60)
    assert leased is not None
    host.home.bot(job.version).mkdir()
    host.store.finish(leased, VersionState.ACCEPTED, "It keeps the rules.", 3.0)
    JobLane(host.home, host.store, threading.Event(), QUICK)._cut_short(leased, "It was not over after 30 minutes")
    assert host.home.bot(job.version).exists()
    assert host.store.version(job.version).state is VersionState.ACCEPTED


def test_a_sweep_never_raises(host: Host, caplog: pytest.LogCaptureFixture) -> None:
    closed = HostStore.open(host.home.store)
    closed.close()
    sweep(host.home, closed, 0)
    assert "tried again later" in caplog.text


def test_a_store_of_the_first_version_is_brought_forward(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "host.sqlite")
    db.executescript(SCHEMA)
    db.executescript(
        "PRAGMA user_version = 1; INSERT INTO owner VALUES (1, 'ann', 'ann', 0, 0, NULL);"
        "INSERT INTO bot VALUES (1, 1, 'mine', 'mine', 0, NULL);"
        "INSERT INTO version VALUES (1, 1, '', 'a', '', 0, 'waiting', '');"
        "INSERT INTO job VALUES (1, 1, 'running', 'check', 3, 5.0, 0, 0, NULL, '', '[]', '');"
    )
    db.close()
    with HostStore.open(tmp_path / "host.sqlite") as store:
        assert store.lease(6, 1) is None
        assert store.job(1).state is JobState.FAILED


HANDS_IN: Final = """
import sys
from pathlib import Path
from referee.host.store import HostStore
with HostStore.open(Path(sys.argv[1])) as store:
    store.note("other", "wrote", "this", 1)
"""


def test_a_store_that_is_open_twice_in_a_process_hears_of_what_others_write(host: Host) -> None:
    """The locks of a file belong to the process: to open and close it once more gives those of all connections away."""
    with HostStore.open(host.home.store) as second:
        for one in (host.store, second):
            subprocess.run([sys.executable, "-c", HANDS_IN, str(host.home.store)], check=True)
            one.note("we", "wrote", "that", 1)
    with HostStore.read(host.home.store) as fresh:
        assert [row.who for row in fresh.audit()][:4] == ["we", "other", "we", "other"]


def test_exit_codes_of_a_job_are_none_that_python_uses_itself() -> None:
    assert not {1, 2} & set(JobExit)
