"""The move that the referee makes when a seat cannot: fixed, so that replays agree."""

from referee.cards import SUIT_MASKS, Card, Mask, cards_in
from referee.rules.actions import Action, Call, Keeps, Kind
from referee.rules.state import Deal


def substitute(deal: Deal) -> Action:
    """Pass, stand, give (if legal, else run), the lowest bid, the longest suit, the lowest card by suit then rank.

    Of cards to keep: trumps first, then the highest.
    """
    legal = deal.legal()
    if isinstance(legal, Keeps):
        return best_keep(legal, deal.trumps)
    if deal.kind is Kind.NAME_TRUMP:
        hand = deal.hands[deal.seat]
        return max(legal, key=lambda suit: ((hand & SUIT_MASKS[suit]).bit_count(), -suit))
    if deal.kind is Kind.ANSWER_BEG:
        return Call.GIVE if Call.GIVE in legal else Call.RUN
    return min(legal)


def best_keep(keeps: Keeps, trumps: Mask) -> Mask:
    """The cards to keep: all that must be, then trumps, then the highest cards, clubs before spades on equal ranks."""
    kept = keeps.must

    def worth(card: Card) -> tuple[int, int, int]:
        return trumps >> card & 1, card & 15, -(card >> 4)

    for card in sorted(cards_in(keeps.may), key=worth, reverse=True)[: keeps.size - kept.bit_count()]:
        kept |= 1 << card
    return kept
