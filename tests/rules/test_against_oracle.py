"""The two rules engines agree on random positions. The long run is ``python -m tests.rules.lockstep``."""

from typing import Any

import pytest

from referee.cards import PACK, card_text
from referee.oracle import OracleDeal
from referee.oracle.house_rules import AUCTION_PITCH, complete
from referee.rules import Deal, variant
from referee.rules.ruleset import allowed_values, meanings
from tests.helpers import seeded, shuffled
from tests.rules.lockstep import Difference, Pair, compare

pytestmark = pytest.mark.search


@pytest.mark.parametrize("seed", range(4))
def test_the_engines_agree_on_random_positions(seed: int) -> None:
    seen = compare(500, seed)
    assert seen["positions"] >= 500
    assert min(seen["BID"], seen["PLAY"], seen["PLAYED"], seen["games"]) > 0


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"steal": []}, "legal actions"),
        ({"follow": "strict"}, "legal actions"),
        ({"low_to": "taker"}, "items"),
        ({"game_tie": "elder"}, "items"),
        ({"pitcher_scores": "bid"}, "deltas"),
        ({"pitcher_first": False}, "reason"),
        ({"smudge": "any"}, "reason"),
        ({"all_pass": "thrown_in_same_dealer"}, "next dealer"),
        ({"settlement": "none"}, "settlement"),
    ],
)
def test_a_difference_would_be_found(change: dict[str, Any], what: str) -> None:
    """The oracle is told another house rule than the engine: it shows within a few games."""
    rules = variant("auction-pitch").with_rules({"target": 4})

    def differ() -> None:
        for number in range(300):
            pair = Pair(seeded(number), rules, 3)
            pair.other_game.rules.update(change)
            pair.play()

    with pytest.raises(Difference, match=f"^{what}: the engine says"):
        differ()


def test_both_deal_alike() -> None:
    for seats in range(2, 8):
        pack = shuffled(seeded(seats))
        for dealer in range(seats):
            ours = Deal(variant("auction-pitch"), seats, dealer, pack)
            theirs = OracleDeal({}, seats, dealer, [card_text(card) for card in pack], [0] * seats)
            for seat in range(seats):
                held = {card_text(card) for card in PACK if ours.hands[seat] >> card & 1}
                assert held == set(theirs.hands[seat])
            assert [card_text(card) for card in ours.stock] == theirs.stock


NAMES_ONLY = {"name", "title", "players"}
"""Fields of a rule set that change nothing in a deal."""


def test_the_oracle_knows_every_house_rule_and_each_of_its_values() -> None:
    """What it does not know it would ignore, and the engines would seem to agree."""
    for name in set(meanings()) - NAMES_ONLY:
        assert {"turned_scores": "turned_score"}.get(name, name) in AUCTION_PITCH, f"teach referee/oracle {name}"
        for value in allowed_values(name) or ():
            complete({name: value})
