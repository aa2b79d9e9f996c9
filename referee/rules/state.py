"""The state of one deal: who holds which card, what was said and played, what is to be decided, how it ended.

It knows nothing of the phases (``auction``, ``turn_up``, ``draw``, ``play``, ``scoring``): they know the state, and move
it. ``deal`` puts them together.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Self

from referee.cards import PACK, Card, Mask, Suit, hand_text
from referee.rules.actions import Kind
from referee.rules.ranking import RANKINGS
from referee.rules.ruleset import RuleSet

_PACK: Final = frozenset(PACK)


class Ending(StrEnum):
    """How a deal ended."""

    PLAYED = "played"
    THROWN_IN = "thrown in"
    SET_BACK = "dealer set back"
    VOID = "void"
    CUT_SHORT = "cut short"


class Award(NamedTuple):
    """Points that one seat earned for its side: an item, a card turned up ("turn up"), or a "gift"."""

    item: str
    seat: int
    points: int
    card: Card | None


class Outcome(NamedTuple):
    """How a deal ended and what it is worth. Lists are by side; ``awards`` are in counting order.

    Points scored at once come first among the awards and are part of ``made`` and ``deltas``.

    ``made`` is what each side earned, ``deltas`` what is added to its score. ``set_back`` is the side that failed its
    contract, ``all_four`` the side that earned all four items (whether that wins the game, ``game.decide`` says).
    """

    ending: Ending
    dealer: int
    pitcher: int | None
    bid: int
    trump: Suit | None
    awards: tuple[Award, ...]
    pips: tuple[int, ...]
    made: tuple[int, ...]
    deltas: tuple[int, ...]
    set_back: int | None
    all_four: int | None


class DealState:
    """The state of one deal of one game. Mutable; ``copy`` gives an independent one.

    ``kind`` and ``seat`` say what is to be decided next and by whom; when the deal is over, ``kind`` is ``None`` and
    ``outcome`` says how it ended. ``history`` holds the packed public events. The 52 cards are in ``hands``, ``played``,
    ``laid_away`` (masks by seat), ``stock`` (top card first) and ``aside`` (cards turned up that nobody gets).
    ``taken`` are the cards of the tricks that a seat has won. ``scores`` are by side, points scored at once included.
    ``duty`` is what ``play`` asks of a seat that does not lead.
    """

    __slots__ = (
        "aside",
        "at_once",
        "bid",
        "calls_left",
        "dealer",
        "dealt",
        "duty",
        "hands",
        "history",
        "kind",
        "laid_away",
        "leader",
        "outcome",
        "pitcher",
        "played",
        "rankings",
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
        "turn_up",
    )

    def __init__(
        self, rules: RuleSet, seats: int, dealer: int, pack: Sequence[Card], scores: Sequence[int], duty: int
    ) -> None:
        """Deals the pack; eldest is to speak first. Raises what ``Deal`` raises."""
        rules.check_seats(seats)
        if not 0 <= dealer < seats:
            raise ValueError(f"dealer {dealer} is not a seat of 0..{seats - 1}")
        self.rules, self.seats, self.dealer, self.duty = rules, seats, dealer, duty
        self.scores = by_side(scores, rules.side_count(seats), "scores")
        self.hands, self.stock = deal_out(pack, seats, dealer, rules.hand_size, rules.packet)
        self.dealt: tuple[Mask, ...] = tuple(self.hands)
        self.rankings = RANKINGS[rules.left_pedro]
        self.history: list[int] = []
        self.at_once: list[Award] = []
        self.bid = self.top_power = self.aside = 0
        self.pitcher: int | None = None
        self.trump: Suit | None = None
        self.turn_up: Card | None = None
        self.trick: list[Card] = []
        self.laid_away: list[Mask] = [0] * seats
        self.played: list[Mask] = [0] * seats
        self.taken: list[Mask] = [0] * seats
        self.outcome: Outcome | None = None
        self.kind: Kind | None = Kind.BID
        self.calls_left = seats
        self.seat = self.leader = self.top_seat = (dealer + 1) % seats

    @property
    def trumps(self) -> Mask:
        """All cards that are trumps, wherever they are; none before trump is settled."""
        return 0 if self.trump is None else self.rankings[self.trump][0]

    def side(self, seat: int) -> int:
        """The side that a seat plays for."""
        return self.rules.side(seat)

    def from_eldest(self) -> list[int]:
        """The seats in the order of the deal: eldest first, dealer last."""
        return [(self.dealer + place) % self.seats for place in range(1, self.seats + 1)]

    def take(self, seat: int, count: int) -> None:
        """Puts the top cards of the stock into a hand."""
        for card in self.stock[:count]:
            self.hands[seat] |= 1 << card
        self.stock = self.stock[count:]

    def copy(self) -> Self:
        """An independent deal in the same position."""
        twin = object.__new__(type(self))
        for name in DealState.__slots__:
            value = getattr(self, name)
            setattr(twin, name, value[:] if isinstance(value, list) else value)
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
    from_eldest = [(dealer + place) % seats for place in range(1, seats + 1)]
    top = 0
    for _ in range(hand_size // packet):
        for seat in from_eldest:
            hand = hands[seat]
            for card in pack[top : top + packet]:
                hand |= 1 << card
            hands[seat] = hand
            top += packet
    return hands, tuple(pack[top:])
