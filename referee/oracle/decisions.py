"""What a seat may do: bid, lay cards away, play a card; and who gets what by it.

The auction is 1.1, 1.4 to 1.6 and DP-02 to DP-06, laying away 1.6, 1.7 and DP-33, the play 1.0, 1.6 to 1.8 and DP-31.
"""

from dataclasses import dataclass

from .house_rules import Rules
from .pack import cards_of_suit, left_pedro, suit_of

Calls = list[tuple[int, int]]  # (seat, bid) so far; a bid of 0 is a pass
Plays = list[tuple[int, str]]  # (seat, card) in order of play


# The auction: one turn each, eldest first, dealer last. `order` is the seats from eldest to dealer.


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
        return not (rules["all_pass"] == "dealer_forced" and is_dealer and high == 0)
    if bid < rules["min_bid"] or bid > rules["max_bid"]:
        return False
    if bid > high:
        return True
    # 1.1: the dealer "plus v = current high" at the amounts of DP-02; with no bid there is nothing to steal.
    return (is_dealer or rules["steal_by"] == "anyone") and bid == high and bid in rules["steal"]


def sold_to(calls: Calls) -> tuple[int, int] | None:
    """Seat and contract: "last player to have made a bid that stands" (1.1). None when nobody bid."""
    bids = [(seat, bid) for seat, bid in calls if bid > 0]
    return bids[-1] if bids else None


def free_pitcher(rules: Rules, order: list[int]) -> int | None:
    """When nobody bid: the seat that pitches with no obligation; None when nobody does."""
    return {"dealer_free": order[-1], "eldest_free": order[0]}.get(rules["all_pass"])


# Laying away and drawing


def trumps_in(rules: Rules, hand: list[str], trump: str | None) -> list[str]:
    """The trumps of a hand, the left pedro among them where it is one."""
    return [card for card in hand if suit_of(card, trump, rules["left_pedro"]) == trump]


@dataclass(frozen=True, slots=True)
class Choice:
    """Keep all of `must` and exactly `count` more out of `may`."""

    must: frozenset[str]
    may: frozenset[str]
    count: int

    def allows(self, kept: frozenset[str]) -> bool:
        """Is this a legal set of kept cards?"""
        return self.must <= kept and kept - self.must <= self.may and len(kept) == len(self.must) + self.count


def cards_to_keep(rules: Rules, hand: list[str], stock: list[str], trump: str | None, is_dealer: bool) -> Choice:
    """The choice of the player whose turn it is to discard in Cinch and its relatives."""
    size: int = rules["draw_to"]
    robs = is_dealer and rules["rob"] == "dealer"
    if robs:
        hand, stock = hand + stock, []  # 1.6: "takes hand + whole remaining stock"
    trumps = frozenset(trumps_in(rules, hand, trump))
    plain = frozenset(hand) - trumps
    if robs and rules["discard"] == "cinch":
        return Choice(frozenset(), frozenset(hand), size)  # "keeps any 6"
    if len(trumps) > size:
        # 1.6: "with more than 6 trumps discard down to 6"; 1.7 Pidro: >6 trumps must kill non-point trumps.
        must = trumps & point_trumps(rules, trump) if rules["discard"] == "pidro" else frozenset()
        if len(must) > size:
            return Choice(frozenset(), must, size)  # cannot happen with the six point cards of Pidro
        return Choice(must, trumps - must, size - len(must))
    if rules["discard"] == "pidro" and not robs:
        return Choice(trumps, frozenset(), 0)  # "everyone keeps trumps only"
    # 1.6: "discard every non-trump"; "a player who cannot be filled keeps enough of his own plain cards to hold 6".
    missing = max(0, size - len(trumps) - len(stock)) if rules["short_stock"] == "keep_plain" else 0
    return Choice(trumps, plain, missing)


def point_trumps(rules: Rules, trump: str | None) -> frozenset[str]:
    """The trumps that score."""
    found = [f"{key}{trump}" for key in rules["point_cards"] if key != "left5"]
    left = left_pedro(trump)
    if left is not None and rules["left_pedro"] and "left5" in rules["point_cards"]:
        found.append(left)
    return frozenset(found)


# The play


@dataclass(frozen=True, slots=True)
class Trick:
    """A finished trick: what was played by whom, in order, and which seat took it."""

    plays: Plays
    taker: int


def legal_cards(rules: Rules, hand: list[str], plays: Plays, trump: str | None) -> list[str]:
    """The cards of `hand` that may be played to the trick that holds `plays` so far."""
    if rules["play_only_trumps"]:  # 1.7 Pidro: "only trumps are ever played"
        return trumps_in(rules, hand, trump)
    if not plays:
        return list(hand)  # the leader plays any card, always
    led = suit_of(plays[0][1], trump, rules["left_pedro"])
    follow = [card for card in hand if suit_of(card, trump, rules["left_pedro"]) == led]
    trumps = trumps_in(rules, hand, trump)
    if not follow:
        allowed = list(hand)  # no duty to trump
    elif led == trump or rules["follow"] == "strict":
        allowed = follow
    else:
        allowed = follow + trumps  # follow OR trump, never a third suit
    if rules["follow"] == "no_undertrump" and led != trump and len(trumps) < len(hand):
        # 1.8: "no undertrumping when a trump already lies on a plain-suit trick, unless the hand is all trumps"
        allowed = [card for card in allowed if not undertrumps(rules, card, plays, trump)]
    return allowed


def undertrumps(rules: Rules, card: str, plays: Plays, trump: str | None) -> bool:
    """Is this a trump lower than a trump that already lies on the trick?"""
    if trump is None:
        return False
    ladder = cards_of_suit(trump, trump, rules["left_pedro"])
    lying = [played for _, played in plays if played in ladder]
    return card in ladder and any(ladder.index(card) < ladder.index(other) for other in lying)


def trick_taker(rules: Rules, plays: Plays, trump: str | None) -> int:
    """1.0: "highest trump if any trump was played, else highest card of the led suit"."""
    led = suit_of(plays[0][1], trump, rules["left_pedro"])
    for suit in [trump, led]:
        if suit is None:
            continue
        for card in reversed(cards_of_suit(suit, trump, rules["left_pedro"])):  # from the highest down
            for seat, played in plays:
                if played == card:
                    return seat
    raise AssertionError("the led card itself is of the led suit")
