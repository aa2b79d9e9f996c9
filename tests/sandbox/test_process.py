"""Bots that end, crash, hang and leave children: each is ended, judged, and leaves nothing behind."""

import asyncio
import errno
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

import referee.sandbox.launch
import referee.sandbox.limits
import referee.sandbox.process
import referee.sandbox.process_tree
from referee.sandbox.launch import Policy
from referee.sandbox.process_tree import owner
from referee.umpire.faults import Fault
from tests.net.bot_processes import HOLD, LEAVES_A_CHILD, BotProcesses, forgetful_worker, is_dead, run_referee, until
from tests.program import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="leftovers are looked for in /proc: Linux only")


def test_a_bot_that_ends_at_once(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        end, _ = await bots_here.end_of("", sandbox)
        assert (end.fault, end.code, end.signal, end.swept, end.survivors) == (None, 0, None, 0, ())
        assert end.sentence == "It ended with exit code 0."

    bots_here.run(story)


def test_a_bot_that_ends_with_a_code(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        end, _ = await bots_here.end_of("raise SystemExit(3)", sandbox)
        assert (end.fault, end.code, end.sentence) == (Fault.CRASH, 3, "It ended with exit code 3.")

    bots_here.run(story)


def test_a_bot_that_crashes(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        end, output = await bots_here.end_of("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", sandbox)
        assert (end.fault, end.code, end.signal) == (Fault.CRASH, None, signal.SIGSEGV)
        assert end.sentence == "It crashed with SIGSEGV."
        assert "Segmentation fault" in output
        assert "bot.py" in output

    bots_here.run(story)


def test_a_crash_stays_a_crash_when_it_is_ended_as_well(bots_here: BotProcesses, sandbox: Policy) -> None:
    """The order to end it comes when the bot is dead, but before the event loop had a chance to notice."""

    async def story() -> None:
        bot = bots_here.start("raise SystemExit(3)", sandbox)
        end = time.monotonic() + PATIENCE
        while not is_dead(bot.pid) and time.monotonic() < end:
            time.sleep(0.001)  # noqa: ASYNC251 - the event loop is to be kept out
        assert (await bot.kill()).code == 3
        assert (await bot.kill()).fault is Fault.CRASH

    bots_here.run(story)


def test_the_referee_ends_a_bot(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        bot = await bots_here.ready(HOLD, sandbox)
        assert bot.sandbox == sandbox
        assert bots_here.processes()
        ends = await asyncio.gather(bot.kill(), bot.kill(), bot.exited())
        assert len(set(ends)) == 1
        assert (ends[0].fault, ends[0].signal, ends[0].sentence) == (None, signal.SIGKILL, "The referee ended it.")

    bots_here.run(story)


def test_a_bot_that_is_ended_before_it_has_begun(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        for _ in range(10):
            end = await bots_here.start(HOLD, sandbox).kill()
            assert end.survivors == ()
        assert bots_here.processes() == []

    bots_here.run(story)


def test_many_bots_end_together(bots_here: BotProcesses, sandbox: Policy) -> None:
    async def story() -> None:
        bots = [await bots_here.ready(HOLD, sandbox) for _ in range(6)]
        ends = await asyncio.gather(*(bot.kill() for bot in bots))
        assert {end.signal for end in ends} == {signal.SIGKILL}

    bots_here.run(story)


@pytest.mark.parametrize(
    "trick",
    [
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "[signal.signal(n, signal.SIG_IGN) for n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}]",
        "os.close(1), os.close(2)",
    ],
    ids=["stops itself", "ignores all signals", "closes its output"],
)
def test_a_bot_that_would_rather_stay(bots_here: BotProcesses, sandbox: Policy, trick: str) -> None:
    program = f"import os, signal, time\nprint('ready', flush=True)\n{trick}\nwhile True: time.sleep(60)"

    async def story() -> None:
        bot = await bots_here.ready(program, sandbox)
        end = await bot.kill()
        assert (end.fault, end.signal, end.survivors) == (None, signal.SIGKILL, ())

    bots_here.run(story)


@pytest.mark.parametrize("environment", ["os.environ", "{}"], ids=["marked", "unmarked"])
def test_a_bot_whose_child_plays_on(bots_here: BotProcesses, sandbox: Policy, environment: str) -> None:
    """The child has a session of its own, an unreaped parent, and in one case nothing in its environment."""

    async def story() -> None:
        end, output = await bots_here.end_of(LEAVES_A_CHILD.replace("ENVIRONMENT", environment), sandbox)
        assert (end.code, end.survivors) == (0, ())
        assert "the child is up" in output
        if sandbox == "none":
            assert end.swept == 1
            assert end.sentence.endswith("It left 1 process running, which the referee ended.")

    bots_here.run(story)


def test_a_bot_with_children_is_ended_with_them(bots_here: BotProcesses, sandbox: Policy) -> None:
    program = LEAVES_A_CHILD.replace("ENVIRONMENT", "os.environ") + HOLD

    async def story() -> None:
        bot = await bots_here.ready(program, sandbox)
        assert len(bots_here.processes()) >= 2
        assert (await bot.kill()).survivors == ()

    bots_here.run(story)


def test_nobody_else_is_ended(bots_here: BotProcesses, sandbox: Policy) -> None:
    """Neither another bot, nor a process of the referee in a session of its own, even with a marker of a like form."""
    marker = f"{owner()}.ffffffffffffffff"
    stranger = subprocess.Popen(["sleep", "3600"], env={"REFEREE_BOT_ID": marker}, start_new_session=True)

    async def story() -> None:
        other = await bots_here.ready(HOLD, sandbox)
        await (await bots_here.ready(LEAVES_A_CHILD.replace("ENVIRONMENT", "os.environ") + HOLD, sandbox)).kill()
        assert stranger.poll() is None
        assert other.pid in bots_here.processes()
        assert (await other.kill()).signal == signal.SIGKILL
        assert stranger.poll() is None
        stranger.kill()
        stranger.wait()

    try:
        bots_here.run(story)
    finally:
        stranger.kill()
        stranger.wait()


def test_an_old_kernel_tells_of_the_end_through_a_thread(
    bots_here: BotProcesses, sandbox: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int, flags: int = 0) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "pidfd_open", refuse)

    async def story() -> None:
        end, _ = await bots_here.end_of("raise SystemExit(3)", sandbox)
        assert end.code == 3
        bot = await bots_here.ready(LEAVES_A_CHILD.replace("ENVIRONMENT", "os.environ") + HOLD, sandbox)
        assert (await bot.kill()).survivors == ()

    bots_here.run(story)


def test_where_there_is_no_proc_the_process_group_is_ended(
    bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS: no pidfd, no waitid, no /proc, no control groups."""
    elsewhere = SimpleNamespace(platform="darwin", modules=sys.modules, executable=sys.executable)
    for module in (referee.sandbox.process, referee.sandbox.process_tree, referee.sandbox.limits):
        monkeypatch.setattr(module, "sys", elsewhere)
    monkeypatch.setattr(referee.sandbox.process_tree, "proc_file", lambda path, **more: b"")
    monkeypatch.setattr(referee.sandbox.process, "_peak_bytes", lambda usage: 0)
    monkeypatch.setattr(referee.sandbox.launch, "make_group", lambda marker, limits: None)
    monkeypatch.delattr(os, "pidfd_open")
    monkeypatch.delattr(os, "waitid")

    async def story() -> None:
        end, _ = await bots_here.end_of("raise SystemExit(3)", "none")
        assert (end.fault, end.code) == (Fault.CRASH, 3)
        bot = await bots_here.ready(f"import os\nos.fork()\n{HOLD}", "none")
        assert (await bot.kill()).signal == signal.SIGKILL

    bots_here.run(story)


def test_what_cannot_be_ended_is_named(bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process that hangs in the kernel: nobody waits for it for ever."""
    monkeypatch.setattr(referee.sandbox.process, "KILL_SECONDS", 0.01)

    async def story() -> None:
        bot = await bots_here.ready(HOLD, "none")
        with monkeypatch.context() as patch:
            patch.setattr(bot, "stop", lambda order: None)
            end = await bot.kill()
        assert (end.code, end.signal, end.survivors) == (None, None, (bot.pid,))
        assert end.sentence == f"It did not end in time. Could not be ended, look at it by hand: process {bot.pid}."
        assert await bot.kill() == end
        os.kill(bot.pid, signal.SIGKILL)
        await until(lambda: bots_here.processes() == [] and not list(bots_here.work.iterdir()))

    bots_here.run(story)


def test_a_child_that_cannot_be_ended_is_named(bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee.sandbox.process, "SWEEP_SECONDS", 0.01)

    async def story() -> None:
        bot = await bots_here.ready(HOLD, "none")
        with monkeypatch.context() as patch:
            patch.setattr(bot._tree, "strike", lambda: (71, 72))
            end = await bot.kill()
        assert (end.signal, end.survivors) == (signal.SIGKILL, (71, 72))
        assert end.sentence.endswith("Could not be ended, look at it by hand: process 71, 72.")

    bots_here.run(story)


def test_a_fault_of_our_own_is_heard_by_whoever_waits(bots_here: BotProcesses, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        bot = await bots_here.ready(HOLD, "none")
        monkeypatch.setattr(referee.sandbox.process, "judge", lambda evidence: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            await bot.kill()
        bots_here.bots.remove(bot)

    bots_here.run(story)


@pytest.mark.parametrize("last", ["", "raise SystemExit(7)", "os.kill(os.getpid(), signal.SIGINT)"])
def test_a_referee_that_forgets_its_bots(bots_here: BotProcesses, sandbox: Policy, last: str) -> None:
    """They end with the interpreter, whatever ends that; even with no event loop left to run in."""
    run_referee(bots_here, sandbox, last)
    assert [pid for pid in bots_here.processes() if pid != os.getpid()] == []
    assert not bots_here.work.exists() or list(bots_here.work.iterdir()) == []


def test_a_worker_that_forgets_its_bots(bots_here: BotProcesses, sandbox: Policy) -> None:
    """Workers of multiprocessing end without `atexit`."""
    bots_here.command(LEAVES_A_CHILD.replace("ENVIRONMENT", "os.environ") + HOLD)
    order = (str(bots_here.bot_folder), bots_here.word, bots_here.address, sandbox, "")
    worker = multiprocessing.get_context("spawn").Process(target=forgetful_worker, args=order)
    worker.start()
    worker.join(PATIENCE)
    assert worker.exitcode == 0
    worker.close()
    assert bots_here.processes() == []


@pytest.mark.needs("bwrap")
def test_a_referee_that_is_killed_takes_its_sandboxes_along(bots_here: BotProcesses) -> None:
    assert run_referee(bots_here, "bubblewrap", "os.kill(os.getpid(), signal.SIGKILL)") == -signal.SIGKILL
    end = time.monotonic() + PATIENCE
    while bots_here.processes() and time.monotonic() < end:
        time.sleep(0.005)
    assert bots_here.processes() == []
