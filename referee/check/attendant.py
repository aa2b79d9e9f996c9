"""Has the bot under test join, notices how it is lost, and sees it off.

What a loss means is decided elsewhere: an attendant only tells of it. It stands on the supervisors of a league, so that a
bot is started, watched and ended here exactly as it is there; but twice, not three times, where it does not join.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Protocol

from referee.net.connection import BotConnection
from referee.net.dispatcher import Dispatcher
from referee.net.supervisor import GRACE_SECONDS, LocalSupervisor, Loss, Supervisor
from referee.protocol import wire
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import BotProcess

PARTING_SECONDS = 2.0
"""How long a bot may take to leave after Farewell, once it has nothing to think about any more."""


class Attendant(Protocol):
    """Keeps the bot of a check present. ``local``: its process is ours; ``on_loss`` is told when it has gone.

    ``stumble`` says why the last start had to be made a second time; empty if it had not.
    """

    local: bool
    stumble: str
    on_loss: Callable[[Loss], None]

    async def begin(self) -> str:
        """Has the bot join; returns what went wrong, or an empty text."""

    def lost(self, loss: Loss) -> None:
        """The bot has to go, for this reason; ``on_loss`` is told when it has."""

    async def see_off(self, reason: wire.FarewellReason.ValueType, sentence: str, seconds: float) -> ExitStatus | None:
        """Says farewell and waits so long; how the process ended, ``None`` if it did not end by itself."""

    async def close(self) -> None:
        """Ends whatever is left of the bot."""


class LocalAttendant(LocalSupervisor):
    """For a bot whose process we start. Once not to join may be the machine's doing: then it is started once more."""

    local = True

    def __init__(
        self, connection: BotConnection, dispatcher: Dispatcher, start: Callable[[], BotProcess], start_seconds: float
    ) -> None:
        """``start`` launches the process, which has ``start_seconds`` to join."""
        super().__init__(connection, dispatcher, lambda _fault, _sentence: None, start, start_seconds)
        self.on_loss: Callable[[Loss], None] = lambda _loss: None
        self._watching: asyncio.Task[None] | None = None
        self.stumble = ""

    async def begin(self) -> str:
        """Starts the process and waits for its Join, twice if need be: a Join that was refused is no accident."""
        self.stumble, failure = "", await self._launch()
        if failure and not self.connection.refusal:
            self.stumble, failure = failure, await self._launch()
        if not failure:
            self._watching = asyncio.create_task(self._watch())
        return failure

    async def _watch(self) -> None:
        loss = await self._until_lost()
        if not self.connection.leaving:
            self.connection.hang_up()
            self.on_loss(loss)

    async def see_off(self, reason: wire.FarewellReason.ValueType, sentence: str, seconds: float) -> ExitStatus | None:
        """Says farewell and gives the process time to leave; time without a processor does not count."""
        await _stop(self._watching)
        self.connection.leave(reason, sentence)
        if self.process is None:
            return None
        ended: asyncio.Future[ExitStatus] = asyncio.ensure_future(self.process.exited())
        try:
            done, _ = await self._within_its_time({ended}, seconds)
            return ended.result() if done else None
        finally:
            ended.cancel()
            await self.process.kill()

    async def close(self) -> None:
        """Ends the process and all that it started."""
        await _stop(self._watching)
        await self.end()


class RemoteAttendant(Supervisor):
    """For a bot that dials in: nobody can start it again."""

    local = False

    def __init__(self, connection: BotConnection, dispatcher: Dispatcher, wait_seconds: float) -> None:
        """``wait_seconds`` is how long it may take to dial in."""
        super().__init__(connection, dispatcher, lambda _fault, _sentence: None)
        self.on_loss: Callable[[Loss], None] = lambda _loss: None
        self._wait = wait_seconds
        self.stumble = ""
        self._watching: asyncio.Task[None] | None = None

    async def begin(self) -> str:
        """Waits for the bot; once it was there, only as long as a lost line may take."""
        self._renew()
        wait, self._wait = self._wait, min(self._wait, GRACE_SECONDS)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.connection.ready.wait(), wait)
        if not self.connection.ready.is_set():
            return f"It did not dial in within {wait:.0f} seconds. {self.connection.refusal}".strip()
        self._watching = asyncio.create_task(self._watch())
        return ""

    async def _watch(self) -> None:
        loss = await self._loss
        if not self.connection.leaving:
            self.connection.hang_up()
            self.on_loss(loss)

    async def see_off(self, reason: wire.FarewellReason.ValueType, sentence: str, seconds: float) -> ExitStatus | None:
        """Says farewell; how its process ends is not ours to see."""
        await _stop(self._watching)
        self.connection.leave(reason, sentence)
        for _ in range(int(seconds * 10)):
            if self.connection.stream is None:
                break
            await asyncio.sleep(0.1)
        return None

    async def close(self) -> None:
        """Ends its stream."""
        await _stop(self._watching)
        self.connection.hang_up()


async def _stop(task: "asyncio.Task[None] | None") -> None:
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
