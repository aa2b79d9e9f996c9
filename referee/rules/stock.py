"""The cards that were not dealt: what leaves the top of the stock, and who sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from referee.rules.actions import EventKind, pack_event

if TYPE_CHECKING:
    from referee.rules.state import Deal

RUN: Final = 3
"""Cards that every seat gets in a run (AF-TRUMP-008)."""


def take(deal: Deal, seat: int, count: int) -> None:
    """Puts the top cards of the stock into a hand."""
    for card in deal.stock[:count]:
        deal.hands[seat] |= 1 << card
    deal.stock = deal.stock[count:]


def take_all(deal: Deal, seat: int) -> None:
    """Puts the rest of the stock into a hand."""
    take(deal, seat, len(deal.stock))


def serve(deal: Deal) -> bool:
    """Runs the cards: three to every seat, eldest first. False if no card would be left to turn up after it."""
    if len(deal.stock) <= RUN * deal.seats:
        return False
    for seat in deal.from_eldest():
        take(deal, seat, RUN)
    return True


def draw_after_trick(deal: Deal, winner: int) -> None:
    """The winner of the trick takes the top card, the other seats in turn the next ones.

    Cards of a stock that lies face up, and the card that made trump, are taken openly; others are drawn unseen.
    """
    open_stock = deal.rules.stock == "face_up"
    for place in range(deal.seats):
        seat, card = (winner + place) % deal.seats, deal.stock[0]
        take(deal, seat, 1)
        seen = open_stock or card == deal.turn_up
        deal.history.append(pack_event(EventKind.TAKE, seat, card) if seen else pack_event(EventKind.DRAW, seat, 1))
    deal.turn_up = None
    if open_stock and deal.stock:
        deal.turn_up = deal.stock[0]
        deal.history.append(pack_event(EventKind.STOCK_TOP, deal.dealer, deal.turn_up))
