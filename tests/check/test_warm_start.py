"""A bot that the tests fork is like one that was launched: it could not tell, and whoever looks at it sees little else."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from referee.sandbox import launch as launching
from referee.sandbox.launch import BotProcess, Command, ExitStatus, ResourceLimits, launch
from referee.sandbox.process_tree import brand_of
from tests import warm_start
from tests.net.bot_processes import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="bots are forked on Linux only")

TELLS = """
import gc, json, os, signal, sys, threading
names = sorted(name for name in os.environ if name not in ("HOME", "TMPDIR", "REFEREE_BOT_ID"))
mask = os.umask(0)
limits = [line for line in open("/proc/self/limits") if not line.startswith("Max file locks")]
print(json.dumps({
    "arguments": sys.argv, "path": sys.path, "flags": list(sys.flags), "name": __name__, "file": __file__,
    "main": sys.modules["__main__"].__dict__ is globals(), "environment": {name: os.environ[name] for name in names},
    "folder": os.getcwd(), "mask": mask, "limits": limits, "parent": os.getppid(), "leads": os.getsid(0) == os.getpid(),
    "handles": {handle: os.readlink(f"/proc/self/fd/{handle}").split(":")[0] for handle in os.listdir("/proc/self/fd")
                if os.path.exists(f"/proc/self/fd/{handle}")},
    "out": [sys.stdout.encoding, sys.stdout.errors, sys.stdout.write_through, sys.stderr.encoding, sys.stderr.errors],
    "signals": {number: str(signal.getsignal(number)) for number in range(1, 32)}, "threads": threading.active_count(),
}))
"""


def started(folder: Path, text: str, *, warm: bool, monkeypatch: pytest.MonkeyPatch, **more: Any) -> BotProcess:
    """A bot of a few lines, forked or launched. Its log is in the folder."""
    monkeypatch.setattr(launching, "_spawn", warm_start.spawn if warm else warm_start.launched)
    (folder / "bot.py").write_text(text, "utf-8")
    (folder / "work").mkdir(exist_ok=True)
    (folder / "bot.log").unlink(missing_ok=True)
    command = Command(argv=(sys.executable, "bot.py", "one", "two"), folder=folder, name="bot", environment={"X": "y"})
    return launch(
        command, address="tcp:127.0.0.1:9", token="t", work_dir=folder / "work", log_path=folder / "bot.log",
        limits=ResourceLimits(descriptors=200, memory_mib=300), sandbox="none", **more,
    )  # fmt: skip


def end_of(folder: Path, text: str, *, warm: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[ExitStatus, str]:
    """How such a bot ended by itself, and what it wrote."""

    async def story() -> ExitStatus:
        return await started(folder, text, warm=warm, monkeypatch=monkeypatch).exited()

    return asyncio.run(story()), (folder / "bot.log").read_text("utf-8")


def test_it_is_in_a_session_of_its_own_as_soon_as_it_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends a bot ends all of its session: were it still in that of the process it is forked from, no bot could start any more."""

    async def story() -> None:
        for _ in range(50):
            bot = started(tmp_path, "import time; time.sleep(900)", warm=True, monkeypatch=monkeypatch)
            assert os.getsid(bot.pid) == bot.pid
            await bot.kill()

    asyncio.run(story())


def test_it_finds_all_as_if_it_had_been_launched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, warm), (_, cold) = (end_of(tmp_path, TELLS, warm=warm, monkeypatch=monkeypatch) for warm in (True, False))
    told = json.loads(warm.splitlines()[-1])
    assert told == json.loads(cold.splitlines()[-1])
    assert told["parent"] == os.getpid()
    assert told["arguments"] == ["bot.py", "one", "two"]
    assert told["environment"]["X"] == "y"


@pytest.mark.parametrize(
    ("text", "code", "number"),
    [
        ("pass", 0, None),
        ("import sys; sys.exit(7)", 7, None),
        ("raise ValueError('a bug')", 1, None),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", None, 15),
        ("import atexit; atexit.register(print, 'written down at the end')", 0, None),
        (
            "import threading, time; threading.Thread(target=lambda: (time.sleep(0.1), print('after all'))).start()",
            0,
            None,
        ),
    ],
)
def test_it_ends_as_if_it_had_been_launched(
    text: str, code: int | None, number: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [end_of(tmp_path, text, warm=warm, monkeypatch=monkeypatch) for warm in (True, False)]
    for end, _ in ends:
        assert (end.code if number is None else None, end.signal) == (code, number)
    assert ends[0][1].splitlines()[-1:] == ends[1][1].splitlines()[-1:]


def test_it_can_be_killed_with_all_that_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import os, time\nif os.fork() == 0: os.setsid()\nprint('up', flush=True)\ntime.sleep(3600)"

    async def story() -> None:
        bot = started(tmp_path, text, warm=True, monkeypatch=monkeypatch)
        await until(lambda: bot.tail().count("up") == 2)
        members = bot._tree.look()
        assert len(members) == 2
        assert len({brand_of(one.pid) for one in members}) == 1
        end = await bot.kill()
        assert not end.survivors
        assert not [one for one in bot._tree.look() if not one.dead]

    asyncio.run(story())


def test_only_python_without_a_sandbox_is_forked(tmp_path: Path) -> None:
    class Start:
        argv: tuple[str, ...] = ("/bin/sh", "-c", 'ulimit -c 0; exec "$@"', "referee", sys.executable, "bot.py")
        environment: dict[str, str] = {}  # noqa: RUF012
        folder = tmp_path

    assert warm_start.job_of(Start()) is None  # there is no such file
    (tmp_path / "bot.py").touch()
    assert warm_start.job_of(Start()) is not None
    for argv in (("/bin/sh", "-c", "", "referee", "/bin/cat", "bot.py"), ("bwrap", *Start.argv[1:]), Start.argv[:5]):
        other = Start()
        other.argv = argv
        assert warm_start.job_of(other) is None
