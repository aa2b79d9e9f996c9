"""What a bot author holds in hand: cards, suits, the kinds of decisions and events. Use it from ``referee.bot``."""

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple, Self, cast

RANKS: Final = "23456789TJQKA"
SUIT_LETTERS: Final = "CDHS"

TEN, JACK, QUEEN, KING, ACE = 10, 11, 12, 13, 14
"""Ranks that are no figures; all other ranks are 2 to 9."""


class _Named(IntEnum):
    """Numbers that print as words: ``hearts``, ``beg``."""

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Suit(_Named):
    """A suit, 0 to 3.

    >>> Suit.HEARTS, f"{Suit.HEARTS}", Suit.HEARTS.letter
    (<Suit.HEARTS: 2>, 'hearts', 'H')
    """

    CLUBS = 0
    DIAMONDS = 1
    HEARTS = 2
    SPADES = 3

    @property
    def letter(self) -> str:
        """``C``, ``D``, ``H`` or ``S``."""
        return SUIT_LETTERS[self]


class Kind(_Named):
    """What a turn asks for; what ``turn.legal`` holds and ``choose`` returns stands behind."""

    BID = 1  # an amount, 0 = pass
    STAND_OR_BEG = 2  # Call.STAND or Call.BEG
    ANSWER_BEG = 3  # Call.GIVE or Call.RUN
    NAME_TRUMP = 4  # a Suit
    DISCARD = 5  # the cards that are KEPT
    PLAY = 6  # a Card


class Call(_Named):
    """What eldest (stand, beg) and the dealer (give, run) say about a turned-up trump."""

    STAND = 1
    BEG = 2
    GIVE = 3
    RUN = 4


class Objective(_Named):
    """What ranks the players: the place in each game, stakes won, or points scored. UNSPECIFIED = nothing is told."""

    UNSPECIFIED = 0
    PLACE = 1
    STAKES = 2
    POINTS = 3


class EventKind(_Named):
    """What a public event says; its value stands behind."""

    BID = 1  # the amount, 0 = pass
    STAND = 2
    BEG = 3
    GIVE = 4
    RUN = 5
    TURN_UP = 6  # the card; the seat is the dealer's
    NAME_TRUMP = 7  # the Suit
    DISCARD = 8  # how many cards were laid away face down
    SHOW = 9  # the card laid away face up
    DRAW = 10  # how many cards were drawn unseen
    TAKE = 11  # the card drawn that all could see
    STOCK_TOP = 12  # the new face-up top card of the stock
    PLAY = 13  # the card
    SCORE = 14  # points scored at once


class Event(NamedTuple):
    """One public event of a deal. ``value`` is a ``Card``, a ``Suit`` or a number: see ``EventKind``."""

    kind: EventKind
    seat: int
    value: int


class Card(int):
    """A card: an integer (``suit * 16 + rank``) that reads well. Cards compare by suit, then by rank.

    >>> queen = Card("QH")
    >>> queen, queen.rank, f"{queen.suit}", queen.pips, int(queen)
    (QH, 12, 'hearts', 2, 44)
    >>> max(parse_cards("QH 9S 2S"))
    9S
    """

    __slots__ = ()

    def __new__(cls, card: int | str) -> Self:
        """The card of that text (``"QH"``, ``"td"``) or number; raises ``ValueError`` if there is none."""
        found = _BY_TEXT.get(card.strip().upper()) if isinstance(card, str) else _BY_NUMBER.get(card)
        if found is None:
            raise ValueError(f"{card!r} is not a card: write rank then suit, such as QH, TS or 2C")
        return cast("Self", found)

    @property
    def suit(self) -> Suit:
        """The suit printed on the card."""
        return _SUITS[self >> 4 & 3]

    @property
    def rank(self) -> int:
        """The rank, 2 to 14: jack 11, queen 12, king 13, ace 14."""
        return self & 15

    @property
    def pips(self) -> int:
        """What the card counts for Game: ten 10, ace 4, king 3, queen 2, jack 1, any other 0."""
        return _PIPS[self & 15]

    def __str__(self) -> str:
        return RANKS[(self & 15) - 2] + SUIT_LETTERS[self >> 4] if int(self) in _BY_NUMBER else f"card#{int(self)}"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        return type(self), (int(self),)


_SUITS: Final = tuple(Suit)
_PIPS: Final = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2, 3, 4, 0)

# Every number gets its object once. Numbers that are no card keep one too: a later variant may play with jokers.
CARDS: Final = tuple(int.__new__(Card, number) for number in range(256))
_BY_NUMBER: dict[int, Card] = {}
_BY_NUMBER.update({int(card): card for card in CARDS[:64] if 2 <= card & 15 <= ACE})
_BY_TEXT: dict[str, Card] = {}
_BY_TEXT.update({str(card): card for card in _BY_NUMBER.values()})

PACK: Final = tuple(_BY_NUMBER.values())
"""The 52 cards, ascending: clubs first, low ranks first."""


def parse_cards(text: str) -> tuple[Card, ...]:
    """The cards of a text such as ``"QH 2S"``, in that order; raises ``ValueError`` for a word that is no card."""
    return tuple(map(Card, text.split()))


def cards_text(cards: Iterable[Card]) -> str:
    """Cards as a person sorts a hand: spades first, high ranks first.

    >>> cards_text(parse_cards("2H AS TD"))
    'AS 2H TD'
    """
    return " ".join(str(card) for card in sorted(cards, reverse=True))
