"""The supervisor of a host, over parts that are little programs: who dies starts again, and in the end nobody is left."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.host import supervisor as module
from referee.host.home import HostHome
from referee.host.part import ALL_DONE
from referee.host.supervisor import DRAIN_SECONDS, HEALTHY_SECONDS, HostSupervisor
from referee.sandbox.process_tree import process

PATIENT: str = """
import os, signal, sys
def end(*_):
    print("NOTICE told to end", flush=True)
    os._exit(0)
signal.signal(signal.SIGTERM, end)
print("INFO here", os.getpid(), flush=True)
while True:
    signal.pause()
"""

STUBBORN: str = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("INFO here", os.getpid(), flush=True)
while True:
    signal.pause()
"""


class Watched:
    """A supervisor of such programs, with a clock that the test sets; ``act`` is done at each of its looks."""

    def __init__(self, folder: Path, **programs: str) -> None:
        self.home = HostHome.beside(folder / "ladder.toml")
        self.home.make()
        self.lines: list[str] = []
        self.time = 0.0
        self.act: Iterator[object] = iter(())
        commands = {name: [sys.executable, "-I", "-S", "-c", program] for name, program in programs.items()}
        self.supervisor = HostSupervisor(
            self.home, commands, self.lines.append, look=self.look, clock=lambda: self.time
        )

    def look(self) -> None:
        next(self.act, None)

    def run(self, act: Iterator[object]) -> None:
        """Runs it; what the generator does between two ``yield``s is done at one look, and when it ends all are stopped."""

        def all_of() -> Iterator[object]:
            yield from act
            self.supervisor.stop()

        self.act = all_of()
        self.supervisor.run()

    def log(self, part: str) -> str:
        """What a part has said so far."""
        return self.home.log(part).read_text("utf-8")

    def pids(self, part: str) -> list[int]:
        """The processes that a part has been so far, as they have told."""
        return [int(line.split()[-1]) for line in self.log(part).splitlines() if " here " in line]

    def until(self, condition: Callable[[], object]) -> Iterator[object]:
        """Looks again and again; pytest ends a hang."""
        while not condition():
            yield


def is_over(pid: int) -> bool:
    one = process(pid)
    return one is None or one.dead


def test_who_dies_starts_again_after_pauses_that_grow_and_are_short_again_after_a_minute_of_health(
    tmp_path: Path,
) -> None:
    watched = Watched(tmp_path, web=PATIENT)

    def act() -> Iterator[object]:
        for number in range(9):
            yield from watched.until(lambda number=number: len(watched.pids("web")) == number + 1)
            if number == 7:
                watched.time += HEALTHY_SECONDS
            os.kill(watched.pids("web")[-1], signal.SIGKILL)
            yield from watched.until(lambda number=number: len(watched.lines) == number + 1)
            for _ in range(3):  # not before its time
                yield
            assert len(watched.pids("web")) == number + 1
            watched.time += float(watched.lines[-1].partition("again in ")[2].partition(" s")[0])

    watched.run(act())
    told = [line for line in watched.lines if "by itself" in line]
    assert [line.partition("again in ")[2].partition(" s")[0] for line in told] == [
        "1",
        "2",
        "4",
        "8",
        "16",
        "32",
        "60",
        "1",
        "2",
    ]
    assert all("killed by SIGKILL" in line and line.endswith(str(watched.home.log("web"))) for line in told)
    assert "ERROR web has ended by itself (killed by SIGKILL)" in watched.log("web")
    assert all(map(is_over, watched.pids("web")))


def test_all_are_asked_to_end_and_what_they_say_is_kept_and_the_important_lines_shown(tmp_path: Path) -> None:
    watched = Watched(tmp_path, web=PATIENT, jobs=PATIENT)
    watched.run(watched.until(lambda: watched.pids("web") and watched.pids("jobs")))
    assert watched.lines[0].startswith("Stopping: what is under way goes on with the next start.")
    assert sorted(watched.lines[1:]) == ["jobs: told to end", "web: told to end"]
    assert watched.log("web").count("NOTICE told to end") == 1
    assert all(map(is_over, watched.pids("web") + watched.pids("jobs")))


def test_the_second_stop_kills_whoever_does_not_end(tmp_path: Path) -> None:
    watched = Watched(tmp_path, web=STUBBORN)
    sleep = module.time.sleep

    def act() -> Iterator[object]:
        yield from watched.until(lambda: watched.pids("web"))
        patched.setattr(module.time, "sleep", impatient)

    def impatient(seconds: float) -> None:
        watched.supervisor.stop()
        sleep(seconds)

    with pytest.MonkeyPatch.context() as patched:
        watched.run(act())
    assert watched.time == 0.0
    assert all(map(is_over, watched.pids("web")))


def test_who_takes_too_long_to_end_is_killed_and_that_is_told(tmp_path: Path) -> None:
    watched = Watched(tmp_path, web=STUBBORN, jobs=PATIENT)
    sleep = module.time.sleep

    def act() -> Iterator[object]:
        yield from watched.until(lambda: watched.pids("web") and watched.pids("jobs"))
        patched.setattr(module.time, "sleep", passing)

    def passing(seconds: float) -> None:
        if "jobs: told to end" in watched.lines:
            watched.time += DRAIN_SECONDS
        sleep(seconds)

    with pytest.MonkeyPatch.context() as patched:
        watched.run(act())
    assert watched.lines[-1] == "web did not end in 60 s and is killed"
    assert all(map(is_over, watched.pids("web")))


def test_what_a_part_has_started_ends_with_it(tmp_path: Path) -> None:
    child = """
import os, signal
told, tell = os.pipe()
if os.fork():
    os.read(told, 1)
    os._exit(1)
print("INFO here", os.getpid(), flush=True)
os.write(tell, b"x")
signal.pause()
"""
    watched = Watched(tmp_path, jobs=child, web=PATIENT)
    watched.run(watched.until(lambda: watched.lines and "jobs has ended by itself (exit code 1)" in watched.lines[0]))
    assert watched.pids("jobs")
    assert all(map(is_over, watched.pids("jobs")))


def test_when_the_engine_has_played_all_that_was_asked_for_all_end(tmp_path: Path) -> None:
    watched = Watched(tmp_path, web=PATIENT, engine=f"raise SystemExit({ALL_DONE})")
    watched.supervisor.run()
    assert not [line for line in watched.lines if "by itself" in line]
    assert all(map(is_over, watched.pids("web")))


def test_a_part_sees_its_standard_input_end_when_nobody_supervises_it_any_more(tmp_path: Path) -> None:
    """Each part holds the end of a pipe of its own, whose other end no other process has."""
    reads = "import os\nprint('INFO here', os.getpid(), flush=True)\nos.read(0, 1)\nprint('INFO alone', flush=True)"
    watched = Watched(tmp_path, web=reads, jobs=reads)
    lines: list[str] = []

    def act() -> Iterator[object]:
        yield from watched.until(lambda: watched.pids("web") and watched.pids("jobs"))
        pipe = watched.supervisor._parts[0]._process
        assert pipe is not None
        assert pipe.stdin is not None
        pipe.stdin.close()
        yield from watched.until(lambda: "INFO alone" in watched.log("web"))
        lines.append(watched.log("jobs"))

    watched.run(act())
    assert "INFO alone" not in lines[0]


def test_logs_are_bounded_and_so_are_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LOG_BYTES", 20_000)
    program = "import os, signal\nfor n in range(20):\n    print('WARNING', n, 'x' * 9000)\nprint('INFO here', os.getpid(), flush=True)\nsignal.pause()"
    watched = Watched(tmp_path, web=program)
    watched.run(watched.until(lambda: watched.pids("web")))
    files = sorted((watched.home.folder / "logs").iterdir())
    assert [path.name for path in files] == ["web.log", *(f"web.log.{number}" for number in range(1, 6))]
    assert all(path.stat().st_size <= 20_000 for path in files)
    assert max(map(len, watched.lines)) < 700
    assert sum(line.startswith("web: ") for line in watched.lines) == 20


def test_a_host_goes_on_when_nobody_reads_what_it_says_and_when_a_part_cannot_start(tmp_path: Path) -> None:
    watched = Watched(tmp_path)
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        raise BrokenPipeError

    commands = {"web": [sys.executable, "-I", "-S", "-c", f"print('WARNING unheard')\n{PATIENT}"], "jobs": ["/nowhere"]}
    watched.supervisor = HostSupervisor(watched.home, commands, tell, look=watched.look, clock=lambda: watched.time)
    watched.run(watched.until(lambda: watched.pids("web") and len(lines) >= 2))
    assert "NOTICE told to end" in watched.log("web")
    assert "ERROR jobs cannot start (/nowhere: " in watched.log("jobs")
    assert "web: told to end" in lines
