"""The bot under test: how it joins, is lost and is seen off; its server notes what is said both ways, and may perturb it."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import DecodeError

from referee.check.perturbations import Perturbation, perturb_joined
from referee.check.results import about_bytes
from referee.net.connection import BotConnection, BotStream, JoinTerms
from referee.net.games_in_play import GamesInPlay
from referee.net.http2 import RpcCall
from referee.net.open_turns import TurnAnswer, TurnSession
from referee.net.server import GameServer, monotonic_us
from referee.net.supervisor import GRACE_SECONDS, LocalSupervisor, Loss, Supervisor, SupervisorObserver
from referee.protocol import wire
from referee.sandbox.exit_status import ExitStatus
from referee.sandbox.launch import BotProcess
from referee.umpire.faults import Fault

NO_ANSWER: Final = Loss(Fault.TIMEOUT_MOVE, "It did not answer in time.")

PATIENCE: Final = 2000
"""Strays in all, after which the session is ended as it would be in play."""

TALK: Final = 40
"""Messages that are kept of the talk, for a report on a bot that cannot be talked to."""

_SHOWN_BYTES: Final = 200
_REMEMBERED: Final = 4096


@dataclass(slots=True)
class Transcript:
    """The last messages both ways, as bytes, with who said it and when (microseconds)."""

    said: deque[tuple[str, int, bytes]] = field(default_factory=lambda: deque(maxlen=TALK))

    def note(self, who: str, data: bytes) -> None:
        """Keeps one message."""
        self.said.append((who, monotonic_us(), data))

    def to_json(self) -> list[dict[str, Any]]:
        """The messages as JSON values; what cannot be read is shown in hexadecimal."""
        start = self.said[0][1] if self.said else 0
        return [{"from": who, "ms": (at - start) // 1000, **_readable(who, data)} for who, at, data in self.said]


def _readable(who: str, data: bytes) -> dict[str, Any]:
    kind: Any = wire.PlayResponse if who == "referee" else wire.PlayRequest
    try:
        message = kind.FromString(data)
        if who == "referee":
            for rules in message.joined.rule_sets:
                rules.ClearField("house_rules")  # they say again, at length, what the fields say
        return {"message": MessageToDict(message, preserving_proto_field_name=True)}
    except (DecodeError, ValueError):
        return {"bytes": data[:_SHOWN_BYTES].hex(), "length": len(data)}


class BotObserver:
    """Is told what the bot under test says, what it is sent, and that it was lost."""

    def joining(self, join: wire.Join) -> JoinTerms | None:  # noqa: ARG002
        """It has sent a Join; the terms for it, ``None`` for those that it has."""
        return None

    def message(self, faults: list[tuple[str, str]]) -> None:
        """It has sent a message, with these faults: rule ids and sentences."""

    def sent(self, turns: int) -> None:
        """It was sent a message, after which it holds so many turns."""

    def lost(self, loss: Loss) -> None:
        """It has gone, or was ended."""


class CheckedConnection(BotConnection):
    """The connection under test: it keeps a transcript, and tells its observer of every message."""

    def __init__(
        self,
        token: str,
        terms: JoinTerms,
        judge: Callable[[Sequence[TurnAnswer]], None],
        observer: BotObserver,
    ) -> None:
        """``judge`` is given the answers of each message."""
        super().__init__(token, terms, self._noted, monotonic_us)
        self._judge_answers = judge
        self._answered: deque[int] = deque(maxlen=_REMEMBERED)
        self.talk = Transcript()
        self.joined_with: wire.Join | None = None
        self.perturbs_joined = False
        self._strays = 0
        self._bot_observer = observer

    def connect(self, stream: BotStream) -> bool:
        """A new stream takes over; beside one that is still there, a bot on this machine has no reason to open it."""
        second = self.stream is not None and not self.leaving
        taken = super().connect(stream)
        if second and self.terms.latency_us == 0:
            self._bot_observer.message(
                [("AF-LIFE-002", "It opened a second stream beside the first, instead of keeping that.")]
            )
        return taken

    def receive(self, stream: BotStream, data: bytes) -> None:
        """One message of the bot, as bytes."""
        if stream is not self.stream:
            return
        self.talk.note("bot", data)
        joining = not self.ready.is_set()
        before, session = self.session.strays, self.session
        if joining:
            self._peek(data)
        super().receive(stream, data)
        strays = 0 if joining else session.strays - before
        self._strays += strays
        if self._strays < PATIENCE:
            session.forget_strays()  # each is told at once; a flood of them still ends the session
        if stream.farewell is None or not joining:
            self._bot_observer.message(_faults_of(data, strays, self._answered) if strays > 0 else [])
        if joining and self.refusal:
            self.refusal = f"{self.refusal} {_about_join(data)}".strip()

    def _noted(self, answers: Sequence[TurnAnswer]) -> None:
        self._answered.extend(answer.pending.turn.turn_id for answer in answers)
        self._judge_answers(answers)

    def _peek(self, data: bytes) -> None:
        try:
            request = wire.PlayRequest.FromString(data)
        except DecodeError:
            return
        if request.HasField("join"):
            self.joined_with = request.join
            self.terms = self._bot_observer.joining(request.join) or self.terms

    def greeting(self) -> wire.Joined:
        """What the bot is told when it has joined."""
        joined = super().greeting()
        if self.perturbs_joined:
            perturb_joined(joined)
        self.talk.note("referee", wire.PlayResponse(joined=joined).SerializeToString())
        return joined

    def fresh(self) -> None:
        """Before the bot is started again: a new session, and no farewell any more."""
        self.come_again()
        self.begin_game()
        self.talk.said.clear()


def _about_join(data: bytes) -> str:
    """What may be wrong with a first message that was refused."""
    try:
        request = wire.PlayRequest.FromString(data)
    except DecodeError:
        return about_bytes(data)
    return "" if request.HasField("join") else "It sent moves before it joined." if request.moves else about_bytes(data)


def _faults_of(data: bytes, strays: int, answered: Container[int]) -> list[tuple[str, str]]:
    try:
        request = wire.PlayRequest.FromString(data)
    except DecodeError:
        return [("AF-PROTO-005", f"It sent {len(data)} bytes that are no PlayRequest. {about_bytes(data)}".strip())]
    faults = []
    if request.HasField("join"):
        faults.append(("AF-PROTO-005", "It sent a second Join."))
        strays -= 1
    elif not request.moves:
        return [("AF-PROTO-005", f"It sent an empty message. {about_bytes(data)}".strip())]
    if strays > 0:
        ids = [move.turn_id for move in request.moves]
        doubled = len(ids) - len(set(ids)) or sum(one in answered for one in ids) >= strays
        what = "answered a turn twice" if doubled else "answered turns that were not asked, or not any more"
        faults.append(("AF-PROTO-004", f"It {what} ({strays} in one message)."))
    return faults


def _about_token(shown: str | None, owner: BotConnection | None) -> str:
    if shown is None:
        return 'No token: the call has no metadata "authorization"; send "Bearer " and the content of REFEREE_TOKEN.'
    token = shown.removeprefix("Bearer ")
    if token == shown or not token.strip():
        return 'No token: the metadata "authorization" has to be "Bearer " and the content of REFEREE_TOKEN.'
    if owner is not None and token in owner.expired:
        return "Wrong token: it showed that of an earlier start; there is a new one in REFEREE_TOKEN at every start."
    return "Wrong token: it did not show the one in REFEREE_TOKEN."


class CheckServer(GameServer):
    """The host of a check: it notes what it sends, and carries out the perturbations that wait for a turn."""

    def __init__(self, games_in_play: GamesInPlay, subject: CheckedConnection, observer: BotObserver) -> None:
        """What is sent is noted in the transcript of ``subject``."""
        super().__init__(games_in_play)
        self.perturbations: dict[int, Perturbation] = {}
        self.wrong_token = ""
        self._subject, self._bot_observer = subject, observer

    def authenticate(self, call: RpcCall, owner: BotConnection | None) -> BotConnection | None:
        """The connection whose token the call shows; what is wrong with a token that nobody has is kept for people."""
        connection = super().authenticate(call, owner)
        if connection is None and not self.wrong_token:
            self.wrong_token = _about_token(call.metadata.get("authorization"), owner)
        return connection

    def next_message(self, connection: BotConnection, stream: BotStream) -> bytes | None:
        """What a stream has to send now, perturbed where that was asked for."""
        data = super().next_message(connection, stream)
        if data is None:
            return None
        session: TurnSession = connection.session
        if self.perturbations and stream.farewell is None:
            data = self._perturbed(data)
        self._bot_observer.sent(len(session.open))
        self._subject.talk.note("referee", data)
        return data

    def _perturbed(self, data: bytes) -> bytes:
        response = wire.PlayResponse.FromString(data)
        for turn in list(response.turns):
            perturbation = self.perturbations.pop(turn.turn_id, None)
            if perturbation is not None:
                perturbation.change(response, turn)
        return response.SerializeToString()


PARTING_SECONDS = 2.0
"""How long a bot may take to leave after Farewell, once it has nothing to think about any more."""


class CheckSupervisor(Supervisor, ABC):
    """Keeps the bot of a check present. ``local``: its process is ours. Its observer is told when the bot has gone.

    ``stumble`` says why the last start had to be made a second time; empty if it had not.
    """

    local: ClassVar[bool]
    stumble = ""
    _bot_observer: BotObserver
    _watching: asyncio.Task[None] | None = None

    @abstractmethod
    async def begin(self) -> str:
        """Has the bot join; returns what went wrong, or an empty text."""

    def hung(self) -> None:
        """It is late here, whoever is at fault: what that means is decided elsewhere."""
        self.lost(NO_ANSWER)

    @abstractmethod
    async def see_off(self, reason: wire.FarewellReason.ValueType, sentence: str, seconds: float) -> ExitStatus | None:
        """Says farewell and waits so long; how the process ended, ``None`` if it did not end by itself."""

    @abstractmethod
    async def close(self) -> None:
        """Ends whatever is left of the bot."""

    def _watch(self) -> None:
        """Tells the observer as soon as the bot is lost."""
        self._watching = asyncio.create_task(self._tell_loss())

    async def _tell_loss(self) -> None:
        loss = await self._until_lost()
        if not self.connection.leaving:
            self.connection.hang_up()
            self._bot_observer.lost(loss)

    async def _until_lost(self) -> Loss:
        return await self._loss

    async def _watch_no_more(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)


class LocalCheckSupervisor(LocalSupervisor, CheckSupervisor):
    """For a bot whose process we start. Once not to join may be the machine's doing: then it is started once more."""

    local = True

    def __init__(
        self,
        connection: BotConnection,
        games_in_play: GamesInPlay,
        observer: BotObserver,
        start: Callable[[], BotProcess],
        start_seconds: float,
    ) -> None:
        """``start`` launches the process, which has ``start_seconds`` to join."""
        super().__init__(connection, games_in_play, SupervisorObserver(), start, start_seconds)
        self._bot_observer = observer

    async def begin(self) -> str:
        """Starts the process and waits for its Join, twice if need be: a Join that was refused is no accident."""
        self.stumble, failure = "", await self._launch()
        if failure and not self.connection.refusal:
            self.stumble, failure = failure, await self._launch()
        if not failure:
            self._watch()
        return failure

    async def see_off(self, reason: wire.FarewellReason.ValueType, sentence: str, seconds: float) -> ExitStatus | None:
        """Says farewell and gives the process time to leave; time without a processor does not count."""
        await self._watch_no_more()
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
        await self._watch_no_more()
        await self.end()


class RemoteCheckSupervisor(CheckSupervisor):
    """For a bot that dials in: nobody can start it again."""

    local = False

    def __init__(
        self, connection: BotConnection, games_in_play: GamesInPlay, observer: BotObserver, wait_seconds: float
    ) -> None:
        """``wait_seconds`` is how long it may take to dial in."""
        super().__init__(connection, games_in_play, SupervisorObserver())
        self._bot_observer = observer
        self._wait = wait_seconds

    async def begin(self) -> str:
        """Waits for the bot; once it was there, only as long as a lost line may take."""
        self._renew()
        wait, self._wait = self._wait, min(self._wait, GRACE_SECONDS)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.connection.ready.wait(), wait)
        if not self.connection.ready.is_set():
            return f"It did not dial in within {wait:.0f} seconds. {self.connection.refusal}".strip()
        self._watch()
        return ""

    async def see_off(self, reason: wire.FarewellReason.ValueType, sentence: str, seconds: float) -> ExitStatus | None:
        """Says farewell; how its process ends is not ours to see."""
        await self._watch_no_more()
        self.connection.leave(reason, sentence)
        for _ in range(int(seconds * 10)):
            if self.connection.stream is None:
                break
            await asyncio.sleep(0.1)
        return None

    async def close(self) -> None:
        """Ends its stream."""
        await self._watch_no_more()
        self.connection.hang_up()
