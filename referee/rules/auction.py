"""The auction: one call a seat, eldest first, dealer last."""

from referee.rules import play, scoring
from referee.rules.actions import Action, EventKind, Kind, Violation
from referee.rules.state import DealState

_BID = EventKind.BID << 16


def legal(deal: DealState) -> tuple[Action, ...]:
    """The calls open to the seat: pass (0) unless the dealer is forced, and every bid high enough."""
    rules = deal.rules
    bids = tuple(range(max(deal.bid + 1, rules.min_bid), rules.max_bid + 1))
    if deal.seat == deal.dealer:
        if deal.bid in rules.steal:
            bids = (deal.bid, *bids)
        if deal.pitcher is None and rules.all_pass == "dealer_forced":
            return bids
    elif rules.steal_by == "anyone" and deal.bid in rules.steal:
        bids = (deal.bid, *bids)
    return (0, *bids)


def verify(deal: DealState, action: Action) -> Violation | None:
    """Judges a call by the clauses AF-BID-001 to 004 and 011."""
    calls = legal(deal)
    if action in calls:
        return None
    rules, high = deal.rules, deal.bid
    if action == 0:
        return Violation(
            "AF-BID-004", f"You dealt and all others passed: you must bid at least {rules.min_bid}.", calls
        )
    if not rules.min_bid <= action <= rules.max_bid:
        bids = f"{rules.min_bid} to {rules.max_bid}" if rules.min_bid < rules.max_bid else f"{rules.min_bid}"
        return Violation("AF-BID-001", f"{action} is no bid: a bid is {bids}, a pass is 0.", calls)
    if action == high and rules.steal and rules.steal_by == "anyone":
        return Violation("AF-BID-011", f"A bid of {high} cannot be stolen by anybody.", calls)
    if action == high and high in rules.steal:
        return Violation("AF-BID-003", f"Only the dealer may take a bid of {high} at the same amount.", calls)
    if action == high and rules.steal:
        return Violation("AF-BID-003", f"A bid of {high} cannot be stolen, not even by the dealer.", calls)
    return Violation("AF-BID-002", f"A bid of {action} is not higher than the {high} bid before.", calls)


def apply(deal: DealState, action: Action) -> None:
    """Records the call and passes the word on, or ends the auction."""
    deal.history.append(_BID | deal.seat << 8 | action)
    deal.calls_left -= 1
    if action:
        deal.bid, deal.pitcher = action, deal.seat
    if deal.calls_left == 0:
        _close(deal)
    elif action == deal.rules.max_bid and deal.rules.top_bid_ends:
        _after_top_bid(deal)
    else:
        deal.seat = (deal.seat + 1) % deal.seats


def _after_top_bid(deal: DealState) -> None:
    """Nobody can bid higher: whoever may steal still speaks, or the auction is over."""
    if deal.bid not in deal.rules.steal:
        _close(deal)
    elif deal.rules.steal_by == "anyone":
        deal.seat = (deal.seat + 1) % deal.seats
    else:
        deal.calls_left, deal.seat = 1, deal.dealer


def _close(deal: DealState) -> None:
    """Asks the pitcher for trump or for his lead, or does what the house rule says when all have passed."""
    deal.calls_left = 0
    if deal.pitcher is None:
        match deal.rules.all_pass:
            case "dealer_free":
                deal.pitcher = deal.dealer
            case "eldest_free":
                deal.pitcher = (deal.dealer + 1) % deal.seats
            case _:
                scoring.close_unplayed(deal)
                return
    if deal.rules.trump_by == "name":
        deal.kind, deal.seat = Kind.NAME_TRUMP, deal.pitcher
    else:
        play.begin(deal)
