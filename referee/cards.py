"""Cards, suits, ranks, and hands as bit masks.

A *card* is a plain integer, ``suit << 4 | rank``: suit 0..3 for clubs, diamonds, hearts, spades, rank 2..14 for
two .. ace. It is the number that the wire's ``Card`` enum gives the card, so nothing is translated on the way out.
A *mask* is a set of cards (a hand, a trick, a pile): an integer with bit ``1 << card`` set for each card. It fits an
unsigned 64-bit integer, so every language can hold it the same way.

The text form of a card is rank then suit, ten being ``T``: ``QH`` is the queen of hearts.

>>> card_text(parse_card("QH"))
'QH'
>>> hand_text(parse_hand("2H AS TD"))
'AS 2H TD'
"""

from collections.abc import Iterable, Iterator
from typing import Final

Card = int
Mask = int
Suit = int

SUITS: Final = "CDHS"
RANKS: Final = "23456789TJQKA"
SUIT_NAMES: Final = ("clubs", "diamonds", "hearts", "spades")

TWO, FIVE, TEN, JACK, QUEEN, KING, ACE = 2, 5, 10, 11, 12, 13, 14
CLUBS, DIAMONDS, HEARTS, SPADES = range(4)

PACK: Final[tuple[Card, ...]] = tuple(suit << 4 | rank for suit in range(4) for rank in range(TWO, ACE + 1))
"""The 52 cards in ascending order of their number."""

PACK_MASK: Final[Mask] = sum(1 << card for card in PACK)
SUIT_MASKS: Final[tuple[Mask, ...]] = tuple(sum(1 << card for card in PACK if card >> 4 == suit) for suit in range(4))

_BITS: Final = tuple(1 << card for card in range(64))
_TEXT: Final = {card: RANKS[(card & 15) - 2] + SUITS[card >> 4] for card in PACK}
_CARD: Final = {text: card for card, text in _TEXT.items()}

_PIPS_BY_RANK: Final = {TEN: 10, ACE: 4, KING: 3, QUEEN: 2, JACK: 1}
PIPS: Final[tuple[int, ...]] = tuple(_PIPS_BY_RANK.get(card & 15, 0) for card in range(64))
"""Pips of a card for Game, indexed by card: T 10, A 4, K 3, Q 2, J 1, all other cards 0 (80 in the pack)."""


_TENS, _JACKS, _QUEENS, _KINGS, _ACES = (
    sum(1 << (suit << 4 | rank) for suit in range(4)) for rank in (TEN, JACK, QUEEN, KING, ACE)
)


class CardError(ValueError):
    """A text that names no card, or a hand that names a card twice."""


def suit_of(card: Card) -> Suit:
    """The suit printed on the card, 0..3. (In Cinch the left pedro counts as a trump: see the rules for that.)"""
    return card >> 4


def rank_of(card: Card) -> int:
    """The rank of the card, 2..14 (ace high)."""
    return card & 15


def is_card(number: int) -> bool:
    """Whether the number is one of the 52 cards."""
    return 0 <= number < 64 and bool(PACK_MASK >> number & 1)


def card_text(card: Card) -> str:
    """The two-character text of a card; raises ``CardError`` for a number that is no card."""
    try:
        return _TEXT[card]
    except KeyError:
        raise CardError(f"{card} is not the number of a card") from None


def parse_card(text: str) -> Card:
    """The card named by a text such as ``QH`` or ``th``; raises ``CardError`` if there is none."""
    try:
        return _CARD[text.strip().upper()]
    except KeyError:
        raise CardError(f"{text!r} is not a card: write rank then suit, such as QH, TS or 2C") from None


def mask_of(cards: Iterable[Card]) -> Mask:
    """The set of the given cards."""
    mask = 0
    for card in cards:
        mask |= 1 << card
    return mask


def cards_in(mask: Mask) -> tuple[Card, ...]:
    """The cards of a set, ascending by number: clubs first, low ranks first."""
    cards = []
    while mask:
        highest = mask.bit_length() - 1
        cards.append(highest)
        mask ^= _BITS[highest]
    cards.reverse()
    return tuple(cards)


def parse_hand(text: str) -> Mask:
    """The set of cards written as ``AS 2H TD``; raises ``CardError`` on a bad or doubled card."""
    mask = 0
    for word in text.split():
        bit = 1 << parse_card(word)
        if mask & bit:
            raise CardError(f"{word} is named twice")
        mask |= bit
    return mask


def parse_cards(text: str) -> tuple[Card, ...]:
    """The cards written in a text, in that order; raises ``CardError`` on a bad or doubled card."""
    parse_hand(text)
    return tuple(parse_card(word) for word in text.split())


def cards_text(cards: Iterable[Card]) -> str:
    """The cards in the given order, separated by blanks; raises ``CardError`` for a number that is no card."""
    try:
        return " ".join([_TEXT[card] for card in cards])
    except KeyError as error:
        raise CardError(f"{error.args[0]} is not the number of a card") from None


def hand_text(mask: Mask) -> str:
    """A set of cards as a person sorts a hand: spades, hearts, diamonds, clubs, each from the highest down."""
    return cards_text(sorted(cards_in(mask), reverse=True))


def pips_in(mask: Mask) -> int:
    """The sum of the pips of a set of cards, 0..80."""
    return (
        10 * (mask & _TENS).bit_count()
        + 4 * (mask & _ACES).bit_count()
        + 3 * (mask & _KINGS).bit_count()
        + 2 * (mask & _QUEENS).bit_count()
        + (mask & _JACKS).bit_count()
    )


def iter_suits(mask: Mask) -> Iterator[Suit]:
    """The suits present in a set of cards, ascending."""
    return (suit for suit in range(4) if mask & SUIT_MASKS[suit])
