"""A running bot process, from its start to the moment when nothing of it is left.

How it ends. The end of the first process is the end of the bot: the pidfd tells the event loop. While that process is
still unreaped, so that its number is nobody else's, all that it left behind is ended; then it is reaped, the rest of
its output is read, its private folder is removed, and the verdict is made.
"""

import asyncio
import atexit
import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

from referee.sandbox.exit_status import ExitEvidence, ExitStatus, KillReason, judge
from referee.sandbox.isolation import HELPERS, SandboxKind, inner_process
from referee.sandbox.limits import ResourceLimits
from referee.sandbox.output import BoundedLog, OutputReader
from referee.sandbox.process_tree import Process, ProcessTree, process, reap, send
from referee.sandbox.processor_time import UsageMeter
from referee.sandbox.resource_monitor import Monitored, watch
from referee.sandbox.temporary_folder import remove_folder
from referee.umpire.faults import Fault

SWEEP_SECONDS = 3.0
"""How long to try to end what a bot left behind."""

KILL_SECONDS = 5.0
"""How long `kill` waits at most, before it says what could not be ended."""

TIDY_SECONDS = 2.0
"""How long its private folder may keep its verdict waiting."""

_KIB = 1024


class BotProcess:
    """One process of a bot, with all that it starts. Made by `launch`.

    `pid`       the process that was launched (with a sandbox: bubblewrap's).
    `sandbox`   the kind that is in use: `bubblewrap` or `none`.
    `log_path`  where its output goes.
    `meter`     what it uses of the machine.
    """

    def __init__(
        self,
        popen: subprocess.Popen[bytes],
        *,
        pipe: int,
        log: BoundedLog,
        tree: ProcessTree,
        limits: ResourceLimits,
        sandbox: SandboxKind,
        info: int | None = None,
        scratch: Path | None = None,
    ) -> None:
        """Takes over a process that was just started, in the running event loop.

        `pipe` carries its output, which goes to `log`. `info` is the pipe on which bubblewrap names its inner process,
        `scratch` a folder to remove in the end.
        """
        self.pid = popen.pid
        self.sandbox = sandbox
        self.log_path = log.path
        self._popen = popen
        self._tree = tree
        self.meter = UsageMeter(tree)
        self._drain = OutputReader(
            pipe, log, kept=limits.output_kept, budget=limits.output_total, flooded=self._flooded
        )
        self._limits = limits
        self._scratch = scratch
        self._inner = SandboxInit(popen.pid, info) if info is not None else None
        self._order: KillReason | None = None
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[ExitStatus] = self._loop.create_future()
        self._finishing: asyncio.Task[None] | None = None
        self._status: int | None = None
        self._starved = False
        # A new process starts with its parent's peak on its account: only what goes beyond is its own.
        self._parents_peak = _peak_bytes(resource.getrusage(resource.RUSAGE_SELF))
        self._watched = Monitored(tree=tree, limits=limits, stop=self.stop, helpers=HELPERS if self._inner else 0)
        watch().add(self._watched)
        self._pidfd = self._wait_for_end()
        _LIVE.add(self)
        _end_all_at_exit()

    async def exited(self) -> ExitStatus:
        """Waits until it has ended and nothing of it is left, however long that takes; then says how it ended."""
        return await asyncio.shield(self._done)

    async def kill(self) -> ExitStatus:
        """Ends it and all that it started. May be called again, and after it ended by itself: the verdict stays.

        Returns when all is reaped and tidied up; after `KILL_SECONDS` in any case, with what could not be ended.
        """
        self.stop(KillReason(None, "The referee ended it."))
        done, _ = await asyncio.wait({self._done}, timeout=KILL_SECONDS)
        if not done:
            alive = tuple(one.pid for one in self._tree.look() if not one.dead)
            self._conclude(self._verdict(None, 0, 0.0, alive))
        return self._done.result()

    def tail(self) -> str:
        """The last characters that it wrote to stdout and stderr (`Limits.output_kept`), harmless to show anywhere."""
        return self._drain.tail()

    def stop(self, order: KillReason) -> None:
        """Begins to end it, for the reason in `order`; the first reason counts. Does not wait."""
        if self._finishing is not None or self._done.done():
            return
        self._order = self._order or order
        if self._inner is None or not self._inner.kill():
            self._kill_root()
        elif not self._inner.known:
            # bubblewrap has not come so far as to tell its inner process. It will in a moment, unless it hangs.
            self._loop.call_later(1.0, self._kill_root)

    def _flooded(self) -> None:
        sentence = f"It wrote more than {self._limits.output_total} bytes of output, which is its limit."
        self.stop(KillReason(Fault.RESOURCE_OUTPUT, sentence))

    def _kill_root(self) -> None:
        if self._finishing is not None or self._done.done():
            return
        if self._tree.group is not None:
            self._tree.group.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Its number is its own until we reap it, and so is that of its process group.
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)  # a bot at our own terminal is in our process group

    def _wait_for_end(self) -> int | None:
        """Has `_ended` called when the first process has ended. Returns the pidfd, None where there is no such thing."""
        try:
            pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            threading.Thread(target=self._wait_in_thread, daemon=True).start()
            return None
        self._loop.add_reader(pidfd, self._ended)
        return pidfd

    def _wait_in_thread(self) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            else:
                self._status = os.waitpid(self.pid, 0)[1]
            self._loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None
        watch().remove(self._watched)
        self.meter.close()
        if self._finishing is None:
            self._finishing = self._loop.create_task(self._finish())

    async def _finish(self) -> None:
        try:
            survivors = await self._sweep()
            status, peak, seconds = self._reap()
            self._drain.finish()
            self._starved = self._tree.group is not None and self._tree.group.was_starved()
            await self._tidy()
            self._conclude(self._verdict(status, peak, seconds, survivors))
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
            if not self._done.done():
                self._done.set_exception(error)

    async def _sweep(self) -> tuple[int, ...]:
        """Ends all but the first process, which has ended. Returns what is still there after `SWEEP_SECONDS`."""
        end = self._loop.time() + SWEEP_SECONDS
        pause = 0.0
        while left := self._strike():
            if self._loop.time() > end:
                break
            await asyncio.sleep(pause)
            pause = min(0.05, pause + 0.001)
        return left

    def _strike(self) -> tuple[int, ...]:
        """One attempt to end all but the first process. Returns what is not gone yet."""
        if self._inner is not None and self._inner.learn():
            return self._inner.strike()
        if sys.platform != "linux":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        return self._tree.strike()

    def _reap(self) -> tuple[int, int, float]:
        """Takes the status of the first process: its wait status, peak memory in bytes, processor time in seconds."""
        status, peak, seconds = self._status, 0, 0.0
        if status is None:
            _, status, usage = os.wait4(self.pid, 0)
            peak, seconds = _peak_bytes(usage), usage.ru_utime + usage.ru_stime
        # Popen has not seen the end, and would complain of a process left running.
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        return status, peak if peak > self._parents_peak else 0, seconds

    def _verdict(self, status: int | None, peak: int, seconds: float, survivors: tuple[int, ...]) -> ExitStatus:
        evidence = ExitEvidence(
            status=status,
            order=self._order,
            limits=self._limits,
            peak_bytes=max(peak, self._watched.peak),
            cpu_seconds=seconds,
            output=self.tail(),
            starved=self._starved,
            shelled=self.sandbox == "bubblewrap",
            swept=len(self._tree.swept),
            survivors=survivors,
        )
        return judge(evidence)

    async def _tidy(self) -> None:
        """Gives back what the process held: handles, control group, private folder."""
        if self._inner is not None:
            self._inner.close()
        group = self._tree.group
        for _ in range(50):
            if group is None or group.remove():
                break
            await asyncio.sleep(0.01)
        if self._scratch is not None:
            # What is left is removed with the folder around it, or by the sweep of a later run.
            await asyncio.to_thread(remove_folder, self._scratch, TIDY_SECONDS)

    def _conclude(self, end: ExitStatus) -> None:
        _LIVE.discard(self)
        if not self._done.done():
            self._done.set_result(end)

    def end_now(self) -> None:
        """For the exit of the interpreter, when no event loop runs: ends everything and waits for it, not for long."""
        if self._inner is not None:
            self._inner.learn()
            self._inner.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        for _ in range(200):
            if not self._strike() and reap(self.pid):
                break
            time.sleep(0.005)
        self._popen.returncode = -signal.SIGKILL
        for _ in range(50):
            if self._tree.group is None or self._tree.group.remove():
                break
            time.sleep(0.01)
        if self._scratch is not None:
            remove_folder(self._scratch, TIDY_SECONDS)


class SandboxInit:
    """The first process inside of bubblewrap: with its death the kernel ends all the others in there.

    bubblewrap's outer process may be gone before that, so the inner one is ended and waited for by itself.
    """

    def __init__(self, outer: int, info: int) -> None:
        """`info` is the pipe on which the process `outer` will name it."""
        self._outer = outer
        self._process: Process | None = None
        self._condemned = False
        self._info: int | None = info
        self._text = b""
        os.set_blocking(info, False)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(info, self.learn)

    @property
    def known(self) -> bool:
        """Whether bubblewrap has named it."""
        return self._process is not None

    def learn(self) -> bool:
        """Reads what bubblewrap has told by now. Whether the inner process is known."""
        if self._info is None:
            return self.known
        try:
            data = os.read(self._info, 4096)
        except BlockingIOError:
            return self.known
        self._text += data
        pid = inner_process(self._text)
        if pid is not None and self._process is None:
            one = process(pid)
            self._process = one if one is not None and one.parent in (self._outer, os.getpid()) else None
            if self._condemned:
                self.kill()
        if not data:
            # Not before: bubblewrap still writes, and would die of a pipe that nobody reads.
            self.close()
        return self.known

    def kill(self) -> bool:
        """Sends SIGKILL, now or as soon as the process is known. False if it will never be known."""
        self._condemned = True
        if self._process is not None:
            send(self._process, signal.SIGKILL)
        return self._process is not None or self._info is not None

    def strike(self) -> tuple[int, ...]:
        """Ends it; empty when it, and with it all that ran inside, is gone and reaped."""
        self.kill()
        one = process(self._process.pid) if self._process is not None else None
        if one is None or self._process is None or one.started != self._process.started:
            return ()
        # It has become our child when the outer process ended. Where we cannot adopt, init reaps it.
        gone = one.dead and (one.parent != os.getpid() or reap(one.pid))
        return () if gone else (one.pid,)

    def close(self) -> None:
        """Closes the pipe. May be called again."""
        if self._info is not None:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._info)
            os.close(self._info)
            self._info = None


def _peak_bytes(usage: resource.struct_rusage) -> int:
    """The largest resident memory; the system counts in KiB, macOS in bytes."""
    return usage.ru_maxrss if sys.platform == "darwin" else usage.ru_maxrss * _KIB


_LIVE: set[BotProcess] = set()
"""All that have not ended yet, for the exit of the interpreter."""


def _end_all() -> None:
    for one in list(_LIVE):
        _LIVE.discard(one)
        one.end_now()


@cache
def _end_all_at_exit() -> None:
    """Has `_end_all` called when the interpreter exits; in a worker of multiprocessing, which skips atexit, as well."""
    atexit.register(_end_all)
    if "multiprocessing.util" in sys.modules:
        sys.modules["multiprocessing.util"].Finalize(None, _end_all, exitpriority=0)
