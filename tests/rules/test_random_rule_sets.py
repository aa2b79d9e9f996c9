"""What every rule set that is accepted promises: each question has a legal answer, and each contract can be made."""

from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any, Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from referee.cards import PACK, RANKS, mask_of
from referee.rules import Deal, Kind, RuleSet, RuleSetError, variant, variant_names
from referee.rules.deal import substitute
from referee.rules.ranking import left_pedro_of
from referee.rules.ruleset import POINT_NAMES, allowed_values, meanings, most_points
from tests.helpers import seeded, shuffled
from tests.rules.family import say

NUMBERS = {
    "hand_size": st.integers(1, 13),
    "packet": st.integers(1, 4),
    "min_bid": st.integers(0, 8),
    "max_bid": st.integers(0, 24),
    "game_points": st.integers(1, 4),
    "hang_jack": st.integers(1, 4),
    "target": st.integers(1, 70),
    "max_deals": st.integers(1, 3),
    "sides": st.integers(0, 3),
}
TABLES: dict[str, st.SearchStrategy[Any]] = {
    "players": st.tuples(st.integers(2, 7), st.integers(2, 7)).map(sorted),
    "steal": st.lists(st.integers(0, 14), max_size=3, unique=True).map(sorted),
    "turned_scores": st.dictionaries(st.sampled_from(RANKS), st.integers(1, 5), max_size=3),
    "point_cards": st.dictionaries(st.sampled_from(list(POINT_NAMES)), st.integers(1, 9), max_size=7),
}
FIELDS = [name for name in meanings() if name not in ("name", "title")]


def values_of(field: str) -> st.SearchStrategy[Any]:
    """Values that a house rule might be given."""
    allowed = allowed_values(field)
    return st.sampled_from(allowed) if allowed else {**NUMBERS, **TABLES}[field]


@st.composite
def rule_sets(draw: st.DrawFn) -> RuleSet:
    """A game of the registry with up to five house rules changed, such as is accepted."""
    rules = variant(draw(st.sampled_from(variant_names())))
    for field in draw(st.lists(st.sampled_from(FIELDS), max_size=5, unique=True)):
        values = rules.as_dict() | {field: draw(values_of(field))}
        try:
            rules = RuleSet.from_dict(values)
        except RuleSetError:
            continue
    return rules


def seat_counts(rules: RuleSet) -> Iterator[int]:
    """Every number of seats that the rule set can be played with."""
    for seats in range(rules.players[0], rules.players[1] + 1):
        try:
            rules.check_seats(seats)
        except RuleSetError:
            continue
        yield seats


def any_answer(deal: Deal, chance: Random) -> int:
    """A legal answer; at the auction and the turned card mostly one that goes on to the rarer questions."""
    legal = deal.legal()
    assert len(legal) > 0, f"{deal!r}: {deal.kind} has no legal answer"
    assert substitute(deal) in legal
    answer = legal[chance.randrange(len(legal))]
    assert deal.verify(answer) is None
    return answer


def skewed(chance: Random) -> tuple[int, ...]:
    """A pack in chance order, now and then with long suits in one hand, so that stocks run short and suits run out."""
    pack = shuffled(chance)
    return tuple(sorted(pack, key=lambda card: (card >> 4) + chance.random() * 3)) if chance.random() < 0.5 else pack


@pytest.mark.search
@settings(max_examples=300)
@given(rule_sets(), st.integers(0, 1 << 30))
def test_no_rule_set_that_is_accepted_asks_what_has_no_legal_answer(rules: RuleSet, seed: int) -> None:
    tables = list(seat_counts(rules))
    assume(tables)
    chance = seeded(seed)
    for seats in tables:
        scores = [chance.randrange(-5, rules.target) for _ in range(rules.side_count(seats))]
        deal = Deal(rules, seats, chance.randrange(seats), skewed(chance), scores)
        while deal.kind is not None:
            deal.apply(any_answer(deal, chance))
        assert deal.outcome is not None
        if rules.has_auction:
            assert max(deal.outcome.made) <= most_points(rules, seats)


def test_a_discard_of_pidro_is_played_with_trumps_alone() -> None:
    with pytest.raises(RuleSetError, match="write play_only_trumps = true"):
        variant("pidro").with_rules({"play_only_trumps": False})


@pytest.mark.parametrize(
    ("game", "changes", "most"),
    [
        ("auction-pitch", {"smudge": "none"}, 4),
        ("auction-pitch", {"smudge": "none", "game_points": 3}, 6),
        ("partnership-pitch", {"smudge": "none", "hang_jack": 3}, 6),
        ("auction-pitch", {"smudge": "none", "hand_size": 1, "packet": 1}, 4),
        ("auction-pitch", {"smudge": "none", "hand_size": 1, "packet": 1, "hang_jack": 5}, 7),
        ("smudge", {"smudge": "none", "hand_size": 1, "packet": 1, "hang_jack": 5}, 8),
        ("pedro", {}, 9),
        ("pedro", {"left_pedro": True}, 14),
        ("pedro", {"players": (2, 2), "hand_size": 1, "packet": 1, "max_bid": 2}, 6),
        ("pedro", {"players": (3, 3), "hand_size": 1, "packet": 1, "low_to": "holder", "max_bid": 2}, 7),
        ("cinch", {}, 14),
        ("pidro", {"steal_by": "dealer", "point_cards": {"A": 2, "5": 6}}, 14),
    ],
)
def test_a_bid_beyond_the_points_that_exist_is_refused(game: str, changes: dict[str, Any], most: int) -> None:
    quiet = {"min_bid": 1, "steal": ()}
    assert variant(game).with_rules(changes | quiet | {"max_bid": most}).max_bid == most
    with pytest.raises(RuleSetError, match=f"one side can make {most} at most in a deal") as caught:
        variant(game).with_rules(changes | quiet | {"max_bid": most + 1})
    assert caught.value.field == "max_bid"


def best_by_search(deal: Deal, side: int) -> int:
    """The most that a side makes when all seats play into its hands: every line of play is tried."""
    if deal.kind is None:
        assert deal.outcome is not None
        return deal.outcome.made[side]
    found = 0
    for action in deal.legal():
        twin = deal.copy()
        twin.apply(action)
        found = max(found, best_by_search(twin, side))
    return found


@pytest.mark.parametrize("scoring", ["items", "points"])
@pytest.mark.parametrize("low_to", ["holder", "taker"])
@pytest.mark.parametrize(("seats", "sides", "size"), [(2, 0, 1), (2, 0, 2), (3, 0, 1), (4, 2, 1)])
def test_the_most_that_short_hands_can_make_is_what_a_search_finds(
    scoring: str, low_to: str, seats: int, sides: int, size: int
) -> None:
    """All ways to deal the trumps that matter are searched, so that the bound is neither too high nor too low."""
    hands = {"hand_size": size, "packet": 1, "players": (seats, seats), "sides": sides, "settlement": "none"}
    scores: dict[str, Any] = (
        {"game_points": 2, "hang_jack": 3}
        if scoring == "items"
        else {"scoring": "points", "point_cards": {"A": 2, "2": 3, "5": 5, "9": 4}}
    )
    rules = variant("auction-pitch").with_rules(
        {"smudge": "none", "steal": (), "min_bid": 1, "max_bid": 1, "low_to": low_to, **hands, **scores}
    )
    suit = [card for card in PACK if card >> 4 == 0]
    wanted = [card for card in suit if RANKS[(card & 15) - 2] in ("AQJT2" if scoring == "items" else "AK952")]
    pool = [*wanted, next(card for card in PACK if card >> 4 == 1)]
    best = 0
    for dealt in permutations(pool, seats * size):
        rest = [card for card in PACK if card not in dealt]
        deal = Deal(rules, seats, seats - 1, (*dealt, *rest))
        say(deal, "1")  # the highest bid ends the auction
        best = max(best, best_by_search(deal, 0))
    assert best == most_points(rules, seats)


@pytest.mark.parametrize("name", [name for name in variant_names() if variant(name).has_auction])
def test_the_best_hand_can_make_all_that_is_for_sale(name: str) -> None:
    """Eldest holds every spade that scores, and the highest others; all the rest play under him where they can."""
    rules = variant(name)
    seats = rules.players[0]
    deal = Deal(rules, seats, seats - 1, pack_for_eldest(rules, seats))
    while deal.kind is not None:
        deal.act(for_eldest(deal))
    assert deal.outcome is not None
    assert deal.outcome.made[0] == most_points(rules, seats) == rules.max_bid


SPADES: Final = 3


def scoring_spades(rules: RuleSet) -> list[int]:
    """The spades that score as single trumps, or make the items; the left pedro with them."""
    ranks = [rank for rank, _ in rules.point_cards] or list("AJ2")
    cards = [SPADES << 4 | RANKS.index(rank) + 2 for rank in ranks]
    return [*cards, *([left_pedro_of(SPADES)] if rules.left_pedro else [])]


def pack_for_eldest(rules: RuleSet, seats: int) -> tuple[int, ...]:
    """A pack that deals eldest the spades that score and the highest others, and gives the rest as it comes."""
    spades = sorted((card for card in PACK if card >> 4 == SPADES), reverse=True)
    own = list(dict.fromkeys([*scoring_spades(rules), *spades]))[: rules.hand_size]
    rest = [card for card in PACK if card not in own]
    pack: list[int] = []
    for start in range(0, rules.hand_size, rules.packet):
        pack += own[start : start + rules.packet]
        pack += [rest.pop(0) for _ in range((seats - 1) * rules.packet)]
    return (*pack, *rest)


def for_eldest(deal: Deal) -> int:
    """Eldest bids all there is, names spades and plays from the top; the others pass and play below him if they can."""
    legal = deal.legal()
    eldest = deal.seat == (deal.dealer + 1) % deal.seats
    match deal.kind:
        case Kind.BID:
            return deal.rules.max_bid if eldest else 0
        case Kind.NAME_TRUMP:
            return SPADES
        case Kind.DISCARD:
            return mask_of(scoring_spades(deal.rules)) if eldest else legal[0]
    if deal.trump is None:
        return max(legal)
    powers = deal.rankings[deal.trump][2]
    below = [card for card in legal if powers[card] < deal.top_power]
    return max(legal if eldest else below or legal[:1], key=lambda card: powers[card])
