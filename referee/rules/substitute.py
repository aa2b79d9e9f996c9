"""The move that the referee makes when a seat cannot: fixed, so that replays agree."""

from referee.cards import SUIT_MASKS, Mask, Suit, cards_in
from referee.rules.actions import Action, Call, Keeps, Kind
from referee.rules.state import Deal


def substitute(deal: Deal) -> Action:
    """Pass, stand, give (if legal, else run), the lowest bid, the longest suit, the lowest card by suit then rank.

    Of cards to keep: trumps first, then the highest.
    """
    legal = deal.legal()
    if isinstance(legal, Keeps):
        return _keep(legal, deal.trump)
    if deal.kind is Kind.NAME_TRUMP:
        hand = deal.hands[deal.seat]
        return max(legal, key=lambda suit: ((hand & SUIT_MASKS[suit]).bit_count(), -suit))
    if deal.kind is Kind.ANSWER_BEG:
        return Call.GIVE if Call.GIVE in legal else Call.RUN
    return min(legal)


def _keep(keeps: Keeps, trump: Suit | None) -> Mask:
    kept = keeps.must
    by_worth = sorted(cards_in(keeps.may), key=lambda card: (card >> 4 == trump, card & 15, -(card >> 4)), reverse=True)
    for card in by_worth[: keeps.size - kept.bit_count()]:
        kept |= 1 << card
    return kept
