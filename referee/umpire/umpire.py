"""The umpire of one game: asks, judges, penalises, records.

It does no I/O, reads no clock and draws no random number: answers, silences and losses of a player go in with the
time that was charged for them, asks and rulings come out. The same umpire serves a gRPC stream, an in-process player,
a replay and a simulation.
"""

from collections.abc import Callable, Sequence

from referee.cards import Card
from referee.rules import Action, Deal, Game, GameResult, Outcome, Violation
from referee.rules.deal import substitute
from referee.umpire.events import (
    Ask,
    DealClosed,
    DealLog,
    Fallback,
    GameClosed,
    GameSpec,
    Irregularity,
    Output,
    Ruled,
    Ruling,
    TableResult,
    Voided,
    places_with_forfeits,
)
from referee.umpire.faults import Consequence, Fault
from referee.umpire.view import Turn, see

FORFEIT = "forfeit"
"""The reason of a game that ended because all others had forfeited."""


class Umpire:
    """One game. ``start`` it, then feed ``answer``, ``malformed``, ``late`` and ``lose``; each returns the outputs.

    At most one turn is open at a time (``open``). ``deals``, ``irregularities`` and ``charged`` (microseconds by seat,
    one figure an input) are what the record is written from.
    """

    def __init__(
        self,
        spec: GameSpec,
        packs: Callable[[int], Sequence[Card]],
        turn_ids: Callable[[], int],
        fallback_move: Fallback,
    ) -> None:
        """``packs`` gives the pack of each deal by number, ``turn_ids`` a fresh id for every turn."""
        self.spec, self._packs, self._turn_ids, self._fallback = spec, packs, turn_ids, fallback_move
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Before the first deal."""
        spec = self.spec
        self.game = Game(spec.rules, spec.seats, spec.first_dealer)
        self.deal: Deal | None = None
        self.open: Turn | None = None
        self.result: TableResult | None = None
        self.void: str | None = None
        self.deals: list[DealLog] = []
        self.irregularities: list[Irregularity] = []
        self.charged: list[list[int]] = [[] for _ in range(spec.seats)]
        self.steps = 0
        self.bank = [spec.limits.bank_us] * spec.seats
        self.game_us = [0] * spec.seats
        self.violations = [0] * spec.seats
        self.decisions = [0] * spec.seats
        self.forfeits: list[int] = []
        self._used = 0
        self._retry = 0

    @property
    def closed(self) -> bool:
        """Whether the game is over, with a result or as no contest."""
        return self.result is not None or self.void is not None

    def start(self) -> list[Output]:
        """Deals the first pack and asks the first seat."""
        return self._proceed([])

    def answer(self, turn_id: int, action: Action, charged_us: int) -> list[Output]:
        """A seat's answer. One to a turn that is not open any more has no effect."""
        turn = self.open
        if turn is None or turn.turn_id != turn_id:
            return []
        if action not in turn.legal:  # ``verify`` says why; what is legal comes from the same phase
            violation = self._deal.verify(action)
            if violation:
                return self._refuse(turn, Fault.ILLEGAL_ACTION, violation, charged_us, action=action)
        seat = turn.chair.seat
        limit = self.spec.limits.game_us
        if limit and self.game_us[seat] + charged_us > limit:
            return self._proceed(self._time_out(turn, Fault.TIMEOUT_GAME, charged_us, action))
        self._charge(seat, charged_us)
        return self._proceed(self._apply(action, []))

    def follow(self, actions: Sequence[Action]) -> list[Output]:
        """Carries out legal actions of this deal, as if each seat had answered its turn at once; returns what comes behind them.

        The turns in between get their ids, and nobody sees them. What is legal is for the caller to know, and that
        nobody's time is spent.
        """
        outputs: list[Output] = []
        for number, action in enumerate(actions):
            if number:
                self._turn_ids()
            self._used = self._retry = 0
            self._charge(self._deal.seat, 0)
            self._apply(action, outputs)
        return self._proceed(outputs)

    def malformed(self, turn_id: int, rule: str, sentence: str, raw: bytes, charged_us: int) -> list[Output]:
        """An answer to the open turn that holds no action; ``raw`` is kept for the record, 1 KiB at most."""
        turn = self.open
        if turn is None or turn.turn_id != turn_id:
            return []
        violation = Violation(rule, sentence, turn.legal)
        return self._refuse(turn, Fault.MALFORMED, violation, charged_us, raw=raw[:1024].hex())

    def late(self, turn_id: int, charged_us: int) -> list[Output]:
        """The open turn was not answered in time."""
        turn = self.open
        if turn is None or turn.turn_id != turn_id:
            return []
        return self._proceed(self._time_out(turn, Fault.TIMEOUT_MOVE, charged_us))

    def lose(self, seat: int, fault: Fault, sentence: str) -> list[Output]:
        """A seat that cannot or may not go on loses the game; the house plays on for it where others still play."""
        if self.closed or seat in self.forfeits:
            return []
        asked = self.open is not None and self.open.chair.seat == seat
        turn_id = self.open.turn_id if self.open and asked else 0
        self._note(seat, fault, Violation("", sentence, ()), Consequence.FORFEITED, None, "", 0)
        outputs = self._forfeit(seat, turn_id, fault, Violation("", sentence, ()))
        return self._proceed(outputs) if asked else outputs

    def abandon(self, sentence: str) -> list[Output]:
        """Ends the game as no contest."""
        if self.closed:
            return []
        self.void, self.open = sentence, None
        return [Voided(sentence)]

    def take_back(self, step: int) -> list[Output]:
        """The same packs once more, played as they were up to so many actions; the seat that is to decide there is asked.

        For practice: nothing of what came behind is known any more, nor any irregularity, so the record is not that of a game as it
        was played. Raises ``ValueError`` where there was no such decision, the game is over, or somebody has forfeited.
        """
        actions = [action for log in self.deals for action in log.actions]
        if self.closed or self.forfeits or not 0 <= step <= len(actions):
            raise ValueError(f"the game cannot go back to decision {step}")
        self._begin_anew()
        self.start()
        for action in actions[:step]:
            if self.open is not None:
                self.answer(self.open.turn_id, action, 0)
        return [] if self.open is None else [Ask(self.open)]

    @property
    def _deal(self) -> Deal:
        if self.deal is None:
            raise RuntimeError("the game has not been started")
        return self.deal

    def _proceed(self, outputs: list[Output]) -> list[Output]:
        """Goes on until a player has to be asked: new deals, moves of the house, seats whose time is spent."""
        while self.result is None and self.void is None:
            deal = self.deal
            if deal is None or deal.outcome is not None:
                self._new_deal(outputs)
                continue
            seat = deal.seat
            self._used = self._retry = 0
            turn = self.open = self._turn(deal, seat)
            limit = self.spec.limits.game_us
            if seat in self.forfeits:
                self._apply(self._fallback(turn), outputs)
            elif limit and self.game_us[seat] >= limit:
                outputs += self._time_out(turn, Fault.TIMEOUT_GAME, 0)
            else:
                outputs.append(Ask(turn))
                break
        return outputs

    def _new_deal(self, outputs: list[Output]) -> None:
        """Deals. A card turned up can end the game before anybody is asked."""
        pack = tuple(self._packs(self.game.deals))
        deal = self.deal = self.game.deal_pack(pack)
        self.deals.append(DealLog(dealer=deal.dealer, pack=pack, scores=tuple(self.game.scores), history=deal.history))
        if deal.outcome is not None:
            self._close_deal(deal.outcome, outputs)

    def _turn(self, deal: Deal, seat: int) -> Turn:
        spec, used = self.spec, self._used
        move_us = max(spec.limits.move_us - used, 0) if used else spec.limits.move_us
        chair, decision = spec.chairs[seat], self.decisions[seat]
        return see(deal, self.game, chair, self._turn_ids(), decision, self._retry, move_us, self.bank[seat])

    def _apply(self, action: Action, outputs: list[Output]) -> list[Output]:
        """Carries out an action, and closes the deal and the game if it was the last."""
        deal = self._deal if self.deal is None else self.deal
        self.decisions[deal.seat] += 1
        self.steps += 1
        self.open = None
        log = self.deals[-1]
        log.actions.append(action)
        log.kinds.append(deal.kind)  # type: ignore[arg-type]  # a deal that is over asks nothing
        deal.apply(action)
        if deal.outcome is not None:
            self._close_deal(deal.outcome, outputs)
        return outputs

    def _close_deal(self, outcome: Outcome, outputs: list[Output]) -> None:
        log = self.deals[-1]
        log.outcome = outcome
        number = self.game.deals
        result = self.game.close(outcome)
        outputs.append(DealClosed(number, log, outcome, tuple(self.game.scores)))
        if result is not None:
            self._close(result, outputs)

    def _charge(self, seat: int, charged_us: int) -> None:
        """Books the time of one input: what exceeds the move allowance comes off the bank."""
        used, self._used = self._used, self._used + charged_us
        self.game_us[seat] += charged_us
        self.charged[seat].append(charged_us)
        move_us = self.spec.limits.move_us
        if self._used > move_us:
            self.bank[seat] = max(self.bank[seat] - (self._used - max(move_us, used)), 0)

    def _refuse(
        self,
        turn: Turn,
        fault: Fault,
        violation: Violation,
        charged_us: int,
        action: Action | None = None,
        raw: str = "",
    ) -> list[Output]:
        """An illegal or malformed answer: a retry if the profile grants one, else penalty and substitute."""
        seat = turn.chair.seat
        self._charge(seat, charged_us)
        if self._retry >= self.spec.profile.retries:
            return self._proceed(self._penalise(turn, fault, violation, charged_us, action, raw))
        self.violations[seat] += 1
        self._note(seat, fault, violation, Consequence.RETRY, action, raw, charged_us)
        self._retry += 1
        ruling = self._ruling(turn, fault, violation, Consequence.RETRY, None)
        self.open = self._turn(self._deal, seat)
        return [Ruled(ruling), Ask(self.open)]

    def _time_out(self, turn: Turn, fault: Fault, charged_us: int, action: Action | None = None) -> list[Output]:
        if fault is Fault.TIMEOUT_MOVE:
            violation = Violation("AF-CLOCK-001", "No answer within the time for this move and the bank.", turn.legal)
        else:
            violation = Violation("AF-CLOCK-002", "The thinking time of the whole game is used up.", turn.legal)
        self._charge(turn.chair.seat, charged_us)
        return self._penalise(turn, fault, violation, charged_us, action, "")

    def _penalise(
        self, turn: Turn, fault: Fault, violation: Violation, charged_us: int, action: Action | None, raw: str
    ) -> list[Output]:
        """Counts the violation; forfeits the game at the profile's limit, else makes the substitute move."""
        seat = turn.chair.seat
        self.violations[seat] += 1
        if self.spec.profile.loses_the_game(self.violations[seat]):
            sentence = f"{violation.sentence} That is number {self.violations[seat]}: the game is forfeited."
            final = Violation(violation.rule, sentence, violation.legal)
            self._note(seat, fault, violation, Consequence.FORFEITED, action, raw, charged_us)
            return self._forfeit(seat, turn.turn_id, fault, final)
        move = substitute(self._deal)
        self._note(seat, fault, violation, Consequence.SUBSTITUTED, action, raw, charged_us)
        ruling = self._ruling(turn, fault, violation, Consequence.SUBSTITUTED, move)
        return self._apply(move, [Ruled(ruling)])

    def _ruling(
        self, turn: Turn, fault: Fault, violation: Violation, consequence: Consequence, move: Action | None
    ) -> Ruling:
        seat = turn.chair.seat
        return Ruling(
            seat=seat,
            turn_id=turn.turn_id,
            fault=fault,
            rule=violation.rule,
            sentence=violation.sentence,
            legal=violation.legal,
            kind=turn.kind,
            consequence=consequence,
            substitute=move,
            violations=self.violations[seat],
        )

    def _note(
        self,
        seat: int,
        fault: Fault,
        violation: Violation,
        consequence: Consequence,
        action: Action | None,
        raw: str,
        charged_us: int,
    ) -> None:
        self.irregularities.append(
            Irregularity(
                step=self.steps,
                seat=seat,
                fault=fault,
                rule=violation.rule,
                sentence=violation.sentence,
                consequence=consequence,
                action=action,
                raw=raw,
                charged_us=charged_us,
            )
        )

    def _forfeit(self, seat: int, turn_id: int, fault: Fault, violation: Violation) -> list[Output]:
        """Takes the seat out of the game; ends the game if one side at most is left in it."""
        self.forfeits.append(seat)
        ruling = Ruling(
            seat=seat,
            turn_id=turn_id,
            fault=fault,
            rule=violation.rule,
            sentence=violation.sentence,
            legal=violation.legal,
            kind=self._deal.kind if violation.legal else None,
            consequence=Consequence.FORFEITED,
            substitute=None,
            violations=self.violations[seat],
        )
        outputs: list[Output] = [Ruled(ruling)]
        sides = self.spec.rules.side_count(self.spec.seats)
        left = set(range(sides)) - {self._side(gone) for gone in self.forfeits}
        if len(left) <= 1:
            self.open = None
            self._finish(left.pop(), FORFEIT, outputs)
        return outputs

    def _side(self, seat: int) -> int:
        return self.spec.rules.side(seat)

    def _close(self, result: GameResult, outputs: list[Output]) -> None:
        if self.forfeits:
            self._finish(result.winner, result.reason, outputs)
            return
        seats = range(self.spec.seats)
        self.result = TableResult(
            winner=result.winner,
            reason=result.reason,
            scores=result.scores,
            places=tuple(result.places[self._side(seat)] for seat in seats),
            stakes=tuple(result.stakes[self._side(seat)] for seat in seats),
            forfeits=(),
        )
        outputs.append(GameClosed(self.result))

    def _finish(self, winner: int | None, reason: str, outputs: list[Output]) -> None:
        """The end of a game with forfeits: nobody pays; where the house has won, the best of the others has."""
        scores = tuple(self.game.scores)
        sides = [self._side(seat) for seat in range(self.spec.seats)]
        places = places_with_forfeits(winner, scores, sides, self.forfeits)
        if winner is not None and any(sides[seat] == winner for seat in self.forfeits):
            best = {sides[seat] for seat, place in enumerate(places) if place == 1}
            winner = best.pop() if len(best) == 1 else None
        self.result = TableResult(
            winner=winner,
            reason=reason,
            scores=scores,
            places=places,
            stakes=(0,) * self.spec.seats,
            forfeits=tuple(self.forfeits),
        )
        outputs.append(GameClosed(self.result))
