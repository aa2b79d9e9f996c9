"""One deal, from the pack to the points: the state machine that every variant shares.

``legal`` lists what the seat to decide may do, ``verify`` judges one action, ``apply`` carries it out. All three stand
on the same phase functions (``auction``, ``turn_up``, ``draw``, ``play``), so there is one source of legality. A deal
knows every hand; what a seat may see of it is decided in one place elsewhere (``referee.umpire.view``).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from referee.cards import SUIT_MASKS, Card, Mask, cards_in
from referee.rules import auction, draw, play, turn_up
from referee.rules.actions import Action, Call, Keeps, Kind, Violation
from referee.rules.ruleset import RuleSet
from referee.rules.state import DealState

_BY_KIND: Final[
    Mapping[
        Kind,
        tuple[
            Callable[[DealState], Sequence[Action]],
            Callable[[DealState, Action], Violation | None],
            Callable[[DealState, Action], None],
        ],
    ]
] = {
    Kind.BID: (auction.legal, auction.verify, auction.apply),
    Kind.STAND_OR_BEG: (turn_up.legal, turn_up.verify, turn_up.apply),
    Kind.ANSWER_BEG: (turn_up.legal, turn_up.verify, turn_up.apply),
    Kind.NAME_TRUMP: (draw.legal_suits, draw.verify_suit, draw.name_trump),
    Kind.DISCARD: (draw.legal_keeps, draw.verify_keep, draw.lay_away),
    Kind.PLAY: (play.legal, play.verify, play.apply),
}
"""What is legal, what an action breaks, what it does: by kind of decision."""

_PHASES: Final = (_BY_KIND[Kind.BID], *(_BY_KIND[kind] for kind in Kind))
"""The same by the number of the kind, which is faster; no kind is 0."""

_PLAY: Final = Kind.PLAY


class IllegalAction(ValueError):
    """An action that ``verify`` refuses; ``violation`` says why."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"{violation.rule}: {violation.sentence}")
        self.violation = violation


class Deal(DealState):
    """One deal of one game: its state, and the phases that move it. Mutable; ``copy`` gives an independent one."""

    __slots__ = ()

    def __init__(
        self, rules: RuleSet, seats: int, dealer: int, pack: Sequence[Card], scores: Sequence[int] = ()
    ) -> None:
        """Deals the pack (``pack[0]`` is the top card) and asks the first seat, if the deal is not over at once.

        ``scores`` are the scores by side before the deal (all zero if left out). Raises ``ValueError`` if the pack is
        not the 52 cards, the dealer is not a seat or the scores are not one a side, ``RuleSetError`` if the game is not
        for that many seats.
        """
        super().__init__(rules, seats, dealer, pack, scores, play.duty_of(rules))
        if not rules.has_auction:
            turn_up.begin(self)

    def legal(self) -> Sequence[Action]:
        """Every legal action of the seat to decide; empty when the deal is over."""
        if self.kind is _PLAY:
            return cards_in(play.legal_mask(self))
        return () if self.kind is None else _PHASES[self.kind][0](self)

    def verify(self, action: Action) -> Violation | None:
        """What the action breaks, or ``None`` if it is legal. Raises ``ValueError`` when the deal is over."""
        if self.kind is None:
            raise ValueError("the deal is over: nothing is to be decided")
        return _PHASES[self.kind][1](self, action)

    def apply(self, action: Action) -> None:
        """Carries out a legal action. It trusts its caller: ``verify`` first, or use ``act``."""
        if self.kind is _PLAY:
            play.apply(self, action)
        elif self.kind is not None:
            _PHASES[self.kind][2](self, action)
        else:
            raise ValueError("the deal is over: nothing is to be decided")

    def act(self, action: Action) -> None:
        """``verify`` and ``apply`` in one; raises ``IllegalAction``."""
        violation = self.verify(action)
        if violation:
            raise IllegalAction(violation)
        self.apply(action)


def substitute(deal: Deal) -> Action:
    """The move that the referee makes for a seat that cannot: fixed, so that replays agree.

    Pass, stand, give (if legal, else run), the lowest bid, the longest suit, the lowest card by suit then rank. Of cards
    to keep: trumps first, then the highest.
    """
    legal = deal.legal()
    if isinstance(legal, Keeps):
        return best_keep(legal, deal.trumps)
    if deal.kind is Kind.NAME_TRUMP:
        hand = deal.hands[deal.seat]
        return max(legal, key=lambda suit: ((hand & SUIT_MASKS[suit]).bit_count(), -suit))
    if deal.kind is Kind.ANSWER_BEG:
        return Call.GIVE if Call.GIVE in legal else Call.RUN
    return min(legal)


def best_keep(keeps: Keeps, trumps: Mask) -> Mask:
    """The cards to keep: all that must be, then trumps, then the highest cards, clubs before spades on equal ranks."""
    kept = keeps.must

    def worth(card: Card) -> tuple[int, int, int]:
        return trumps >> card & 1, card & 15, -(card >> 4)

    for card in sorted(cards_in(keeps.may), key=worth, reverse=True)[: keeps.size - kept.bit_count()]:
        kept |= 1 << card
    return kept
