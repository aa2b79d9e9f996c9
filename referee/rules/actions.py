"""Decisions and events: what a seat is asked, what it may answer, and what everybody sees of it.

An *action* is a plain integer whose meaning is set by the *kind* of the decision: the amount of a bid (0 = pass), a
card, a suit, a ``Call``, or the mask of the cards kept. An *event* is one public fact of a deal, packed into one
integer ``kind << 16 | seat << 8 | value``; the history of a deal is a list of them, and crosses the wire as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import comb
from typing import Final, NamedTuple, overload

from referee.cards import (
    PACK_MASK,
    SUIT_NAMES,
    Card,
    CardError,
    Mask,
    card_text,
    cards_in,
    hand_text,
    is_card,
    parse_card,
    parse_hand,
)

Action = int


class Kind(IntEnum):
    """What a seat is asked to decide."""

    BID = 1
    STAND_OR_BEG = 2
    ANSWER_BEG = 3
    NAME_TRUMP = 4
    DISCARD = 5
    PLAY = 6


class Call(IntEnum):
    """The answers to ``STAND_OR_BEG`` (stand, beg) and ``ANSWER_BEG`` (give, run)."""

    STAND = 1
    BEG = 2
    GIVE = 3
    RUN = 4


class EventKind(IntEnum):
    """What a public event says; its value is named in brackets."""

    BID = 1  # amount, 0 = pass
    STAND = 2
    BEG = 3
    GIVE = 4
    RUN = 5
    TURN_UP = 6  # card; the seat is the dealer
    NAME_TRUMP = 7  # suit
    DISCARD = 8  # how many cards were laid away face down
    SHOW = 9  # card laid away face up
    DRAW = 10  # how many cards were drawn unseen
    TAKE = 11  # card drawn that all can see
    STOCK_TOP = 12  # the new face-up top card of the stock
    PLAY = 13  # card
    SCORE = 14  # points scored at once by the seat's side


class Event(NamedTuple):
    """An unpacked event."""

    kind: EventKind
    seat: int
    value: int


def pack_event(kind: int, seat: int, value: int = 0) -> int:
    """One public event as one integer."""
    return kind << 16 | seat << 8 | value


def unpack_event(event: int) -> Event:
    """The parts of a packed event; raises ``ValueError`` for a kind that does not exist."""
    return Event(EventKind(event >> 16), event >> 8 & 0xFF, event & 0xFF)


@dataclass(frozen=True, slots=True)
class Violation:
    """What an action breaks: the clause's id, the breach in one sentence, and what would have been legal."""

    rule: str
    sentence: str
    legal: Sequence[Action]


class Keeps(Sequence[Mask]):
    """Every way to keep ``size`` cards: all of ``must``, the others chosen from ``may``. Lazy: 177,100 need no room.

    Item i is the i-th combination in lexicographic order of the cards of ``may``, ascending.
    """

    __slots__ = ("_cards", "_choose", "may", "must", "size")

    def __init__(self, must: Mask, may: Mask, size: int) -> None:
        self.must, self.may, self.size = must, may & ~must, size
        self._cards = cards_in(self.may)
        self._choose = size - must.bit_count()

    def __len__(self) -> int:
        return comb(len(self._cards), self._choose) if self._choose >= 0 else 0

    def __contains__(self, kept: object) -> bool:
        return (
            isinstance(kept, int)
            and kept.bit_count() == self.size
            and kept & self.must == self.must
            and not kept & ~(self.must | self.may)
        )

    @overload
    def __getitem__(self, index: int) -> Mask: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Mask]: ...
    def __getitem__(self, index: int | slice) -> Mask | Sequence[Mask]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        size = len(self)
        if not -size <= index < size:
            raise IndexError(index)
        return self.must | self._combination(index % size)

    def __iter__(self) -> Iterator[Mask]:
        return (self[index] for index in range(len(self)))

    def _combination(self, index: int) -> Mask:
        kept, left = 0, self._choose
        for position, card in enumerate(self._cards):
            if not left:
                break
            with_card = comb(len(self._cards) - position - 1, left - 1)
            if index < with_card:
                kept |= 1 << card
                left -= 1
            else:
                index -= with_card
        return kept


def action_text(kind: Kind, action: Action) -> str:
    """An action as a person writes it: ``pass``, ``3``, ``QH``, ``beg``, ``hearts``, ``keep AS KS 2H``."""
    match kind:
        case Kind.BID:
            return str(action) if action else "pass"
        case Kind.PLAY:
            return card_text(action) if is_card(action) else f"card number {action}"
        case Kind.NAME_TRUMP:
            return SUIT_NAMES[action] if 0 <= action < 4 else f"suit number {action}"
        case Kind.DISCARD:
            return f"set of cards number {action}" if action & ~PACK_MASK else f"keep {hand_text(action)}"
    return Call(action).name.lower() if action in tuple(Call) else f"call number {action}"


def parse_action(kind: Kind, text: str) -> Action:
    """The action written by ``action_text``; raises ``ValueError`` naming what was expected."""
    word = text.strip()
    match kind:
        case Kind.BID:
            return 0 if word.lower() in ("pass", "p", "-") else int(word)
        case Kind.PLAY:
            return parse_card(word)
        case Kind.NAME_TRUMP:
            for suit, name in enumerate(SUIT_NAMES):
                if word.lower() in (name, name[0]):
                    return suit
            raise CardError(f"{text!r} is not a suit: write {', '.join(SUIT_NAMES)}")
        case Kind.DISCARD:
            return parse_hand(word.removeprefix("keep"))
    try:
        return Call[word.upper()]
    except KeyError:
        raise ValueError(f"{text!r} is not a call: write stand, beg, give or run") from None


def legal_text(kind: Kind, legal: Sequence[Action]) -> str:
    """What was legal, as a person would list it."""
    if isinstance(legal, Keeps):
        free = legal.size - legal.must.bit_count()
        parts = [hand_text(legal.must)] if legal.must else []
        parts += [f"{free} of {hand_text(legal.may)}"] if free else []
        return f"keep {legal.size} cards: {' and '.join(parts)}"
    if kind is Kind.PLAY:
        return " ".join(card_text(card) for card in sorted(legal, reverse=True))
    return ", ".join(action_text(kind, action) for action in legal)


CARD_EVENTS: Final = frozenset({EventKind.TURN_UP, EventKind.SHOW, EventKind.TAKE, EventKind.STOCK_TOP, EventKind.PLAY})
"""Events whose value is a card."""


def played_card(event: int) -> Card | None:
    """The card of a ``PLAY`` event, else ``None``."""
    return event & 0xFF if event >> 16 == EventKind.PLAY else None


EVENT_WORDS: Final[Mapping[EventKind, str]] = {
    EventKind.STAND: "stands",
    EventKind.BEG: "begs",
    EventKind.GIVE: "gives",
    EventKind.RUN: "runs the cards",
    EventKind.TURN_UP: "turns up {}",
    EventKind.NAME_TRUMP: "names {}",
    EventKind.DISCARD: "lays {} away",
    EventKind.SHOW: "shows {} laid away",
    EventKind.DRAW: "draws {}",
    EventKind.TAKE: "takes {}",
    EventKind.STOCK_TOP: "uncovers {} on the stock",
    EventKind.PLAY: "plays {}",
    EventKind.SCORE: "scores {} at once",
}
"""What a seat does, in words, ``{}`` standing for the value of the event; a bid is written as its amount. A log, a written game and
a replay start from these, and say otherwise only what they show otherwise."""

DECISION_WORDS: Final[Mapping[Kind, str]] = {
    Kind.BID: "bid",
    Kind.STAND_OR_BEG: "stand or beg",
    Kind.ANSWER_BEG: "give or run",
    Kind.NAME_TRUMP: "name trump",
    Kind.DISCARD: "lay cards away",
    Kind.PLAY: "play",
}
"""What a seat is asked for, in words."""


def seat_text(seat: int) -> str:
    """What people call a seat: ``seat 1`` is the one that code, wire and records number 0."""
    return f"seat {seat + 1}"


def event_text(packed: int) -> str:
    """A public event as a line of a log: ``seat 2: 3``, ``seat 1: turns up JC``, ``seat 3: lays 4 away``."""
    kind, seat, value = unpack_event(packed)
    if kind is EventKind.BID:
        text = action_text(Kind.BID, value)
    elif kind is EventKind.PLAY:
        text = card_text(value)
    else:
        text = EVENT_WORDS[kind].format(value_text(kind, value))
    return f"{seat_text(seat)}: {text}"


def value_text(kind: EventKind, value: int) -> str:
    """The value of an event: a card, the name of a suit, a number."""
    if kind in CARD_EVENTS:
        return card_text(value)
    return action_text(Kind.NAME_TRUMP, value) if kind is EventKind.NAME_TRUMP else str(value)
