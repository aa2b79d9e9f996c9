"""Both rules engines agree on the games beyond Pitch. The long run is ``python -m tests.rules.lockstep_family``."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.rules import RuleSet, variant
from referee.rules.ruleset import POINT_NAMES
from tests.helpers import seeded
from tests.rules.lockstep import Difference
from tests.rules.lockstep_family import CHANGES, GAMES, FamilyPair, compare

pytestmark = pytest.mark.search


@pytest.mark.parametrize("name", GAMES)
def test_the_engines_agree_on_random_positions(name: str) -> None:
    seen = compare(name, 400, seed=1)
    assert seen["positions"] >= 400
    assert min(seen["PLAY"], seen["PLAYED"], seen["games"]) > 0
    asked = {"turn_up": ["STAND_OR_BEG", "ANSWER_BEG"], "name": ["BID", "NAME_TRUMP", "DISCARD"], "cut": []}
    assert all(seen[kind] > 0 for kind in asked.get(variant(name).trump_by, ["BID"]))


@settings(max_examples=40)
@given(st.permutations(list(POINT_NAMES)), st.integers(1, 7), st.booleans(), st.integers(0, 1 << 30))
def test_the_engines_count_single_trumps_in_one_order_however_they_are_listed(
    ranks: list[str], count: int, left_pedro: bool, seed: int
) -> None:
    """AF-SCORE-026: the order is the rule book's. At a low target it decides who wins."""
    table = dict.fromkeys(ranks[:count], 1)
    change = {"point_cards": table, "left_pedro": left_pedro and "5" in table, "steal": [], "target": 2}
    fitting = {"min_bid": 1, "max_bid": 1, "max_deals": 6, "pitcher_first": False}
    FamilyPair(seeded(seed), variant("pedro").with_rules(change | fitting), 4).play()


@pytest.mark.parametrize("name", GAMES)
def test_house_rules_to_be_changed_make_sense(name: str) -> None:
    rules = variant(name)
    for change in CHANGES[rules.trump_by]:
        assert isinstance(rules.with_rules(change), RuleSet)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("all-fours", {"gift_out": True}),
        ("all-fours", {"game_tie": "nobody"}),
        ("all-fours", {"after_run": "keep"}),
        ("all-fours", {"without_trump": "stands"}),
        ("trinidad", {"without_trump": "refuses"}),
        ("trinidad", {"after_run": "keep_once"}),
        ("all-fours", {"turned_score": {"J": 2}}),
        ("trinidad", {"follow": "follow_or_trump"}),
        ("trinidad", {"hang_jack": 1}),
        ("trinidad", {"stock_out": "redeal"}),
        ("california-jack", {"low_to": "holder"}),
        ("pedro", {"point_cards": {"A": 1, "2": 1, "J": 1, "T": 1, "5": 4}}),
        ("cinch", {"left_pedro": False}),
        ("cinch", {"rob": "none"}),
        ("cinch", {"score_style": "difference"}),
        ("pidro", {"steal_by": "dealer"}),
        ("pidro", {"low_to": "taker"}),
        ("pidro", {"play_only_trumps": False}),
    ],
)
def test_a_difference_would_be_found(name: str, change: dict[str, Any]) -> None:
    """One engine is told another house rule than the other: it shows within some games."""
    with pytest.raises(Difference, match="the engine says"):
        play_apart(variant(name), change)


def play_apart(rules: RuleSet, change: dict[str, Any]) -> None:
    for number in range(300):
        pair = FamilyPair(seeded(number), rules, rules.players[0])
        pair.other_game.rules.update(change)
        pair.play()
