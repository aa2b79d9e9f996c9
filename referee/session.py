"""One bot's session, sans-I/O: turns out in batches, moves in, and the serial-server clock.

A bot is a serial server: however many turns it holds, it may be silent for the time of one move (and the bank of its
oldest open turn), and every message it sends starts that time anew. A message with m moves is charged its time in m
equal parts. On silence only the oldest turn is late; two silences in a row, and the bot is hung. Time is an argument,
in microseconds on one monotonic clock.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.protocol import wire
from referee.protocol.translate import Malformed, read_move, turn_message
from referee.rules import Action
from referee.rules.conduct import STRAYS
from referee.table import Table
from referee.view import Turn


@dataclass(slots=True)
class Pending:
    """A turn of one table that this session has to answer. (Read only; not frozen, for one is made for every turn.)"""

    table: Table
    turn: Turn


@dataclass(slots=True)
class Answer:
    """A judgeable answer: to which turn, the action or what is malformed, and the time charged for it. (Read only.)"""

    pending: Pending
    action: Action | Malformed
    raw: bytes
    charged_us: int


@dataclass(frozen=True, slots=True)
class Silence:
    """The oldest open turn is late; ``hung`` after the second silence in a row."""

    pending: Pending
    charged_us: int
    hung: bool


class Session:
    """The turns of one bot process or remote bot.

    ``offer`` turns, ``tell`` rulings and news, ``flush`` what is to be sent; feed ``heard`` with its moves and ask
    ``silent`` when ``deadline`` has passed. ``games`` is at how many tables it sits now.
    """

    def __init__(self, move_us: int, max_in_flight: int = 64, latency_us: int = 0) -> None:
        """``latency_us`` is granted on top of every message: what the network may take."""
        self.move_us, self.latency_us = move_us, latency_us
        self.max_in_flight = max_in_flight
        self.wants_notices = False
        self.games = 0
        self.waiting: deque[Pending] = deque()
        self.open: dict[int, Pending] = {}
        self.strays = 0
        self.cautious = 0
        self.last_us = 0
        self._expired: deque[int] = deque(maxlen=4 * STRAYS)
        self._silences = 0
        self._rulings: list[wire.Ruling] = []
        self._notices: list[wire.Notice] = []

    def offer(self, table: Table, turn: Turn) -> None:
        """Queues a turn for the next batch."""
        self.waiting.append(Pending(table, turn))

    def tell(self, ruling: wire.Ruling) -> None:
        """Queues a ruling."""
        self._rulings.append(ruling)

    def news(self, notice: wire.Notice) -> None:
        """Queues a notice, if the bot wants any."""
        if self.wants_notices:
            self._notices.append(notice)

    def flush(self, now_us: int) -> wire.PlayResponse | None:
        """The next message, or ``None`` while the last batch is unanswered or nothing is to be said."""
        if self.open or not (self.waiting or self._rulings or self._notices):
            return None
        response = wire.PlayResponse(rulings=self._rulings, notices=self._notices)
        self._rulings.clear()
        self._notices.clear()
        self.cautious = min(self.cautious, len(self.waiting))
        room = 1 if self.cautious else self.max_in_flight
        turns: Any = response.turns
        while self.waiting and room:
            pending = self.waiting.popleft()
            if pending.table.open is not pending.turn:
                continue  # judged meanwhile: its seat has forfeited, or the game is no contest
            room -= 1
            self.open[pending.turn.turn_id] = pending
            turns.append(turn_message(pending.turn))
        self.last_us = now_us
        return response

    def heard(self, moves: Sequence[wire.Move], now_us: int) -> list[Answer]:
        """The answers that a message holds; moves that answer nothing are counted as strays."""
        known: list[tuple[wire.Move, Pending]] = []
        for move in moves:
            pending = self.open.pop(move.turn_id, None)
            if pending is not None:
                known.append((move, pending))
            elif move.turn_id not in self._expired:
                self.strays += 1
        if not known:
            return []
        share = max(now_us - self.last_us - self.latency_us, 0) // len(known)
        self.last_us = now_us
        self._silences = 0
        self.cautious = max(self.cautious - len(known), 0)
        answers = []
        for move, pending in known:
            action = read_move(move, pending.turn.kind)
            raw = move.SerializeToString() if isinstance(action, Malformed) else b""
            answers.append(Answer(pending, action, raw, share))
            self._expired.append(move.turn_id)
        return answers

    def deadline(self) -> int | None:
        """When the oldest open turn becomes late, or ``None`` if none is open."""
        if not self.open:
            return None
        oldest = next(iter(self.open.values())).turn
        return self.last_us + oldest.move_us + oldest.bank_us + self.latency_us

    def silent(self, now_us: int) -> Silence | None:
        """The late turn if the deadline has passed; it is closed for the bot."""
        deadline = self.deadline()
        if deadline is None or now_us < deadline:
            return None
        turn_id = next(iter(self.open))
        pending = self.open.pop(turn_id)
        self._expired.append(turn_id)
        self._silences += 1
        charged, self.last_us = now_us - self.last_us - self.latency_us, now_us
        return Silence(pending, max(charged, 0), self._silences >= 2)

    def excuse(self, stall_us: int, now_us: int) -> None:
        """Takes a stall of the referee off the time that the bot has been silent."""
        self.last_us = min(self.last_us + stall_us, now_us)

    def lone(self) -> Pending | None:
        """The one open turn, if exactly one is open: the suspect when the bot's process ends."""
        return next(iter(self.open.values())) if len(self.open) == 1 else None

    def lost_stream(self, *, cautious: bool) -> None:
        """The stream has ended: open turns are to be sent again, with the same ids.

        ``cautious`` sends them one a message, so that a turn which ends the process is found.
        """
        back = list(self.open.values())
        self.open.clear()
        self.waiting.extendleft(reversed(back))
        self._silences = 0
        if cautious:
            self.cautious = len(self.waiting)
