"""Which clauses could be broken in a position: those by which ``verify`` would refuse something that a bot might do.

Nothing here knows a rule. A clause has an opportunity where an action that a bot can say is refused with its id, so a
new variant or house rule is counted as soon as the umpire judges it.
"""

from collections.abc import Iterator

from referee.cards import PACK_MASK, Mask, cards_in
from referee.rules import Action, Call, Deal, Keeps, Kind


def breakable(deal: Deal) -> frozenset[str]:
    """The ids of the clauses that the seat to decide could break now."""
    refused = (deal.verify(action) for action in conceivable(deal))
    return frozenset(violation.rule for violation in refused if violation is not None)


def conceivable(deal: Deal) -> Iterator[Action]:
    """What a bot might answer: everything legal and illegal that a clause tells apart, not every number there is."""
    match deal.kind:
        case Kind.BID:
            yield from range(-1, deal.rules.max_bid + 2)
        case Kind.PLAY:
            hand = deal.hands[deal.seat]
            yield from cards_in(hand)
            yield _one_of(PACK_MASK & ~hand)
        case Kind.DISCARD:
            legal = deal.legal()
            if isinstance(legal, Keeps) and len(legal):
                yield from _keeps(deal.hands[deal.seat], legal)
        case Kind.NAME_TRUMP:
            yield from range(-1, 5)
        case Kind.STAND_OR_BEG | Kind.ANSWER_BEG:
            yield from Call


def _keeps(hand: Mask, legal: Keeps) -> Iterator[Mask]:
    """A legal set of cards, and what it takes to make it wrong: one card more, one less, one for another."""
    kept = legal[0]
    stranger = 1 << _one_of(PACK_MASK & ~hand)
    yield kept | stranger
    if kept:
        yield kept & (kept - 1)
        yield kept & (kept - 1) | stranger
    for others in (hand & ~(legal.must | legal.may), legal.may & ~kept):
        if others:
            other = 1 << _one_of(others)
            yield kept | other
            yield from (kept & ~(1 << _one_of(cards)) | other for cards in (kept & legal.must, kept) if cards)


def _one_of(cards: Mask) -> int:
    return (cards & -cards).bit_length() - 1
