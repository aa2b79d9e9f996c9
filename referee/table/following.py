"""A game followed move by move from its log: what has happened in sentences, and what lies on the table.

A deal of our own plays what the umpire has carried out, so that nothing here depends on when somebody looks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from referee.cards import card_text
from referee.rules import Action, Deal, EventKind, Kind, RuleSet, unpack_event
from referee.table.state import CardOnTable, DealSheet, SheetItem, TakenTrick
from referee.table.words import Speaker, card_name, contract_sentence, item_name, item_why
from referee.umpire.events import DealLog


@dataclass(slots=True)
class FollowedDeal:
    """One deal as far as it has been followed. ``tricks`` are by seat; ``sheet`` is there when it has been counted."""

    number: int
    log: DealLog
    deal: Deal
    followed: int = 0
    tricks: list[int] = field(default_factory=list)
    last_trick: TakenTrick | None = None
    sheet: DealSheet | None = None

    @property
    def trick(self) -> tuple[CardOnTable, ...]:
        """The cards of the trick so far, and who played them."""
        return tuple(played_cards(self.deal, len(self.deal.trick)))


def played_cards(deal: Deal, count: int) -> Iterator[CardOnTable]:
    """The last cards that were played, and by whom: not always one seat after the other."""
    played = [event for event in map(unpack_event, deal.history) if event.kind is EventKind.PLAY]
    for event in played[len(played) - count :]:
        yield CardOnTable(event.seat, card_text(event.value), card_name(event.value))


@dataclass(frozen=True, slots=True)
class Happened:
    """Something that has happened: whether it ended a deal, and sentences about it. ``seat``: who has moved, if somebody has."""

    sentences: tuple[str, ...]
    ends_deal: bool = False
    seat: int | None = None


class GameFollower:
    """Follows one game. ``steps`` are the numbers, from 0, of the moves that the person has made."""

    def __init__(self, rules: RuleSet, seats: int, speaker: Speaker, you: int) -> None:
        self._rules, self._seats, self._speaker, self._you = rules, seats, speaker, you
        self.deals: list[FollowedDeal] = []
        self.steps: list[int] = []
        self._moves = 0

    @property
    def current(self) -> FollowedDeal:
        """The deal that was dealt last."""
        return self.deals[-1]

    def knows(self, logs: Sequence[DealLog]) -> bool:
        """Whether these are the logs that it has followed so far, and not those of a game that was begun again."""
        followed = [one.log for one in self.deals]
        return len(logs) >= len(followed) and all(ours is log for ours, log in zip(followed, logs, strict=False))

    def follow(self, logs: Sequence[DealLog]) -> Iterator[Happened]:
        """Follows what has been added. After each thing that it gives, the table is as it was then."""
        for number, log in enumerate(logs):
            if number == len(self.deals):
                yield self._begin(number, log)
            one = self.deals[number]
            while one.followed < len(log.actions):
                yield self._step(one, log.actions[one.followed])
            if one.sheet is None and one.deal.outcome is not None:
                one.sheet = self._sheet(one)
                yield Happened(tuple(self._counted(one.sheet)), ends_deal=True)

    def _begin(self, number: int, log: DealLog) -> Happened:
        deal = Deal(self._rules, self._seats, log.dealer, log.pack, log.scores)
        self.deals.append(FollowedDeal(number + 1, log, deal, tricks=[0] * self._seats))
        told = [self._speaker.does(deal.dealer, f"deals the cards of deal {number + 1}")]
        return Happened((*told, *map(self._speaker.event, deal.history)))

    def _step(self, one: FollowedDeal, action: Action) -> Happened:
        deal = one.deal
        seat, kind, seen, taken = deal.seat, deal.kind, len(deal.history), list(deal.taken)
        trick = len(deal.trick) + 1
        deal.apply(action)
        one.followed += 1
        if seat == self._you:
            self.steps.append(self._moves)
        self._moves += 1
        events = deal.history[seen:]
        told = [self._speaker.event(event) for event in events]
        if kind is Kind.DISCARD and not events:  # told of all seats at once, when the last has laid away
            told = [self._speaker.does(seat, "chooses the cards to keep")]
        winner = next((taker for taker, pile in enumerate(deal.taken) if pile != taken[taker]), None)
        if winner is not None and kind is Kind.PLAY:
            one.tricks[winner] += 1
            one.last_trick = TakenTrick(winner, tuple(played_cards(deal, trick)))
            told.insert(1, self._speaker.does(winner, f"takes trick {sum(one.tricks)} of this deal"))
        return Happened(tuple(told), seat=seat)

    def _sheet(self, one: FollowedDeal) -> DealSheet:
        outcome, rules = one.deal.outcome, self._rules
        if outcome is None:
            raise AssertionError("a deal is counted when it is over")
        items = tuple(
            SheetItem(
                item_name(award),
                award.seat,
                self._speaker.side(rules.side(award.seat), rules, self._seats),
                award.points,
                item_why(award, outcome, rules),
            )
            for award in outcome.awards
        )
        after = [score + delta for score, delta in zip(one.log.scores, outcome.deltas, strict=True)]
        totals = tuple(after[rules.side(seat)] for seat in range(self._seats))
        return DealSheet(one.number, items, contract_sentence(outcome, self._speaker, rules), totals)

    def _counted(self, sheet: DealSheet) -> Iterator[str]:
        """The counting of a deal, in sentences."""
        for item in sheet.items:
            why = f" by {item.why}" if item.why else ""
            verb = "score" if item.side.startswith("You") or " and " in item.side else "scores"
            yield f"{item.side} {verb} {item.points} for {item.item}{why}."
        if sheet.bid:
            yield sheet.bid
        sides = dict.fromkeys(
            (self._speaker.side(self._rules.side(seat), self._rules, self._seats), sheet.totals[seat])
            for seat in range(self._seats)
        )
        yield f"After deal {sheet.deal}: {', '.join(f'{side} {score}' for side, score in sides)}."
