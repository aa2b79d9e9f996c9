"""A bot's connection, from its first stream to its farewell: one state machine.

Sans-I/O: the server hands in what has come and sends what is ready. Time is an argument, or a function that was given.
``ConnectionState``, ``Trigger`` and ``TRANSITIONS`` are the machine. ``BotConnection`` has the streams, Join, strays and Farewell,
and owns a ``TurnSession`` (``open_turns``): the turns of the bot and their clock.
"""

import asyncio
import enum
import hashlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError

from referee.net.open_turns import STARVED_MOST, PendingTurn, Timeout, TurnAnswer, TurnSession
from referee.protocol import wire
from referee.rules.conduct_clauses import STRAYS
from referee.sandbox.processor_time import UsageMeter
from referee.umpire.faults import Fault


class ConnectionState(enum.Enum):
    """What a bot's connection waits for. In ``JOINING``, ``REFUSED``, ``IDLE``, ``ASKED`` and ``LEAVING`` it has a stream."""

    WAITING = "waiting to join"
    """Nobody is there. The bot may dial in."""
    JOINING = "joining"
    """It has opened a stream, and its Join is still to come."""
    REFUSED = "refused"
    """It was told why it cannot join. Nothing more is read from this stream; it may open another."""
    IDLE = "idle"
    """It has joined, and holds no turn."""
    ASKED = "asked"
    """It has joined, and holds turns: its clock runs."""
    LOST = "lost"
    """Its stream has ended, by its doing or ours. What that costs is the supervisor's business; it may dial in again."""
    CONDEMNED = "condemned"
    """It has broken the protocol. Nothing is read, and no stream let in, until ``forgive``; a stream may still be there."""
    LEAVING = "leaving"
    """Farewell is said; the end of its stream is no fault any more."""
    GONE = "gone"
    """Farewell is said, and its stream has ended. Who dials in nevertheless is told so at once."""


class Trigger(enum.Enum):
    """What moves a connection from one state to the next."""

    CONNECT = "it opens a stream"
    JOIN = "its Join is accepted"
    REFUSE = "its Join is refused, or does not come"
    ASK = "turns go out"
    ANSWER = "none of its turns is open any more"
    END = "its stream ends"
    HANG_UP = "the referee ends its stream"
    CONDEMN = "it breaks the protocol"
    FORGIVE = "it may begin anew"
    LEAVE = "the referee says farewell"
    RETURN = "it is wanted again after its farewell"


def _transitions() -> Mapping[ConnectionState, Mapping[Trigger, ConnectionState]]:
    state, on = ConnectionState, Trigger
    return {
        state.WAITING: {
            on.CONNECT: state.JOINING,
            on.HANG_UP: state.WAITING,
            on.CONDEMN: state.CONDEMNED,
            on.FORGIVE: state.WAITING,
            on.LEAVE: state.LEAVING,
        },
        state.JOINING: {
            on.CONNECT: state.JOINING,
            on.JOIN: state.IDLE,
            on.REFUSE: state.REFUSED,
            on.END: state.LOST,
            on.HANG_UP: state.LOST,
            on.CONDEMN: state.CONDEMNED,
            on.LEAVE: state.LEAVING,
        },
        state.REFUSED: {
            on.CONNECT: state.JOINING,
            on.END: state.LOST,
            on.HANG_UP: state.LOST,
            on.CONDEMN: state.CONDEMNED,
            on.LEAVE: state.LEAVING,
        },
        state.IDLE: {
            on.ASK: state.ASKED,
            on.CONNECT: state.JOINING,
            on.END: state.LOST,
            on.HANG_UP: state.LOST,
            on.CONDEMN: state.CONDEMNED,
            on.LEAVE: state.LEAVING,
        },
        state.ASKED: {
            on.ANSWER: state.IDLE,
            on.CONNECT: state.JOINING,
            on.END: state.LOST,
            on.HANG_UP: state.LOST,
            on.CONDEMN: state.CONDEMNED,
            on.LEAVE: state.LEAVING,
        },
        state.LOST: {
            on.CONNECT: state.JOINING,
            on.HANG_UP: state.LOST,
            on.CONDEMN: state.CONDEMNED,
            on.FORGIVE: state.WAITING,
            on.LEAVE: state.LEAVING,
        },
        state.CONDEMNED: {
            on.END: state.CONDEMNED,
            on.HANG_UP: state.CONDEMNED,
            on.CONDEMN: state.CONDEMNED,
            on.FORGIVE: state.WAITING,
            on.LEAVE: state.LEAVING,
        },
        state.LEAVING: {
            on.END: state.GONE,
            on.HANG_UP: state.GONE,
            on.CONDEMN: state.LEAVING,
        },
        state.GONE: {
            on.HANG_UP: state.GONE,
            on.CONDEMN: state.GONE,
            on.FORGIVE: state.GONE,
            on.RETURN: state.WAITING,
        },
    }


TRANSITIONS: Final = _transitions()
"""The state that follows on each trigger; a trigger that is not there must not happen."""


class IllegalTransitionError(RuntimeError):
    """A connection was to do what its state does not allow: an error of the referee, never of a bot."""


PROTOCOL_MINOR = 0
MAX_MESSAGE_BYTES = 64 * 1024
START_SECONDS = 30.0
"""How long a bot may take to start and join, unless the league says otherwise."""
STARTS_MOST = 4
"""How many times that a start may take at most, however long the bot had to wait for a processor."""
REMOTE_LATENCY_US: Final = 500_000
"""What a bot that dials in from elsewhere is granted on top of every message: what the network may take."""
_STREAMS_A_GAME = 5
_UNREAD_US = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinTerms:
    """What a session is told when it joins, and what it must be able to play. Times are in microseconds."""

    name: str
    slot: int
    variants: tuple[str, ...]
    joined: wire.Joined
    move_us: int
    max_in_flight: int = 64
    latency_us: int = 0
    start_us: int = int(START_SECONDS * 1e6)


class BotStream:
    """One stream of a connection; the server says by ``cut`` and ``unread`` what it is on the wire.

    Nothing more is sent once it is ``over``. Until the connection has joined, ``opened_us`` is when it connected by this
    stream, or by one before that it did not join by, and ``starved_us`` how long it had waited for a processor until then.
    """

    def __init__(self) -> None:
        self.farewell: wire.Farewell | None = None
        self.over = False
        self.opened_us = self.starved_us = 0
        self._taken, self._unread_us, self._unread_starved_us = -1, 0, 0

    def wake(self) -> None:
        """Something may be ready for it: it is written when what is being done now is done."""

    def write(self) -> None:
        """Writes what is ready for it."""

    def cut(self) -> None:
        """Ends it at once."""

    def unread(self) -> int | None:
        """How many messages the bot has taken, if another waits for it to read; ``None`` if none does."""
        return None

    def opened(self, at_us: int, starved_us: int) -> None:
        """Its time to join begins."""
        self.opened_us, self.starved_us = at_us, starved_us

    def excuse(self, stall_us: int, now_us: int) -> None:
        """Takes a stall of the referee off its time to join."""
        self.opened_us = min(self.opened_us + stall_us, now_us)

    def close(self) -> None:
        """Nothing more is to be sent on this stream."""
        self.over = True
        self.wake()

    def dismiss(self, reason: wire.FarewellReason.ValueType, sentence: str) -> None:
        """Says farewell on this stream; nothing else is sent after it. Only the first farewell counts."""
        if self.farewell is None:
            self.farewell = wire.Farewell(reason=reason, sentence=sentence)
            self.wake()

    def lies_unread(self, passed_us: int, starved_us: int, patience_us: int) -> bool:
        """Whether a message has waited for the bot to read it for longer than that, after so much time more.

        ``starved_us`` is how long the bot has waited for a processor in all; that does not count, as far as it goes.
        """
        taken = self.unread()
        if taken is None or taken != self._taken:
            self.begin_reading(starved_us)
            return False
        self._unread_us += passed_us
        waited_us = starved_us - self._unread_starved_us
        late = self._unread_us > patience_us and (
            self._unread_us - waited_us > patience_us or self._unread_us > STARVED_MOST * patience_us
        )
        if late:
            self._unread_us = 0
        return late

    def begin_reading(self, starved_us: int) -> None:
        """The bot has read something, or nothing waits for it: its time to read begins anew."""
        taken = self.unread()
        self._taken, self._unread_us, self._unread_starved_us = -1 if taken is None else taken, 0, starved_us


class ConnectionObserver:
    """Is told what becomes of a connection: its supervisor, and the endpoint that it dials in at."""

    def stream_lost(self) -> None:
        """Its stream has ended before Farewell."""

    def stream_superseded(self) -> None:
        """A newer stream has taken the place of one that had joined."""

    def join_refused(self) -> None:
        """It cannot join; ``BotConnection.refusal`` says why."""

    def faulted(self, fault: Fault, sentence: str) -> None:
        """It has to go, for a fault outside any single decision."""

    def hung(self) -> None:
        """It was silent twice in a row."""

    def renewed(self) -> None:
        """A new process is about to be started: whatever the last one left behind is to go."""


class BotConnection:
    """One session slot of an entrant. It outlives streams and processes.

    ``state`` is where it stands, ``stream`` the newest stream that was let in and has not ended, ``ready`` is set while
    that has joined. ``refusal`` says why the last Join was refused. ``games`` counts the games that it was given.

    ``meter`` knows what its process uses, where that is on this machine, ``former`` what the one before used; ``overran``
    says when it last passed a limit of its resources, and how. ``stalled_us`` and ``starved_us`` sum up how long
    the referee stood still, and the bot waited in vain for a processor, since there is this connection.
    """

    def __init__(
        self, token: str, terms: JoinTerms, judge: Callable[[Sequence[TurnAnswer]], None], clock: Callable[[], int]
    ) -> None:
        """``judge`` is given the answers of each message, ``clock`` tells the time in microseconds.

        Whoever observes the connection is made after it, and calls ``observe``.
        """
        self.token, self.terms, self._judge, self._clock = token, terms, judge, clock
        self.state = ConnectionState.WAITING
        self.session = TurnSession(terms.move_us, terms.max_in_flight, terms.latency_us)
        self.stream: BotStream | None = None
        self.ready = asyncio.Event()
        self.refusal = ""
        self.streams = self.knocks = 0
        self.expired: set[str] = set()
        self.games_given = 0
        self.stateful = False
        self.meter: UsageMeter | None = None
        self.former: UsageMeter | None = None
        self.overran: tuple[int, Fault, str] | None = None
        self.stalled_us = self.starved_us = 0
        self.version = ""
        self._observers: list[ConnectionObserver] = []
        self._farewell = wire.Farewell()

    def observe(self, observer: ConnectionObserver) -> None:
        """From now on this observer is told what becomes of the connection, after those before it."""
        self._observers.append(observer)

    @property
    def leaving(self) -> bool:
        """Whether Farewell is said: then the end of its stream or process is no loss."""
        return self.state is ConnectionState.LEAVING or self.state is ConnectionState.GONE

    @property
    def token_digest(self) -> str:
        """What may be written to a log of the token."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:8]

    def _move(self, trigger: Trigger) -> None:
        """The next state; raises ``IllegalTransitionError``."""
        following = TRANSITIONS[self.state].get(trigger)
        if following is None:
            raise IllegalTransitionError(f"{self.terms.name} is {self.state.value}: {trigger.value} cannot be")
        self.state = following

    def _asked_or_idle(self) -> None:
        """Follows the turns of the session: it is asked as long as any is open."""
        if self.session.open:
            if self.state is ConnectionState.IDLE:
                self._move(Trigger.ASK)
        elif self.state is ConnectionState.ASKED:
            self._move(Trigger.ANSWER)

    # Streams.

    def connect(self, stream: BotStream) -> bool:
        """A new authenticated stream takes over; ``False`` if there have been too many of them."""
        if self.leaving:
            stream.dismiss(self._farewell.reason, self._farewell.sentence)
            return True
        self.streams += 1
        if self.state is ConnectionState.CONDEMNED or self.streams > _STREAMS_A_GAME * (1 + self.games_given):
            self._condemn(f"It opened {self.streams} streams; {_STREAMS_A_GAME} a game are enough.")
            return False
        stream.opened(self._clock(), self.starved_us)
        old, joined = self.stream, self.ready.is_set()
        self._move(Trigger.CONNECT)
        self.stream = stream
        self.ready.clear()
        if old is not None:
            if not joined:  # whoever never joins gains no time by opening one stream after another
                stream.opened(old.opened_us, old.starved_us)
            old.dismiss(wire.FAREWELL_REASON_SUPERSEDED, "A newer stream with the same token has taken over.")
            self.session.lost_stream(cautious=False)
            if joined:
                for observer in self._observers:
                    observer.stream_superseded()
        return True

    def disconnect(self, stream: BotStream) -> None:
        """A stream has ended, for whatever reason."""
        if stream is not self.stream:
            return
        self._move(Trigger.END)
        self.stream = None
        self.ready.clear()
        if not self.leaving:
            for observer in self._observers:
                observer.stream_lost()

    def hang_up(self) -> None:
        """Ends the stream from our side; its end is no loss any more."""
        self._move(Trigger.HANG_UP)
        stream, self.stream = self.stream, None
        self.ready.clear()
        if stream is not None and stream.farewell is None:
            stream.cut()

    # Processes, and games.

    def renew(self) -> None:
        """A new process is about to be started, with a token of its own.

        What the old one has still on its way in must neither take the new one's place nor be held against it.
        """
        self.hang_up()
        for observer in self._observers:
            observer.renewed()
        self.expired.add(self.token)
        self.token = secrets.token_urlsafe(24)
        self.refusal = ""
        self.forgive()

    def forgive(self) -> None:
        """A session that was over by its own fault may begin anew, with the same token; its stream was ended before."""
        self._move(Trigger.FORGIVE)
        self.streams = self.knocks = 0
        self.session.forget_strays()

    def begin_game(self) -> None:
        """It is given one more game."""
        self.games_given += 1

    def measure(self, meter: UsageMeter) -> None:
        """From now on another process is its own."""
        self.former, self.meter = self.meter, meter

    def passed_a_limit(self, fault: Fault, sentence: str) -> None:
        """Its process was ended for using too much."""
        self.overran = self._clock(), fault, sentence

    # Farewell.

    def leave(self, reason: wire.FarewellReason.ValueType, sentence: str) -> None:
        """Says farewell; from now on the end of the stream is no fault. Only the first farewell counts."""
        if self.leaving:
            return
        self._move(Trigger.LEAVE)
        self._farewell = wire.Farewell(reason=reason, sentence=sentence)
        if self.stream is not None:
            self.stream.dismiss(reason, sentence)
        else:
            self._move(Trigger.END)

    def come_again(self) -> None:
        """It is wanted once more after its farewell, on a stream that it is to open."""
        if self.leaving:
            self.hang_up()
            self._move(Trigger.RETURN)

    # Faults outside any single decision.

    def fault(self, fault: Fault, sentence: str) -> None:
        """It has to go, for this reason."""
        for observer in self._observers:
            observer.faulted(fault, sentence)

    def hung(self) -> None:
        """It was silent twice in a row."""
        for observer in self._observers:
            observer.hung()

    def knock(self, what: str) -> None:
        """Something at the bot's own endpoint that no session comes from: it is overlooked as strays are."""
        self.knocks += 1
        if self.knocks > STRAYS:
            self._condemn(f"AF-PROTO-005: it made {self.knocks} {what}.")

    def flooded(self, what: str) -> None:
        """It has sent more of something than any bot needs to."""
        self._condemn(f"AF-PROTO-004: it flooded its connection with {what}.")

    def spoiled(self) -> None:
        """The referee has failed with this connection's stream: it has to dial in again, and is not to blame."""
        if not self.leaving:
            self.fault(Fault.NO_CONTEST, "Its stream was ended by an error of the referee.")

    def _condemn(self, sentence: str) -> None:
        """The session is over by its own fault; whatever else it sends is not read."""
        before = self.state
        self._move(Trigger.CONDEMN)
        if before is not ConnectionState.CONDEMNED:
            self.fault(Fault.PROTOCOL, sentence)

    # Clocks.

    def excuse(self, stall_us: int, now_us: int) -> None:
        """Takes a stall of the referee off every clock of this connection."""
        self.stalled_us += stall_us
        self.session.excuse(stall_us, now_us)
        if self.stream is not None:
            self.stream.excuse(stall_us, now_us)

    def starve(self, waited_us: int, now_us: int) -> None:
        """Takes time in which the bot waited in vain for a processor off its clocks, as far as that goes."""
        self.starved_us += waited_us
        self.session.starved(waited_us, now_us)

    def check_join(self, now_us: int) -> None:
        """Refuses a stream that has not joined in time; a bot that waited for a processor has more of it."""
        stream = self.stream
        if stream is None or self.state is not ConnectionState.JOINING:
            return
        open_us, limit_us = now_us - stream.opened_us, self.terms.start_us
        starved_us = self.starved_us - stream.starved_us
        if open_us > limit_us and (open_us - starved_us > limit_us or open_us > STARTS_MOST * limit_us):
            self._refuse(stream, f"It did not join within {limit_us / 1e6:g} seconds of opening a stream.")

    def check_reading(self, passed_us: int) -> None:
        """A bot that is asked nothing, and leaves lie what it is told, hangs as one that does not answer.

        Where turns are open the move clock decides. ``passed_us`` have passed since the last look, without time in which
        the referee itself did not look.
        """
        stream = self.stream
        if stream is None:
            return
        if self.session.open:
            stream.begin_reading(self.starved_us)
            return
        patience_us = max(_UNREAD_US, 2 * self.session.move_us) + self.session.latency_us
        if stream.lies_unread(passed_us, self.starved_us, patience_us):
            seconds = patience_us / 1e6
            self.fault(Fault.CRASH, f"It did not read what it was sent for {seconds:.0f} seconds and was ended.")

    # Messages out.

    def greeting(self) -> wire.Joined:
        """What the bot is told when it has joined."""
        joined = wire.Joined()
        joined.CopyFrom(self.terms.joined)
        joined.protocol_minor = PROTOCOL_MINOR
        joined.name, joined.slot = self.terms.name, self.terms.slot
        joined.max_in_flight = self.session.max_in_flight
        joined.max_message_bytes = MAX_MESSAGE_BYTES
        return joined

    def flush(self, now_us: int) -> wire.PlayResponse | None:
        """The next message of the session, or ``None``; with turns in it, the clock runs."""
        response = self.session.flush(now_us)
        self._asked_or_idle()
        return response

    def silent(self, now_us: int) -> Timeout | None:
        """The late turn if the deadline has passed; it is closed for the bot."""
        silence = self.session.silent(now_us)
        self._asked_or_idle()
        return silence

    def give_up_turns(self) -> list[PendingTurn]:
        """The turns that were open, which are not waited for any more."""
        turns = self.session.give_up_turns()
        self._asked_or_idle()
        return turns

    # Messages in.

    def receive(self, stream: BotStream, data: bytes) -> None:
        """One message of the bot, as bytes. What comes on an old stream, or in a state in which none is read, is dropped."""
        state = self.state
        joined = state is ConnectionState.ASKED or state is ConnectionState.IDLE
        if stream is not self.stream or not (joined or state is ConnectionState.JOINING):
            return
        try:
            request = wire.PlayRequest.FromString(data)
        except DecodeError:
            self._stray(stream)
            return
        if not joined:
            self._join(stream, request)
            return
        if request.HasField("join"):
            self._stray(stream)
        if request.moves:
            answers = self.session.heard(request.moves, self._clock())
            self._asked_or_idle()
            self._judge(answers)
        elif not request.HasField("join"):
            self._stray(stream)
        self._check_strays()

    def _stray(self, stream: BotStream) -> None:
        self.session.stray()
        if self.state is ConnectionState.JOINING:
            self._refuse(
                stream,
                "Its first message was no Join (AF-PROTO-005).",
                "The first message has to be a PlayRequest with a Join.",
            )
        self._check_strays()

    def _check_strays(self) -> None:
        if self.session.strays > STRAYS:
            self._condemn(f"AF-PROTO-004: it sent {self.session.strays} messages or moves that answer nothing.")

    def _join(self, stream: BotStream, request: wire.PlayRequest) -> None:
        if not request.HasField("join"):
            self._stray(stream)
            return
        join = request.join
        lacking = [name for name in self.terms.variants if join.variants and name not in join.variants]
        if lacking:
            sentence = f"This league plays {lacking[0]}, which your Join does not name."
            self._refuse(stream, f"It plays {_listed(join.variants)}, not {lacking[0]}.", sentence)
            return
        wanted = join.max_in_flight if join.HasField("max_in_flight") else 1
        self._move(Trigger.JOIN)
        self.session.join(
            max(1, min(wanted, self.terms.max_in_flight)), notices=join.wants_notices, receipts=join.wants_receipts
        )
        self._asked_or_idle()
        self.stateful, self.version = join.stateful, _clean(join.version)
        stream.wake()
        self.ready.set()

    def _refuse(self, stream: BotStream, refusal: str, sentence: str = "") -> None:
        self._move(Trigger.REFUSE)
        self.refusal = refusal
        stream.dismiss(wire.FAREWELL_REASON_REFUSED, sentence or refusal)
        for observer in self._observers:
            observer.join_refused()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_clean(name) for name in names[:5])


def _clean(text: str) -> str:
    """A bot's own words, harmless and short enough for a log line."""
    return "".join(char for char in text[:40] if char.isprintable() and char.isascii())
