"""A player that dials in: its session, its stream, and what is made of every message it sends."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from referee.net.session import TurnAnswer, TurnSession
from referee.protocol import wire
from referee.rules.conduct import STRAYS
from referee.sandbox.usage import UsageMeter
from referee.umpire.faults import Fault

PROTOCOL_MINOR = 0
MAX_MESSAGE_BYTES = 64 * 1024
START_SECONDS = 30.0
"""How long a bot may take to start and join, unless the league says otherwise."""
STARTS_MOST = 4
"""How many times that a start may take at most, however long the bot had to wait for a processor."""
_STREAMS_A_GAME = 5


@dataclass(frozen=True, slots=True)
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
    """One connection of a connection. ``wake`` tells its writer that something may be ready, ``cut`` ends it at once.

    ``opened_us`` is when the connection connected by it, or by one before that it did not join by; ``starved_us`` how long it
    had waited for a processor until then; once it is ``over``, its writer comes to its end.

    ``unread`` tells how many messages the bot has taken, if another waits for it to read, and ``None`` if none does.
    ``taken`` is what it told last, ``unread_us`` for how long it has told the same, and ``unread_starved_us`` how long
    the connection had waited for a processor when that began.
    """

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self.cut: Callable[[], object] = lambda: None
        self.farewell: wire.Farewell | None = None
        self.opened_us = self.starved_us = 0
        self.over = False
        self.unread: Callable[[], int | None] = lambda: None
        self.taken, self.unread_us, self.unread_starved_us = -1, 0, 0

    def close(self) -> None:
        """Nothing more is to be sent on this stream."""
        self.over = True
        self.wake.set()

    def dismiss(self, reason: wire.FarewellReason.ValueType, sentence: str) -> None:
        """Says farewell on this stream; nothing else is sent after it."""
        if self.farewell is None:
            self.farewell = wire.Farewell(reason=reason, sentence=sentence)
            self.wake.set()


class BotConnection:
    """One session slot of an entrant. It outlives streams and processes; ``on_loss`` is told when a stream ends early.

    ``meter`` knows what its process uses, where that is on this machine, ``former`` what the one before used; ``overran``
    says when it last passed a limit of its resources, and how. ``stalled_us`` and ``starved_us`` sum up how long
    the referee stood still, and the bot waited in vain for a processor, since there is this connection.

    ``ready`` is set while a joined stream is there. ``on_fault`` is told of faults that end the session, ``on_refusal``
    of a Join that was refused (``refusal`` says why), ``on_takeover`` of a stream that takes the place of a joined one,
    ``on_renew`` that whatever the last process left is to go.
    """

    def __init__(
        self, token: str, terms: JoinTerms, judge: Callable[[Sequence[TurnAnswer]], None], clock: Callable[[], int]
    ) -> None:
        """``judge`` is given the answers of each message, ``clock`` tells the time in microseconds."""
        self.token, self.terms, self._judge, self._clock = token, terms, judge, clock
        self.session = TurnSession(terms.move_us, terms.max_in_flight, terms.latency_us)
        self.stream: BotStream | None = None
        self.ready = asyncio.Event()
        self.refusal = ""
        self.streams = self.knocks = 0
        self.expired: set[str] = set()
        self.games = 0
        self.leaving = self.condemned = False
        self.stateful = False
        self.meter: UsageMeter | None = None
        self.former: UsageMeter | None = None
        self.overran: tuple[int, Fault, str] | None = None
        self.stalled_us = self.starved_us = 0
        self.version = ""
        self.on_loss: Callable[[], None] = lambda: None
        self.on_fault: Callable[[Fault, str], None] = lambda _fault, _sentence: None
        self.on_refusal: Callable[[], None] = lambda: None
        self.on_takeover: Callable[[], None] = lambda: None
        self.on_renew: Callable[[], None] = lambda: None
        self._farewell = wire.Farewell()

    @property
    def token_digest(self) -> str:
        """What may be written to a log of the token."""
        return hashlib.sha256(self.token.encode()).hexdigest()[:8]

    def connect(self, stream: BotStream) -> bool:
        """A new authenticated stream takes over; ``False`` if there have been too many of them."""
        if self.leaving:
            stream.dismiss(self._farewell.reason, self._farewell.sentence)
            return True
        self.streams += 1
        if self.condemned or self.streams > _STREAMS_A_GAME * (1 + self.games):
            self._condemn(f"It opened {self.streams} streams; {_STREAMS_A_GAME} a game are enough.")
            return False
        stream.opened_us, stream.starved_us = self._clock(), self.starved_us
        if self.stream is not None:
            old, self.stream = self.stream, None
            joined = self.ready.is_set()
            if not joined:  # whoever never joins gains no time by opening one stream after another
                stream.opened_us, stream.starved_us = old.opened_us, old.starved_us
            self.ready.clear()
            old.dismiss(wire.FAREWELL_REASON_SUPERSEDED, "A newer stream with the same token has taken over.")
            self.session.lost_stream(cautious=False)
            if joined:
                self.on_takeover()
        self.stream = stream
        return True

    def renew(self) -> None:
        """A new process is about to be started, with a token of its own.

        What the old one has still on its way in must neither take the new one's place nor be held against it.
        """
        self.hang_up()
        self.on_renew()
        self.expired.add(self.token)
        self.token = secrets.token_urlsafe(24)
        self.refusal = ""
        self.forgive()

    def forgive(self) -> None:
        """A session that was over by its own fault may begin anew, with the same token."""
        self.condemned = False
        self.streams = self.knocks = self.session.strays = 0

    def hang_up(self) -> None:
        """Ends the stream from our side; its end is no loss any more."""
        stream, self.stream = self.stream, None
        self.ready.clear()
        if stream is not None and stream.farewell is None:
            stream.cut()

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
            self.on_fault(Fault.NO_CONTEST, "Its stream was ended by an error of the referee.")

    def excuse(self, stall_us: int, now_us: int) -> None:
        """Takes a stall of the referee off every clock of this connection."""
        self.stalled_us += stall_us
        self.session.excuse(stall_us, now_us)
        if self.stream is not None:
            self.stream.opened_us = min(self.stream.opened_us + stall_us, now_us)

    def starve(self, waited_us: int, now_us: int) -> None:
        """Takes time in which the bot waited in vain for a processor off its clocks, as far as that goes."""
        self.starved_us += waited_us
        self.session.starved(waited_us, now_us)

    def measure(self, meter: UsageMeter) -> None:
        """From now on another process is its own."""
        self.former, self.meter = self.meter, meter

    def passed_a_limit(self, fault: Fault, sentence: str) -> None:
        """Its process was ended for using too much."""
        self.overran = self._clock(), fault, sentence

    def check_join(self, now_us: int) -> None:
        """Refuses a stream that has not joined in time; a bot that waited for a processor has more of it."""
        stream = self.stream
        if stream is None or self.ready.is_set() or stream.farewell is not None:
            return
        open_us, limit_us = now_us - stream.opened_us, self.terms.start_us
        starved_us = self.starved_us - stream.starved_us
        if open_us > limit_us and (open_us - starved_us > limit_us or open_us > STARTS_MOST * limit_us):
            self._refuse(stream, f"It did not join within {limit_us / 1e6:g} seconds of opening a stream.")

    def _refuse(self, stream: BotStream, refusal: str, sentence: str = "") -> None:
        self.refusal = refusal
        stream.dismiss(wire.FAREWELL_REASON_REFUSED, sentence or refusal)
        self.on_refusal()

    def _condemn(self, sentence: str) -> None:
        """The session is over by its own fault; whatever else it sends is not read."""
        if not self.condemned:
            self.condemned = True
            self.on_fault(Fault.PROTOCOL, sentence)

    def disconnect(self, stream: BotStream) -> None:
        """A stream has ended, for whatever reason."""
        if stream is not self.stream:
            return
        self.stream = None
        self.ready.clear()
        if not self.leaving:
            self.on_loss()

    def receive(self, stream: BotStream, data: bytes) -> None:
        """One message of the bot, as bytes."""
        if stream is not self.stream or stream.farewell is not None or self.condemned:
            return
        try:
            request = wire.PlayRequest.FromString(data)
        except DecodeError:
            self._stray(stream)
            return
        if not self.ready.is_set():
            self._join(stream, request)
            return
        if request.HasField("join"):
            self._stray(stream)
        if request.moves:
            answers = self.session.heard(request.moves, self._clock())
            self._judge(answers)
        elif not request.HasField("join"):
            self._stray(stream)
        self._check_strays()

    def _stray(self, stream: BotStream) -> None:
        self.session.strays += 1
        if not self.ready.is_set():
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
        self.session.max_in_flight = max(1, min(wanted, self.terms.max_in_flight))
        self.session.wants_notices, self.session.wants_receipts = join.wants_notices, join.wants_receipts
        self.stateful, self.version = join.stateful, _clean(join.version)
        stream.wake.set()
        self.ready.set()

    def greeting(self) -> wire.Joined:
        """What the bot is told when it has joined."""
        joined = wire.Joined()
        joined.CopyFrom(self.terms.joined)
        joined.protocol_minor = PROTOCOL_MINOR
        joined.name, joined.slot = self.terms.name, self.terms.slot
        joined.max_in_flight = self.session.max_in_flight
        joined.max_message_bytes = MAX_MESSAGE_BYTES
        return joined

    def leave(self, reason: wire.FarewellReason.ValueType, sentence: str) -> None:
        """Says farewell; from now on the end of the stream is no fault. Only the first farewell counts."""
        if self.leaving:
            return
        self.leaving = True
        self._farewell = wire.Farewell(reason=reason, sentence=sentence)
        if self.stream is not None:
            self.stream.dismiss(reason, sentence)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(_clean(name) for name in names[:5])


def _clean(text: str) -> str:
    """A bot's own words, harmless and short enough for a log line."""
    return "".join(char for char in text[:40] if char.isprintable() and char.isascii())
