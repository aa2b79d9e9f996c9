"""The hall of a check: tables at which the bot under test sits alone among players of ours, each watched.

A table is opened for one decision (``ask``) or for a whole game (``play``). Every answer of the bot is reported with
the clauses that it could have broken there; who keeps the tally is told, nobody is asked.
"""

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from referee.check.opportunity import breakable
from referee.check.pokes import BIGGEST, Poke, big_id
from referee.check.position import Position, Setting, seat_at, snapshot, spec_of
from referee.deals import deal_key, shuffle
from referee.faults import Fault
from referee.hall import Choose, Hall, Local, Player
from referee.proceedings import DealClosed, GameClosed, Output, Ruled, Voided
from referee.protocol.translate import Malformed, game_started
from referee.record import Record, write_record
from referee.rules import Action, RuleSet, Violation
from referee.seats.house import house
from referee.session import Answer, Pending, Session, Silence
from referee.table import Table
from referee.view import Turn


@dataclass(frozen=True, slots=True)
class Match:
    """A whole game to be played. ``master`` and ``number`` fix its packs and the chance of the other seats."""

    rules: RuleSet
    seats: int
    seat: int
    dealer: int
    master: bytes
    number: int
    deals: int | None = None


@dataclass(eq=False, slots=True)
class Asking:
    """One table at which the bot is asked. ``once``: only for this decision; ``done`` when nothing more will come.

    ``answer`` is the last one heard there, ``silent`` and ``lost`` say that the bot was late or gone when asked here,
    ``broke`` which rules it broke here; ``stated``, that decisions of its own seat were made for it before;
    ``last`` is the position at which it was late.
    """

    table: Table
    seat: int
    phase: str
    origin: str
    once: bool
    poke: Poke | None = None
    position: Position | None = None
    answers: int = 0
    answer: "Heard | None" = None
    silent: bool = False
    lost: bool = False
    done: bool = False
    deals: int | None = None
    broke: set[str] = field(default_factory=set)
    stated: bool = False
    last: Position | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """One answer of the bot: what it did, what it could have broken, and what it broke.

    ``company`` is how many answers came in the same message; ``position`` is stated only for a breach.
    """

    asking: Asking
    turn: Turn
    action: Action | Malformed
    violation: Violation | None
    fault: Fault | None
    breakable: frozenset[str]
    company: int
    position: Position | None = None


@dataclass(slots=True)
class Ears:
    """Who is told what happens in the room."""

    heard: Callable[[Heard], None] = field(default=lambda _heard: None)
    silent: Callable[[Asking, Position, list[Position]], None] = field(default=lambda _asking, _at, _company: None)
    closed: Callable[[Asking], None] = field(default=lambda _asking: None)
    broken: Callable[[BaseException], None] = field(default=lambda _error: None)
    dealt: Callable[[], None] = field(default=lambda: None)


class Room(Hall):
    """All tables of a check. ``bot`` is the session of the bot under test; ``askings`` are those still open."""

    def __init__(self, bot: Callable[[], Session], setting: Setting) -> None:
        """``setting`` is what tables are made of."""
        super().__init__(self._finished)
        self.ears = Ears()
        self.askings: dict[Table, Asking] = {}
        self._bot, self._setting = bot, setting

    def ask(self, position: Position, phase: str, poke: Poke | None = None) -> Asking:
        """Opens a table for one decision; raises ``PositionError``."""
        setting = self._setting
        if poke is not None and poke.big:
            position, setting = _at_the_end_of_figures(position), replace(setting, ids=big_id)
        table, seat, outputs = seat_at(position, setting)
        asking = Asking(table, seat, phase, position.origin, True, poke, position)
        asking.stated = table.decisions[seat] > 0
        self._seat(asking, outputs, [])
        return asking

    def follow(self, position: Position, phase: str) -> Asking:
        """Opens a table at the start of the position's deal: the bot plays, the other seats do as they did.

        For a bot that must have played the history. Where it leaves the path, the others play as the house does.
        """
        table, seat, outputs = seat_at(position, self._setting, ask_from=0)
        asking = Asking(table, seat, phase, position.origin, False, None, position, deals=1)
        self._seat(asking, outputs, list(position.actions))
        return asking

    def play(self, match: Match, phase: str) -> Asking:
        """Opens a table for a whole game."""
        seed = random.Random(f"{match.master.hex()} {match.number}")  # noqa: S311  # repeatable on purpose
        spec = spec_of(match.rules, match.seats, match.dealer, self._setting, bot_seed=seed.getrandbits(53))
        packs = partial(_pack, match.master, match.number)
        table = Table(spec, packs, self._setting.ids, house)
        origin = f"game {match.number + 1}"
        asking = Asking(table, match.seat, phase, origin, False, deals=match.deals)
        self._seat(asking, table.start(), [], partial(_any_legal, seed))
        return asking

    def _seat(self, asking: Asking, outputs: Sequence[Output], script: list[Action], others: Choose = house) -> None:
        table, session = asking.table, self._bot()
        other = Local(partial(_scripted, table, script, others) if script else others)
        players: list[Player] = [other] * table.spec.seats
        players[asking.seat] = session
        self.askings[table] = asking
        self.seated[table] = players
        session.games += 1
        if not asking.once:
            session.news(game_started(table.spec.chairs[asking.seat], table.spec.first_dealer))
        self._carry(table, outputs)
        self._serve_local()

    def answered(self, answers: Sequence[Answer]) -> None:
        """Judges the answers of one message, and tells of each. An error of ours must end the check, not a game of it."""
        try:
            for answer in answers:
                asking = self.askings.get(answer.pending.table)
                if asking is not None:
                    self._take(asking, answer, len(answers))
            self._serve_local()
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told where the check can stop
            self.ears.broken(error)

    def _failed(self, table: Table) -> None:
        """The umpire failed: that is no verdict on the bot."""
        self.ears.broken(sys.exception() or RuntimeError(f"game {table.spec.key} failed"))
        super()._failed(table)

    def _take(self, asking: Asking, answer: Answer, company: int) -> None:
        table, turn, action = asking.table, answer.pending.turn, answer.action
        deal = table.deal
        if table.open is not turn or deal is None:
            return
        open_to = breakable(deal)
        if isinstance(action, Malformed):
            violation: Violation | None = Violation(action.rule, action.sentence, turn.legal)
        else:
            violation = deal.verify(action)
        position = self._where(asking, turn) if violation else None
        outputs = self._outputs(table, turn, answer)
        ruled = next((one.ruling for one in outputs if isinstance(one, Ruled) and one.ruling.seat == asking.seat), None)
        if ruled is not None and violation is None:
            violation = Violation(ruled.rule, ruled.sentence, ruled.legal)
        fault = ruled.fault if ruled is not None else None
        heard = Heard(asking, turn, action, violation, fault, open_to, company, position)
        asking.answer = heard
        asking.answers += 1
        if asking.once:
            self.ears.heard(heard)
            self.close(asking)
            return
        self._carry(table, outputs)
        self.ears.heard(heard)

    def _tell_deal(self, table: Table, players: Sequence[Player], closed: DealClosed) -> None:
        """A deal is over; where no more of them were asked for, so is the table."""
        super()._tell_deal(table, players, closed)
        asking = self.askings.get(table)
        if asking is not None:
            self.ears.dealt()
            if asking.deals is not None and sum(log.outcome is not None for log in table.deals) >= asking.deals:
                self.close(asking)

    def _outputs(self, table: Table, turn: Turn, answer: Answer) -> Sequence[Output]:
        action = answer.action
        if isinstance(action, Malformed):
            return table.malformed(turn.turn_id, action.rule, action.sentence, answer.raw, answer.charged_us)
        return table.answer(turn.turn_id, action, answer.charged_us)

    def silent(self, silence: Silence) -> None:
        """The bot was late: the table is closed, and whoever listens decides what to make of it."""
        asking = self.askings.get(silence.pending.table)
        if asking is None:
            return
        company = [
            self._where(self.askings[pending.table], pending.turn)
            for pending in self._bot().open.values()
            if pending.table in self.askings
        ]
        position = asking.last = self._where(asking, silence.pending.turn)
        asking.silent = True
        self.close(asking)
        self.ears.silent(asking, position, company)

    def where(self, pending: Pending) -> tuple[Asking, Position] | None:
        """The table and the position of a turn that is open; ``None`` if its table is closed."""
        asking = self.askings.get(pending.table)
        return None if asking is None else (asking, self._where(asking, pending.turn))

    def _where(self, asking: Asking, turn: Turn) -> Position:
        table = asking.table
        return snapshot(table, len(table.deals) - 1, len(table.deals[-1].actions), turn, asking.origin)

    def abandon(self, table: Table, sentence: str) -> None:
        """A stall of ours while the bot was late: a single decision is asked again, a game is given up."""
        del sentence
        asking = self.askings.get(table)
        if asking is None:
            return
        self.close(asking)
        if asking.once and asking.position is not None:
            self.ask(asking.position, asking.phase, asking.poke)

    def close(self, asking: Asking) -> None:
        """Ends a table; an open turn of it is not asked any more."""
        table = asking.table
        if self.askings.pop(table, None) is None:
            return
        if self.seated.pop(table, None) is not None:
            self._bot().games -= 1
        table.open = None
        asking.done = True
        self.ears.closed(asking)

    def _close(self, table: Table, players: Sequence[Player], closed: GameClosed | Voided) -> None:
        """The game is over; where no more of it was wanted, its table is closed already."""
        if table in self.seated:
            super()._close(table, players, closed)

    def clear(self) -> None:
        """Ends all tables."""
        for asking in list(self.askings.values()):
            self.close(asking)

    def _finished(self, table: Table) -> Record | None:
        """A game is over by itself."""
        asking = self.askings.pop(table, None)
        if asking is not None:
            asking.done = True
            self.ears.closed(asking)
        wanted = self._bot().wants_notices and table.result is not None
        return write_record(table, {}) if wanted else None


def _pack(master: bytes, number: int, deal: int) -> tuple[int, ...]:
    return shuffle(deal_key(master, "check", f"game-{number}", deal))


def _at_the_end_of_figures(position: Position) -> Position:
    """The position late in a long game, with the largest seed."""
    late = max(position.rules.max_deals - 1, 0)
    return replace(position, deal=late, bot_seed=BIGGEST, decision=9_999)


def _any_legal(chance: random.Random, turn: Turn) -> Action:
    return turn.legal[chance.randrange(len(turn.legal))]


def _scripted(table: Table, script: Sequence[Action], others: Choose, turn: Turn) -> Action:
    """The action that the script has at this point of the deal, where it is legal; else whatever the house does."""
    log: Any = table.deals[0].actions
    done = len(log)
    if done < len(script) and list(log) == list(script[:done]) and script[done] in turn.legal:
        return script[done]
    return others(turn)
