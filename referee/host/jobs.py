"""The jobs of a host: what was handed in is unpacked, built and checked, each in a process of its own, at the lowest priority.

A job is leased, and its lease kept while its process lives. Whoever is killed loses nothing: the process of a job ends with
this one, and a job whose lease is over, or whose worker is gone, is done again from its beginning. Only what a job itself finds
out is held against a bot: a process that dies is our fault, and after three attempts the job is given up for the organiser.
"""

import fcntl
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from referee.host.backup import BACKUP_WORK
from referee.host.disk import FOR_JOBS, room_on
from referee.host.home import HostHome
from referee.host.job import (
    CHECK_SECONDS,
    LEASE_SECONDS,
    MOST_BUILT,
    MOST_BUILT_BYTES,
    PAUSE_SECONDS,
    JobExit,
    is_too_large,
    remove,
)
from referee.host.rows import Job, JobState, VersionState
from referee.host.store import HostStore
from referee.league.definition.definition import load_definition
from referee.league.definition.fields import HostSection
from referee.league.definition.problems import ProblemsError
from referee.sandbox.orphans import end_orphans
from referee.sandbox.process_tree import adopt_orphans, proc_file, processes, send

MOST_CHECK_SECONDS: Final = 1800.0
"""What unpacking and checking may take together. A check takes a few seconds of a processor; a slow bot more."""

KEPT_DAYS: Final = 14.0
"""How long after its last job the upload and the folder of a version are kept that was refused, withdrawn or given up, and what its checks have found."""

_TWO_AT_ONCE: Final = 4
_SWEEP_SECONDS: Final = 3600.0
_TICK_SECONDS: Final = 0.2
_LOOK_SECONDS: Final = 0.5
_AFTER_ERROR_SECONDS: Final = 5.0
_UNKNOWN_UPLOAD_SECONDS: Final = 86_400.0

_LATE: Final = "It was not over after"
_FULL: Final = "The disk of the host was nearly full"

_log = logging.getLogger(__name__)


class JobsError(Exception):
    """The jobs of a host cannot be served: the sentence says why, and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions:
    """How jobs are done. Times are in seconds.

    ``check_seconds``: as ``--seconds`` of ``referee check``. ``most``: for one job besides its build. ``at_once``: jobs at the
    same time; 0: one, or two where there are four processors.
    """

    check_seconds: float = CHECK_SECONDS
    lease: float = LEASE_SECONDS
    pause: float = PAUSE_SECONDS
    most: float = MOST_CHECK_SECONDS
    at_once: int = 0


def serve(home: HostHome, stop: threading.Event, options: JobOptions = JobOptions()) -> None:
    """Does the jobs of a host until ``stop`` is set; what is under way then is given back, and done again at the next start.

    One process alone may serve a host's jobs. Raises ``JobsError`` beside another one, ``HostStoreError`` without a store.
    """
    home.make()
    with _alone(home):
        adopt_orphans()
        end_orphans()
        with HostStore.open(home.store) as store:
            store.expire_leases(time.time())
            threads = [
                threading.Thread(target=JobLane(home, store, stop, options).run, name=f"jobs {number + 1}")
                for number in range(options.at_once or _at_once())
            ]
            for thread in threads:
                thread.start()
            while not stop.is_set():
                sweep(home, store, time.time())
                stop.wait(_SWEEP_SECONDS)
            for thread in threads:
                thread.join()


def _at_once() -> int:
    return 2 if len(os.sched_getaffinity(0)) >= _TWO_AT_ONCE else 1


@contextmanager
def _alone(home: HostHome) -> Iterator[None]:
    """Sees that no other process does the jobs of this host. The lock goes with the process, however that ends."""
    path = home.folder / "jobs.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JobsError(f"another process does the jobs of {home.folder} already: stop that host first") from None
        yield
    finally:
        os.close(handle)


class JobLane:
    """Does one job after another. ``program``: the module that does one, in a process of its own."""

    program: ClassVar[str] = "referee.host.job"

    def __init__(self, home: HostHome, store: HostStore, stop: threading.Event, options: JobOptions) -> None:
        self._home, self._store, self._stop, self._options = home, store, stop, options
        self._told_of_room = False

    def run(self) -> None:
        """Does jobs until it is stopped. Whatever goes wrong is logged, and tried again."""
        while not self._stop.is_set():
            try:
                job = self._next()
                if job is None:
                    self._stop.wait(_LOOK_SECONDS)
                else:
                    self._do(job)
            except Exception:  # noqa: BLE001  # a full disk, say: whoever waits must not wait for ever
                _log.exception("the jobs of the host have met an error; they go on")
                self._stop.wait(_AFTER_ERROR_SECONDS)

    def _next(self) -> Job | None:
        """The next job. None where nothing of a stranger can be shut in, or the disk is full: then all wait."""
        if not self._store.setting("sandbox") and self._store.setting("sandbox_line"):
            return None
        if not self._has_room():
            if not self._told_of_room:
                _log.warning("the disk of %s is nearly full: jobs wait until there is room", self._home.folder)
            self._told_of_room = True
            return None
        self._told_of_room = False
        return self._lease()

    def _lease(self) -> Job | None:
        return self._store.lease(time.time(), self._options.lease)

    def _do(self, job: Job) -> None:
        """Has a job done, and looks after its process. When this returns or raises, nothing of it is left."""
        place = self._home.findings(job.id).with_suffix(".tmp").absolute()
        remove(place)  # of an attempt that was killed, and its worker too
        place.mkdir(mode=0o700)
        child = self._start(job, place)
        try:
            why = self._watch(job, child)
        finally:
            child.kill()
            child.wait()
            if child.returncode:
                _end_unmarked(place)
                end_orphans()  # its bots and builds, if it was killed
            remove(place)
        if self._stop.is_set() and child.returncode < 0:
            self._store.give_back(job)
        elif why:
            self._cut_short(job, why)
        elif child.returncode not in (*JobExit,):
            ended = f"signal {-child.returncode}" if child.returncode < 0 else f"exit code {child.returncode}"
            self._store.failed(job, f"its process ended by {ended}", time.time(), self._options.pause)

    def _start(self, job: Job, place: Path) -> "subprocess.Popen[bytes]":
        words = (self._home.definition, self._home.folder, job.id, job.attempt, os.getpid())
        times = (self._options.check_seconds, self._options.lease, self._options.pause)
        return subprocess.Popen(  # noqa: S603  # ourselves
            [sys.executable, "-m", self.program, *map(str, (*words, *times))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(place)},
            start_new_session=True,  # the terminal's Ctrl-C is the main process's business
        )

    def _watch(self, job: Job, child: "subprocess.Popen[bytes]") -> str:
        """Keeps the lease until the process has ended, or it has to be ended: then says why, or nothing where that is told elsewhere."""
        begun = kept = time.monotonic()
        most = self._options.most + self._build_seconds()
        while child.poll() is None and not self._stop.wait(_TICK_SECONDS):
            now = time.monotonic()
            if now - begun > most:
                return f"{_LATE} {most / 60:.0f} minutes"
            if not self._has_room():
                return _FULL
            if now - kept > self._options.lease / 3:
                kept = now
                if not self._store.keep(job, time.time(), self._options.lease):
                    return ""
        return ""

    def _build_seconds(self) -> float:
        try:
            return float(load_definition(self._home.definition).host_section.build_s)
        except (ProblemsError, OSError):
            return float(HostSection().build_s)  # the job itself says what is wrong

    def _has_room(self) -> bool:
        return not room_on(self._home.folder).lacks(FOR_JOBS)

    def _cut_short(self, job: Job, why: str) -> None:
        """A check that takes so long is a slow bot's, and so is what its build has written; anything else is our fault."""
        now, held, folder = time.time(), self._store.job(job.id), self._home.bot(job.version)
        if held.state is not JobState.RUNNING or held.attempt != job.attempt:
            return  # its verdict came first
        if why != _FULL and held.stage.startswith("check"):
            sentence = f"{why}, and a check takes a few seconds of most bots: have it answer faster."
            self._store.finish(job, VersionState.REFUSED, sentence, now, log=held.log)
        elif held.stage == "build" and is_too_large(folder, MOST_BUILT_BYTES):
            sentence = f"Its build has written more than {MOST_BUILT_BYTES >> 30} GiB, or {MOST_BUILT:,} files: have it write less."
            self._store.finish(job, VersionState.REFUSED, sentence, now, log=held.log)
        else:
            self._store.failed(job, why, now, self._options.pause)
        remove(folder)


def _end_unmarked(place: Path) -> None:
    """Ends what a killed process of a job had forked and what was no program of its own yet: it bears no marker, and would start one.

    It has the environment of the job still, and has become our child.
    """
    sign = f"TMPDIR={place}".encode()
    while left := [
        one
        for one in processes().values()
        if one.parent == os.getpid() and sign in proc_file(f"/proc/{one.pid}/environ").split(b"\0")
    ]:
        for one in left:
            if send(one, signal.SIGKILL):
                with suppress(ChildProcessError):
                    os.waitpid(one.pid, 0)


def sweep(home: HostHome, store: HostStore, now: float, days: float = KEPT_DAYS) -> None:
    """Removes what nobody needs any more: folders and uploads of versions that were refused, withdrawn or given up and whose last job
    is so many days ago, what checks had found by then, what was left half made, and uploads that the store does not know. Follows no
    link, and never raises.
    """
    try:
        _sweep(home, store, now, now - days * 86_400)
    except Exception:  # noqa: BLE001  # what is old can wait
        _log.exception("what is old could not be removed; it is tried again later")


def _sweep(home: HostHome, store: HostStore, now: float, before: float) -> None:
    versions, jobs = store.versions(), store.jobs(most=1 << 30)
    busy = {one.version for one in jobs if one.state in (JobState.WAITING, JobState.RUNNING)}
    ended = {one.version: one.ended for one in reversed(jobs) if one.ended is not None}  # the newest last
    over = (
        VersionState.REFUSED,
        VersionState.WITHDRAWN,
        VersionState.WAITING,
    )  # one that waits without a job was given up
    old = {
        one.id
        for one in versions
        if one.state in over and one.id not in busy and max(ended.get(one.id, 0), one.created) < before
    }
    for number in old:
        remove(home.bot(number))
    known, uploads = {one.id for one in versions}, {one.archive for one in versions}
    unknown = now - _UNKNOWN_UPLOAD_SECONDS
    for path in _entries(home.bot(0).parent):
        name = _number_in(path.name)
        is_left = path.name != name  # of an unpacking or a removal that was killed
        if name.isdigit() and (is_left or int(name) not in known) and _is_older(path, unknown):
            remove(path)
    needed = {one.archive for one in versions if one.id not in old}
    for path in _entries(home.archive("").parent):
        if path.stem not in needed and _is_older(path, before if path.stem in uploads else unknown):
            remove(path)
    gone = {one.id for one in jobs if one.ended is not None and one.ended < before}
    for path in _entries(home.findings(0).parent):
        name = _number_in(path.stem)
        if name.isdigit() and int(name) in gone:
            remove(path)
    for path in _entries(home.folder):
        if path.name.startswith(BACKUP_WORK) and _is_older(path, unknown):
            remove(path)


def _number_in(name: str) -> str:
    """The name of a folder without what unpacking (``.7.part``) and removing (``7x``) call it meanwhile."""
    return name.removeprefix(".").rstrip("x").removesuffix(".part")


def _entries(folder: Path) -> list[Path]:
    with suppress(OSError):
        return list(folder.iterdir())
    return []


def _is_older(path: Path, than: float) -> bool:
    with suppress(OSError):
        return path.lstat().st_mtime < than
    return False
