"""The games in play of a check: in each the bot under test sits alone among players of ours, each watched.

A game is opened for one decision (``ask``) or for a whole game (``play``). Every answer of the bot is reported with
the clauses that it could have broken there; who keeps the tally is told, nobody is asked.
"""

import random
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from referee.check.perturbations import BIGGEST, Perturbation, big_id
from referee.check.position import GamePrefix, Position, Setting, seat_at, snapshot, spec_of
from referee.check.requirements import breakable
from referee.check.results import Cause, answer_is_legal, causes_of
from referee.deals import deal_key, shuffle
from referee.net.games_in_play import Choose, GameObserver, GamesInPlay, InProcessPlayer, Player
from referee.net.open_turns import PendingTurn, Timeout, TurnAnswer, TurnSession
from referee.protocol.translate import Malformed, game_started
from referee.rules import Action, Game, RuleSet, Violation
from referee.umpire.events import DealClosed, GameClosed, Output, Ruled, Voided
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.record import Record, write_record
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn

_RECENT = 256
"""Closed games that are remembered, for a bot that is lost when it hears how they ended."""

_BATCHES = 8
"""Messages with a fault among several answers of which all positions are kept."""


@dataclass(frozen=True, slots=True)
class AnswerBatch:
    """The answers of one message, and the positions that they are about where these are kept."""

    answers: Sequence[TurnAnswer]
    positions: tuple[Position, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckGame:
    """A game to be played. ``master`` and ``number`` fix its packs and the chance of the other seats.

    It begins with ``scores`` by side (none = all zero) after so many deals (``closed``), and ends after ``deals`` more or
    so many ``answers`` of the bot, if they are given. After ``hold_at`` answers it waits for ``CheckGames.release``.
    """

    rules: RuleSet
    seats: int
    seat: int
    dealer: int
    master: bytes
    number: int
    deals: int | None = None
    scores: tuple[int, ...] = ()
    closed: int = 0
    answers: int | None = None
    hold_at: int | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Probe:
    """One game in which the bot is asked. ``once``: only for this decision; ``done`` when nothing more will come.

    ``answer`` is the last one heard there, ``silent`` and ``lost`` say that the bot was late or gone when asked here,
    ``broke`` which rules it broke here; ``stated``, that decisions of its own seat were made for it before;
    ``last`` is the position at which it was late or gone; ``course`` the game that the bot is led through. ``match`` is the game
    that is played here, which ends after so many answers (``ends_at``); ``held`` is what the umpire has said and nobody
    has been told yet. ``gone_at`` is how many answers there had been when the bot was first lost, if it was.
    """

    umpire: Umpire
    seat: int
    phase: str
    origin: str
    once: bool
    perturbation: Perturbation | None = None
    position: Position | None = None
    answers: int = 0
    answer: "ProbeAnswer | None" = None
    silent: bool = False
    lost: bool = False
    done: bool = False
    deals: int | None = None
    broke: set[str] = field(default_factory=set)
    stated: bool = False
    last: Position | None = None
    course: GamePrefix | None = None
    match: CheckGame | None = None
    held: Sequence[Output] | None = None
    ends_at: int | None = None
    gone_at: int | None = None

    @property
    def from_zero(self) -> bool:
        """Whether a whole game is played here, as every record has it: from its first deal, at scores of zero."""
        match, course = self.match, self.course
        if course is not None:
            return not (any(course.scores) or any(course.set_backs) or course.deal or course.decision)
        return match is not None and not any(match.scores) and not match.closed

    def course_so_far(self) -> GamePrefix:
        """The game as it stands."""
        if self.once and self.position is not None:
            return GamePrefix.to(self.position)
        return GamePrefix.of(self.umpire, self.seat, self.position)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeAnswer:
    """One answer of the bot: what it did, what it could have broken, and what it broke.

    ``company`` is how many answers came in the same message; the rest is stated only for a breach: ``position``, the
    ``courses`` of the game in which it was played, the ``batch`` of positions that the message was about (of the first
    such messages alone), and the ``causes`` that would explain it.
    """

    probe: Probe
    turn: Turn
    action: Action | Malformed
    violation: Violation | None
    fault: Fault | None
    breakable: frozenset[str]
    company: int
    position: Position | None = None
    courses: tuple[GamePrefix, ...] = ()
    batch: tuple[Position, ...] = ()
    causes: frozenset[Cause] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTimeout:
    """A turn that was not answered in time, and those that it was sent with: ``company`` was unanswered too.

    ``asked`` is how many turns the message held and ``batch`` their positions in its order, as far as they are known;
    ``answered`` is how many of them the bot had answered; ``in_order`` says that those were the first ones of it.
    """

    position: Position
    company: list[Position]
    batch: tuple[Position, ...]
    asked: int
    answered: int
    in_order: bool


class CheckObserver:
    """Is told what happens in the games of a check."""

    def heard(self, answer: ProbeAnswer) -> None:
        """The bot has answered."""

    def silent(self, probe: Probe, late: ProbeTimeout) -> None:
        """The bot was late."""

    def closed(self, probe: Probe) -> None:
        """A game is over."""

    def dealt(self) -> None:
        """A deal was played to its end."""

    def broken(self, error: BaseException) -> None:
        """The referee has failed."""


class CheckGames(GamesInPlay, GameObserver):
    """All games of a check. ``bot`` is the session of the bot under test; ``probes`` are those still open."""

    def __init__(self, bot: Callable[[], TurnSession], setting: Setting, observer: CheckObserver) -> None:
        """``setting`` is what games are made of."""
        super().__init__(self)
        self.observer = observer
        self.probes: dict[Umpire, Probe] = {}
        self._recent: deque[Probe] = deque(maxlen=_RECENT)
        self._batches = 0
        self._sent: list[tuple[PendingTurn, int, int]] = []
        self._bot, self._setting = bot, setting

    def ask(self, position: Position, phase: str, perturbation: Perturbation | None = None) -> Probe:
        """Opens a game for one decision; raises ``PositionError``."""
        setting = self._setting
        if perturbation is not None and perturbation.big:
            position, setting = _at_the_end_of_figures(position), replace(setting, ids=big_id)
        umpire, seat, outputs = seat_at(position, setting)
        probe = Probe(
            umpire=umpire,
            seat=seat,
            phase=phase,
            origin=position.origin,
            once=True,
            perturbation=perturbation,
            position=position,
        )
        probe.stated = umpire.decisions[seat] > 0
        self._seat(probe, outputs, [])
        return probe

    def follow(self, position: Position, phase: str) -> Probe:
        """Opens a game at the start of the position's deal: the bot plays, the other seats do as they did.

        For a bot that must have played the history. Where it leaves the path, the others play as the house does.
        """
        umpire, seat, outputs = seat_at(position, self._setting, ask_from=0)
        probe = Probe(
            umpire=umpire,
            seat=seat,
            phase=phase,
            origin=position.origin,
            once=False,
            position=position,
            deals=1,
        )
        self._seat(probe, outputs, list(position.actions))
        return probe

    def retrace(self, course: GamePrefix, phase: str) -> Probe:
        """Opens a game in which the bot is led through a game, to one turn behind its end."""
        umpire, outputs = course.lay(self._setting)
        probe = Probe(umpire=umpire, seat=course.seat, phase=phase, origin="led", once=False, course=course)
        self._seat(probe, outputs, [], partial(_as_then, umpire, course))
        return probe

    def play(self, match: CheckGame, phase: str) -> Probe:
        """Opens a whole game."""
        seed = random.Random(f"{match.master.hex()} {match.number}")  # noqa: S311  # repeatable on purpose
        spec = spec_of(match.rules, match.seats, match.dealer, self._setting, bot_seed=seed.getrandbits(53))
        packs = partial(_pack, match.master, match.number)
        umpire = Umpire(spec, packs, self._setting.ids, fallback_move)
        umpire.game = Game(match.rules, match.seats, match.dealer, match.scores)
        umpire.game.deals = match.closed
        origin = f"game {match.number + 1}"
        probe = Probe(
            umpire=umpire,
            seat=match.seat,
            phase=phase,
            origin=origin,
            once=False,
            deals=match.deals,
            match=match,
            ends_at=match.answers,
        )
        self._seat(probe, umpire.start(), [], partial(_any_legal, seed))
        return probe

    def _seat(
        self, probe: Probe, outputs: Sequence[Output], script: list[Action], others: Choose = fallback_move
    ) -> None:
        umpire, session = probe.umpire, self._bot()
        other = InProcessPlayer(partial(_scripted, umpire, script, others) if script else others)
        players: list[Player] = [other] * umpire.spec.seats
        players[probe.seat] = session
        self.probes[umpire] = probe
        self.seated[umpire] = players
        session.enter_game()
        if not probe.once:
            session.news(game_started(umpire.spec.chairs[probe.seat], umpire.spec.first_dealer))
        self._carry(umpire, outputs)
        self._serve_local()

    def answered(self, answers: Sequence[TurnAnswer]) -> None:
        """Judges the answers of one message, and tells of each. An error of ours must end the check, not a game of it."""
        try:
            message = AnswerBatch(answers, self._positions(answers))
            for answer in answers:
                probe = self.probes.get(answer.pending.umpire)
                if probe is not None:
                    self._take(probe, answer, message)
            self._serve_local()
        except Exception as error:  # noqa: BLE001  # whatever it is, it is told where the check can stop
            self.observer.broken(error)

    def _failed(self, umpire: Umpire) -> None:
        """The umpire failed: that is no verdict on the bot."""
        self.observer.broken(sys.exception() or RuntimeError(f"game {umpire.spec.key} failed"))
        super()._failed(umpire)

    def _positions(self, answers: Sequence[TurnAnswer]) -> tuple[Position, ...]:
        """What a message with a fault among several answers was about: kept of the first such messages."""
        if len(answers) < 2 or self._batches >= _BATCHES or all(answer_is_legal(one) for one in answers):
            return ()
        self._batches += 1
        asked = [(self.probes.get(one.pending.umpire), one.pending.turn) for one in answers]
        return tuple(self._where(probe, turn) for probe, turn in asked if probe is not None)

    def named(self, game_ids: Iterable[int]) -> list[Probe]:
        """The games with these ids, also those closed not long ago, in the order of the ids."""
        known = {one.umpire.spec.chairs[0].game_id: one for one in (*self._recent, *self.probes.values())}
        return [known[game] for game in game_ids if game in known]

    def _take(self, probe: Probe, answer: TurnAnswer, message: AnswerBatch) -> None:
        umpire, turn, action = probe.umpire, answer.pending.turn, answer.action
        deal = umpire.deal
        if umpire.open is not turn or deal is None:
            return
        open_to = breakable(deal)
        if isinstance(action, Malformed):
            violation: Violation | None = Violation(action.rule, action.sentence, turn.legal)
        else:
            violation = deal.verify(action)
        position = self._where(probe, turn) if violation else None
        courses = (probe.course_so_far(),) if violation else ()
        causes = causes_of(deal, answer, message.answers) if violation else frozenset[Cause]()
        then = probe.course.next(umpire, turn) if probe.course is not None else None
        if then is not None and violation is None:
            answer = TurnAnswer(answer.pending, then, answer.raw, answer.charged_us)
        outputs = self._outputs(umpire, turn, answer)
        ruled = next((one.ruling for one in outputs if isinstance(one, Ruled) and one.ruling.seat == probe.seat), None)
        if ruled is not None and violation is None:
            violation = Violation(ruled.rule, ruled.sentence, ruled.legal)
        fault = ruled.fault if ruled is not None else None
        company, batch = len(message.answers), message.positions if violation else ()
        heard = ProbeAnswer(
            probe=probe,
            turn=turn,
            action=action,
            violation=violation,
            fault=fault,
            breakable=open_to,
            company=company,
            position=position,
            courses=courses,
            batch=batch,
            causes=causes,
        )
        probe.answer = heard
        probe.answers += 1
        if probe.once:
            self.observer.heard(heard)
            self.close(probe)
            return
        match = probe.match
        if match is not None and probe.answers == match.hold_at:
            probe.held = outputs
            self.observer.heard(heard)
            return
        self._carry(umpire, outputs)
        self.observer.heard(heard)
        if (probe.course is not None and then is None) or probe.answers == probe.ends_at:
            self.close(probe)

    def release(self, probe: Probe) -> None:
        """Lets a game go on that waits after so many answers."""
        held, probe.held = probe.held, None
        if held is not None:
            self._carry(probe.umpire, held)
            self._serve_local()

    def _tell_deal(self, umpire: Umpire, players: Sequence[Player], closed: DealClosed) -> None:
        """A deal is over; where no more of them were asked for, so is the game."""
        super()._tell_deal(umpire, players, closed)
        probe = self.probes.get(umpire)
        if probe is not None:
            self.observer.dealt()
            if probe.deals is not None and sum(log.outcome is not None for log in umpire.deals) >= probe.deals:
                self.close(probe)

    def _outputs(self, umpire: Umpire, turn: Turn, answer: TurnAnswer) -> Sequence[Output]:
        action = answer.action
        if isinstance(action, Malformed):
            return umpire.malformed(turn.turn_id, action.rule, action.sentence, answer.raw, answer.charged_us)
        return umpire.answer(turn.turn_id, action, answer.charged_us)

    def silent(self, silence: Timeout) -> None:
        """The bot was late: the game is closed, and whoever listens decides what to make of it."""
        probe = self._at(silence.pending.umpire)
        if probe is None:
            return
        left = [silence.pending, *self._bot().open.values()]
        asked = [(self._at(pending.umpire), pending.turn) for pending in left[1:]]
        company = [self._where(other, turn) for other, turn in asked if other is not None]
        position = probe.last = self._where(probe, silence.pending.turn)
        sent = [one.turn.turn_id for one, _, _ in self._sent]
        answered = len(sent) - len(left)
        in_order = sent[answered:] == [one.turn.turn_id for one in left]
        probe.silent = True
        self.close(probe)
        late = ProbeTimeout(
            position=position,
            company=company,
            batch=self._batch(),
            asked=max(len(sent), len(left)),
            answered=max(answered, 0),
            in_order=in_order,
        )
        self.observer.silent(probe, late)

    def note_sent(self) -> None:
        """Notes the turns that have just gone out in one message, and how far their deals were."""
        self._sent = [
            (one, len(one.umpire.deals) - 1, len(one.umpire.deals[-1].actions)) for one in self._bot().open.values()
        ]

    def _batch(self) -> tuple[Position, ...]:
        """The positions of all turns of the last message, also of those that were answered."""
        found = [(self._at(one.umpire), one, dealt, done) for one, dealt, done in self._sent]
        return tuple(
            snapshot(one.umpire, dealt, done, one.turn, probe.origin)
            for probe, one, dealt, done in found
            if probe is not None
        )

    def _at(self, umpire: Umpire) -> Probe | None:
        """What is asked in a game, or was when it was closed not long ago: the bot still owes an answer to it."""
        recent = (one for one in reversed(self._recent) if one.umpire is umpire)
        return self.probes.get(umpire) or next(recent, None)

    def open_turns(self) -> list[PendingTurn]:
        """The turns that the bot has not answered yet."""
        return list(self._bot().open.values())

    def where(self, pending: PendingTurn) -> tuple[Probe, Position] | None:
        """The probe and the position of a turn that is open, also where the game was closed and the bot owes an answer."""
        probe = self._at(pending.umpire)
        return None if probe is None else (probe, self._where(probe, pending.turn))

    def _where(self, probe: Probe, turn: Turn) -> Position:
        umpire = probe.umpire
        return snapshot(umpire, len(umpire.deals) - 1, len(umpire.deals[-1].actions), turn, probe.origin)

    def abandon(self, umpire: Umpire, sentence: str) -> None:
        """A stall of ours while the bot was late: the decision is asked again, or the game played from its start."""
        del sentence
        probe = self.probes.get(umpire)
        if probe is None:
            return
        self.close(probe)
        if probe.once and probe.position is not None:
            self.ask(probe.position, probe.phase, probe.perturbation)
        elif probe.match is not None:
            self.play(probe.match, probe.phase)

    def lose(self, umpire: Umpire, player: Player, fault: Fault, sentence: str) -> None:
        """Nobody loses a game in a check: it is closed, and whoever hears of the fault says what it means."""
        del player, fault, sentence
        probe = self.probes.get(umpire)
        if probe is not None:
            probe.lost = True
            self.close(probe)

    def close(self, probe: Probe) -> None:
        """Ends a game; an open turn of it is not asked any more."""
        umpire = probe.umpire
        if self.probes.pop(umpire, None) is None:
            return
        self._recent.append(probe)
        if self.seated.pop(umpire, None) is not None:
            self._bot().leave_game()
        umpire.open = None
        probe.done = True
        self.observer.closed(probe)

    def _close(self, umpire: Umpire, players: Sequence[Player], closed: GameClosed | Voided) -> None:
        """The game is over; where no more of it was wanted, it is closed already."""
        if umpire in self.seated:
            super()._close(umpire, players, closed)

    def clear(self) -> None:
        """Ends all games."""
        for probe in list(self.probes.values()):
            self.close(probe)

    def finished(self, umpire: Umpire) -> Record | None:
        """A game is over by itself."""
        probe = self.probes.pop(umpire, None)
        if probe is not None:
            self._recent.append(probe)
            probe.done = True
            self.observer.closed(probe)
        wanted = self._bot().wants_notices and umpire.result is not None and probe is not None and probe.from_zero
        return write_record(umpire, {}) if wanted else None


def _pack(master: bytes, number: int, deal: int) -> tuple[int, ...]:
    return shuffle(deal_key(master, "check", f"game-{number}", deal))


def _at_the_end_of_figures(position: Position) -> Position:
    """The position late in a long game, with the largest seed."""
    late = max(position.rules.max_deals - 1, 0)
    return replace(position, deal=late, bot_seed=BIGGEST, decision=9_999)


def _as_then(umpire: Umpire, course: GamePrefix, turn: Turn) -> Action:
    then = course.next(umpire, turn)
    return fallback_move(turn) if then is None else then


def _any_legal(chance: random.Random, turn: Turn) -> Action:
    return turn.legal[chance.randrange(len(turn.legal))]


def _scripted(umpire: Umpire, script: Sequence[Action], others: Choose, turn: Turn) -> Action:
    """The action that the script has at this point of the deal, where it is legal; else whatever the house does."""
    log: Any = umpire.deals[0].actions
    done = len(log)
    if done < len(script) and list(log) == list(script[:done]) and script[done] in turn.legal:
        return script[done]
    return others(turn)
