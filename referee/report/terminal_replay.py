"""A replay for the terminal: every step as a few lines of plain text, the same steps as in the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from referee.cards import SUIT_NAMES, Card, Mask, cards_in
from referee.report.clauses import CONSEQUENCES, clause
from referee.report.game_replay import Decision, GameReplay, ReplayDeal, ReplayRuling, ReplayStep
from referee.report.sanitize import sanitize
from referee.rules import EventKind, Kind, Outcome, action_text, legal_text, unpack_event
from referee.rules.actions import CARD_EVENTS, DECISION_WORDS, EVENT_WORDS
from referee.umpire.notation.style import Style

_WORDS: Final = {
    **EVENT_WORDS,
    EventKind.GIVE: "gives a point",
    EventKind.NAME_TRUMP: "names {} as trump",
    EventKind.DISCARD: "lays away {} face down",
    EventKind.SHOW: "lays away {} face up",
    EventKind.STOCK_TOP: "has {} on top of the stock",
}


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture: ``lines`` to print. ``stop``: the start of a deal, a trick that is won, or the scoring of a deal."""

    lines: Sequence[str]
    ruling: bool
    stop: bool


def frames(game_replay: GameReplay, seat: int | None = None, symbols: bool = True) -> list[Frame]:
    """All frames of a game. ``seat``: show only what this seat could see. ``symbols``: suits as symbols."""
    style = Style(symbols)
    found: list[Frame] = []
    for number, deal in enumerate(game_replay.deals):
        found += _DealFrames(game_replay, number, deal, seat, style).frames()
    return found


class _DealFrames:
    """The frames of one deal."""

    def __init__(self, game_replay: GameReplay, number: int, deal: ReplayDeal, seat: int | None, style: Style) -> None:
        self._replay, self._number, self._deal, self._seat, self._style = game_replay, number, deal, seat, style
        self._rulings = [ruled for ruled in game_replay.rulings if ruled.place.deal == number]
        self._scores = list(deal.scores)
        self._score_at_once(deal.opening)

    def _score_at_once(self, events: Sequence[int]) -> None:
        for packed in events:
            kind, seat, value = unpack_event(packed)
            if kind is EventKind.SCORE:
                self._scores[self._replay.side(seat)] += value

    def frames(self) -> Iterator[Frame]:
        """One frame a position, and one a ruling on the decision that follows."""
        deal, trick, over = self._deal, list[tuple[int, Card]](), False
        for number in range(len(deal.steps) + 1):
            step = deal.steps[number - 1] if number else None
            self._score_at_once(() if step is None else step.events)
            if step is not None and step.kind is Kind.PLAY:
                trick = [*([] if over else trick), (step.seat, step.action)]
                over = step.trick_to is not None
            asked = self._asked(number)
            body = [*self._table(step, asked, trick), self._told(step, asked)]
            last = number == len(deal.steps)
            scored = list(self._scoring()) if last else []
            yield Frame(
                [*body, *scored], ruling=False, stop=number == 0 or last or bool(step and step.trick_to is not None)
            )
            for ruled in self._rulings:
                if ruled.place.step == number:
                    yield Frame([*self._table(step, asked, trick), *self._ruling(ruled)], ruling=True, stop=False)

    def _asked(self, number: int) -> Decision | None:
        steps = self._deal.steps
        if number == len(steps):
            return self._deal.pending
        return Decision(steps[number].seat, steps[number].kind, steps[number].legal)

    def _table(
        self, step: ReplayStep | None, asked: Decision | None, trick: Sequence[tuple[int, Card]]
    ) -> Iterator[str]:
        """The head, a line a seat, and the trick."""
        deal, game_replay = self._deal, self._replay
        trump = deal.trump if step is None else step.trump
        face_up = deal.turn_up if step is None else step.turn_up
        known = [f"Game {game_replay.number}", f"deal {self._number + 1} of {len(game_replay.deals)}"]
        known.append(f"trump {SUIT_NAMES[trump]}" if trump is not None else "trump not fixed")
        if face_up is not None:
            known.append(f"face up {self._style.card(face_up)}")
        yield ", ".join(known)
        hands = deal.hands if step is None else step.hands
        room = max(map(len, game_replay.names))
        for seat, name in enumerate(game_replay.names):
            sign = ">" if asked is not None and asked.seat == seat else " "
            yield f"{sign} {name:<{room}}  {self._scores[self._replay.side(seat)]:>4}  {self._hand(hands[seat], seat, asked)}{self._role(seat, step)}"
        laid = "   ".join(f"{game_replay.names[seat]} {self._style.card(card)}" for seat, card in trick)
        yield f"  On the table: {laid or self._style.dash}"

    def _role(self, seat: int, step: ReplayStep | None) -> str:
        dealer = ["dealer"] if seat == self._deal.dealer else []
        bid = [f"bid {step.bid}" if step.bid else "pitches"] if step is not None and step.pitcher == seat else []
        return f"   ({', '.join(dealer + bid)})" if dealer or bid else ""

    def _hand(self, hand: Mask, seat: int, asked: Decision | None) -> str:
        """The cards from the highest suit down, legal ones in brackets while the seat is to play."""
        cards = sorted(cards_in(hand), reverse=True)
        if self._seat not in (None, seat):
            return f"{len(cards)} cards"
        to_play = asked is not None and asked.seat == seat and asked.kind is Kind.PLAY
        legal = set(asked.legal) if asked is not None and to_play else set()
        return " ".join(f"[{self._style.card(card)}]" if card in legal else self._style.card(card) for card in cards)

    def _told(self, step: ReplayStep | None, asked: Decision | None) -> str:
        events = self._deal.opening if step is None else step.events
        told = [f"{self._replay.names[self._deal.dealer]} deals."] if step is None else []
        if step is not None and step.by_house:
            told.append(f"{self._replay.names[step.seat]} has forfeited; the house plays on.")
        told += [self._event(event) for event in events]
        if step is not None and step.trick_to is not None:
            told.append(f"{self._replay.names[step.trick_to]} takes the trick.")
        if asked is not None:
            told.append(f"{self._replay.names[asked.seat]} is to {DECISION_WORDS[asked.kind]}.")
        return " ".join(told)

    def _event(self, packed: int) -> str:
        kind, seat, value = unpack_event(packed)
        who = self._replay.names[seat]
        if kind is EventKind.BID:
            return f"{who} bids {value}." if value else f"{who} passes."
        shown = self._style.card(value) if kind in CARD_EVENTS else str(value)
        return f"{who} {_WORDS[kind].format(SUIT_NAMES[value] if kind is EventKind.NAME_TRUMP else shown)}."

    def _ruling(self, ruled: ReplayRuling) -> Iterator[str]:
        item, game_replay = ruled.item, self._replay
        yield f"! Ruling against {game_replay.names[item.seat]}: {item.rule or item.fault}"
        if self._seat not in (None, item.seat):
            yield "  Only the seat itself is told what was ruled."
            return
        if item.action is not None and ruled.kind is not None:
            yield f"  It answered: {action_text(ruled.kind, item.action)}"
        yield f"  The referee: {sanitize(item.sentence)}"
        rule = clause(item.rule, game_replay.rules)
        if rule:
            yield f"  The rule: {rule}"
        if ruled.kind is not None:
            yield f"  Legal was: {legal_text(ruled.kind, ruled.legal)}"
        yield f"  What followed: {CONSEQUENCES.get(str(item.consequence), str(item.consequence))}"

    def _scoring(self) -> Iterator[str]:
        deal, game_replay, outcome = self._deal, self._replay, self._deal.outcome
        if outcome is not None:
            yield ""
            yield from self._items(outcome)
            for side in range(len(deal.after)):
                before, delta, after = deal.scores[side], outcome.deltas[side], deal.after[side]
                yield f"  {game_replay.side_name(side)}: {before} {delta:+d} = {after}"
        if self._number == len(game_replay.deals) - 1:
            who = "Nobody wins" if game_replay.winner is None else f"{game_replay.side_name(game_replay.winner)} wins"
            yield f"{who} ({game_replay.reason})."

    def _items(self, outcome: Outcome) -> Iterator[str]:
        if outcome.ending != "played":
            yield f"  No trick is played: {outcome.ending}."
        for award in outcome.awards:
            card = f" {self._style.card(award.card)}" if award.card is not None else ""
            yield f"  {award.item}{card}: {self._replay.names[award.seat]} {award.points:+d}"
        if any(outcome.pips):
            yield f"  pips {' : '.join(map(str, outcome.pips))}"
        if outcome.pitcher is not None and outcome.bid:
            made = outcome.made[self._replay.side(outcome.pitcher)]
            verdict = "made" if outcome.set_back is None else "set back"
            yield f"  {self._replay.names[outcome.pitcher]} bid {outcome.bid}, made {made}: {verdict}"
