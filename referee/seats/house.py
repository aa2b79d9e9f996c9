"""The house player: it plays on for a seat that has forfeited. Deterministic, in process, versioned.

Sound and short rather than strong: it must not give the game away to a neighbour, and must never change without a new
``HOUSE_VERSION``, for records are replayed with it.
"""

from referee.cards import ACE, JACK, PIPS, SUIT_MASKS, TEN, Card, Mask, cards_in
from referee.rules import Action, Kind
from referee.view import Turn

HOUSE_VERSION = 1


def house(turn: Turn) -> Action:
    """The move of the house, a pure function of the turn."""
    if turn.kind is Kind.BID:
        return _bid(turn)
    if turn.kind is Kind.PLAY:
        return _play(turn)
    return turn.legal[0]


def _strength(hand: Mask, suit: int) -> int:
    """What the hand may make with this trump, in quarters of a point."""
    cards = hand & SUIT_MASKS[suit]
    if not cards:
        return 0
    top, low = cards.bit_length() - 1 & 15, (cards & -cards).bit_length() - 1 & 15
    worth = {ACE: 4, ACE - 1: 3, ACE - 2: 2}.get(top, 0) + {2: 4, 3: 3, 4: 2}.get(low, 0)
    return worth + (2 if cards >> (suit << 4 | JACK) & 1 else 0) + max(cards.bit_count() - 2, 0)


def _bid(turn: Turn) -> Action:
    points = max(_strength(turn.hand, suit) for suit in range(4)) // 4
    fitting = [bid for bid in turn.legal if 0 < bid <= points]
    return fitting[0] if fitting else min(turn.legal)


def _play(turn: Turn) -> Action:
    cards = list(turn.legal)
    if not turn.trick:
        if turn.trump is None:
            suit = max(range(4), key=lambda s: _strength(turn.hand, s))
            return max(cards_in(turn.hand & SUIT_MASKS[suit]))
        return min(cards, key=lambda card: (card & 15 == TEN, -(card & 15)))
    pips = sum(PIPS[card] for card in turn.trick)
    winners = [card for card in cards if _wins(card, turn)]
    if winners and pips:
        return min(winners, key=lambda card: (card >> 4 == turn.trump, card & 15))
    return min(cards, key=lambda card: (PIPS[card], card >> 4 == turn.trump, card & 15))


def _wins(card: Card, turn: Turn) -> bool:
    led = turn.trick[0] >> 4

    def power(other: Card) -> int:
        return (other & 15) + (64 if other >> 4 == turn.trump else 0 if other >> 4 == led else -64)

    return power(card) > max(map(power, turn.trick))
