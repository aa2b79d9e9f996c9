"""What would this bot do here? A decision of a stored game, put to any bot through its own process and stream."""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.check.games import ProbeAnswer
from referee.check.plan import Plan
from referee.check.position import Position
from referee.check.recorder import Recorder
from referee.check.results import EventLog
from referee.check.runner import CheckRunner
from referee.protocol import wire
from referee.protocol.translate import Malformed
from referee.rules import Action, Deal, Game, action_text, legal_text
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, RecordError, replay
from referee.umpire.umpire import Umpire
from referee.umpire.view import Turn


@dataclass(frozen=True, slots=True)
class Moment:
    """One decision of a stored game: the position, who was asked, and what was done then."""

    position: Position
    seat: int
    played: Action

    @property
    def done(self) -> str:
        """What was done then, in words."""
        deal = self.position.reached()
        return action_text(deal.kind, self.played) if deal.kind is not None else ""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the bot did: ``did`` in words, ``broke`` the sentence of the rule that it broke, if it broke one.

    ``failure`` says why there is no answer; then the others are empty.
    """

    did: str = ""
    broke: str = ""
    failure: str = ""


class NoTurnError(RecordError):
    """The game has no decision with the number that was asked for."""


def moment(record: Record, turn: int, seeds: tuple[int, ...] = ()) -> Moment:
    """Decision number ``turn`` (from 1) of a game; ``seeds`` by seat are what bots draw their chance from.

    Raises ``RecordError`` if the record does not replay, ``NoTurnError`` if the game has fewer decisions.
    """
    umpire = replay(record, fallback_move)
    counts = [len(log.actions) for log in umpire.deals]
    if not 1 <= turn <= sum(counts):
        raise NoTurnError(
            f"the last decision of the game is number {sum(counts)}: there is no {turn}; choose another --turn"
        )
    number, done = 0, turn - 1
    while done >= counts[number]:
        done -= counts[number]
        number += 1
    return _moment(umpire, number, done, seeds)


def moments(record: Record, deal: int, seat: int) -> list[Moment]:
    """The decisions of a seat in deal number ``deal`` (from 0) of a game, but those in which it had no choice.

    Raises ``RecordError`` if the record does not replay, or has no such deal.
    """
    umpire = replay(record, fallback_move)
    if not 0 <= deal < len(umpire.deals):
        raise NoTurnError(f"the game has {len(umpire.deals)} deals: there is no number {deal + 1}")
    spec, log = umpire.spec, umpire.deals[deal]
    going_on = Deal(spec.rules, spec.seats, log.dealer, log.pack, log.scores)
    found = []
    for done, action in enumerate(log.actions):
        if going_on.seat == seat and len(going_on.legal()) > 1:
            found.append(_moment(umpire, deal, done, ()))
        going_on.apply(action)
    return found


def _moment(umpire: Umpire, number: int, done: int, seeds: tuple[int, ...]) -> Moment:
    spec = umpire.spec
    game = Game(spec.rules, spec.seats, spec.first_dealer)
    decisions = [0] * spec.seats
    for log in umpire.deals[:number]:
        deal = game.deal_pack(log.pack)
        _play(deal, log.actions, decisions)
        if deal.outcome is not None:
            game.close(deal.outcome)
    log = umpire.deals[number]
    deal = game.deal_pack(log.pack)
    _play(deal, log.actions[:done], decisions)
    seat = deal.seat
    position = Position(
        rules=spec.rules,
        seats=spec.seats,
        dealer=log.dealer,
        pack=tuple(log.pack),
        actions=tuple(log.actions[:done]),
        scores=tuple(game.scores),
        set_backs=tuple(game.set_backs),
        deal=number,
        decision=decisions[seat],
        bot_seed=seeds[seat] if seeds else 0,
        origin="game",
    )
    return Moment(position, seat, log.actions[done])


def _play(deal: Deal, actions: list[Action], decisions: list[int]) -> None:
    for action in actions:
        decisions[deal.seat] += 1
        deal.act(action)


class _Listener(Recorder):
    """Keeps the answers, and judges none."""

    def __init__(self) -> None:
        super().__init__(EventLog())
        self.answers: list[ProbeAnswer] = []

    def heard(self, heard: ProbeAnswer) -> None:
        """One answer."""
        self.answers.append(heard)


async def ask(plan: Plan, position: Position) -> Reply:
    """Starts the bot, puts the position to it and ends it. A bot with a memory plays the deal from its start."""
    (reply,) = await ask_each(plan, [position])
    return reply


async def ask_each(plan: Plan, positions: Sequence[Position]) -> list[Reply]:
    """Starts the bot, puts these positions to it and ends it: a reply to each."""
    listener = _Listener()
    async with CheckRunner.set_up(plan, listener) as runner:
        failure = await runner.start()
        if failure:
            return [Reply(failure=f"it did not join: {failure}")] * len(positions)
        probes = await runner.ask(positions, "ask")
        if not runner.over:
            await runner.see_off(wire.FAREWELL_REASON_FINISHED, "That was all.")
    why = "it plays this deal otherwise, and never comes to this position"
    if any(probe.silent for probe in probes):
        why = "it did not answer in time"
    elif any(probe.lost for probe in probes) or runner.losses:
        why = "its process or its stream ended"

    def reply(position: Position) -> Reply:
        wanted = position.turn()
        answer = next((one for one in listener.answers if _same_turn(one.turn, wanted)), None)
        return Reply(failure=why) if answer is None else _reply(answer, position)

    return list(map(reply, positions))


def _same_turn(one: Turn, other: Turn) -> bool:
    """Whether two turns show the same position to the same seat. The history of a turn grows with its deal."""
    seen = len(other.history)
    return (one.chair.seat, one.kind, one.hand, one.decision, list(one.history[:seen])) == (
        other.chair.seat,
        other.kind,
        other.hand,
        other.decision,
        list(other.history),
    )


def _reply(answer: ProbeAnswer, position: Position) -> Reply:
    if isinstance(answer.action, Malformed):
        return Reply("a move that cannot be read", f"{answer.action.rule}: {answer.action.sentence}")
    deal = position.reached()
    text = action_text(deal.kind, answer.action) if deal.kind is not None else ""
    violation = answer.violation
    return Reply(text, f"{violation.rule}: {violation.sentence}" if violation else "")


def legal_words(position: Position) -> str:
    """What is legal at a position, in words."""
    deal = position.reached()
    return legal_text(deal.kind, deal.legal()) if deal.kind is not None else ""
