"""A place where tests start small bad bots, and check afterwards that nothing of them is left."""

import asyncio
import contextlib
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Final

from referee.sandbox.isolation import Policy
from referee.sandbox.launch import BotProcess, Command, ExitStatus, ResourceLimits, launch
from referee.sandbox.process_tree import marker_of, owner, process, processes
from tests.program import PATIENCE

HOLD: Final = "import time\nprint('ready', flush=True)\nwhile True: time.sleep(60)\n"
"""A bot that says `ready` and stays."""


LEAVES_A_CHILD: Final = """\
import os, sys, time
out, into = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.set_inheritable(into, True)
        say = f"import os, time; os.write({into}, b'up'); time.sleep(3600)"
        os.execve(sys.executable, [sys.executable, "-c", say, sys.argv[1]], ENVIRONMENT)
    os._exit(0)
assert os.read(out, 2) == b"up"
print("the child is up", flush=True)
"""
"""A bot whose grandchild has a session of its own; between them a dead process that nobody reaped."""

REFEREE: Final = """
import asyncio, os, signal, sys
from pathlib import Path
from referee.sandbox.launch import Command, launch

async def main(folder, word, address, sandbox, last):
    command = Command(argv=("python", "bot.py", word), folder=Path(folder), name="bad")
    bot = launch(command, address=address, token="t", work_dir=Path(folder, "..", "work"),
                 log_path=Path(folder, "..", "bot.log"), sandbox=sandbox)
    while "ready" not in bot.tail():
        await asyncio.sleep(0.005)
    exec(last)

asyncio.run(main(*sys.argv[1:]))
"""
"""A referee in a process of its own: it starts a bot and then does what it was told."""


async def until(look: Callable[[], bool]) -> None:
    """Waits until `look` finds that it is so."""
    async with asyncio.timeout(PATIENCE):
        while not look():  # noqa: ASYNC110 - what is looked for would tell nobody
            await asyncio.sleep(0.005)


class BotProcesses:
    """Folders, a socket that listens, and the bots that were started here."""

    def __init__(self, folder: Path) -> None:
        self.word = f"bot-of-test-{secrets.token_hex(8)}"
        self.bot_folder = folder / "bot"
        self.bot_folder.mkdir()
        self.work = folder / "work"
        self.logs = folder / "logs"
        (folder / "socket").mkdir(mode=0o700)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(folder / "socket" / "referee"))
        self.server.listen()
        self.address = f"unix:{folder}/socket/referee"
        self.bots: list[BotProcess] = []

    def command(self, program: str, *, environment: Mapping[str, str] | None = None) -> Command:
        """A Python program as a bot. Every process of it carries our word in its command line."""
        (self.bot_folder / "bot.py").write_text(dedent(program))
        return Command(
            argv=("python", "bot.py", self.word), folder=self.bot_folder, name="bad", environment=environment or {}
        )

    def start(self, program: str | Command, sandbox: Policy, limits: ResourceLimits | None = None) -> BotProcess:
        """Starts a bot."""
        command = self.command(program) if isinstance(program, str) else program
        bot = launch(
            command,
            address=self.address,
            token="a token of the test",
            work_dir=self.work,
            log_path=self.logs / "bot.log",
            limits=limits or ResourceLimits(),
            sandbox=sandbox,
        )
        self.bots.append(bot)
        return bot

    async def end_of(
        self, program: str | Command, sandbox: Policy, limits: ResourceLimits | None = None
    ) -> tuple[ExitStatus, str]:
        """Starts a bot that ends by itself or by a limit. Its end, and the end of its output."""
        bot = self.start(program, sandbox, limits)
        end = await asyncio.wait_for(bot.exited(), PATIENCE)
        return end, bot.tail()

    async def ready(self, program: str | Command, sandbox: Policy, limits: ResourceLimits | None = None) -> BotProcess:
        """Starts a bot and waits until it has said `ready`."""
        bot = self.start(program, sandbox, limits)
        ended = asyncio.ensure_future(bot.exited())
        await until(lambda: "ready" in bot.tail() or ended.done())
        assert not ended.done(), bot.tail()
        ended.cancel()
        return bot

    def processes(self) -> list[int]:
        """All living processes of the bots started here, whatever became of their marker or session."""
        return [pid for pid in processes() if self.word.encode() in command_line(pid) and not is_dead(pid)]

    def run(self, story: Callable[[], Awaitable[None]]) -> None:
        """Runs a test in an event loop of its own. Afterwards there is no process, zombie, handle or folder more."""
        handles, before = open_handles(), set(processes())

        async def told() -> None:
            try:
                await story()
            finally:
                for bot in self.bots:
                    await bot.kill()

        asyncio.run(told())
        assert self.processes() == []
        assert [pid for pid in processes() if (marker_of(pid) or "").startswith(owner())] == []
        # What lived before is another test's: a process that it began may end now.
        assert [one for pid, one in processes().items() if pid in dead_children() - before] == []
        # What is fewer is another test's too: nobody held it any more, and it was only now found.
        assert open_handles().items() <= handles.items()
        assert not self.work.exists() or list(self.work.iterdir()) == []


def dead_children() -> set[int]:
    """The zombies among the children of this process."""
    return {one.pid for one in processes().values() if one.parent == os.getpid() and one.dead}


def command_line(pid: int) -> bytes:
    """The command line of a process, empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def open_handles() -> dict[str, str]:
    """The files, sockets and pipes that this process holds open, by their numbers."""
    found = {}
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found[link.name] = str(link.readlink())
    return found


def is_dead(pid: int) -> bool:
    one = process(pid)
    return one is None or one.dead


def run_referee(bots_here: BotProcesses, sandbox: str, last: str) -> int:
    """Runs a referee of its own process, which starts a bot and then does `last`. Returns its exit code."""
    bots_here.command(LEAVES_A_CHILD.replace("ENVIRONMENT", "os.environ") + HOLD)
    argv = [sys.executable, "-c", REFEREE, str(bots_here.bot_folder), bots_here.word, bots_here.address, sandbox, last]
    return subprocess.run(argv, timeout=PATIENCE, check=False).returncode


def forgetful_worker(*order: str) -> None:
    """Does in a worker of multiprocessing what `run_referee` does in a program."""
    sys.argv[1:] = order
    exec(REFEREE, {"__name__": "worker"})  # noqa: S102 - our own program
