"""Which house rules make sense together: every demand with the reason that a refusal gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from referee.cards import RANKS

if TYPE_CHECKING:
    from referee.rules.ruleset import RuleSet

HELD: Final = 6
"""Cards in a hand after the discard and draw of Cinch and its relatives."""

POINT_RANKS: Final = ("A", "2", "J", "T", "3", "5", "9")
"""Ranks of single trumps that can score, in the order in which they count (Foster: High, Low, Jack, Ten, Three, Five,
Nine)."""


class RuleSetError(ValueError):
    """A house rule that does not exist, has a value it cannot have, or makes no sense beside another.

    ``field`` names the house rule, the message says what is allowed.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field


Demand = tuple[str, bool, str]
"""A house rule, whether what is demanded of it holds, and the reason for the demand."""


def check_sense(rules: RuleSet) -> None:
    """Refuses house rules that contradict each other; raises ``RuleSetError``."""
    for demands in (_cards, _auction, _turn_up, _play, _draw, _scores, _contracts):
        for field, holds, reason in demands(rules):
            if not holds:
                raise RuleSetError(field, f"{getattr(rules, field)!r} makes no sense: {reason}")


def most_points(rules: RuleSet, seats: int) -> int:
    """The most that one side can make in a deal with an auction, by the best play of the best cards.

    Short hands bound it: a seat that plays for itself cannot both win a jack with its only trump and have played the
    lowest one; and where the two scores for its holder, the trick that it is played to brings a lone holder nothing else.
    """
    tricks = HELD if rules.discard != "none" else rules.hand_size
    keeps_low = rules.low_to == "holder" and not (rules.sides and seats > rules.sides)
    if rules.scoring == "items":
        if tricks == 1 and keeps_low:
            return max(3, 1 + rules.hang_jack) + rules.game_points
        return 2 + rules.hang_jack + rules.game_points
    worth = dict(rules.point_cards)
    two = worth.pop("2", 0)
    others = sorted([*worth.values(), *([worth["5"]] if rules.left_pedro else [])], reverse=True)
    if not keeps_low:
        return sum(sorted([two, *others], reverse=True)[: tricks * seats])
    return max(sum(others[: tricks * seats]), two + sum(others[: (tricks - 1) * seats]))


def _idle(rules: RuleSet, needed: bool, what: str, **usual: Any) -> Iterator[Demand]:
    """House rules that have no effect unless ``needed``: they keep their usual value."""
    for field, value in usual.items():
        yield field, needed or getattr(rules, field) == value, f"it has no effect without {what}"


def _cards(rules: RuleSet) -> Iterator[Demand]:
    low, high = rules.players
    yield "players", 2 <= low <= high <= 7, "the family is played by 2 to 7"
    yield "hand_size", 1 <= rules.hand_size <= 26, "a hand has 1 to 26 cards"
    yield "packet", 1 <= rules.packet <= rules.hand_size, "a packet has from one card to the whole hand"
    yield "packet", rules.hand_size % rules.packet == 0, f"{rules.hand_size} cards do not divide into it"
    yield "sides", rules.sides in (0, 2, 3), "0 is each for self, else 2 or 3 sides"


def _auction(rules: RuleSet) -> Iterator[Demand]:
    if not rules.has_auction:
        yield "min_bid", rules.min_bid == 0, f"nobody bids with trump_by = {rules.trump_by!r}: write 0"
        yield "max_bid", rules.max_bid == 0, f"nobody bids with trump_by = {rules.trump_by!r}: write 0"
        yield "steal", rules.steal == (), "there is no bid to take over: write an empty list"
    else:
        yield "min_bid", 1 <= rules.min_bid <= rules.max_bid, f"it must lie between 1 and max_bid ({rules.max_bid})"
        yield "max_bid", rules.max_bid <= 255, "a bid is at most 255"
        fitting = all(rules.min_bid <= bid <= rules.max_bid for bid in rules.steal)
        yield "steal", fitting, f"the amounts must lie between {rules.min_bid} and {rules.max_bid}"
        yield "steal", list(rules.steal) == sorted(set(rules.steal)), "name each amount once, ascending"
    yield from _idle(rules, bool(rules.steal), "amounts in 'steal'", steal_by="dealer")
    yield from _idle(rules, rules.has_auction, "an auction", pitcher_scores="made", score_style="set_back")
    yield from _idle(rules, rules.has_auction, "an auction", all_pass="thrown_in_next_dealer", top_bid_ends=True)
    yield "first_lead", rules.has_auction or rules.first_lead == "eldest", "there is no pitcher: write 'eldest'"
    yield "first_lead", rules.trump_by != "pitch" or rules.first_lead == "pitcher", "the first lead is the pitch"


def _turn_up(rules: RuleSet) -> Iterator[Demand]:
    turned = rules.trump_by == "turn_up"
    usual = {"gift_to": "eldest", "gift_out": False, "without_trump": "accepts", "after_run": "reduce"}
    yield from _idle(rules, turned, "a turned-up trump", turned_scores=(), stock_out="redeal", **usual)
    yield from _idle(rules, bool(rules.turned_scores), "'turned_scores'", jack_turns="every")
    yield "turned_scores", *_rank_table(rules.turned_scores, RANKS)


def _rank_table(table: tuple[tuple[str, int], ...], ranks: Any) -> tuple[bool, str]:
    """Whether a table has each rank once with a sensible number of points, and what it must have."""
    names = [rank for rank, _ in table]
    fitting = all(rank in ranks and len(rank) == 1 and 1 <= points <= 100 for rank, points in table)
    return fitting and len(set(names)) == len(names), f"write each rank of {' '.join(ranks)} once, with 1 to 100 points"


def _play(rules: RuleSet) -> Iterator[Demand]:
    named = rules.trump_by == "name"
    fives = "5" in dict(rules.point_cards)
    yield "left_pedro", fives or not rules.left_pedro, "it scores as the five: give point_cards a '5'"
    yield "left_pedro", rules.trump_by != "turn_up" or not rules.left_pedro, "no turned-up trump is played with it"
    yield from _idle(rules, named, "trump_by = 'name'", discard="none", play_only_trumps=False)
    yield from _idle(rules, not rules.play_only_trumps, "plain suits in play", follow="follow_or_trump")


def _draw(rules: RuleSet) -> Iterator[Demand]:
    discards = rules.discard != "none"
    yield from _idle(rules, discards, "a discard", rob="none")
    yield "discard", not discards or rules.hand_size >= HELD, f"hands of {HELD} cannot be kept of {rules.hand_size}"
    scoring = len(rules.point_cards) + rules.left_pedro
    yield "discard", rules.discard != "pidro" or scoring <= HELD, f"no more than {HELD} trumps that score can be kept"
    only_trumps = (
        "hands differ in length after it, so plain cards cannot be played to the end: write play_only_trumps = true"
    )
    yield "discard", rules.discard != "pidro" or rules.play_only_trumps, only_trumps
    yield from _idle(rules, rules.trump_by == "cut", "trump_by = 'cut'", stock="none")
    yield "players", rules.stock == "none" or rules.players == (2, 2), "two draw from the stock: write [2, 2]"


def _scores(rules: RuleSet) -> Iterator[Demand]:
    items = rules.scoring == "items"
    yield "smudge", rules.smudge == "none" or items, "all four items must score"
    bid_of_four = rules.has_auction and rules.max_bid == 4
    yield "smudge", rules.smudge != "bid" or bid_of_four, "it means a bid of four: use it with max_bid = 4"
    yield "point_cards", items != bool(rules.point_cards), "they score with scoring = 'points', and only there"
    yield "point_cards", *_rank_table(rules.point_cards, POINT_RANKS)
    yield from _idle(rules, items, "scoring = 'items'", game_points=1, hang_jack=1, game_tie="nobody")
    yield "game_tie", rules.game_tie != "pitcher" or rules.has_auction, "there is no pitcher"
    difference = rules.score_style == "difference"
    yield "score_style", not difference or rules.sides == 2, "the difference is between two sides: write sides = 2"
    yield "pitcher_scores", not difference or rules.pitcher_scores == "made", "the difference is scored"
    yield "target", 1 <= rules.target <= 1000, "it must lie between 1 and 1000"
    yield "max_deals", 1 <= rules.max_deals <= 10_000, "it must lie between 1 and 10000"
    yield "game_points", 1 <= rules.game_points <= 10, "it must lie between 1 and 10"
    yield "hang_jack", 1 <= rules.hang_jack <= 10, "it must lie between 1 and 10"
    each = rules.sides == 0
    yield "settlement", rules.settlement == "none" or each, "no source settles stakes between sides"
    paid = rules.settlement == "stakes" or not rules.settlement_set_backs
    yield "settlement_set_backs", paid, "it needs settlement = 'stakes'"


def _contracts(rules: RuleSet) -> Iterator[Demand]:
    """No contract is for sale that nobody can make."""
    if rules.has_auction:
        low = rules.players[0]
        fewest = low + -low % rules.sides if rules.sides else low
        most = most_points(rules, fewest)
        reason = f"with {fewest} seats one side can make {most} at most in a deal, and a bid must be possible to make"
        yield "max_bid", rules.max_bid <= most, reason
