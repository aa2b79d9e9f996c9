"""The end of a hand: who earned what, what it does to the scores, and who wins.

The items are 1.0 and DP-17 to DP-23, the point cards of the Pedro games 1.6 and 1.7, the scores 1.1, 1.4 to 1.6 and DP-09
to DP-16.
"""

from dataclasses import dataclass

from .decisions import Trick
from .house_rules import Rules
from .pack import cards_of_suit, deal_order, left_pedro, party_of, pips

# Who earned what


@dataclass(frozen=True, slots=True)
class Earned:
    """One item or point card: its name, the seat and the party (seat or side) it belongs to, and its points.

    `party` is None when nobody scores it. `seat` is also None for Game between sides, which no single seat owns.
    """

    name: str
    seat: int | None
    party: int | None
    points: int


def find_card(card: str, tricks: list[Trick]) -> tuple[int, int] | None:
    """(holder, taker) of a card in play; None when it is not in play. In play = played to a trick (DP-23)."""
    for trick in tricks:
        for seat, played in trick.plays:
            if played == card:
                return seat, trick.taker
    return None


def pips_taken(seats: int, tricks: list[Trick]) -> list[int]:
    """Pips in the tricks of each seat."""
    taken = [0] * seats
    for trick in tricks:
        for _, card in trick.plays:
            taken[trick.taker] += pips(card)
    return taken


def earned(
    rules: Rules, seats: int, dealer: int, pitcher: int | None, trump: str | None, tricks: list[Trick]
) -> list[Earned]:
    """What was earned in the tricks, in counting order. `pitcher` is a seat."""
    if rules["scoring"] == "points":
        return point_cards(rules, trump, tricks)
    game = game_owner(rules, dealer, pitcher, pips_taken(seats, tricks))
    game_seat = game if rules["sides"] == 0 else None
    return [
        high(rules, trump, tricks),
        low(rules, trump, tricks),
        jack(rules, trump, tricks),
        Earned("G", game_seat, game, rules["game_points"]),
    ]


def trumps_in_play(rules: Rules, trump: str | None, tricks: list[Trick]) -> list[str]:
    """The trumps that were played, lowest first."""
    if trump is None:
        return []
    return [card for card in cards_of_suit(trump, trump, rules["left_pedro"]) if find_card(card, tricks)]


def of_card(rules: Rules, name: str, card: str | None, points: int, to_holder: bool, tricks: list[Trick]) -> Earned:
    """The item that one card makes, for its holder or for its taker; nobody's when the card is not in play."""
    found = find_card(card, tricks) if card is not None else None
    if found is None:
        return Earned(name, None, None, points)
    holder, taker = found
    seat = holder if to_holder else taker
    return Earned(name, seat, party_of(rules, seat), points)


def high(rules: Rules, trump: str | None, tricks: list[Trick]) -> Earned:
    """1.0: "H = 1 to holder of highest trump in play"."""
    cards = trumps_in_play(rules, trump, tricks)
    return of_card(rules, "H", cards[-1] if cards else None, 1, True, tricks)


def low(rules: Rules, trump: str | None, tricks: list[Trick]) -> Earned:
    """1.0: "L = 1 to holder (default) or taker (option) of lowest trump in play"."""
    cards = trumps_in_play(rules, trump, tricks)
    return of_card(rules, "L", cards[0] if cards else None, 1, rules["low_to"] == "holder", tricks)


def jack(rules: Rules, trump: str | None, tricks: list[Trick]) -> Earned:
    """1.0: "J = 1 to taker of the trump jack"; 1.8: 3 if captured by the other side ("hang")."""
    found = find_card("J" + trump, tricks) if trump is not None else None
    if found is None:
        return Earned("J", None, None, 1)
    holder, taker = found
    hung = party_of(rules, holder) != party_of(rules, taker)
    return Earned("J", taker, party_of(rules, taker), rules["hang_jack"] if hung else 1)


def game_owner(rules: Rules, dealer: int, pitcher: int | None, taken: list[int]) -> int | None:
    """The party with the strictly largest pip total; DP-17 [game_tie] when there is none. `taken` is by seat."""
    order: list[int] = []  # the parties, elder first: "first clockwise from dealer's left" (1.2)
    for seat in deal_order(rules, len(taken), dealer):
        if party_of(rules, seat) not in order:
            order.append(party_of(rules, seat))
    total = {party: sum(taken[seat] for seat in range(len(taken)) if party_of(rules, seat) == party) for party in order}
    tied = [party for party in order if total[party] == max(total.values())]
    if len(tied) == 1:
        return tied[0]
    if rules["game_tie"] == "elder":
        return tied[0]
    if rules["game_tie"] == "non_dealer":
        return next(party for party in tied if party != party_of(rules, dealer))
    if rules["game_tie"] == "pitcher" and pitcher is not None and party_of(rules, pitcher) in tied:
        return party_of(rules, pitcher)
    return None


# Counting order of single trumps (AF-SCORE-026): ace, two, jack, ten, three, five, left pedro, nine. The order in which
# a rule set lists them does not matter.
POINT_ORDER = ["A", "2", "J", "T", "3", "5", "left5", "9"]
POINT_NAMES = {"A": "H", "2": "L", "J": "J", "T": "G"}


def point_cards(rules: Rules, trump: str | None, tricks: list[Trick]) -> list[Earned]:
    """1.6, 1.7: points to the taker of each point card; the two of trumps to its holder where `low_to` says so."""
    worth: dict[str, int] = rules["point_cards"]
    keys = [key for key in POINT_ORDER if key in worth]
    found = []
    for key in keys:
        if trump is None:
            card = None
        elif key == "left5":
            card = left_pedro(trump) if rules["left_pedro"] else None
        else:
            card = key + trump
        to_holder = key == "2" and rules["low_to"] == "holder"
        found.append(of_card(rules, POINT_NAMES.get(key, key), card, worth[key], to_holder, tricks))
    return found


# What it does to the scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Made, deltas and scores by party; the party set back, the winner (None: play on) and why he won."""

    made: list[int]
    deltas: list[int]
    after: list[int]
    set_back: int | None
    winner: int | None
    reason: str | None


def in_hole(rules: Rules, score: int) -> bool:
    """DP-12: below zero (zero is not in the hole), or the other reading, zero or below."""
    return score < 0 or (score == 0 and rules["in_hole"] == "zero_or_below")


def count_hand(rules: Rules, before: list[int], worth: list[Earned], pitcher: int | None, bid: int) -> Counted:
    """Count a hand that was played out. `pitcher` is a party, None in games without an auction; a bid of 0 is the
    contract without obligation.
    """
    made = [sum(item.points for item in worth if item.party == party) for party in range(len(before))]
    failed = pitcher is not None and made[pitcher] < bid
    if pitcher is not None and rules["score_style"] == "difference":
        deltas = difference(made, pitcher, bid)
    else:
        deltas = list(made)  # "others: +made, always, also when pitcher is set back"
        if pitcher is not None:
            deltas[pitcher] = -bid if failed else pitcher_gain(rules, made[pitcher], bid)
    after = [score + delta for score, delta in zip(before, deltas, strict=True)]  # full tally (DP-10)
    winner, reason = find_winner(rules, before, after, worth, pitcher, bid, failed)
    return Counted(
        made=made, deltas=deltas, after=after, set_back=pitcher if failed else None, winner=winner, reason=reason
    )


def pitcher_gain(rules: Rules, made: int, bid: int) -> int:
    """1.1: "+made (all of it, not just the bid)"; DP-16 option: the bid only. Without a bid, what he made."""
    return bid if rules["pitcher_scores"] == "bid" and bid > 0 else made


def difference(made: list[int], pitcher: int, bid: int) -> list[int]:
    """1.6 option: made: "side with more takes the DIFFERENCE only"; failed: "opponents +taken +bid, bidder 0"."""
    if len(made) != 2:
        raise ValueError("score_style: 'difference' is defined for two parties only; use 'set_back'")
    other = 1 - pitcher
    deltas = [0, 0]
    if made[pitcher] < bid:
        deltas[other] = made[other] + bid
    else:
        deltas[pitcher] = max(0, made[pitcher] - made[other])
        deltas[other] = max(0, made[other] - made[pitcher])
    return deltas


def smudger(rules: Rules, before: list[int], worth: list[Earned], pitcher: int | None, bid: int) -> int | None:
    """The party that wins by smudge, if any."""
    owners = [item.party for item in worth]
    if [item.name for item in worth] != ["H", "L", "J", "G"] or owners[0] is None or owners != [owners[0]] * 4:
        return None
    if rules["smudge"] == "any":
        return owners[0]  # 1.4: whoever it is, whatever was bid, in the hole included
    if rules["smudge"] == "bid" and owners[0] == pitcher and bid == rules["max_bid"]:
        return None if in_hole(rules, before[pitcher]) else pitcher  # before the hand (DP-13)
    return None


def find_winner(
    rules: Rules,
    before: list[int],
    after: list[int],
    worth: list[Earned],
    pitcher: int | None,
    bid: int,
    failed: bool,
) -> tuple[int | None, str | None]:
    """The counting order of 1.1: smudge, the pitcher's whole delta, then item by item."""
    target: int = rules["target"]
    smudge = smudger(rules, before, worth, pitcher, bid)
    if smudge is not None:
        return smudge, "SMUDGE"
    if rules["pitcher_first"] and pitcher is not None and after[pitcher] >= target:
        return pitcher, "PITCHER_FIRST"
    if pitcher is not None and rules["score_style"] == "difference":
        out = [party for party in range(len(after)) if after[party] >= target]  # only one of the two ever gains
        return (out[0], "DIFFERENCE") if out else (None, None)
    running = list(before)
    for item in worth:
        if item.party is None:
            continue
        if item.party == pitcher and (failed or rules["pitcher_first"]):
            continue  # set back: his items score for nobody; counted first: he is done
        running[item.party] += item.points
        if item.party == pitcher:
            running[pitcher] = min(running[pitcher], after[pitcher])  # DP-16 option: no more than the bid
        if running[item.party] >= target:
            return item.party, "COUNT_" + item.name.upper()
    return None, None
