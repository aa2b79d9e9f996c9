"""Positions for the tests of the oracle, set up by hand and independent of how the oracle deals."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

from referee.oracle import Action, OracleDeal
from referee.oracle.scoring import Earned

ALL_CARDS = [rank + suit for suit in "CDHS" for rank in "23456789TJQKA"]


def stacked(hands: list[str], dealer: int, then: str = "", step: int = 1) -> list[str]:
    """A deck that deals these hands (by seat, in threes) and then turns `then`; the rest of the pack follows."""
    piles = [hand.split() for hand in hands]
    order = [(dealer + step * turn) % len(piles) for turn in range(1, len(piles) + 1)]
    deck = [piles[seat][at + i] for at in range(0, len(piles[0]), 3) for seat in order for i in range(3)]
    deck += then.split()
    return deck + [card for card in ALL_CARDS if card not in deck]


def chance_of(seed: int) -> random.Random:
    """Chance that is the same for the same seed."""
    return random.Random(seed)  # noqa: S311  the tests want repeatable chance, not secret chance


def shuffled(seed: int) -> list[str]:
    """A deck in chance order, the same for the same seed."""
    deck = list(ALL_CARDS)
    chance_of(seed).shuffle(deck)
    return deck


def run(deal: OracleDeal, actions: Iterable[Action]) -> OracleDeal:
    """Carry out the actions in order."""
    for action in actions:
        deal.act(action)
    return deal


def legal(deal: OracleDeal) -> list[Action]:
    """The legal ones of all conceivable answers."""
    return [action for action in deal.possible() if deal.judge(action)]


def answer(deal: OracleDeal, chance: random.Random) -> Action:
    """Some legal answer."""
    if deal.kind == "DISCARD":
        choice = deal.choice()
        return choice.must | frozenset(chance.sample(sorted(choice.may), choice.count))
    return chance.choice(legal(deal))


def finish(deal: OracleDeal, chance: random.Random) -> OracleDeal:
    """Go on by chance until the deal is over."""
    while deal.kind is not None:
        deal.act(answer(deal, chance))
    return deal


def items(owners: str) -> list[Earned]:
    """Items in counting order from "A B - A": who owns H, L, J and G; a dash is nobody."""
    parties = [None if owner == "-" else "ABCD".index(owner) for owner in owners.split()]
    return [Earned(name, party, party, 1) for name, party in zip("HLJG", parties, strict=True)]


def with_rules(base: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    """These house rules with some changed."""
    return {**base, **changes}
