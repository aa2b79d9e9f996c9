"""What would explain a wrong answer: the mistakes that bot authors make, each told by one sentence.

A cause is only named where it explains every wrong answer that a rule was broken by. Where it explains several rules,
it is one mistake, and is held against one rule.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from google.protobuf.message import DecodeError

from referee.cards import SUITS
from referee.net.session import TurnAnswer
from referee.protocol import wire
from referee.protocol.translate import Malformed, read_move
from referee.rules import Action, Deal, Kind

Cause = tuple[str, int]
"""A possible cause by its key, and what differs from answer to answer: one answer over and over proves nothing."""

ANOTHER_TURN: Final = "another turn"
LAID_AWAY: Final = "laid away"
SUIT_OFF: Final = "suit off by one"
CARD_SUIT_OFF: Final = "card's suit off by one"
RANK_OFF: Final = "rank off by one"
INDEX: Final = "index"
BEFORE_DEALER: Final = "before the dealer"
BEHIND_DEALER: Final = "behind the dealer"

SENTENCES: Final = {
    ANOTHER_TURN: "Each of these answers is legal for another turn of the same message: are the turn ids mixed up?",
    LAID_AWAY: "Each time the other cards of its hand would have been right: `kept` names the cards that stay, not those "
    "that are laid away.",
    SUIT_OFF: "Each time the number is just outside of the four suits: they are counted from 1 (clubs) to 4 (spades) here.",
    CARD_SUIT_OFF: "Each time the same rank of the suit beside it would have been legal: the suit of the card is off by "
    "one (a card is 16 * suit + rank, clubs being suit 0).",
    RANK_OFF: "Each time the card beside it would have been legal: the rank is off by one (2 is 2, the ace is 14).",
    INDEX: "Each time the number is that of a place in its hand: `card` names the card itself (16 * suit + rank).",
    BEFORE_DEALER: "Each time it sat one seat before the dealer: does it take itself for the dealer?",
    BEHIND_DEALER: "Each time it sat one seat behind the dealer: does it take itself for the dealer?",
}

_PREFIX: Final = 5

ENOUGH: Final = 3
"""So many wrong answers, all explained, before a cause is named."""

_ALWAYS_THE_SAME: Final = frozenset({ANOTHER_TURN, LAID_AWAY, SUIT_OFF})
_CALLS: Final = (Kind.STAND_OR_BEG, Kind.ANSWER_BEG)


def about_bytes(data: bytes) -> str:
    """What bytes that are no message of the bot's look like, in one sentence; empty if like nothing known."""
    if data.lstrip()[:1] in (b"{", b"["):
        return "These bytes are JSON text: the stream takes protobuf messages, each a PlayRequest."
    if len(data) > _PREFIX and data[0] in (0, 1) and int.from_bytes(data[1:_PREFIX], "big") == len(data) - _PREFIX:
        return "These bytes begin with the five bytes of a gRPC frame: the gRPC library puts those before each message itself."
    if data[:2] == b"\x1f\x8b":
        return "These bytes are compressed by gzip: send the message as it is, or have the gRPC library compress it."
    for kind in (wire.Join, wire.Move):
        try:
            bare = kind.FromString(data)
        except DecodeError:
            continue
        size, known = bare.ByteSize(), bool(bare.ListFields())
        bare.DiscardUnknownFields()
        if known and bare.ByteSize() == size:
            return f"These bytes are a {kind.DESCRIPTOR.name} by itself: put it into a PlayRequest."
    try:
        return f"These bytes are text: {data.decode()[:40]!r}." if data.decode().isprintable() and data else ""
    except UnicodeDecodeError:
        return ""


def answer_is_legal(answer: TurnAnswer) -> bool:
    """Whether an answer breaks no rule of the game or the message."""
    return not isinstance(answer.action, Malformed) and answer.action in answer.pending.turn.legal


def causes_of(deal: Deal, answer: TurnAnswer, message: Sequence[TurnAnswer]) -> frozenset[Cause]:
    """What might explain a wrong answer, given what came in the same message."""
    return frozenset(_causes(deal, answer, message))


def _causes(deal: Deal, answer: TurnAnswer, message: Sequence[TurnAnswer]) -> Iterator[Cause]:
    if any(other is not answer and _is_for(answer, other) for other in message):
        yield ANOTHER_TURN, 0
    kind, action, hand = deal.kind, answer.action, deal.hands[deal.seat]
    if isinstance(action, Malformed):
        move = wire.Move.FromString(answer.raw)
        if kind is Kind.NAME_TRUMP and move.HasField("suit") and move.suit in (0, len(SUITS) + 1):
            yield SUIT_OFF, 0
        if kind is Kind.PLAY and move.HasField("card") and len(move.ListFields()) == 1:
            yield from _of_card(deal, move.card)
    elif kind is Kind.PLAY:
        yield from _of_card(deal, action)
    elif kind is Kind.DISCARD and action & ~hand == 0 and hand & ~action in deal.legal():
        yield LAID_AWAY, 0
    elif kind is Kind.BID and deal.seats > 2 and action == deal.bid:
        if (deal.seat + 1) % deal.seats == deal.dealer:
            yield BEFORE_DEALER, deal.seat
        if (deal.seat - 1) % deal.seats == deal.dealer:
            yield BEHIND_DEALER, deal.seat


def _of_card(deal: Deal, number: int) -> Iterator[Cause]:
    legal = deal.legal()
    if {(number + 16) % 64, (number - 16) % 64} & {*legal}:
        yield CARD_SUIT_OFF, number
    if {number + 1, number - 1} & {*legal}:
        yield RANK_OFF, number
    if 0 <= number <= deal.hands[deal.seat].bit_count():
        yield INDEX, number


def _is_for(answer: TurnAnswer, other: TurnAnswer) -> bool:
    """Whether an answer would be a legal one to the turn of another answer."""
    kind, turn = answer.pending.turn.kind, other.pending.turn
    action: Action | Malformed = answer.action
    if isinstance(action, Malformed):
        action = read_move(wire.Move.FromString(answer.raw), turn.kind) if answer.raw else action
        return not isinstance(action, Malformed) and action in turn.legal
    return (kind is turn.kind or {kind, turn.kind} <= {*_CALLS}) and action in turn.legal


def explains(cause: str, count: int, values: int, breaches: int) -> bool:
    """Whether a cause that fits so many of the breaches, with so many different answers, is the explanation."""
    return count == breaches >= ENOUGH and (values > 1 or cause in _ALWAYS_THE_SAME)
