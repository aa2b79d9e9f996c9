"""Keeps players present: starts the processes of local bots again, waits for remote bots to come back.

A supervisor decides nothing about cards. It learns of a loss from the stream, the process or the clock, says which game (if
any) is lost by it, and gives up on a bot that cannot be kept.
"""

import asyncio
import contextlib
import errno
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from referee.net.connection import START_SECONDS, STARTS_MOST, BotConnection, ConnectionObserver
from referee.net.open_turns import TurnSession
from referee.protocol import wire
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import BotProcess, LaunchError, SandboxError
from referee.sandbox.output import OF_THE_SDK
from referee.sandbox.processor_time import PERIOD
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire

FAILED_STARTS = 3
LOSSES_A_LEG = 10
GRACE_SECONDS = 30.0
_LOOK_SECONDS = 1.0
_ROUNDING = 1e-6
_PARTING_SECONDS = 2.0
_VERDICT_SECONDS = 1.0

_NEVER_RESTARTED_FREE = frozenset(
    {
        Fault.RESOURCE_MEM,
        Fault.RESOURCE_CPU,
        Fault.RESOURCE_PIDS,
        Fault.RESOURCE_OUTPUT,
    }
)
_WANT = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN")
    if hasattr(errno, name)
)
_LOSES_ALL = frozenset({Fault.PROTOCOL, Fault.POLICY})


@dataclass(frozen=True, slots=True)
class Loss:
    """A player has gone, for which fault, and a sentence for people.

    ``words`` are the last that it wrote. They go to the fault's log line only: two runs of the same game may differ there.
    """

    fault: Fault
    sentence: str
    words: str = ""


class GamesAtStake(Protocol):
    """What a supervisor asks of the games in play."""

    def lose(self, umpire: Umpire, player: TurnSession, fault: Fault, sentence: str) -> None:
        """A player loses a game."""

    def umpires_of(self, player: TurnSession) -> list[Umpire]:
        """The umpires of the games that a player plays now."""


class SupervisorObserver:
    """Is told what a supervisor notices of the connection that it keeps."""

    def faulted(self, connection: BotConnection, fault: Fault, sentence: str) -> None:
        """The player had a fault outside any single decision."""

    def started(self, connection: BotConnection, process: BotProcess) -> None:
        """A process of a local player was started."""

    def changed(self) -> None:
        """A player is there, has lost games, or was given up: it is time to look."""


class Supervisor(ConnectionObserver):
    """Keeps one connection. ``settled`` is set once it has joined or has been given up (``withdrawn`` then says why)."""

    def __init__(self, connection: BotConnection, games_in_play: GamesAtStake, observer: SupervisorObserver) -> None:
        self.connection, self._games_in_play, self._observer = connection, games_in_play, observer
        self.settled = asyncio.Event()
        self.withdrawn = ""
        self._loss: asyncio.Future[Loss] = asyncio.get_running_loop().create_future()
        self._crashed: set[Umpire] = set()
        connection.observe(self)

    @property
    def present(self) -> bool:
        """Whether games with it can begin: a local bot that is just started again has its turns wait for it."""
        return True

    def lost(self, loss: Loss) -> None:
        """The player has gone, or has to go. The first word counts until it is back."""
        if not self._loss.done():
            self._loss.set_result(loss)

    def stream_lost(self) -> None:
        """Its stream has ended before Farewell."""
        self.lost(Loss(Fault.DISCONNECT, "Its stream ended before Farewell."))

    def join_refused(self) -> None:
        """It cannot join."""
        self.lost(Loss(Fault.START_FAILED, self.connection.refusal))

    def faulted(self, fault: Fault, sentence: str) -> None:
        """It is ended for it; a local bot is started again."""
        self.lost(Loss(fault, sentence))

    def hung(self) -> None:
        """Two silences in a row: the player is ended, or a remote one's stream; that counts as a crash."""
        self.lost(Loss(Fault.CRASH, "It did not answer twice in a row and was ended."))

    def _renew(self) -> None:
        self._loss = asyncio.get_running_loop().create_future()

    def _judge_loss(self, loss: Loss) -> None:
        """Which game is lost: the one whose lone turn was out when the player had already gone once before.

        After a first loss the open turns are asked again one by one, so that one poison turn costs one game.
        """
        session, games_in_play = self.connection.session, self._games_in_play
        self._observer.faulted(self.connection, loss.fault, f"{loss.sentence} {loss.words}".strip())
        if loss.fault in _NEVER_RESTARTED_FREE:
            self.connection.passed_a_limit(loss.fault, loss.sentence)
        suspect = session.lone()
        if loss.fault is Fault.NO_CONTEST:
            pass  # ours: the games concerned have ended already
        elif loss.fault in _LOSES_ALL:
            for umpire in games_in_play.umpires_of(session):
                games_in_play.lose(umpire, session, loss.fault, loss.sentence)
        elif suspect is not None:
            again = session.cautious or suspect.umpire in self._crashed
            if again or loss.fault in _NEVER_RESTARTED_FREE:
                games_in_play.lose(suspect.umpire, session, loss.fault, loss.sentence)
            else:
                self._crashed.add(suspect.umpire)
        session.lost_stream(cautious=True)
        self._observer.changed()

    def _give_up(self, reason: str) -> None:
        self.withdrawn = reason
        self.settled.set()
        self._observer.changed()


class LocalSupervisor(Supervisor):
    """Keeps a bot whose process we start."""

    def __init__(
        self,
        connection: BotConnection,
        games_in_play: GamesAtStake,
        observer: SupervisorObserver,
        start: Callable[[], BotProcess],
        start_seconds: float = START_SECONDS,
    ) -> None:
        """``start`` launches its process, which has ``start_seconds`` to join.

        Time in which the referee stood still, or the bot had no processor, does not count; but a start takes four times
        ``start_seconds`` at most.
        """
        super().__init__(connection, games_in_play, observer)
        self._start, self.start_seconds = start, start_seconds
        self.process: BotProcess | None = None
        self.survivors: set[int] = set()

    async def run(self) -> None:
        """Starts the bot, and again after every loss, until it is given up or cancelled.

        Raises ``LaunchError`` if the machine, not the bot, is why it cannot be started: the sandbox does not work any
        more, the disk is full.
        """
        failures = restarts = 0
        try:
            while not self.connection.leaving:
                failure = await self._launch()
                if failure and self.connection.leaving:
                    return
                if failure:
                    failures += 1
                    self._observer.faulted(self.connection, Fault.START_FAILED, failure)
                    if failures >= FAILED_STARTS:
                        self._give_up(f"It failed to start {failures} times in a row: {failure}")
                        return
                    continue
                failures = 0
                self.settled.set()
                self._observer.changed()
                loss = await self._until_lost()
                if self.connection.leaving:
                    return
                self.connection.hang_up()
                self._judge_loss(loss)
                restarts += loss.fault is not Fault.NO_CONTEST
                if restarts > LOSSES_A_LEG:
                    self._give_up(f"It was lost {restarts} times in one leg.")
                    return
        finally:
            await self.end()

    async def _launch(self) -> str:
        """Starts the process and waits for its Join; returns what went wrong, or an empty text."""
        self._renew()
        self.connection.renew()
        try:
            self.process = self._start()
        except LaunchError as error:
            if isinstance(error, SandboxError) or _is_of_the_machine(error.__cause__):
                raise
            return str(error)
        self.connection.measure(self.process.meter)
        self._observer.started(self.connection, self.process)
        joined: asyncio.Future[Any] = asyncio.ensure_future(self.connection.ready.wait())
        ended: asyncio.Future[Any] = asyncio.ensure_future(self.process.exited())
        watched: set[asyncio.Future[Any]] = {joined, ended, self._loss}
        done, told = await self._within_its_time(watched, self.start_seconds)
        if self.connection.refusal:  # it has been told; it may have something to say to its log
            await asyncio.wait({ended}, timeout=_PARTING_SECONDS)
        for waiting in (joined, ended):
            waiting.cancel()
        if joined in done:
            return ""
        exit_ = await self._kill(self.process)
        if self.connection.refusal:
            return self.connection.refusal
        if ended in done:
            return f"It ended before it joined. {exit_.sentence} {_last_line(self.process.tail())}".strip()
        if self._loss in done:
            return self._loss.result().sentence
        return f"{told} {_last_line(self.process.tail())}".strip()

    async def _within_its_time(
        self, watched: set[asyncio.Future[Any]], most: float
    ) -> tuple[set[asyncio.Future[Any]], str]:
        """Waits for one of these for so many seconds of the bot's own; what is done then, or what to say of a start.

        Time in which the referee stood still, or the bot had no processor, is not its own.
        """
        loop, connection = asyncio.get_running_loop(), self.connection
        began, stalled, starved = loop.time(), connection.stalled_us, connection.starved_us
        pause = min(PERIOD, most)
        while True:
            done, _ = await asyncio.wait(watched, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            waited = (connection.starved_us - starved) / 1e6
            real = loop.time() - began - (connection.stalled_us - stalled) / 1e6
            if done:
                return done, ""
            if real - waited >= most:
                return done, f"It did not join within {most:g} seconds."
            if real >= STARTS_MOST * most:
                return done, f"It did not join within {real:.0f} seconds; for {waited:.0f} of them it had no processor."

    async def _until_lost(self) -> Loss:
        """Waits until the player is lost and its process has ended; says for which fault."""
        process = self.process
        if process is None:
            return Loss(Fault.CRASH, "It has no process.")
        ended: asyncio.Future[Any] = asyncio.ensure_future(process.exited())
        watched: set[asyncio.Future[Any]] = {ended, self._loss}
        await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
        said = self._loss.result() if self._loss.done() else None
        if said is not None and said.fault is Fault.DISCONNECT:  # perhaps because its process is ending
            await asyncio.wait({ended}, timeout=_VERDICT_SECONDS)
        ended.cancel()
        exit_ = await self._kill(process)
        if said is not None and said.fault is not Fault.DISCONNECT:
            return said
        return replace(_verdict(exit_), words=_last_line(process.tail()))

    async def part(self) -> None:
        """After Farewell: gives the bot a moment to leave by itself, then ends it."""
        if self.process is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.process.exited(), _PARTING_SECONDS)
        await self.end()

    async def end(self) -> None:
        """Ends the process and all that it started; ``survivors`` are those that could not be ended."""
        if self.process is not None:
            await self._kill(self.process)

    async def _kill(self, process: BotProcess) -> ExitStatus:
        exit_ = await process.kill()
        self.survivors.update(exit_.survivors)
        return exit_


def _is_of_the_machine(cause: BaseException | None) -> bool:
    """Whether a bot could not be started for want of disk, memory or the like: no fault of the bot."""
    return isinstance(cause, OSError) and cause.errno in _WANT


def _verdict(exit_: ExitStatus) -> Loss:
    """What to make of the end of a process whose stream ended early."""
    if exit_.fault is not None:
        return Loss(exit_.fault, exit_.sentence)
    if exit_.code == 0:
        return Loss(Fault.DISCONNECT, f"It left before Farewell. {exit_.sentence}")
    return Loss(Fault.DISCONNECT, "It ended its stream before Farewell, though its process went on.")


def _last_line(text: str) -> str:
    """The last words of a bot, in a sentence; none if only our library spoke."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(OF_THE_SDK)]
    return f"Its last words: {lines[-1].strip()[:200]}" if lines else ""


class RemoteSupervisor(Supervisor):
    """Keeps a bot that somebody else runs.

    An outage costs it games, not the league: each game under way is lost when the bot has been away for ``GRACE_SECONDS``
    of it in all. Then the games to come wait for it, in a leg for ``wait_seconds`` at most; the leg says by ``want``
    whether any does. It may be lost ten times a leg in a way that costs games, as a local bot may.
    """

    def __init__(
        self,
        connection: BotConnection,
        games_in_play: GamesAtStake,
        observer: SupervisorObserver,
        wait_seconds: float,
    ) -> None:
        """``wait_seconds`` is how long the first Join may take, and the games of a leg wait for a bot that is away."""
        super().__init__(connection, games_in_play, observer)
        self.wanted = False
        self._wait = wait_seconds
        self._away: dict[Umpire, float] = {}
        self._told: list[Loss] = []
        self._losses, self._waited, self._counted = 0, 0.0, False

    @property
    def present(self) -> bool:
        """Whether games with it can begin."""
        return self.connection.ready.is_set()

    def want(self, *, wanted: bool) -> None:
        """Whether games wait for it that could begin otherwise."""
        self.wanted = wanted

    def begin_leg(self) -> None:
        """Losses and waiting are counted a leg."""
        self._losses, self._waited = 0, 0.0

    def lost(self, loss: Loss) -> None:
        """The player has gone, or has to go. Streams come and go quickly: all that is told is judged."""
        self._told.append(loss)
        super().lost(loss)

    def stream_lost(self) -> None:
        """At once, for the next stream may be there before the supervisor is."""
        self.connection.session.lost_stream(cautious=False)
        super().stream_lost()

    def stream_superseded(self) -> None:
        """Two processes, or two lines, with one token."""
        self.lost(Loss(Fault.DISCONNECT, "A newer stream with its token took over."))

    async def run(self) -> None:
        """Waits for the bot, and again after every loss, until it is given up or cancelled."""
        if not await self._dials_in():
            self._give_up(f"It did not dial in within {self._wait:.0f} seconds. {self.connection.refusal}".strip())
            return
        self._told.clear()
        self._renew()
        self.settled.set()
        self._observer.changed()
        while not self.withdrawn:
            if self._told:
                told, self._told = self._told, []
                self._renew()
                for loss in told:
                    self._take(loss)
            elif self.connection.ready.is_set():
                self._counted = False
                self._observer.changed()
                await asyncio.wait({self._loss})
            else:
                await self._wait_a_while()

    async def _dials_in(self) -> bool:
        """Whether it joins for the first time within its time; it may come and go meanwhile."""
        ready = self.connection.ready
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._wait):
                while not ready.is_set():
                    await ready.wait()
        return ready.is_set()

    def _take(self, loss: Loss) -> None:
        """What follows at once from a loss. From what breaks the protocol all games are lost; then it may dial again."""
        if loss.fault in _LOSES_ALL:
            self.connection.hang_up()
            self._judge_loss(loss)
            self.connection.forgive()
            self._count()
            return
        self._observer.faulted(self.connection, loss.fault, loss.sentence)
        if loss.fault is Fault.CRASH:  # what hangs may be a dead network: then it dials again
            self.connection.hang_up()
            self.connection.session.lost_stream(cautious=False)
            self._count()

    async def _wait_a_while(self) -> None:
        """A second of its absence at most, or until it is back; whatever has had its time by then is lost.

        A second more is never counted: how long the referee itself stands still is not the bot's.
        """
        loop = asyncio.get_running_loop()
        umpires = self._games_in_play.umpires_of(self.connection.session)
        away = {umpire: self._away.get(umpire, 0.0) for umpire in umpires}
        left = min((GRACE_SECONDS - used for used in away.values()), default=self._wait - self._waited)
        pause, began = min(max(left, 0.0), _LOOK_SECONDS), loop.time()
        back: asyncio.Future[Any] = asyncio.ensure_future(self.connection.ready.wait())
        await asyncio.wait({back, self._loss}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
        back.cancel()
        spent = min(loop.time() - began, pause)
        self._away = {umpire: used + spent for umpire, used in away.items()}
        self._waited += spent if self.wanted and not umpires else 0.0
        if self.connection.ready.is_set():
            return
        lost = [umpire for umpire, used in self._away.items() if used >= GRACE_SECONDS - _ROUNDING]
        for umpire in lost:
            sentence = f"It was away for {GRACE_SECONDS:g} seconds of this game."
            self._games_in_play.lose(umpire, self.connection.session, Fault.DISCONNECT, sentence)
        if lost:
            self._observer.changed()
            self._count()
        elif self._waited >= self._wait - _ROUNDING:
            self._expel(Loss(Fault.DISCONNECT, f"The games of one leg waited {self._wait:g} seconds for it."))

    def _count(self) -> None:
        """A loss that costs games; one outage counts once."""
        self._losses += not self._counted
        self._counted = True
        if self._losses > LOSSES_A_LEG:
            self._expel(Loss(Fault.DISCONNECT, f"It was lost {self._losses} times in one leg."))

    def _expel(self, loss: Loss) -> None:
        for umpire in self._games_in_play.umpires_of(self.connection.session):
            self._games_in_play.lose(umpire, self.connection.session, loss.fault, loss.sentence)
        self.connection.leave(wire.FAREWELL_REASON_WITHDRAWN, loss.sentence)
        self._give_up(loss.sentence)
