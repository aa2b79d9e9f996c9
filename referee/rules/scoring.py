"""What a deal is worth: items, the pitcher's contract, what every side adds to its score."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from referee.cards import JACK, SUIT_MASKS, Card, Mask, Suit, pips_in

if TYPE_CHECKING:
    from referee.rules.state import Deal


class Ending(StrEnum):
    """How a deal ended."""

    PLAYED = "played"
    THROWN_IN = "thrown in"
    SET_BACK = "dealer set back"


@dataclass(frozen=True, slots=True)
class Award:
    """Points that one seat earned for its side: an item, in the order in which items count."""

    item: str
    seat: int
    points: int
    card: Card | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a deal ended and what it is worth. Lists are by side; ``awards`` are in counting order.

    ``made`` is what each side earned, ``deltas`` what is added to its score. ``set_back`` is the side that failed its
    contract, ``all_four`` the side that earned all four items (whether that wins the game, ``game.decide`` says).
    """

    ending: Ending
    dealer: int
    pitcher: int | None
    bid: int
    trump: Suit | None
    awards: tuple[Award, ...]
    pips: tuple[int, ...]
    made: tuple[int, ...]
    deltas: tuple[int, ...]
    set_back: int | None
    all_four: int | None


ITEMS = ("high", "low", "jack", "game")


def close_unplayed(deal: Deal) -> None:
    """Ends a deal in which all passed and no card is played (AF-BID-007, 008, 010)."""
    sides = deal.rules.side_count(deal.seats)
    deltas = [0] * sides
    ending, set_back = Ending.THROWN_IN, None
    if deal.rules.all_pass == "dealer_set_back":
        ending, set_back = Ending.SET_BACK, deal.side(deal.dealer)
        deltas[set_back] = -deal.rules.min_bid
    zeros = (0,) * sides
    deal.kind = None
    deal.outcome = Outcome(ending, deal.dealer, None, 0, None, (), zeros, zeros, tuple(deltas), set_back, None)


def close_played(deal: Deal) -> None:
    """Ends a deal whose tricks are all played: items, contract, deltas."""
    rules, sides = deal.rules, deal.rules.side_count(deal.seats)
    pips = [0] * sides
    for seat, pile in enumerate(deal.taken):
        pips[deal.side(seat)] += pips_in(pile)
    awards = _items(deal, pips)
    made = [0] * sides
    for award in awards:
        made[deal.side(award.seat)] += award.points
    deltas = made[:]
    set_back = None
    if deal.pitcher is not None:
        side = deal.side(deal.pitcher)
        if made[side] < deal.bid:
            deltas[side], set_back = -deal.bid, side
        elif rules.pitcher_scores == "bid" and deal.bid:
            deltas[side] = deal.bid
    deal.kind = None
    deal.outcome = Outcome(
        Ending.PLAYED,
        deal.dealer,
        deal.pitcher,
        deal.bid,
        deal.trump,
        awards,
        tuple(pips),
        tuple(made),
        tuple(deltas),
        set_back,
        _all_four(deal, awards),
    )


def _items(deal: Deal, pips: list[int]) -> tuple[Award, ...]:
    """High, Low, Jack and Game with their owners (AF-SCORE-001 to 006); an item without owner is left out."""
    rules = deal.rules
    trump: Suit = deal.trump  # type: ignore[assignment]  # trump stands once a card has been led
    trumps = 0
    for cards in deal.played:
        trumps |= cards & SUIT_MASKS[trump]
    awards = []
    if trumps:
        high, low, jack = trumps.bit_length() - 1, (trumps & -trumps).bit_length() - 1, trump << 4 | JACK
        awards.append(Award("high", _owner(deal.played, high), 1, high))
        awards.append(Award("low", _owner(deal.played if rules.low_to == "holder" else deal.taken, low), 1, low))
        if trumps >> jack & 1:
            awards.append(Award("jack", _owner(deal.taken, jack), 1, jack))
    game = _game_seat(deal, pips)
    if game is not None:
        awards.append(Award("game", game, rules.game_points, None))
    return tuple(awards)


def _owner(piles: list[Mask], card: Card) -> int:
    return next(seat for seat, pile in enumerate(piles) if pile >> card & 1)


def _game_seat(deal: Deal, pips: list[int]) -> int | None:
    """The seat that scores Game for its side: most pips, or by the house rule for equal pips (AF-SCORE-006).

    In sides it is the eldest seat of the side.
    """
    best = max(pips)
    from_eldest = [(deal.dealer + place) % deal.seats for place in range(1, deal.seats + 1)]
    tied = [side for side, sum_ in enumerate(pips) if sum_ == best]
    if len(tied) > 1:
        tied = _break_tie(deal, tied)
    return next((seat for seat in from_eldest if deal.side(seat) in tied), None)


def _break_tie(deal: Deal, tied: list[int]) -> list[int]:
    """The sides left of those tied; of several the caller takes the elder."""
    match deal.rules.game_tie:
        case "elder":
            return tied
        case "pitcher" if deal.pitcher is not None:
            return [side for side in tied if side == deal.side(deal.pitcher)]
        case "non_dealer":
            return [side for side in tied if side != deal.side(deal.dealer)]
    return []


def _all_four(deal: Deal, awards: tuple[Award, ...]) -> int | None:
    """The side that owns all four items, if one does."""
    sides = {deal.side(award.seat) for award in awards}
    return sides.pop() if len(awards) == len(ITEMS) and len(sides) == 1 else None
