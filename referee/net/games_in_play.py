"""The games in play: every game in this process with its umpire, and who sits where.

It carries what an umpire says to the players and what they answer back to the umpire. No I/O and no clock: a driver
(``referee.net.server``, or a plain loop for in-process play) hands in answers with their time, and sends what the sessions
have ready. An error of the referee itself ends the game concerned as no contest, and no other.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from referee.net.open_turns import Timeout, TurnAnswer, TurnSession
from referee.protocol.translate import Malformed, deal_over, game_over, game_started, receipt, ruling_message
from referee.rules import Action
from referee.umpire.events import Ask, DealClosed, GameClosed, Output, Ruled, Ruling, Voided
from referee.umpire.faults import Fault
from referee.umpire.record import Record, canonical, record_digest, seat_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn

_LOG = logging.getLogger(__name__)
_OUR_FAULT = "the referee failed in this game; its log says how"

Choose = Callable[[Turn], Action]
"""An in-process player: a function from what the seat may know to an action."""


class InProcessPlayer:
    """A player in this process. It costs no time and cannot be lost."""

    def __init__(self, choose: Choose) -> None:
        self.choose = choose


Player = InProcessPlayer | TurnSession
Watch = Callable[["GamesInPlay", Umpire], None]
"""Looks on at games: is given those of the process, and the umpire of the one in which something has happened."""


class GameObserver:
    """Is told of the games: whoever organises them."""

    def finished(self, umpire: Umpire) -> Record | None:  # noqa: ARG002
        """A game is over. The record that is made and kept of it, or ``None`` if it was no contest."""
        return None

    def ruled(self, umpire: Umpire, ruling: Ruling) -> None:
        """A ruling was made."""


class GamesInPlay:
    """All games of a process. ``touched`` holds the sessions that may have something to send since it was emptied.

    ``observer`` is told of every game that has none of its own; ``watch`` of everything that an umpire has said, after it was
    carried, with these games: for whoever looks on. It must not raise.
    """

    def __init__(self, observer: GameObserver | None = None, watch: "Watch | None" = None) -> None:
        self.touched: set[TurnSession] = set()
        self.seated: dict[Umpire, Sequence[Player]] = {}
        self._observer, self._watch = observer or GameObserver(), watch
        self._observers: dict[Umpire, GameObserver] = {}
        self._local: deque[tuple[Umpire, Turn, InProcessPlayer]] = deque()

    def open(self, umpire: Umpire, players: Sequence[Player], observer: GameObserver | None = None) -> None:
        """Seats the players (by seat) and starts the game, of which its ``observer`` is told."""
        self.seated[umpire] = players
        if observer is not None:
            self._observers[umpire] = observer
        for chair, player in zip(umpire.spec.chairs, players, strict=True):
            if isinstance(player, TurnSession):
                player.enter_game()
                player.news(game_started(chair, umpire.spec.first_dealer))
        self._judge(umpire, umpire.start)
        self._serve_local()

    def answered(self, answers: Sequence[TurnAnswer]) -> None:
        """Judges the answers of one message."""
        for answer in answers:
            umpire, turn_id = answer.pending.umpire, answer.pending.turn.turn_id
            action = answer.action
            if isinstance(action, Malformed):
                wrong = (action.rule, action.sentence, answer.raw)
                self._judge(umpire, umpire.malformed, turn_id, *wrong, answer.charged_us)
            else:
                try:  # as in _judge, without a call more for every answer
                    self._carry(umpire, umpire.answer(turn_id, action, answer.charged_us))
                except Exception:  # noqa: BLE001
                    self._failed(umpire)
        self._serve_local()

    def silent(self, silence: Timeout) -> None:
        """Judges a turn that was not answered in time."""
        umpire = silence.pending.umpire
        self._judge(umpire, umpire.late, silence.pending.turn.turn_id, silence.charged_us)
        self._serve_local()

    def lose(self, umpire: Umpire, player: Player, fault: Fault, sentence: str) -> None:
        """A player loses a game: every seat it holds there is forfeited."""
        for seat, other in enumerate(self.seated.get(umpire, ())):
            if other is player:
                self._judge(umpire, umpire.lose, seat, fault, sentence)
        self._serve_local()

    def abandon(self, umpire: Umpire, sentence: str) -> None:
        """Ends a game as no contest."""
        self._judge(umpire, umpire.abandon, sentence)
        self._serve_local()

    def take_back(self, umpire: Umpire, step: int) -> None:
        """Goes back to the decision after so many actions of a game that is not kept; whoever is asked there is asked again."""
        self._judge(umpire, umpire.take_back, step)
        self._serve_local()

    def umpires_of(self, player: Player) -> list[Umpire]:
        """The umpires of the games that a player plays now: it has not lost them."""
        return [
            umpire
            for umpire, players in self.seated.items()
            if any(other is player and seat not in umpire.forfeits for seat, other in enumerate(players))
        ]

    def _judge(self, umpire: Umpire, method: Callable[..., Sequence[Output]], *said: Any) -> None:
        """Lets the umpire judge what was said, and carries what comes out."""
        try:
            self._carry(umpire, method(*said))
        except Exception:  # noqa: BLE001  # whatever it is, one game is spoiled by it, not the league
            self._failed(umpire)

    def _failed(self, umpire: Umpire) -> None:
        """Ends a game in which the referee fails at this moment, in whatever state that has left it."""
        _LOG.exception("game %s: %s", umpire.spec.key, _OUR_FAULT)
        players = self.seated.get(umpire)
        if players is not None:
            umpire.result, umpire.void, umpire.open = None, _OUR_FAULT, None
            self._close(umpire, players, Voided(_OUR_FAULT))

    def _carry(self, umpire: Umpire, outputs: Sequence[Output]) -> None:
        players = self.seated.get(umpire)
        if players is None:
            return
        for output in outputs:
            if isinstance(output, Ask):
                player = players[output.turn.chair.seat]
                if isinstance(player, TurnSession):
                    player.offer(umpire, output.turn)
                    self.touched.add(player)
                else:
                    self._local.append((umpire, output.turn, player))
            elif isinstance(output, Ruled):
                self._rule(umpire, players, output.ruling)
            elif isinstance(output, DealClosed):
                self._tell_deal(umpire, players, output)
            elif isinstance(output, GameClosed | Voided):
                self._close(umpire, players, output)
        if self._watch is not None:
            self._watch(self, umpire)

    def _rule(self, umpire: Umpire, players: Sequence[Player], ruling: Ruling) -> None:
        player = players[ruling.seat]
        if isinstance(player, TurnSession):
            player.tell(ruling_message(ruling, umpire.spec.chairs[ruling.seat]))
            self.touched.add(player)
        self._observers.get(umpire, self._observer).ruled(umpire, ruling)

    def _tell_deal(self, umpire: Umpire, players: Sequence[Player], closed: DealClosed) -> None:
        for chair, player in zip(umpire.spec.chairs, players, strict=True):
            if isinstance(player, TurnSession) and player.wants_notices:
                player.news(deal_over(chair, closed, closed.log.history))
                self.touched.add(player)

    def _close(self, umpire: Umpire, players: Sequence[Player], closed: GameClosed | Voided) -> None:
        for player in self.seated.pop(umpire):
            if isinstance(player, TurnSession):
                player.leave_game()
        record = self._observers.pop(umpire, self._observer).finished(umpire)
        if record is None or not isinstance(closed, GameClosed):
            return
        digest = ""
        for chair, player in zip(umpire.spec.chairs, players, strict=True):
            if isinstance(player, TurnSession) and player.wants_notices:
                digest = digest or record_digest(record)
                own = canonical(seat_record(record, chair.seat))
                player.news(game_over(chair, closed.result, digest, own))
                self.touched.add(player)
            if isinstance(player, TurnSession) and player.wants_receipts:
                digest = digest or record_digest(record)
                player.receipt(receipt(chair, digest))
                self.touched.add(player)

    def _serve_local(self) -> None:
        """Lets in-process players answer until none is asked."""
        while self._local:
            umpire, turn, player = self._local.popleft()
            if umpire.open is turn:
                self._judge(umpire, self._local_answer, umpire, turn, player)

    @staticmethod
    def _local_answer(umpire: Umpire, turn: Turn, player: InProcessPlayer) -> Sequence[Output]:
        return umpire.answer(turn.turn_id, player.choose(turn), 0)
