"""Which cards belong to a suit and how they rank, by trump: the one place that knows about the left pedro.

With ``left_pedro`` the five of the suit of trump's colour counts as a trump just below the five of trumps, for
leading, following and winning. Everything is looked up in tables made once.
"""

from typing import Final

from referee.cards import FIVE, SUIT_MASKS, Card, Mask, Suit

TRUMP_POWER: Final = 64
"""Powers from here on belong to trumps."""


Ranking = tuple[Mask, tuple[Mask, ...], tuple[int, ...]]
"""The pack under one trump: the mask of all trumps; by card the mask of the suit that it counts as; by card its power.

A power is twice the rank; trumps stand above all others, the left pedro one below the five of trumps.
"""


def left_pedro_of(trump: Suit) -> Card:
    """The five of the other suit of trump's colour (clubs and spades are black, diamonds and hearts red)."""
    return (3 - trump) << 4 | FIVE


def _ranking(trump: Suit, left_pedro: bool) -> Ranking:
    masks = list(SUIT_MASKS)
    suit_of = [card >> 4 for card in range(64)]
    powers = [((card & 15) << 1) + (TRUMP_POWER if card >> 4 == trump else 0) for card in range(64)]
    if left_pedro:
        left = left_pedro_of(trump)
        masks[left >> 4] ^= 1 << left
        masks[trump] |= 1 << left
        suit_of[left] = trump
        powers[left] = TRUMP_POWER + (FIVE << 1) - 1
    return masks[trump], tuple(masks[suit] for suit in suit_of), tuple(powers)


RANKINGS: Final[tuple[tuple[Ranking, ...], ...]] = tuple(
    tuple(_ranking(trump, left_pedro) for trump in range(4)) for left_pedro in (False, True)
)
"""``RANKINGS[left_pedro][trump]``."""
