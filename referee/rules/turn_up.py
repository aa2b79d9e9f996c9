"""The turned-up trump: eldest stands or begs, the dealer gives or runs the cards.

Where nobody may refuse the card (``trump_by`` = "cut"), it makes trump at once and stays on top of the stock.
"""

from collections.abc import Mapping
from typing import Final

from referee.cards import RANKS, SUIT_MASKS, SUIT_NAMES, TWO, Card, card_text
from referee.rules import draw, play, scoring
from referee.rules.actions import Action, Call, EventKind, Kind, Violation, pack_event, seat_text
from referee.rules.state import DealState

_CALLS: Final[Mapping[Kind | None, tuple[Call, ...]]] = {
    Kind.STAND_OR_BEG: (Call.STAND, Call.BEG),
    Kind.ANSWER_BEG: (Call.GIVE, Call.RUN),
}
_CALL_EVENTS = {Call.STAND: EventKind.STAND, Call.BEG: EventKind.BEG, Call.GIVE: EventKind.GIVE}


RUN: Final = 3
"""Cards that every seat gets in a run (AF-TRUMP-008)."""


def begin(deal: DealState) -> None:
    """Turns the next card up; unless that ends the game, asks eldest, or begins the play where nobody may refuse."""
    if deal.rules.trump_by == "cut":
        card = deal.turn_up = deal.stock[0]
        deal.trump = card >> 4
        deal.history.append(pack_event(EventKind.TURN_UP, deal.dealer, card))
        play.begin(deal)
    elif _turn(deal):
        deal.kind, deal.seat = Kind.STAND_OR_BEG, (deal.dealer + 1) % deal.seats


def legal(deal: DealState) -> tuple[Action, ...]:
    """The calls open to eldest or the dealer, ascending."""
    calls = _CALLS[deal.kind]
    return calls[1:] if _refusal(deal) else calls


def verify(deal: DealState, action: Action) -> Violation | None:
    """Judges a call by the clauses AF-TRUMP-003 to 006."""
    calls, refusal = _CALLS[deal.kind], _refusal(deal)
    if action == calls[0]:
        return refusal
    if action == calls[1]:
        return None
    calls = calls[1:] if refusal else calls
    named = f"a {Call(action).name.lower()}" if action in tuple(Call) else f"call number {action}"
    if deal.kind is Kind.STAND_OR_BEG:
        return Violation("AF-TRUMP-003", f"Eldest says stand (1) or beg (2), not {named}.", calls)
    return Violation("AF-TRUMP-004", f"The dealer answers a beg with give (3) or run (4), not {named}.", calls)


def _refusal(deal: DealState) -> Violation | None:
    """Why the seat may not accept the turned-up suit; ``None`` if it may."""
    giving = deal.kind is Kind.ANSWER_BEG
    return _lack(deal, giving) or (_puts_out(deal) if giving and not deal.rules.gift_out else None)


def _lack(deal: DealState, giving: bool) -> Violation | None:
    """Whether the house rule forbids a seat without a card of the suit to accept it."""
    card, rule = _turned(deal), deal.rules.without_trump
    if rule == "accepts" or (rule == "stands" and not giving):
        return None
    if deal.hands[deal.seat] & SUIT_MASKS[card >> 4]:
        return None
    held = f"You hold no {SUIT_NAMES[card >> 4]} ({card_text(card)} is turned up)"
    call, instead = ("give", "run the cards") if giving else ("stand", "beg")
    sentence = f"{held}, so you may not {call}: {instead}."
    return Violation("AF-TRUMP-006", sentence, (Call.RUN if giving else Call.BEG,))


def _puts_out(deal: DealState) -> Violation | None:
    """Whether the point would end the game."""
    for seat in _receivers(deal):
        if deal.scores[deal.side(seat)] + 1 >= deal.rules.target:
            sentence = f"The point would put {seat_text(seat)} out, so you may not give: run the cards."
            return Violation("AF-TRUMP-005", sentence, (Call.RUN,))
    return None


def _receivers(deal: DealState) -> list[int]:
    """The seats that a gift goes to, one a side: eldest, or the eldest of every side against the dealer."""
    if deal.rules.gift_to == "eldest":
        return [(deal.dealer + 1) % deal.seats]
    seats: dict[int, int] = {}
    for seat in deal.from_eldest():
        seats.setdefault(deal.side(seat), seat)
    seats.pop(deal.side(deal.dealer))
    return list(seats.values())


def apply(deal: DealState, action: Action) -> None:
    """Carries out a call."""
    seat = deal.seat
    if action == Call.RUN:
        _run(deal)
        return
    deal.history.append(pack_event(_CALL_EVENTS[Call(action)], seat))
    if action == Call.BEG:
        deal.kind, deal.seat = Kind.ANSWER_BEG, deal.dealer
    elif action == Call.STAND or _give(deal):
        _settle(deal)


def _give(deal: DealState) -> bool:
    """Scores the gift; false if that ended the game."""
    for receiver in _receivers(deal):
        scoring.score_at_once(deal, "gift", receiver, 1, None)
    return scoring.goes_on(deal)


def _turned(deal: DealState) -> Card:
    """The card that lies face up: there is one as long as trump is asked about."""
    return deal.turn_up  # type: ignore[return-value]


def _turn(deal: DealState) -> bool:
    """Turns the top card of the stock up and scores it; false if that ended the game."""
    card = deal.turn_up = deal.stock[0]
    deal.stock = deal.stock[1:]
    deal.aside |= 1 << card
    deal.history.append(pack_event(EventKind.TURN_UP, deal.dealer, card))
    return deal.rules.jack_turns != "every" or _score_turned(deal)


def _score_turned(deal: DealState) -> bool:
    """Scores the card turned up for the dealer's side, if it is worth anything; false if that ended the game."""
    card = _turned(deal)
    for rank, points in deal.rules.turned_scores:
        if rank == RANKS[(card & 15) - TWO]:
            scoring.score_at_once(deal, "turn up", deal.dealer, points, card)
    return scoring.goes_on(deal)


def _run(deal: DealState) -> None:
    """Deals on and turns up until a new suit comes: it is trump. If none does, the deal is void."""
    rejected = _turned(deal) >> 4
    while _turned(deal) >> 4 == rejected:
        if _serve(deal):
            deal.history.append(pack_event(EventKind.RUN, deal.dealer))
        elif deal.rules.stock_out == "redeal" or not deal.stock:
            scoring.close_void(deal)
            return
        if not _turn(deal):
            return
    _settle(deal)


def _serve(deal: DealState) -> bool:
    """Runs the cards: three to every seat, eldest first. False if no card would be left to turn up after it."""
    if len(deal.stock) <= RUN * deal.seats:
        return False
    for seat in deal.from_eldest():
        deal.take(seat, RUN)
    return True


def _settle(deal: DealState) -> None:
    """The suit turned up is trump: hands are reduced where that is the rule, then eldest leads."""
    if deal.rules.jack_turns == "fixing" and not _score_turned(deal):
        return
    deal.trump = _turned(deal) >> 4
    extra = deal.hands[deal.dealer].bit_count() - deal.rules.hand_size
    kept = {"reduce": 0, "keep": extra, "keep_once": RUN}[deal.rules.after_run]
    if extra > kept:
        draw.begin(deal)
    else:
        play.begin(deal)
