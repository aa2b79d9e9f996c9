"""How cards, suits, seats and foreign text look."""

import re
import textwrap
import unicodedata
from dataclasses import dataclass
from typing import Final

from referee.cards import RANKS, SUIT_MASKS, SUITS, Card, Mask, cards_in
from referee.rules import Action, Kind, RuleSet, action_text

WIDTH: Final = 80
SYMBOLS: Final = "♣♦♥♠"

_CARD = re.compile(rf"\b([{RANKS}])([{SUITS}])\b")


@dataclass(frozen=True, slots=True)
class Style:
    """With ``symbols`` suits are symbols and dashes dashes; else everything is ASCII."""

    symbols: bool

    @property
    def dash(self) -> str:
        """Stands where nothing is."""
        return "–" if self.symbols else "-"  # noqa: RUF001  # a dash is meant

    @property
    def rule(self) -> str:
        """A piece of a horizontal line."""
        return "─" if self.symbols else "-"

    def suit(self, suit: int) -> str:
        """A suit as one sign."""
        return (SYMBOLS if self.symbols else SUITS)[suit]

    def card(self, card: Card) -> str:
        """A card as two signs."""
        return RANKS[(card & 15) - 2] + self.suit(card >> 4)

    def cards(self, mask: Mask) -> list[str]:
        """A hand as spades, hearts, diamonds, clubs, each from the highest down."""
        held = [[card & 15 for card in cards_in(mask & SUIT_MASKS[suit])] for suit in (3, 2, 1, 0)]
        ranks = ["".join(RANKS[rank - 2] for rank in reversed(one)) or self.dash for one in held]
        return [f"{self.suit(suit)} {text}" for suit, text in zip((3, 2, 1, 0), ranks, strict=True)]

    def action(self, kind: Kind, action: Action) -> str:
        """An action, with its suits as this style writes them."""
        return self.cards_in_text(action_text(kind, action))

    def cards_in_text(self, text: str) -> str:
        """A sentence with the suits of its cards as this style writes them."""
        return _CARD.sub(lambda found: found[1] + self.suit(SUITS.index(found[2])), text)

    def plain(self, text: object, longest: int = 300) -> str:
        """Foreign text on one line, without signs that could spoil it, and not too long."""
        composed = unicodedata.normalize("NFC", str(text)[: 4 * longest])
        clean = self.harmless(composed)
        return clean if len(clean) <= longest else clean[: longest - 3] + "..."

    def harmless(self, text: str) -> str:
        """The text without signs that move, colour or hide anything."""
        return "".join(sign if self._harmless(sign) else "?" for sign in text)

    def _harmless(self, sign: str) -> bool:
        if not self.symbols:
            return sign.isascii() and sign.isprintable()
        return sign.isprintable() and not unicodedata.category(sign).startswith("M")


def number(side: int, rules: RuleSet, seats: int) -> str:
    """The numbers of the seats that score together, as people count them: ``1``, or ``1+3``."""
    return "+".join(str(seat + 1) for seat in range(side, seats, rules.sides)) if rules.sides else str(side + 1)


def party(side: int, rules: RuleSet, seats: int) -> str:
    """Who scores together: ``seat 1``, or ``seats 1+3``."""
    return f"seat{'s' if rules.sides else ''} {number(side, rules, seats)}"


def width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """A paragraph in lines, the first begun with ``first``, the others with ``rest``."""
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
