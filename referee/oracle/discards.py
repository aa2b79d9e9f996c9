"""What a player must and may keep when he discards (1.6, 1.7, DP-33)."""

from dataclasses import dataclass

from .house import Rules
from .pack import left_pedro
from .tricks import trumps_in


@dataclass(frozen=True, slots=True)
class Choice:
    """Keep all of `must` and exactly `count` more out of `may`."""

    must: frozenset[str]
    may: frozenset[str]
    count: int

    def allows(self, kept: frozenset[str]) -> bool:
        """Is this a legal set of kept cards?"""
        return self.must <= kept and kept - self.must <= self.may and len(kept) == len(self.must) + self.count


def keep(rules: Rules, hand: list[str], stock: list[str], trump: str | None, is_dealer: bool) -> Choice:
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
