"""One person's table: follows the game, says how it stands, takes the person's answers, and is the brain of the person's seat.

Three threads meet here: the game's, which tells what the umpire has carried out; the seat's, which waits in ``choose`` as any bot
thinks; and those of whoever shows the table. One lock guards all of it, and nobody holds it while waiting for another.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from referee.bot import Turn as WireTurn
from referee.cards import cards_in
from referee.net.games_in_play import GamesInPlay
from referee.net.open_turns import PendingTurn, Timeout
from referee.report.clauses import CONSEQUENCES
from referee.rules import Action, Deal, Kind, RuleSet
from referee.table.following import GameFollower
from referee.table.hints import hint_for
from referee.table.picture import before_the_deal, picture, read_answer, ruling_of
from referee.table.state import GameOver, LogLine, MoveHint, MoveRuling, TableState
from referee.table.words import Speaker
from referee.umpire.events import Irregularity, TableResult
from referee.umpire.faults import Consequence
from referee.umpire.umpire import FORFEIT, Umpire

_LOG_LINES: Final = 40
_ON_ITS_WAY_S: Final = 5.0
"""How long a turn that is shown may still be on its way to the seat."""

TAKEN_BACK: Final = "Taken back. You decide again."
_MOST_WAITING: Final = 2_000
"""Pictures that wait while the person reads a sheet: more than any game has."""


class RefusedError(Exception):
    """What the person asked for is not to be had now; the sentence says why. ``over``: the turn that was meant is over."""

    def __init__(self, sentence: str, *, over: bool = False) -> None:
        super().__init__(sentence)
        self.sentence, self.over = sentence, over


class IllegalMoveError(Exception):
    """The rules forbid it: judged before anything is sent."""

    def __init__(self, ruling: MoveRuling) -> None:
        super().__init__(ruling.sentence)
        self.ruling = ruling


class UnreadableMoveError(Exception):
    """What was said is no move; the message says what would be one."""


class LeftTableError(Exception):
    """The table is closed: the seat's ``choose`` ends with it, and no move is made."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A picture with what is said about it. ``deal``: as it is then, for judging, where the person is asked."""

    state: TableState
    told: tuple[str, ...]
    turn_id: int = 0
    deal: Deal | None = None


Listener = Callable[[TableState], None]


class Table:
    """The person's table. Every method may be called from any thread, but for ``moved``, which is the game's own."""

    def __init__(
        self,
        rules: RuleSet,
        names: Sequence[str],
        you: int,
        *,
        practice: bool = False,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``names`` by seat; ``you`` is the person's. ``seconds`` for a decision, none for ever; ``clock`` in seconds."""
        self.rules, self.names, self.you, self.practice, self._seconds, self._clock = (
            rules,
            tuple(names),
            you,
            practice,
            seconds,
            clock,
        )
        self._speaker = Speaker(self.names, you)
        self._changed = threading.Condition()
        self._listeners: list[Listener] = []
        self._log: deque[LogLine] = deque(maxlen=_LOG_LINES)
        self._said = 0
        self._now = _Shown(before_the_deal(rules, you, self.names), ())
        self._waiting: deque[_Shown] = deque()
        self._revision = 0
        self._paused = self._closed = False
        self._sheet_is_read = True
        self._over: GameOver | None = None
        self._ending: GameOver | None = None
        self._finale: _Shown | None = None
        self._is_followed = False
        self._follower: GameFollower | None = None
        self._umpire: Umpire | None = None
        self._games: GamesInPlay | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ruled = 0
        self._asked = 0
        self._wire_turn: WireTurn | None = None
        self._answer: tuple[int, Action] | None = None
        self._answer_said: tuple[str, tuple[str, ...] | None] = ("", None)
        self._late: set[int] = set()
        self._left_s: float | None = None
        self._runs_since: float | None = None
        self._watchers = 0
        self._needs_watchers = False

    # The game's thread.

    def moved(self, games: GamesInPlay, umpire: Umpire) -> None:
        """Something has happened in the game. Called in the event loop of the game."""
        with self._changed:
            self._games, self._loop = games, asyncio.get_running_loop()
            if umpire is not self._umpire:
                self._umpire, self._follower, self._ruled, self._is_followed = umpire, None, 0, False
            follower = self._follower
            is_taken_back = follower is not None and not follower.knows(umpire.deals)
            if follower is None or is_taken_back:
                follower = self._follower = GameFollower(self.rules, len(self.names), self._speaker, self.you)
                self._waiting.clear()
                self._ruled = 0
            asked = umpire.open
            shown = [
                _Shown(replace(state, sheet=state.sheets[-1]) if one.ends_deal else state, one.sentences)
                for one, state in [(one, self._picture(follower, None)) for one in follower.follow(umpire.deals)]
            ]
            ruled = tuple(self._irregular(umpire))
            if is_taken_back:
                self._sheet_is_read = True
                shown, ruled = [replace(one, told=()) for one in shown[-1:]], (TAKEN_BACK,)
            self._asked = asked.turn_id if asked is not None and asked.chair.seat == self.you else 0
            if asked is not None:
                state = self._picture(follower, asked.chair.seat, str(asked.turn_id))
                told = shown.pop().told if shown and shown[-1].state.sheet is None else ()
                shown.append(_Shown(state, told, self._asked, follower.current.deal if self._asked else None))
            elif not shown and ruled:
                shown = [_Shown(self._picture(follower, None), ())]
            if ruled:
                shown[0] = replace(shown[0], told=(*ruled, *shown[0].told))
            if umpire.result is not None and shown and shown[-1].state.sheet is not None:
                self._finale = shown.pop()  # shown with the end, and not as a deal that others follow
            for one_shown in shown:
                self._add(one_shown)
            self._is_followed = umpire.closed
            if self._is_followed and self._ending is not None:
                self._end(self._ending)
            self._changed.notify_all()

    def _picture(self, follower: GameFollower, asked: int | None, turn_id: str = "") -> TableState:
        umpire = self._umpire
        gone = (
            {}
            if umpire is None
            else {
                item.seat: item.sentence for item in umpire.irregularities if item.consequence is Consequence.FORFEITED
            }
        )
        return picture(follower, self.you, self.names, asked, gone, turn_id)

    def _irregular(self, umpire: Umpire) -> Iterator[str]:
        """What was ruled since the last time."""
        for item in umpire.irregularities[self._ruled :]:
            yield self._ruling_sentence(item)
        self._ruled = len(umpire.irregularities)

    def _ruling_sentence(self, item: Irregularity) -> str:
        who = self._speaker.subject(item.seat)
        rule = f" ({item.rule})" if item.rule else ""
        then = CONSEQUENCES.get(str(item.consequence), "")
        return f"Ruling on {who if item.seat != self.you else 'you'}{rule}: {item.sentence} Consequence: {then}."

    def tell(self, sentence: str) -> None:
        """Says something that is not of the game itself."""
        with self._changed:
            self._say([sentence])
            self._tell_listeners()
            self._changed.notify_all()

    def end(self, over: GameOver) -> None:
        """The game is over, or cannot go on; nothing more is asked. What has happened before is shown before."""
        with self._changed:
            if self._umpire is not None and self._umpire.closed and not self._is_followed:
                self._ending = over
            else:
                self._end(over)

    def _end(self, over: GameOver) -> None:
        self._over, self._paused, self._asked = over, False, 0
        self._waiting.extend([] if self._finale is None else [self._finale])
        while self._waiting:
            self._publish(self._waiting.popleft())
        self._publish(_Shown(replace(self._now.state, turn=None, moves=()), (over.sentence,)))
        self._changed.notify_all()

    def result_sentence(self, result: TableResult) -> str:
        """How the game has ended, for the person."""
        rules, seats = self.rules, len(self.names)
        scores = [f"{self._speaker.side(side, rules, seats)} {score}" for side, score in enumerate(result.scores)]
        stands = f"The score: {', '.join(scores)}."
        if result.winner is None:
            return f"The game is over, and nobody has won. {stands}"
        side = self._speaker.side(result.winner, rules, seats)
        verb = "win" if side.startswith("You") or " and " in side else "wins"
        why = " by forfeit" if result.reason == FORFEIT else ""
        return f"{side} {verb}{why}. {stands}"

    # Pictures.

    def _add(self, shown: _Shown) -> None:
        """Shows it, or keeps it until the person has read the sheet, or goes on."""
        if self._is_held and len(self._waiting) < _MOST_WAITING:
            self._waiting.append(shown)
        else:
            self._publish(shown)

    @property
    def _is_held(self) -> bool:
        return self._paused or not self._sheet_is_read

    def _publish(self, shown: _Shown) -> None:
        is_new_turn = shown.turn_id and self._now.turn_id != shown.turn_id
        self._now = shown
        if shown.state.sheet is not None and self._over is None:
            self._sheet_is_read = False
        self._say(shown.told)
        if is_new_turn:
            self._left_s, self._runs_since = self._seconds, None
        if not shown.turn_id:
            self._left_s = self._runs_since = None
        self._set_clock()
        self._tell_listeners()

    def _say(self, sentences: Sequence[str]) -> None:
        for sentence in sentences:
            self._said += 1
            self._log.append(LogLine(self._said, sentence))

    def _tell_listeners(self) -> None:
        self._revision += 1
        state = self._state(self._now)
        for listener in tuple(self._listeners):
            listener(state)

    def _state(self, shown: _Shown) -> TableState:
        turn = shown.state.turn
        if turn is not None:
            turn = replace(turn, seconds=self._seconds_left())
        return replace(
            shown.state,
            revision=self._revision,
            practice=self.practice,
            paused=self._paused,
            turn=turn,
            log=tuple(self._log),
            over=self._over,
        )

    # The clock of the person.

    def _seconds_left(self) -> float | None:
        if self._left_s is None:
            return None
        ran = 0.0 if self._runs_since is None else self._clock() - self._runs_since
        return max(round(self._left_s - ran, 1), 0.0)

    def _set_clock(self) -> None:
        """Lets the clock run where the person is asked, is there, and has not paused."""
        is_asked = self._now.turn_id and self._left_s is not None
        away = self._needs_watchers and not self._watchers
        runs = bool(is_asked and not self._paused and not away)
        if runs and self._runs_since is None:
            self._runs_since = self._clock()
        elif not runs and self._runs_since is not None and self._left_s is not None:
            self._left_s -= self._clock() - self._runs_since
            self._runs_since = None
        self._changed.notify_all()

    def need_watchers(self) -> None:
        """From now on the clock stands while nobody watches: a browser that is away is a pause."""
        with self._changed:
            self._needs_watchers = True
            self._set_clock()

    # Whoever shows the table.

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """While the body runs, ``listener`` is given every State, in order; it is called by other threads, and must not wait."""
        with self._changed:
            self._listeners.append(listener)
            self._watchers += 1
            self._set_clock()
        try:
            yield
        finally:
            with self._changed:
                self._listeners.remove(listener)
                self._watchers -= 1
                self._set_clock()

    def state(self) -> TableState:
        """How the table stands."""
        with self._changed:
            return self._state(self._now)

    def wait_for(self, is_so: Callable[[TableState], bool], seconds: float) -> TableState | None:
        """The first State from now on that is so; ``None`` where none came in so many seconds."""
        until = self._clock() + seconds
        with self._changed:
            while True:
                state = self._state(self._now)
                if is_so(state):
                    return state
                left = until - self._clock()
                if left <= 0 or self._closed:
                    return None
                self._changed.wait(left)

    def move(self, turn_id: str, move: str = "", cards: Sequence[str] | None = None) -> int:
        """The person's answer to a turn; returns the revision. The same answer again is as good as the first.

        Raises ``IllegalMoveError`` before anything is sent, ``UnreadableMoveError``, and ``RefusedError`` where it cannot be taken now.
        """
        with self._changed:
            shown = self._now
            given = self._answer
            if given is not None and str(given[0]) == turn_id:
                return self._answered_again(move, cards)
            if self._over is not None or not shown.turn_id or shown.deal is None:
                raise RefusedError("It is not your turn.", over=True)
            if turn_id != str(shown.turn_id) or shown.turn_id != self._asked:
                raise RefusedError("That turn is over.", over=True)
            if self._paused:
                raise RefusedError("The table is paused: go on first.")
            action = self._read(shown.deal, move, cards)
            violation = shown.deal.verify(action)
            if violation is not None:
                raise IllegalMoveError(ruling_of(violation, self.rules))
            self._answer = (shown.turn_id, action)
            self._answer_said = (move, tuple(cards) if cards is not None else None)
            self._changed.notify_all()
            return self._revision

    def is_answered(self, turn_id: str) -> bool:
        """Whether the person has answered that turn."""
        with self._changed:
            return self._answer is not None and str(self._answer[0]) == turn_id

    def _answered_again(self, move: str, cards: Sequence[str] | None) -> int:
        if self._answer_said == (move, tuple(cards) if cards is not None else None):
            return self._revision
        raise RefusedError("You have answered this turn already.", over=True)

    @staticmethod
    def _read(deal: Deal, move: str, cards: Sequence[str] | None) -> Action:
        try:
            return read_answer(deal, move, cards)
        except ValueError as error:
            sentence = str(error)
            raise UnreadableMoveError(f"{sentence[:1].upper()}{sentence[1:]}.") from None

    def hint(self) -> MoveHint:
        """What a careful player would do at the person's turn. Raises ``RefusedError`` where nothing is asked, ``NoHintError``."""
        with self._changed:
            shown = self._now
            if not shown.turn_id or shown.turn_id != self._asked or self._over is not None:
                raise RefusedError("There is no hint now: it is not your turn.")
            if (
                not self._changed.wait_for(lambda: self._has_come(shown.turn_id), _ON_ITS_WAY_S)
                or self._wire_turn is None
            ):
                raise RefusedError("The turn is on its way; ask again in a moment.")
            turn = self._wire_turn
        return hint_for(turn)

    def _has_come(self, turn_id: int) -> bool:
        """Whether the seat has been given this turn over the wire."""
        return self._wire_turn is not None and self._wire_turn.message.turn_id == turn_id

    def go_on(self) -> int:
        """From a pause, or from the sheet of a deal. Raises ``RefusedError`` where there is nothing to go on from."""
        with self._changed:
            if self._paused:
                self._paused = False
            elif not self._sheet_is_read:
                self._sheet_is_read = True
            else:
                raise RefusedError("There is nothing to go on with: the table does not wait.")
            shown = self._now
            if not self._waiting:
                state = (
                    shown.state
                    if self._over is not None or not self._sheet_is_read
                    else replace(shown.state, sheet=None)
                )
                self._publish(replace(shown, state=state, told=()))
            while self._waiting and not self._is_held:
                self._publish(self._waiting.popleft())
            self._changed.notify_all()
            return self._revision

    def pause(self) -> int:
        """Stops the clock, and what is shown. Raises ``RefusedError`` when the game is over."""
        with self._changed:
            if self._over is not None:
                raise RefusedError("There is nothing to pause.")
            if not self._paused:
                self._paused = True
                self._set_clock()
                self._tell_listeners()
            return self._revision

    def take_back(self) -> int:
        """In practice: back to the person's last decision, with the same cards. Raises ``RefusedError``."""
        with self._changed:
            umpire, games, loop, follower = self._umpire, self._games, self._loop, self._follower
            if not self.practice:
                raise RefusedError("Moves are taken back in practice only: referee table --practice")
            if self._over is not None or umpire is None or games is None or loop is None or follower is None:
                raise RefusedError("There is nothing to take back.")
            if umpire.forfeits:
                raise RefusedError("Nothing is taken back where somebody has lost the game already.")
            if self._sheet_is_read and (not self._now.turn_id or self._now.turn_id != self._asked):
                raise RefusedError("Wait until it is your turn.")
            if self._answer is not None and self._answer[0] == self._asked:
                raise RefusedError("Wait until it is your turn.")
            if not follower.steps:
                raise RefusedError("There is nothing to take back.")
            step = follower.steps[-1]
            self._paused = False
        loop.call_soon_threadsafe(games.take_back, umpire, step)
        with self._changed:
            return self._revision

    def close(self) -> None:
        """The table is closed: whoever waits here ends."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def result(self) -> TableResult | None:
        """The result of the game, if it has one."""
        with self._changed:
            return None if self._umpire is None else self._umpire.result

    def wait_until_closed(self, seconds: float) -> bool:
        """Waits so long at most; whether the table is closed."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed, seconds)

    @property
    def is_closed(self) -> bool:
        """Whether the table is closed."""
        with self._changed:
            return self._closed

    # The seat's thread.

    def choose(self, turn: WireTurn) -> Any:
        """The brain of the person's seat: waits for the person. Raises ``LeftTableError`` when the table is closed."""
        turn_id: int = turn.message.turn_id
        with self._changed:
            self._wire_turn = turn
            self._changed.notify_all()
            while True:
                if self._closed:
                    raise LeftTableError
                if self._asked != turn_id:  # taken back or ruled upon meanwhile: what is said now is heard by nobody
                    return turn.legal[0]
                if self._answer is not None and self._answer[0] == turn_id:
                    return as_sent(turn, self._answer[1])
                self._changed.wait(self._until_late(turn_id))

    def _until_late(self, turn_id: int) -> float | None:
        """How long to wait; when the time is up, the umpire is told."""
        shown = self._now
        if shown.turn_id != turn_id or self._runs_since is None or self._left_s is None:
            return None
        left = self._left_s - (self._clock() - self._runs_since)
        if left > 0:
            return left
        umpire, games, loop = self._umpire, self._games, self._loop
        if turn_id not in self._late and umpire is not None and games is not None and loop is not None:
            self._late.add(turn_id)
            opened = umpire.open
            if opened is not None and opened.turn_id == turn_id:
                charged = opened.move_us + opened.bank_us
                loop.call_soon_threadsafe(games.silent, Timeout(PendingTurn(umpire, opened), charged, hung=False))
        return None


def as_sent(turn: WireTurn, action: Action) -> Any:
    """An action as a bot returns it: cards that are kept as a list."""
    return list(cards_in(action)) if int(turn.kind) == Kind.DISCARD else action
