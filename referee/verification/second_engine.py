"""A replayed game judged once more, by the second rules engine.

The umpire's own replay shows that a record is what this code makes of the moves. The oracle, written apart from it and
from the rule text alone, is asked the same questions: was this action legal, was that one illegal, what was the deal
worth, who has won. Here its words (cards as text, suits as letters, parties) and ours meet.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError

from referee.cards import SUITS, card_text, cards_in, is_card
from referee.oracle import Action as OracleAction
from referee.oracle import OracleDeal, OracleGame, OracleResult
from referee.protocol import wire
from referee.protocol.translate import Malformed, read_move
from referee.rules import Action, Call, Ending, EndReason, Event, EventKind, Kind, Outcome, RuleSet, unpack_event
from referee.rules.actions import action_text, seat_text
from referee.rules.scoring import AT_ONCE
from referee.umpire.events import DealLog, Irregularity, TableResult
from referee.umpire.faults import Consequence, Fault
from referee.umpire.umpire import FORFEIT, Umpire

JUDGED: Final = frozenset({Fault.ILLEGAL_ACTION, Fault.MALFORMED})
"""Faults that can be judged again. All others rest on the referee's clock, or on what it saw of a process."""

MOST_RAW_BYTES: Final = 1024
"""Of a malformed move a record keeps so many bytes; one cut short cannot be parsed again."""

_REASONS: Final = {
    "COUNT_H": EndReason.COUNT_HIGH,
    "COUNT_L": EndReason.COUNT_LOW,
    "COUNT_J": EndReason.COUNT_JACK,
    "COUNT_G": EndReason.COUNT_GAME,
    "DIFFERENCE": EndReason.TARGET,
    "TURNED_JACK": EndReason.TURNED_CARD,
}
_ITEMS: Final = {
    "high": "H",
    "low": "L",
    "jack": "J",
    "game": "G",
    "three": "3",
    "nine": "9",
    "right pedro": "5",
    "left pedro": "left5",
}
_SPOKEN: Final = {
    EventKind.BID: "BID",
    EventKind.STAND: "STAND_OR_BEG",
    EventKind.BEG: "STAND_OR_BEG",
    EventKind.GIVE: "ANSWER_BEG",
    EventKind.RUN: "ANSWER_BEG",
    EventKind.NAME_TRUMP: "NAME_TRUMP",
    EventKind.PLAY: "PLAY",
}
"""Public events that are a decision, by the oracle's name of the decision. A discard is no such event: it is hidden."""


class Disagreement(Exception):
    """The two engines differ. ``deal`` counts from 1 (0: the game as a whole), ``umpire`` and ``oracle`` are their words."""

    def __init__(self, deal: int, what: str, umpire: object, oracle: object) -> None:
        super().__init__(f"deal {deal}, {what}: the umpire says {umpire!r}, the second engine {oracle!r}")
        self.deal, self.what, self.umpire, self.oracle = deal, what, umpire, oracle


@dataclass(frozen=True, slots=True)
class Judged:
    """What was judged of a game: actions, rulings against actions, and by fault the rulings that nobody can judge."""

    decisions: int
    rulings: int
    unproven: Counter[str]


def judge_game(umpire: Umpire) -> Judged:
    """Judges every action, ruling and outcome of a finished game; raises ``Disagreement`` at the first that differs."""
    judge = _Judge(umpire)
    judge.play()
    judge.finish()
    return Judged(umpire.steps, judge.rulings, judge.unproven)


def opinion(umpire: Umpire, action: Action) -> bool | None:
    """Whether the oracle would allow that action to the seat to decide; ``None`` if it differs from the umpire before."""
    judge = _Judge(umpire)
    try:
        judge.play()
    except (Disagreement, ValueError):
        return None
    deal = judge.deal
    return None if deal is None or deal.kind is None else deal.judge(for_oracle(deal.kind, action))


def for_oracle(kind: str, action: Action) -> OracleAction:
    """An action as the oracle reads it. What is no card, suit or call becomes a text that is none."""
    if kind == Kind.BID.name:
        return action
    if kind == Kind.PLAY.name:
        return _card(action)
    if kind == Kind.NAME_TRUMP.name:
        return SUITS[action] if 0 <= action < 4 else f"suit {action}"
    if kind == Kind.DISCARD.name:
        return frozenset(map(_card, cards_in(action))) if action >= 0 else frozenset({f"cards {action}"})
    return Call(action).name if action in tuple(Call) else f"call {action}"


def _card(number: int) -> str:
    return card_text(number) if is_card(number) else f"card {number}"


class _Judge:
    """Takes one game through the oracle, step by step beside the umpire's logs."""

    def __init__(self, umpire: Umpire) -> None:
        spec = umpire.spec
        self.umpire, self.rules = umpire, spec.rules
        self.game = OracleGame(spec.rules.as_dict(), spec.seats, spec.first_dealer)
        self.deal: OracleDeal | None = None
        self.rulings, self.unproven = 0, Counter[str]()
        self._step, self._number = 0, 0
        self._waiting = list(reversed(umpire.irregularities))

    def play(self) -> None:
        """Every deal, and every ruling at its place."""
        for number, log in enumerate(self.umpire.deals, 1):
            self._number = number
            self._same("game over", False, self.game.finished)
            deal = self.deal = self.game.deal([card_text(card) for card in log.pack])
            spoken = _spoken(log)
            for action in log.actions:
                self._rule(deal)
                self._act(deal, action, spoken)
            self._rule(deal)
            if log.outcome is not None:
                self._close(deal, log.outcome)

    def _act(self, deal: OracleDeal, action: Action, spoken: Iterator[Event]) -> None:
        kind = deal.kind
        if kind is None:
            raise self._differ("the end of the deal", "play goes on", "the deal is over")
        if kind != Kind.DISCARD.name:
            self._follow(deal, action, next(spoken, None))
        try:
            deal.act(for_oracle(kind, action))
        except ValueError:
            text = action_text(Kind[kind], action)
            raise self._differ(_asked(deal), f"{text} is legal", f"{text} is illegal") from None
        self._step += 1

    def _follow(self, deal: OracleDeal, action: Action, event: Event | None) -> None:
        """The public history tells of the same seat, decision and action."""
        if event is None:
            raise self._differ("history", "nothing", f"{_asked(deal)} decides {deal.kind}")
        self._same("who decides", event.seat, deal.seat)
        self._same("what is decided", _SPOKEN[event.kind], deal.kind)
        shown = event.kind - 1 if deal.kind in ("STAND_OR_BEG", "ANSWER_BEG") else event.value
        self._same("the public event", shown, action)

    def _rule(self, deal: OracleDeal) -> None:
        """The rulings made before the next action."""
        while self._waiting and self._waiting[-1].step == self._step and deal.kind is not None:
            self._judge_ruling(deal, self._waiting.pop())

    def _judge_ruling(self, deal: OracleDeal, item: Irregularity) -> None:
        if item.fault not in JUDGED:
            self.unproven[str(item.fault)] += 1
            return
        self._same(f"seat of {item.fault}", item.seat, deal.seat)
        kind = Kind[deal.kind or "PLAY"]
        if item.fault is Fault.MALFORMED:
            self._parse_again(kind, item)
            return
        self.rulings += 1
        if item.action is None or deal.judge(for_oracle(kind.name, item.action)):
            text = "nothing" if item.action is None else action_text(kind, item.action)
            raise self._differ(seat_text(item.seat), f"{text} breaks {item.rule}", f"{text} is legal")

    def _parse_again(self, kind: Kind, item: Irregularity) -> None:
        """The bytes that held no action still hold none, and break the same clause."""
        what = f"bytes of {seat_text(item.seat)}"
        raw = bytes.fromhex(item.raw)
        self._same(what, item.raw, raw.hex())
        if len(raw) > MOST_RAW_BYTES:
            raise self._differ(what, f"{len(raw)} bytes", f"{MOST_RAW_BYTES} at most")
        if len(raw) == MOST_RAW_BYTES:
            self.unproven[f"{item.fault} (cut)"] += 1
            return
        self.rulings += 1
        try:
            move = wire.Move.FromString(raw)
            found = read_move(move, kind)
        except DecodeError:
            raise self._differ(what, item.rule, "no message at all") from None
        if not isinstance(found, Malformed):
            raise self._differ(what, f"{item.rule}: {item.sentence}", f"{action_text(kind, found)}, a sound move")
        self._same(what, f"{item.rule}: {item.sentence}", f"{found.rule}: {found.sentence}")
        move.ClearField("turn_id")  # a record keeps a move as the referee writes it, without the number of its turn
        self._same(what, item.raw, move.SerializeToString().hex())

    def _close(self, deal: OracleDeal, outcome: Outcome) -> None:
        if deal.result is None:
            raise self._differ("the end of the deal", "over", f"{_asked(deal)} decides {deal.kind}")
        for both in _compared(outcome, deal.result, self.rules):
            self._same(both.what, both.umpire, both.oracle)
        self.game.close(deal)

    def finish(self) -> None:
        """The end of the game."""
        self._number = 0
        umpire, result = self.umpire, self.umpire.result
        if result is None:
            raise self._differ("the end of the game", "no result", "a finished game has one")
        if self._waiting:
            raise self._differ("rulings", f"{len(self._waiting)} more after the last card", "nobody is asked")
        self._same("final scores", list(result.scores), self.game.scores)
        forfeits = [i.seat for i in umpire.irregularities if i.consequence is Consequence.FORFEITED]
        self._same("forfeits", list(result.forfeits), forfeits)
        if forfeits:
            self._finish_forfeited(result)
        else:
            self._finish_played(result)

    def _finish_played(self, result: TableResult) -> None:
        game = self.game
        self._same("game over", True, game.finished)
        self._same("reason", result.reason, _reason(game.reason, self.rules))
        # At the cap nobody has won and nobody pays; the oracle names the best, which is what the places say.
        capped = game.reason == "CAP"
        self._same("winner", result.winner, None if capped else game.winner)
        stakes = [0] * len(game.settlement) if capped else game.settlement
        self._same("stakes", list(result.stakes), [stakes[_side(self.rules, seat)] for seat in range(game.seats)])
        first = set(game.winners)
        self._same(
            "places", list(result.places), self._places([(side in first, s) for side, s in enumerate(game.scores)])
        )

    def _finish_forfeited(self, result: TableResult) -> None:
        """Forfeiters are last, the earliest the very last; nobody pays; a seat of the house cannot win."""
        game, out = self.game, [_side(self.rules, seat) for seat in result.forfeits]
        sides = range(len(game.scores))
        left = [side for side in sides if side not in out]
        if len(left) <= 1 and not game.finished:
            reason, first = FORFEIT, left
        else:
            reason = _reason(game.reason, self.rules)
            first = [] if game.winner is None or game.reason == "CAP" else [game.winner]
        self._same("reason", result.reason, reason)
        worth = [
            (-1, out.index(side), 0) if side in out else (0, int(side in first), game.scores[side]) for side in sides
        ]
        self._same("places", list(result.places), self._places(worth))
        self._same("stakes", list(result.stakes), [0] * game.seats)
        if first and first[0] in out:
            best = [side for side in sides if worth[side] == max(worth)]
            first = best if len(best) == 1 else []
        self._same("winner", result.winner, first[0] if first else None)

    def _places(self, worth: list[Any]) -> list[int]:
        by_side = [1 + sum(other > mine for other in worth) for mine in worth]
        return [by_side[_side(self.rules, seat)] for seat in range(self.game.seats)]

    def _same(self, what: str, umpire: object, oracle: object) -> None:
        if umpire != oracle:
            raise self._differ(what, umpire, oracle)

    def _differ(self, what: str, umpire: object, oracle: object) -> Disagreement:
        return Disagreement(self._number, what, umpire, oracle)


def _reason(theirs: str | None, rules: RuleSet) -> str:
    """The oracle's reason for the end of a game in the umpire's words; where single cards score, all are one."""
    if theirs is None:
        return "nobody has won"
    if rules.scoring == "points" and theirs.startswith("COUNT_"):
        return str(EndReason.TARGET)
    return str(_REASONS.get(theirs) or EndReason[theirs])


def _spoken(log: DealLog) -> Iterator[Event]:
    """The public decisions. A dealer who runs the cards decides once, though he may have to deal several times."""
    last = None
    for packed in log.history:
        kind = packed >> 16
        if kind in _SPOKEN and not kind == last == EventKind.RUN:
            yield unpack_event(packed)
        last = kind if kind in _SPOKEN else last


class Opinions(NamedTuple):
    """What the umpire and the second engine say of one thing."""

    what: str
    umpire: object
    oracle: object


def _compared(outcome: Outcome, result: OracleResult, rules: RuleSet) -> Iterator[Opinions]:
    """What both say of a deal that is over."""
    yield Opinions("no card played", outcome.ending in (Ending.THROWN_IN, Ending.SET_BACK), result.thrown_in)
    yield Opinions("redeal", outcome.ending is Ending.VOID, result.redeal)
    yield Opinions("pitcher", outcome.pitcher, result.pitcher)
    yield Opinions("bid", outcome.bid, result.bid or 0)
    if outcome.ending is Ending.PLAYED:
        yield Opinions("trump", None if outcome.trump is None else SUITS[outcome.trump], result.trump)
    # What is scored at once stands among the umpire's awards; the oracle keeps it to the deltas.
    awards = [award for award in outcome.awards if award.item not in AT_ONCE]
    seats: Mapping[str, int] = {_ITEMS[award.item]: award.seat for award in awards}
    owners = {item: _side(rules, seat) for item, seat in seats.items()}
    yield Opinions("items", owners, {item: side for item, side in result.items.items() if side is not None})
    for item, seat in result.item_seats.items():
        if seat is not None:
            yield Opinions(f"seat of {item}", seats[item], seat)
    yield Opinions("made", _by_side(rules, outcome, [(award.seat, award.points) for award in awards]), result.made)
    yield Opinions("pips", list(outcome.pips), _by_side(rules, outcome, enumerate(result.pips)))
    yield Opinions("deltas", list(outcome.deltas), result.deltas)
    yield Opinions("set back", outcome.set_back, result.set_back)


def _by_side(rules: RuleSet, outcome: Outcome, figures: Iterable[tuple[int, int]]) -> list[int]:
    """Figures of seats, summed by side."""
    sums = [0] * len(outcome.deltas)
    for seat, figure in figures:
        sums[_side(rules, seat)] += figure
    return sums


def _side(rules: RuleSet, seat: int) -> int:
    return seat % rules.sides if rules.sides else seat


def _asked(deal: OracleDeal) -> str:
    """The seat that is to decide, as people call it."""
    return "nobody" if deal.seat is None else seat_text(deal.seat)
