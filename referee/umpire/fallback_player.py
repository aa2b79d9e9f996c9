"""The fallback player: it plays on for a seat that has forfeited. Deterministic, in process, versioned.

Sound and short rather than strong: it must not give the game away to a neighbour, and must never change without a new
``FALLBACK_VERSION``, for records are replayed with it.
"""

from referee.cards import ACE, JACK, PIPS, SUIT_MASKS, TEN, Card, Mask, cards_in
from referee.rules import Action, Call, Keeps, Kind
from referee.rules.deal import best_keep
from referee.rules.ranking import RANKINGS, TRUMP_POWER
from referee.umpire.view import Turn

FALLBACK_VERSION = 1


def fallback_move(turn: Turn) -> Action:
    """The move of the house, a pure function of the turn."""
    if turn.kind is Kind.BID:
        return _bid(turn)
    if turn.kind is Kind.PLAY:
        return _play(turn)
    if turn.kind is Kind.NAME_TRUMP:
        return max(turn.legal, key=lambda suit: (strength(turn.hand, suit), -suit))
    if isinstance(turn.legal, Keeps):
        return best_keep(turn.legal, _trumps(turn))
    return _call(turn)


def _trumps(turn: Turn) -> Mask:
    return 0 if turn.trump is None else RANKINGS[turn.chair.rules.left_pedro][turn.trump][0]


def _call(turn: Turn) -> Action:
    """Accepts the turned-up suit if the hand may make a point with it: eldest stands, the dealer gives."""
    accept, refuse = (Call.STAND, Call.BEG) if turn.kind is Kind.STAND_OR_BEG else (Call.GIVE, Call.RUN)
    fine = strength(turn.hand, (turn.turn_up or 0) >> 4) >= 4
    return accept if fine and accept in turn.legal else refuse


def strength(hand: Mask, suit: int) -> int:
    """What the hand may make with this trump, in quarters of a point."""
    cards = hand & SUIT_MASKS[suit]
    if not cards:
        return 0
    top, low = cards.bit_length() - 1 & 15, (cards & -cards).bit_length() - 1 & 15
    worth = {ACE: 4, ACE - 1: 3, ACE - 2: 2}.get(top, 0) + {2: 4, 3: 3, 4: 2}.get(low, 0)
    return worth + (2 if cards >> (suit << 4 | JACK) & 1 else 0) + max(cards.bit_count() - 2, 0)


def _bid(turn: Turn) -> Action:
    points = max(strength(turn.hand, suit) for suit in range(4)) // 4
    fitting = [bid for bid in turn.legal if 0 < bid <= points]
    return fitting[0] if fitting else min(turn.legal)


def _play(turn: Turn) -> Action:
    cards = list(turn.legal)
    if not turn.trick:
        if turn.trump is None:
            suit = max(range(4), key=lambda s: strength(turn.hand, s))
            return max(cards_in(turn.hand & SUIT_MASKS[suit]))
        return min(cards, key=lambda card: (card & 15 == TEN, -(card & 15)))
    pips = sum(PIPS[card] for card in turn.trick)
    winners = [card for card in cards if _wins(card, turn)]
    if winners and pips:
        return min(winners, key=lambda card: (card >> 4 == turn.trump, card & 15))
    return min(cards, key=lambda card: (PIPS[card], card >> 4 == turn.trump, card & 15))


def _wins(card: Card, turn: Turn) -> bool:
    """Whether the card would win the trick as it lies. Trump stands, for a card has been led."""
    _, suits, powers = RANKINGS[turn.chair.rules.left_pedro][turn.trump or 0]
    led = suits[turn.trick[0]]

    def power(other: Card) -> int:
        return powers[other] if powers[other] >= TRUMP_POWER or led >> other & 1 else -1

    return power(card) > max(map(power, turn.trick))
