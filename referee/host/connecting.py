"""A remote bot on its author's machine: its connection with a host, and the processes of it that are called to dial in.

The bot is the author's own, so it runs as the author would run it: with the author's rights and environment, no sandbox, no
limits; a model on a graphics card may need all of that. It never sees the token of the host: what it finds as REFEREE_TOKEN is
that of a call, which is worth nothing afterwards.
"""

import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from referee.host.client import HeardOfRemote, HostClient, HostRequestError
from referee.sandbox.command import PACKAGE, Command, find_program, is_python

MOST_STARTS: Final = 10
"""Starts of the bot for one call. Then it is left alone until the next."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 15.0
"""Seconds before the bot is started again: the first time, and at most."""

AFTER_FAREWELL: Final = 3.0
"""A bot that has ended well is started again after so many seconds if it is still called: a farewell comes before the end of a call."""

ENDING: Final = 3.0
"""Seconds that the bot has to end by itself when its call is over."""

_RETRY: Final = 2.0
_LONGEST_RETRY: Final = 20.0
_LEAVING: Final = 1.0
_GOODBYE: Final = 3.0
_TICK: Final = 0.1

Tell = Callable[[str, str], None]
"""Shows the author a line: a word, and what it is about."""


@dataclass(slots=True)
class BotRun:
    """The process of a bot for one session of a call. ``again``: when it is started next; ``pause``: how long before the next start."""

    address: str
    token: str
    process: "subprocess.Popen[bytes] | None" = None
    starts: int = 0
    again: float = field(default=0.0)
    pause: float = FIRST_PAUSE


class BotRuns:
    """The processes of a bot, one for each session that it is called for. ``clock``: monotonic seconds."""

    def __init__(self, command: Command, tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises ``LaunchError`` if there is no such program."""
        self._program = find_program(command)
        self._command, self._tell, self._clock = command, tell, clock
        self._runs: dict[str, BotRun] = {}

    def called(self, sessions: tuple[tuple[str, str], ...]) -> None:
        """The bot is called for these sessions, and for no other."""
        wanted = {token for _, token in sessions}
        for token in [token for token in self._runs if token not in wanted]:
            self._end(self._runs.pop(token), ENDING)
        for address, token in sessions:
            self._runs.setdefault(token, BotRun(address, token))

    def look(self) -> None:
        """Starts what is to be started now."""
        now = self._clock()
        for run in self._runs.values():
            if run.process is not None and (code := run.process.poll()) is not None:
                self._ended(run, code, now)
            if run.process is None and run.starts < MOST_STARTS and now >= run.again:
                self._start(run)

    def close(self, *, at_once: bool = False) -> None:
        """Ends all that runs; ``at_once``: without a moment to end by itself."""
        for run in self._runs.values():
            self._end(run, 0.0 if at_once else ENDING)
        self._runs.clear()

    def _start(self, run: BotRun) -> None:
        run.starts += 1
        command = self._command
        try:
            run.process = subprocess.Popen(  # noqa: S603  # the author's own bot
                [str(self._program), *command.argv[1:]],
                cwd=command.folder.absolute() / command.cwd,
                env=self._environment(run),
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr,
                start_new_session=True,  # Ctrl-C is ours alone
            )
        except OSError as error:
            self._tell("trouble", f"the bot cannot be started ({error.strerror or error})")
            self._put_off(run, self._clock())

    def _environment(self, run: BotRun) -> dict[str, str]:
        given = {name: value for name, value in os.environ.items() if name not in _OURS}
        if is_python(self._program):
            given |= {"PYTHONUNBUFFERED": "1"}
            if PACKAGE.parent.name not in ("site-packages", "dist-packages"):
                given["PYTHONPATH"] = os.pathsep.join(filter(None, (str(PACKAGE.parent), given.get("PYTHONPATH", ""))))
        return given | dict(self._command.environment) | {"REFEREE_ADDRESS": run.address, "REFEREE_TOKEN": run.token}

    def _ended(self, run: BotRun, code: int, now: float) -> None:
        if run.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(run.process.pid, signal.SIGKILL)  # what it has started goes with it
        run.process = None
        if code == 0:
            run.again = now + AFTER_FAREWELL
            return
        self._put_off(run, now)
        told = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        if run.starts >= MOST_STARTS:
            self._tell(
                "trouble",
                f"the bot has ended ({told}) for the {run.starts}th time; it is left alone until the next call",
            )
        else:
            self._tell("trouble", f"the bot has ended ({told}) while it is called; it starts again")

    @staticmethod
    def _put_off(run: BotRun, now: float) -> None:
        run.again, run.pause = now + run.pause, min(run.pause * 2, LONGEST_PAUSE)

    @staticmethod
    def _end(run: BotRun, seconds: float) -> None:
        """Gives it a moment to end by itself, for it has been sent off; then ends it with all that it has started."""
        process = run.process
        if process is None:
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


_OURS: Final = frozenset({"REFEREE_ADDRESS", "REFEREE_TOKEN"})


@dataclass(frozen=True, slots=True)
class LostHost:
    """The host does not answer at the moment; it is asked again."""

    sentence: str


class HostLink(threading.Thread):
    """Keeps the host told that a bot is there, and keeps what the host says in ``news``: that, ``LostHost``, or the error that ends it."""

    def __init__(self, client: HostClient, bot: str, version: str) -> None:
        super().__init__(name="host-link", daemon=True)
        self.news: queue.SimpleQueue[HeardOfRemote | LostHost | HostRequestError] = queue.SimpleQueue()
        self._client, self._bot, self._version = client, bot, version
        self._session = secrets.token_urlsafe(24)
        self._leaving, self._over = threading.Event(), threading.Event()

    def said(self, **more: object) -> Mapping[str, object]:
        """What the host is told, besides ``more``."""
        return {"session": self._session, "leaves": self._leaving.is_set(), **more}

    def leave(self) -> None:
        """From now on the bot is not to be called any more; what it is called for goes on."""
        self._leaving.set()

    def stop(self) -> None:
        """Ends it with the next answer."""
        self._over.set()

    def run(self) -> None:
        """Asks the host again and again."""
        try:
            self._ask()
        except Exception:
            if not self._over.is_set():  # else the client was closed under our hands
                raise

    def _ask(self) -> None:
        begun, mark, pause = False, "", _RETRY
        while not self._over.is_set():
            begin: dict[str, object] = {} if begun else {"begin": True, "version": self._version}
            try:
                heard = self._client.remote(self._bot, self.said(mark=mark, **begin))
            except HostRequestError as error:
                if not error.passing:
                    self.news.put(error)
                    return
                self.news.put(LostHost(str(error)))
                self._over.wait(min(max(pause, error.after or 0.0), _LONGEST_RETRY))
                pause = min(pause * 2, _LONGEST_RETRY)
                continue
            begun, mark, pause = True, heard.mark, _RETRY
            self.news.put(heard)
            if self._leaving.is_set():
                self._over.wait(_LEAVING)


class Connected:
    """A remote bot that is connected, until the host says something that ends it, or it is stopped. Use it in the main thread."""

    def __init__(
        self,
        link: HostLink,
        runs: BotRuns,
        tell: Tell,
        *,
        goodbye: Callable[[Mapping[str, object]], object],
        is_end: Callable[[HeardOfRemote], bool],
    ) -> None:
        """``goodbye`` says something to the host beside the link, which may be waiting; ``is_end`` sees all that the host says."""
        self._link, self._runs, self._tell, self._goodbye, self._is_end = link, runs, tell, goodbye, is_end
        self._stops = 0
        self._lost = False
        self._before: HeardOfRemote | None = None

    def stop(self) -> None:
        """The first time it ends when the bot is not called any more, the second time at once. May be called from a signal handler."""
        self._stops += 1

    def run(self) -> HeardOfRemote | None:
        """Keeps the bot connected. Returns what the host said that ended it, ``None`` if it was stopped.

        Raises ``HostRequestError`` where the host does not take it.
        """
        self._link.start()
        told_to_leave = False
        try:
            while True:
                if self._stops and not told_to_leave:
                    told_to_leave = True
                    self._leave()
                if self._stops > 1 or (self._stops and not (self._before and self._before.sessions)):
                    return None
                with suppress(queue.Empty):
                    if (last := self._heard(self._link.news.get(timeout=_TICK))) is not None:
                        return last
                self._runs.look()
        finally:
            self._link.stop()
            self._runs.close(at_once=self._stops > 1)

    def _leave(self) -> None:
        self._link.leave()
        if self._before is not None and self._before.sessions:
            self._tell("stopping", f"it plays {self._before.called} to its end; Ctrl-C once more ends it at once")
        said = self._link.said()

        def goodbye() -> None:
            with suppress(Exception):  # whatever it is, we leave
                self._goodbye(said)

        saying = threading.Thread(target=goodbye, name="goodbye", daemon=True)
        saying.start()
        saying.join(_GOODBYE)  # a dead network keeps nobody

    def _heard(self, news: HeardOfRemote | LostHost | HostRequestError) -> HeardOfRemote | None:
        """Tells of news; what ends the connection is returned, or raised."""
        if isinstance(news, HostRequestError):
            raise news
        if isinstance(news, LostHost):
            if not self._lost:
                self._tell("lost", f"{news.sentence}; it is asked again and again")
            self._lost = True
            return None
        if self._lost:
            self._tell("back", "the host answers again")
        self._lost = False
        before, self._before = self._before, news
        if news.line and (before is None or before.line != news.line):
            self._tell("note", news.line)
        was = before.called if before is not None else ""
        if was and news.called != was:
            self._tell("over", was)
        if news.called and news.called != was:
            self._tell("called", f"for {news.called}: the bot starts")
        self._runs.called(news.sessions)
        return news if self._is_end(news) else None
