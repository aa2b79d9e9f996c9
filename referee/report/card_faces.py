"""Card faces as inline SVG, drawn by our own code: one symbol a card, to be used by its text (``#card-QH``)."""

from functools import cache
from typing import Final

from referee.cards import PACK, RANKS, SUITS, Card, card_text

_SUIT_PATHS: Final = {
    "C": "M12 2a4.7 4.7 0 0 1 3.6 7.7 4.8 4.8 0 1 1-2.5 8.1c.2 2 .9 3.2 2.4 4.2h-7c1.5-1 2.2-2.2 2.4-4.2"
    "a4.8 4.8 0 1 1-2.5-8.1A4.7 4.7 0 0 1 12 2z",
    "D": "M12 1.5C14.5 5.6 17.4 9 20.5 12c-3.1 3-6 6.4-8.5 10.5C9.5 18.4 6.6 15 3.5 12 6.6 9 9.5 5.6 12 1.5z",
    "H": "M12 22C9.5 17.5 2 13.5 2 7.7 2 4.7 4.3 2.6 7 2.6c2.3 0 4.1 1.3 5 3.5.9-2.2 2.7-3.5 5-3.5"
    " 2.7 0 5 2.1 5 5.1C22 13.5 14.5 17.5 12 22z",
    "S": "M12 1.8C14.5 6.3 21.5 9.3 21.5 14.2c0 2.7-2 4.4-4.3 4.4-1.7 0-3.1-.9-3.9-2.2.2 2.5 1 4.4 2.6 5.6"
    "H8.1c1.6-1.2 2.4-3.1 2.6-5.6-.8 1.3-2.2 2.2-3.9 2.2-2.3 0-4.3-1.7-4.3-4.4C2.5 9.3 9.5 6.3 12 1.8z",
}

_LEFT, _MIDDLE, _RIGHT = 21.5, 30.0, 38.5
_TOP, _CENTRE, _FOOT = 17.0, 42.0, 67.0
_PIPS: Final[dict[int, tuple[tuple[float, float], ...]]] = {
    2: ((_MIDDLE, _TOP), (_MIDDLE, _FOOT)),
    3: ((_MIDDLE, _TOP), (_MIDDLE, _CENTRE), (_MIDDLE, _FOOT)),
    4: ((_LEFT, _TOP), (_RIGHT, _TOP), (_LEFT, _FOOT), (_RIGHT, _FOOT)),
    5: ((_LEFT, _TOP), (_RIGHT, _TOP), (_MIDDLE, _CENTRE), (_LEFT, _FOOT), (_RIGHT, _FOOT)),
    6: tuple((x, y) for y in (_TOP, _CENTRE, _FOOT) for x in (_LEFT, _RIGHT)),
    7: (*((x, y) for y in (_TOP, _CENTRE, _FOOT) for x in (_LEFT, _RIGHT)), (_MIDDLE, 29.5)),
    8: (*((x, y) for y in (_TOP, _CENTRE, _FOOT) for x in (_LEFT, _RIGHT)), (_MIDDLE, 29.5), (_MIDDLE, 54.5)),
    9: (*((x, y) for y in (17.0, 33.7, 50.3, 67.0) for x in (_LEFT, _RIGHT)), (_MIDDLE, _CENTRE)),
    10: (*((x, y) for y in (17.0, 33.7, 50.3, 67.0) for x in (_LEFT, _RIGHT)), (_MIDDLE, 25.4), (_MIDDLE, 58.6)),
}
"""Where the pips of a number card stand on a card of 60 by 84."""

_COURTS: Final = {
    11: "M20 31c1-8 4-12 11-12 6 0 9 4 9 9l-3 3zM37 20l7-7-2 10z",
    12: "M19 31l-2-13 7 6 6-9 6 9 7-6-2 13zM15.5 15.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0z"
    "M28.5 12.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0zM41.5 15.5a1.5 1.5 0 1 0 3 0 1.5 1.5 0 1 0-3 0z",
    13: "M18 31V17l6 5 4.5-6v-3h-2v-2h2V9h3v2h2v2h-2v3l4.5 6 6-5v14z",
}
"""What the jack, queen and king wear: a cap with a feather, a crown of pearls, a crown with a cross."""


@cache
def card_symbols() -> str:
    """The drawings of all cards and of a card's back, as one hidden SVG. It holds no text from elsewhere."""
    suits = "".join(
        f'<symbol id="suit-{suit}" viewBox="0 0 24 24"><path d="{path}"/></symbol>'
        for suit, path in _SUIT_PATHS.items()
    )
    return (
        '<svg width="0" height="0" class="symbols" aria-hidden="true" focusable="false"><defs>'
        f"{suits}{''.join(map(_symbol, PACK))}{_back()}</defs></svg>"
    )


def _symbol(card: Card) -> str:
    suit = SUITS[card >> 4]
    colour = "red" if suit in "DH" else "black"
    return (
        f'<symbol id="card-{card_text(card)}" viewBox="0 0 60 84"><rect class="face" x=".75" y=".75" width="58.5"'
        f' height="82.5" rx="5"/><g class="{colour}">{_index(card)}{_turned(_index(card))}{_middle(card)}</g></symbol>'
    )


def _turned(drawing: str) -> str:
    return f'<g transform="rotate(180 30 42)">{drawing}</g>'


def _index(card: Card) -> str:
    rank = RANKS[(card & 15) - 2]
    text, narrow = ("10", ' class="ten"') if rank == "T" else (rank, "")
    return f'<text x="9" y="16.5"{narrow}>{text}</text>{_pip(card, 9, 24, 9.5)}'


def _pip(card: Card, x: float, y: float, size: float) -> str:
    half = size / 2
    return (
        f'<use href="#suit-{SUITS[card >> 4]}" x="{x - half:g}" y="{y - half:g}" width="{size:g}" height="{size:g}"/>'
    )


def _middle(card: Card) -> str:
    rank = card & 15
    if rank == 14:
        return _pip(card, 30, 42, 27)
    if rank in _COURTS:
        half = f'<path d="{_COURTS[rank]}"/>'
        frame = '<rect class="court" x="15.5" y="6" width="29" height="72" rx="2"/>'
        return f"{frame}{half}{_turned(half)}{_pip(card, 30, 42, 15)}"
    pips = []
    for x, y in _PIPS[rank]:
        pips.append(_turned(_pip(card, 60 - x, 84 - y, 11.5)) if y > _CENTRE + 1 else _pip(card, x, y, 11.5))
    return "".join(pips)


def _back() -> str:
    lines = "".join(f'<path d="M6 {y}l48-48"/>' for y in range(12, 127, 6))
    return (
        '<symbol id="card-back" viewBox="0 0 60 84"><rect class="face" x=".75" y=".75" width="58.5" height="82.5"'
        f' rx="5"/><rect class="back" x="6" y="6" width="48" height="72" rx="2.5"/><svg x="6" y="6" width="48" height="72" viewBox="6 6 48 72" class="weave">{lines}</svg></symbol>'
    )
