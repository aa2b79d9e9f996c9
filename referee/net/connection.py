"""A bot's connection, from its first stream to its farewell: one state machine, and the clock of its moves.

Sans-I/O: the server hands in what has come and sends what is ready. Time is an argument, or a function that was given.
``ConnectionState``, ``Trigger`` and ``TRANSITIONS`` are the machine. ``TurnSession`` are the turns of a bot and their clock;
``BotConnection`` owns one, and is all the rest: streams, Join, strays, Farewell.
"""

import asyncio
import enum
import hashlib
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import DecodeError

from referee.protocol import wire
from referee.protocol.translate import Malformed, add_turn, read_move
from referee.rules import Action
from referee.rules.conduct_clauses import STRAYS
from referee.sandbox.processor_time import UsageMeter
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn


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


# The turns of a bot, and their clock.

STARVED_MOST = 4
"""How many times its time a decision may take at most, however long the bot had to wait for a processor."""


UNKNOWN_US: Final = 60_000_000
"""How long a bot takes that has not answered yet, for all that is known."""


@dataclass(slots=True)
class PendingTurn:
    """A turn of one game that this session has to answer. (Read only; not frozen, for one is made for every turn.)"""

    umpire: Umpire
    turn: Turn


@dataclass(slots=True)
class TurnAnswer:
    """A judgeable answer: to which turn, the action or what is malformed, and the time charged for it. (Read only.)"""

    pending: PendingTurn
    action: Action | Malformed
    raw: bytes
    charged_us: int


@dataclass(frozen=True, slots=True)
class Timeout:
    """The oldest open turn is late; ``hung`` after the second silence in a row.

    ``stalled_us`` is the longest single stall of the referee while the bot was silent; it is not charged.
    """

    pending: PendingTurn
    charged_us: int
    hung: bool
    stalled_us: int = 0


class TurnSession:
    """The turns of one bot process or remote bot: out in batches, moves in, and the serial-server clock.

    A bot is a serial server: however many turns it holds, it may be silent for the time of one move (and the bank of its
    oldest open turn), and every message it sends starts that time anew. A message with m moves is charged its time in m
    equal parts. On silence only the oldest turn is late; two silences in a row, and the bot is hung. Times are in
    microseconds on one monotonic clock.

    ``offer`` turns, ``tell`` rulings and news, ``flush`` what is to be sent; feed ``heard`` with its moves and ask
    ``silent`` when ``deadline`` has passed. ``games`` is how many seats it holds now, ``pace_us`` what it took for a decision
    lately; ``None`` before its first answer. ``answers_in_us`` is about the shortest time in which it has answered one of its
    last messages: that tells on a busy machine, too, who thinks from who waits for a processor.
    """

    def __init__(self, move_us: int, max_in_flight: int = 64, latency_us: int = 0) -> None:
        """``latency_us`` is granted on top of every message: what the network may take."""
        self.move_us, self.latency_us = move_us, latency_us
        self.max_in_flight = max_in_flight
        self.wants_notices = self.wants_receipts = False
        self.games = 0
        self.pace_us: int | None = None
        self.waiting: deque[PendingTurn] = deque()
        self.open: dict[int, PendingTurn] = {}
        self.strays = 0
        self.cautious = 0
        self.last_us = self.began_us = 0
        self.answers_in_us = UNKNOWN_US
        self._again: set[int] = set()
        self._late: set[int] = set()
        self._resent: set[int] = set()
        self._silences = 0
        self._stalled_us = self._starved_us = 0
        self._rulings: list[wire.Ruling] = []
        self._notices: list[wire.Notice] = []
        self._receipts: list[wire.Receipt] = []
        self._unconfirmed: list[wire.Receipt] = []

    def join(self, max_in_flight: int, *, notices: bool, receipts: bool) -> None:
        """The bot has joined: how many turns it takes at once, and whether it wants notices and receipts."""
        self.max_in_flight, self.wants_notices, self.wants_receipts = max_in_flight, notices, receipts

    def enter_game(self) -> None:
        """It takes one seat more."""
        self.games += 1

    def leave_game(self) -> None:
        """A game in which it held a seat is over."""
        self.games -= 1

    def offer(self, umpire: Umpire, turn: Turn) -> None:
        """Queues a turn for the next batch."""
        self.waiting.append(PendingTurn(umpire, turn))

    def tell(self, ruling: wire.Ruling) -> None:
        """Queues a ruling."""
        self._rulings.append(ruling)

    def news(self, notice: wire.Notice) -> None:
        """Queues a notice, if the bot wants any."""
        if self.wants_notices:
            self._notices.append(notice)

    def receipt(self, receipt: wire.Receipt) -> None:
        """Queues a receipt, if the bot wants any; it is sent again on the next stream until the bot has answered after it."""
        if self.wants_receipts:
            self._receipts.append(receipt)

    def take_receipts(self) -> list[wire.Receipt]:
        """The receipts that are to be sent, for a message that is about to go out."""
        taken, self._receipts = self._receipts, []
        self._unconfirmed += taken
        return taken

    def flush(self, now_us: int) -> wire.PlayResponse | None:
        """The next message, or ``None`` while the last batch is unanswered or nothing is to be said."""
        if self.open or not (self.waiting or self._rulings or self._notices or self._receipts):
            return None
        response = wire.PlayResponse(rulings=self._rulings, notices=self._notices, receipts=self.take_receipts())
        self._rulings.clear()
        self._notices.clear()
        self.cautious = min(self.cautious, len(self.waiting))
        room = 1 if self.cautious else self.max_in_flight
        while self.waiting and room:
            pending = self.waiting.popleft()
            if pending.umpire.open is not pending.turn:
                self._late.add(pending.turn.turn_id)  # it may have been out before the stream was lost
                continue  # judged meanwhile: its seat has forfeited, or the game is no contest
            room -= 1
            self.open[pending.turn.turn_id] = pending
            add_turn(response, pending.turn)
        self._start_clock(now_us)
        return response if self.open or response.rulings or response.notices or response.receipts else None

    def _start_clock(self, now_us: int) -> None:
        """The bot's time begins; where the oldest turn was out before the stream was lost, it has begun already."""
        if not (self._resent and self.open and next(iter(self.open)) in self._resent):
            self.last_us = self.began_us = now_us
            self._stalled_us = self._starved_us = 0
        self._resent.clear()

    def heard(self, moves: Sequence[wire.Move], now_us: int) -> list[TurnAnswer]:
        """The answers that a message holds; moves that answer nothing are counted as strays."""
        known: list[tuple[wire.Move, PendingTurn]] = []
        forgiven = False
        # An answer that is taken is never charged more than it had: the rest is our own delay.
        allowed = self.deadline()
        for move in moves:
            pending = self.open.pop(move.turn_id, None)
            if pending is not None:
                known.append((move, pending))
            elif move.turn_id in self._late:
                self._late.discard(move.turn_id)  # free, once; and a sign of life
                forgiven = True
            else:
                self.stray()
        if known:
            self._unconfirmed.clear()  # it has read the message with these turns, and all before it
        if not known:
            if forgiven:
                self._alive(now_us)
            return []
        self.answers_in_us = min(now_us - self.last_us, self.answers_in_us + self.answers_in_us // 8 + 1, UNKNOWN_US)
        spent_us = min(now_us, allowed or now_us) - self.last_us - self.latency_us
        share = max(spent_us, 0) // len(known)
        self.pace_us = share if self.pace_us is None else (3 * self.pace_us + share) // 4
        self._alive(now_us)
        self.cautious = max(self.cautious - len(known), 0)
        answers = []
        for move, pending in known:
            action = read_move(move, pending.turn.kind)
            raw = _without_id(move) if isinstance(action, Malformed) else b""
            answers.append(TurnAnswer(pending, action, raw, share))
        return answers

    def stray(self) -> None:
        """Counts a message or a move that answers nothing."""
        self.strays += 1

    def forget_strays(self) -> None:
        """Counts them from zero again."""
        self.strays = 0

    def _alive(self, now_us: int) -> None:
        """The bot has spoken: its time for the next message begins."""
        self.last_us = self.began_us = now_us
        self._silences = self._stalled_us = self._starved_us = 0

    def deadline(self) -> int | None:
        """When the oldest open turn becomes late, or ``None`` if none is open."""
        if not self.open:
            return None
        oldest = next(iter(self.open.values())).turn
        return self.last_us + oldest.move_us + oldest.bank_us + self.latency_us

    def overdue(self, now_us: int) -> bool:
        """Whether the deadline has passed."""
        deadline = self.deadline()
        return deadline is not None and now_us >= deadline

    @property
    def stalled_us(self) -> int:
        """The longest single stall of the referee while the bot has been silent."""
        return self._stalled_us

    def begin_again(self, now_us: int, *, free: bool = False) -> bool:
        """Gives the oldest open turn its whole time anew, as after a stall; once a turn, or ``free``. Whether it did."""
        turn_id = next(iter(self.open))
        if turn_id in self._again and not free:
            return False
        if not free:
            self._again = {one for one in self._again if one in self.open} | {turn_id}
        self.last_us = self.began_us = now_us
        self._stalled_us = self._starved_us = 0
        return True

    def silent(self, now_us: int) -> Timeout | None:
        """The late turn if the deadline has passed; it is closed for the bot."""
        deadline = self.deadline()
        if deadline is None or now_us < deadline:
            return None
        turn_id = next(iter(self.open))
        pending = self.open.pop(turn_id)
        self._late.add(turn_id)
        self._silences += 1
        charged, self.last_us = now_us - self.last_us - self.latency_us, now_us
        self.began_us = now_us
        stalled, self._stalled_us, self._starved_us = self._stalled_us, 0, 0
        return Timeout(pending, max(charged, 0), self._silences >= 2, stalled)

    def give_up_turns(self) -> list[PendingTurn]:
        """The turns that were open, which are not waited for any more."""
        pending, self.open = list(self.open.values()), {}
        return pending

    def excuse(self, stall_us: int, now_us: int) -> None:
        """Takes a stall of the referee off the time that the bot has been silent."""
        self.last_us = min(self.last_us + stall_us, now_us)
        self._stalled_us = max(self._stalled_us, stall_us)

    def starved(self, waited_us: int, now_us: int) -> None:
        """Takes time in which the bot waited in vain for a processor off its silence.

        Bounded, so that a bot which is never late by this count is late all the same: a decision takes at most
        ``STARVED_MOST`` times its time.
        """
        if self.open:
            oldest = next(iter(self.open.values())).turn
            most = (STARVED_MOST - 1) * (oldest.move_us + oldest.bank_us) - self._starved_us
            granted = max(min(waited_us, most, now_us - self.last_us), 0)
            self.last_us += granted
            self._starved_us += granted

    def lone(self) -> PendingTurn | None:
        """The one open turn, if exactly one is open: the suspect when the bot's process ends."""
        return next(iter(self.open.values())) if len(self.open) == 1 else None

    def lost_stream(self, *, cautious: bool) -> None:
        """The stream has ended: open turns are to be sent again, with the same ids.

        ``cautious`` is for a new process: it has its full time, and gets the turns one a message, so that a turn which
        ends the process is found. For the same process on a new stream the clock of the oldest turn has gone on.
        """
        self._receipts, self._unconfirmed = self._unconfirmed + self._receipts, []
        back = list(self.open.values())
        self._resent = set() if cautious else set(self.open)
        self.open.clear()
        self.waiting.extendleft(reversed(back))
        self._silences = 0
        if cautious:
            self.cautious = len(self.waiting)


def _without_id(move: wire.Move) -> bytes:
    """A move as the record keeps it: two runs of the same game differ in the ids of their turns alone."""
    kept = wire.Move()
    kept.CopyFrom(move)
    kept.ClearField("turn_id")
    return kept.SerializeToString()


# Its connection.

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
        self.games = 0
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
        if self.state is ConnectionState.CONDEMNED or self.streams > _STREAMS_A_GAME * (1 + self.games):
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
        self.games += 1

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
