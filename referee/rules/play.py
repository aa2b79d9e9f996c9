"""Playing the tricks: what may be played, who wins a trick."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from referee.cards import SUIT_MASKS, SUIT_NAMES, Card, Mask, Suit, card_text, cards_in, hand_text, is_card
from referee.rules import scoring
from referee.rules.actions import Action, EventKind, Kind, Violation

if TYPE_CHECKING:
    from referee.rules.state import Deal

_PLAY = EventKind.PLAY << 16
_TRUMP_POWER: Final = 64

POWERS: Final = tuple(
    tuple((card & 15) + (_TRUMP_POWER if card >> 4 == trump else 0) for card in range(64)) for trump in range(4)
)
"""Power of a card by trump and card: its rank, trumps above all others."""


def begin(deal: Deal, leader: int) -> None:
    """Opens the play: the leader leads to the first trick."""
    deal.kind, deal.leader, deal.seat = Kind.PLAY, leader, leader


def legal_mask(deal: Deal) -> Mask:
    """The cards that the seat may play, as a mask (rules 1.0, legal plays)."""
    hand = deal.hands[deal.seat]
    if not deal.trick:
        return hand
    suit, trump = deal.trick[0] >> 4, deal.trump
    follow = hand & SUIT_MASKS[suit]
    if not follow:
        return hand
    if suit == trump or deal.rules.follow == "strict":
        return follow
    return follow | hand & SUIT_MASKS[trump]  # type: ignore[index]  # trump stands once a card has been led


def legal(deal: Deal) -> tuple[Action, ...]:
    """The cards that the seat may play, ascending by number."""
    return cards_in(legal_mask(deal))


def verify(deal: Deal, action: Action) -> Violation | None:
    """Judges a play by the clauses AF-PLAY-001 to 004."""
    if action >= 0 and legal_mask(deal) >> action & 1:
        return None
    return _violation(deal, action)


def _violation(deal: Deal, action: Action) -> Violation:
    cards = legal(deal)
    hand = deal.hands[deal.seat]
    if not is_card(action):
        return Violation("AF-PLAY-001", f"{action} is not the number of a card.", cards)
    if not hand >> action & 1:
        return Violation("AF-PLAY-001", f"You do not hold {card_text(action)}.", cards)
    suit = deal.trick[0] >> 4
    held = hand_text(hand & SUIT_MASKS[suit])
    led = f"{card_text(deal.trick[0])} was led and you hold {held}"
    if suit == deal.trump:
        return Violation("AF-PLAY-002", f"Trump {led}: play a trump.", cards)
    if deal.rules.follow == "strict":
        return Violation("AF-PLAY-004", f"{led}: follow suit.", cards)
    return Violation("AF-PLAY-003", f"{led}: play {_suit_name(suit)} or a trump ({_suit_name(deal.trump)}).", cards)


def _suit_name(suit: Suit | None) -> str:
    return "none" if suit is None else SUIT_NAMES[suit]


def apply(deal: Deal, card: Card) -> None:
    """Lays the card on the table; the last card of a trick gives it to its winner."""
    seat, trick = deal.seat, deal.trick
    bit = 1 << card
    deal.hands[seat] ^= bit
    deal.played[seat] |= bit
    deal.history.append(_PLAY | seat << 8 | card)
    if not trick:
        if deal.trump is None:
            deal.trump = card >> 4
        deal.top_power, deal.top_seat = POWERS[deal.trump][card], seat
        trick.append(card)
    else:
        power = POWERS[deal.trump][card]  # type: ignore[index]
        if power > deal.top_power and (power >= _TRUMP_POWER or card >> 4 == trick[0] >> 4):
            deal.top_power, deal.top_seat = power, seat
        trick.append(card)
        if len(trick) == deal.seats:
            _close_trick(deal)
            return
    seat += 1
    deal.seat = seat if seat < deal.seats else 0


def _close_trick(deal: Deal) -> None:
    winner = deal.top_seat
    pile = 0
    for card in deal.trick:
        pile |= 1 << card
    deal.taken[winner] |= pile
    deal.trick.clear()
    if deal.hands[winner]:
        deal.leader = deal.seat = winner
    else:
        scoring.close_played(deal)
