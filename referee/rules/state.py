"""One deal, from the pack to the points: the state machine that every variant shares.

``legal`` lists what the seat to decide may do, ``verify`` judges one action, ``apply`` carries it out. All three stand
on the same phase functions (``auction``, ``turn_up``, ``draw``, ``play``), so there is one source of legality. A deal
knows every hand; what a seat may see of it is decided in one place elsewhere (``referee.umpire.view``).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Self

from referee.cards import PACK, Card, Mask, Suit, hand_text
from referee.rules import auction, draw, play, turn_up
from referee.rules.actions import Action, Kind, Violation
from referee.rules.ranking import RANKINGS
from referee.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from referee.rules.scoring import Award, Outcome

_PACK: Final = frozenset(PACK)
_PLAY: Final = Kind.PLAY
_LEGAL: Final = (
    auction.legal,
    auction.legal,
    turn_up.legal,
    turn_up.legal,
    draw.legal_suits,
    draw.legal_keeps,
    play.legal,
)
_VERIFY: Final = (
    auction.verify,
    auction.verify,
    turn_up.verify,
    turn_up.verify,
    draw.verify_suit,
    draw.verify_keep,
    play.verify,
)
_APPLY: Final = (
    auction.apply,
    auction.apply,
    turn_up.apply,
    turn_up.apply,
    draw.name_trump,
    draw.lay_away,
    play.apply,
)
"""The phases by kind of decision; no kind is 0."""


class IllegalAction(ValueError):
    """An action that ``verify`` refuses; ``violation`` says why."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"{violation.rule}: {violation.sentence}")
        self.violation = violation


class Deal:
    """One deal of one game. Mutable; ``copy`` gives an independent one.

    ``kind`` and ``seat`` say what is to be decided next and by whom; when the deal is over, ``kind`` is ``None`` and
    ``outcome`` says how it ended (a turned-up card may end it before anybody is asked). ``history`` holds the packed
    public events. The 52 cards are in ``hands``, ``played``, ``laid_away`` (masks by seat), ``stock`` (top card first)
    and ``aside`` (cards turned up that nobody gets). ``scores`` are by side, points scored at once included.
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
        self, rules: RuleSet, seats: int, dealer: int, pack: Sequence[Card], scores: Sequence[int] = ()
    ) -> None:
        """Deals the pack (``pack[0]`` is the top card) and asks the first seat, if the deal is not over at once.

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
        self.rankings, self.duty = RANKINGS[rules.left_pedro], play.duty_of(rules)
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
        if not rules.has_auction:
            turn_up.begin(self)

    @property
    def trumps(self) -> Mask:
        """All cards that are trumps, wherever they are; none before trump is settled."""
        return 0 if self.trump is None else self.rankings[self.trump][0]

    def legal(self) -> Sequence[Action]:
        """Every legal action of the seat to decide; empty when the deal is over."""
        if self.kind is _PLAY:
            return play.legal(self)
        return () if self.kind is None else _LEGAL[self.kind](self)

    def verify(self, action: Action) -> Violation | None:
        """What the action breaks, or ``None`` if it is legal. Raises ``ValueError`` when the deal is over."""
        if self.kind is None:
            raise ValueError("the deal is over: nothing is to be decided")
        return _VERIFY[self.kind](self, action)

    def apply(self, action: Action) -> None:
        """Carries out a legal action. It trusts its caller: ``verify`` first, or use ``act``."""
        if self.kind is _PLAY:
            play.apply(self, action)
        elif self.kind is not None:
            _APPLY[self.kind](self, action)
        else:
            raise ValueError("the deal is over: nothing is to be decided")

    def act(self, action: Action) -> None:
        """``verify`` and ``apply`` in one; raises ``IllegalAction``."""
        violation = self.verify(action)
        if violation:
            raise IllegalAction(violation)
        self.apply(action)

    def side(self, seat: int) -> int:
        """The side that a seat plays for."""
        return seat % self.rules.sides if self.rules.sides else seat

    def from_eldest(self) -> list[int]:
        """The seats in the order of the deal: eldest first, dealer last."""
        return [(self.dealer + place) % self.seats for place in range(1, self.seats + 1)]

    def copy(self) -> Self:
        """An independent deal in the same position."""
        twin = object.__new__(type(self))
        for name in Deal.__slots__:
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
    top = 0
    for _ in range(hand_size // packet):
        for place in range(1, seats + 1):
            seat = (dealer + place) % seats
            for card in pack[top : top + packet]:
                hands[seat] |= 1 << card
            top += packet
    return hands, tuple(pack[top:])
