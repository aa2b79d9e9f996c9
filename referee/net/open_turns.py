"""The turns that a bot holds, and their clock: sent out in batches, answered, and late.

Sans-I/O: time is an argument. A connection owns one session and lets it outlive its streams.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from referee.protocol import wire
from referee.protocol.translate import Malformed, add_turn, read_move
from referee.rules import Action
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn

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
    ``silent`` when ``deadline`` has passed. ``seats`` is how many it holds now, ``pace_us`` what it took for a decision
    lately; ``None`` before its first answer. ``answers_in_us`` is about the shortest time that it took to answer one of its last
    messages. Even on a busy machine that tells a bot that thinks from one that waits for a processor. ``stalled_us`` is
    the longest single stall of the referee while the bot has been silent.
    """

    def __init__(self, move_us: int, max_in_flight: int = 64, latency_us: int = 0) -> None:
        """``latency_us`` is granted on top of every message: what the network may take."""
        self.move_us, self.latency_us = move_us, latency_us
        self.max_in_flight = max_in_flight
        self.wants_notices = self.wants_receipts = False
        self.seats = 0
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
        self.stalled_us = self._starved_us = 0
        self._rulings: list[wire.Ruling] = []
        self._notices: list[wire.Notice] = []
        self._receipts: list[wire.Receipt] = []
        self._unconfirmed: list[wire.Receipt] = []

    def join(self, max_in_flight: int, *, notices: bool, receipts: bool) -> None:
        """The bot has joined: how many turns it takes at once, and whether it wants notices and receipts."""
        self.max_in_flight, self.wants_notices, self.wants_receipts = max_in_flight, notices, receipts

    def enter_game(self) -> None:
        """It takes one seat more."""
        self.seats += 1

    def leave_game(self) -> None:
        """A game in which it held a seat is over."""
        self.seats -= 1

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
            self.stalled_us = self._starved_us = 0
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
        self._silences = self.stalled_us = self._starved_us = 0

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

    def begin_again(self, now_us: int, *, free: bool = False) -> bool:
        """Gives the oldest open turn its whole time anew, as after a stall; once a turn, or ``free``. Whether it did."""
        turn_id = next(iter(self.open))
        if turn_id in self._again and not free:
            return False
        if not free:
            self._again = {one for one in self._again if one in self.open} | {turn_id}
        self.last_us = self.began_us = now_us
        self.stalled_us = self._starved_us = 0
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
        stalled, self.stalled_us, self._starved_us = self.stalled_us, 0, 0
        return Timeout(pending, max(charged, 0), self._silences >= 2, stalled)

    def give_up_turns(self) -> list[PendingTurn]:
        """The turns that were open, which are not waited for any more."""
        pending, self.open = list(self.open.values()), {}
        return pending

    def excuse(self, stall_us: int, now_us: int) -> None:
        """Takes a stall of the referee off the time that the bot has been silent."""
        self.last_us = min(self.last_us + stall_us, now_us)
        self.stalled_us = max(self.stalled_us, stall_us)

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
