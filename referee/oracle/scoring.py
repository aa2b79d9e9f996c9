"""The end of a hand: who made what, what it does to the scores, and who wins (1.1, 1.4 to 1.6, DP-09 to DP-16)."""

from dataclasses import dataclass

from .house import Rules
from .items import Earned


@dataclass(frozen=True, slots=True)
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
    return Counted(made, deltas, after, pitcher if failed else None, winner, reason)


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
