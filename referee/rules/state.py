"""One deal, from the pack to the points: the state machine that every variant shares.

``legal`` lists what the seat to decide may do, ``verify`` judges one action, ``apply`` carries it out. All three stand
on the same phase functions (``auction``, ``play``), so there is one source of legality. A deal knows every hand; what
a seat may see of it is decided in one place elsewhere (``referee.view``).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

from referee.cards import PACK, Card, Mask, Suit, hand_text
from referee.rules import auction, play
from referee.rules.actions import Action, Kind, Violation
from referee.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from referee.rules.scoring import Outcome

_PACK = frozenset(PACK)


class IllegalAction(ValueError):
    """An action that ``verify`` refuses; ``violation`` says why."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"{violation.rule}: {violation.sentence}")
        self.violation = violation


class Deal:
    """One deal of one game. Mutable; ``copy`` gives an independent one.

    ``kind`` and ``seat`` say what is to be decided next and by whom; when the deal is over, ``kind`` is ``None`` and
    ``outcome`` says how it ended. ``hands`` are masks by seat, ``history`` the packed public events.
    """

    __slots__ = (
        "bid",
        "calls_left",
        "dealer",
        "dealt",
        "hands",
        "history",
        "kind",
        "leader",
        "outcome",
        "pitcher",
        "played",
        "rules",
        "scores",
        "seat",
        "seats",
        "stock",
        "taken",
        "top_power",
        "top_seat",
        "trick",
        "trump",
    )

    def __init__(
        self, rules: RuleSet, seats: int, dealer: int, pack: Sequence[Card], scores: Sequence[int] = ()
    ) -> None:
        """Deals the pack (``pack[0]`` is the top card) and opens the auction.

        ``scores`` are the scores by side before the deal (all zero if left out). Raises ``ValueError`` if the pack is
        not the 52 cards, the dealer is not a seat or the scores are not one a side, ``RuleSetError`` if the game is not
        for that many seats.
        """
        rules.check_seats(seats)
        if not 0 <= dealer < seats:
            raise ValueError(f"dealer {dealer} is not a seat of 0..{seats - 1}")
        self.rules, self.seats, self.dealer = rules, seats, dealer
        self.scores = by_side(scores, rules.side_count(seats), "scores")
        self.hands, self.stock = deal_out(pack, seats, dealer, rules.hand_size, rules.packet)
        self.dealt: tuple[Mask, ...] = tuple(self.hands)
        self.history: list[int] = []
        self.bid = 0
        self.pitcher: int | None = None
        self.trump: Suit | None = None
        self.trick: list[Card] = []
        self.leader = self.top_seat = (dealer + 1) % seats
        self.top_power = 0
        self.played: list[Mask] = [0] * seats
        self.taken: list[Mask] = [0] * seats
        self.outcome: Outcome | None = None
        self.kind: Kind | None = Kind.BID
        self.calls_left = seats
        self.seat = (dealer + 1) % seats

    def legal(self) -> Sequence[Action]:
        """Every legal action of the seat to decide; empty when the deal is over."""
        if self.kind is Kind.PLAY:
            return play.legal(self)
        return auction.legal(self) if self.kind is Kind.BID else ()

    def verify(self, action: Action) -> Violation | None:
        """What the action breaks, or ``None`` if it is legal. Raises ``ValueError`` when the deal is over."""
        if self.kind is Kind.PLAY:
            return play.verify(self, action)
        if self.kind is Kind.BID:
            return auction.verify(self, action)
        raise ValueError("the deal is over: nothing is to be decided")

    def apply(self, action: Action) -> None:
        """Carries out a legal action. It trusts its caller: ``verify`` first, or use ``act``."""
        if self.kind is Kind.PLAY:
            play.apply(self, action)
        else:
            auction.apply(self, action)

    def act(self, action: Action) -> None:
        """``verify`` and ``apply`` in one; raises ``IllegalAction``."""
        violation = self.verify(action)
        if violation:
            raise IllegalAction(violation)
        self.apply(action)

    def side(self, seat: int) -> int:
        """The side that a seat plays for."""
        return seat % self.rules.sides if self.rules.sides else seat

    def copy(self) -> Self:
        """An independent deal in the same position."""
        twin = object.__new__(type(self))
        for name in Deal.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.hands, twin.history, twin.trick = self.hands[:], self.history[:], self.trick[:]
        twin.played, twin.taken, twin.scores = self.played[:], self.taken[:], self.scores[:]
        return twin

    def __repr__(self) -> str:
        hands = " | ".join(hand_text(hand) for hand in self.hands)
        return f"<Deal {self.rules.name} seat {self.seat} {self.kind and self.kind.name}: {hands}>"


def by_side(figures: Sequence[int], sides: int, name: str) -> list[int]:
    """A list of one figure a side, all zero if none are given; raises ``ValueError`` for any other number of them."""
    if len(figures) not in (0, sides):
        raise ValueError(f"{name}: {len(figures)} figures for {sides} sides")
    return list(figures) or [0] * sides


def deal_out(
    pack: Sequence[Card], seats: int, dealer: int, hand_size: int, packet: int
) -> tuple[list[Mask], tuple[Card, ...]]:
    """The hands by seat and the rest of the pack: packets go to eldest first, dealer last (rules 1.0, deal mapping)."""
    if len(pack) != 52 or set(pack) != _PACK:
        raise ValueError(f"a pack has 52 different cards, this one has {len(_PACK & set(pack))} among {len(pack)}")
    hands = [0] * seats
    top = 0
    for _ in range(hand_size // packet):
        for place in range(1, seats + 1):
            seat = (dealer + place) % seats
            for card in pack[top : top + packet]:
                hands[seat] |= 1 << card
            top += packet
    return hands, tuple(pack[top:])
