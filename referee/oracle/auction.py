"""The auction: one turn each, eldest first, dealer last (1.1, 1.4, 1.5, 1.6, DP-02 to DP-06).

`calls` is the list of (seat, bid) so far, `order` the seats from eldest to dealer; bid 0 is a pass.
"""

from .house import Rules

Calls = list[tuple[int, int]]


def high_bid(calls: Calls) -> int:
    """The highest preceding bid, 0 when there is none."""
    return max([bid for _, bid in calls], default=0)


def speaker(rules: Rules, order: list[int], calls: Calls) -> int | None:
    """Who speaks next; None when the auction is over."""
    silent = [seat for seat in order if seat not in [caller for caller, _ in calls]]
    if rules["top_bid_ends"] and high_bid(calls) == rules["max_bid"]:
        # 1.1: "ends the auction at once"; "where `steal` contains 4, the dealer alone still speaks".
        thieves = order if rules["steal_by"] == "anyone" else order[-1:]
        still = [seat for seat in silent if seat in thieves]
        return still[0] if rules["max_bid"] in rules["steal"] and still else None
    return silent[0] if silent else None


def may_bid(rules: Rules, order: list[int], calls: Calls, seat: int, bid: int) -> bool:
    """May this seat, whose turn it is, call this?"""
    high = high_bid(calls)
    is_dealer = seat == order[-1]
    if bid == 0:
        # DP-03 dealer_forced: when all others have passed, the dealer may not.
        return not (all_pass(rules) == "dealer_forced" and is_dealer and high == 0)
    if bid < rules["min_bid"] or bid > rules["max_bid"]:
        return False
    if bid > high:
        return True
    # 1.1: the dealer "plus v = current high" at the amounts of DP-02; with no bid there is nothing to steal.
    return (is_dealer or rules["steal_by"] == "anyone") and bid == high and bid in rules["steal"]


def pitcher(calls: Calls) -> tuple[int, int] | None:
    """Seat and contract: "last player to have made a bid that stands" (1.1). None when nobody bid."""
    bids = [(seat, bid) for seat, bid in calls if bid > 0]
    return bids[-1] if bids else None


def all_pass(rules: Rules) -> str:
    """What happens when nobody bids (DP-03)."""
    return str(rules["all_pass"])


def free_pitcher(rules: Rules, order: list[int]) -> int | None:
    """When nobody bid: the seat that pitches with no obligation; None when nobody does."""
    return {"dealer_free": order[-1], "eldest_free": order[0]}.get(all_pass(rules))


def dealer_pays(rules: Rules) -> bool:
    """When nobody bid: is the dealer set back by the lowest bid without play?"""
    return all_pass(rules) == "dealer_set_back"


def same_dealer_again(rules: Rules) -> bool:
    """When nobody bid: does the same dealer deal again?"""
    return all_pass(rules) == "thrown_in_same_dealer"
