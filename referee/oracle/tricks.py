"""Legal cards and trick winners (1.0, 1.6, 1.7, 1.8, DP-31)."""

from dataclasses import dataclass

from .house import Rules
from .pack import cards_of_suit, suit_of

Plays = list[tuple[int, str]]  # (seat, card) in order of play


@dataclass(frozen=True, slots=True)
class Trick:
    """A finished trick: what was played by whom, in order, and which seat took it."""

    plays: Plays
    taker: int


def trumps_in(rules: Rules, hand: list[str], trump: str | None) -> list[str]:
    """The trumps of a hand, the left pedro among them where it is one."""
    return [card for card in hand if suit_of(card, trump, rules["left_pedro"]) == trump]


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
