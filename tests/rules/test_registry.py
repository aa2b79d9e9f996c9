"""The variants by name."""

import pytest

from referee.rules import RuleSetError, variant, variant_names
from referee.rules.registry import ALIASES

PITCH = variant("auction-pitch")


def changed(name: str) -> dict[str, object]:
    """What a variant changes against Auction Pitch, its names apart."""
    rules, base = variant(name).as_dict(), PITCH.as_dict()
    return {field: value for field, value in rules.items() if value != base[field] and field not in ("name", "title")}


def test_auction_pitch_has_the_rules_of_the_text() -> None:
    expected = {
        "players": [2, 7],
        "sides": 0,
        "hand_size": 6,
        "packet": 3,
        "trump_by": "pitch",
        "min_bid": 2,
        "max_bid": 4,
        "steal": [2, 3],
        "top_bid_ends": True,
        "all_pass": "thrown_in_next_dealer",
        "follow": "follow_or_trump",
        "scoring": "items",
        "low_to": "holder",
        "game_tie": "nobody",
        "game_points": 1,
        "pitcher_scores": "made",
        "score_style": "set_back",
        "target": 7,
        "pitcher_first": True,
        "smudge": "bid",
        "in_hole": "below_zero",
        "settlement": "stakes",
        "settlement_set_backs": False,
        "max_deals": 100,
    }
    rules = PITCH.as_dict()
    assert {field: rules[field] for field in expected} == expected


def test_what_the_other_pitch_games_change() -> None:
    assert changed("auction-pitch-forced") == {"all_pass": "dealer_forced"}
    assert changed("smudge") == {"players": [3, 5], "steal": [], "low_to": "taker", "smudge": "any"}
    assert changed("partnership-pitch") == {"players": [4, 6], "sides": 2, "target": 11, "settlement": "none"}


def test_every_variant_is_found_by_its_own_name() -> None:
    assert variant_names()[0] == "auction-pitch"
    assert len(set(variant_names())) == len(variant_names())
    for name in variant_names():
        assert variant(name).name == name
        for seats in range(variant(name).players[0], variant(name).players[1] + 1, variant(name).sides or 1):
            variant(name).check_seats(seats)


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_every_alias_leads_to_a_variant(alias: str) -> None:
    assert variant(alias) == variant(ALIASES[alias])
    assert alias not in variant_names()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("auction-pich", "did you mean auction-pitch"),
        ("smug", "did you mean smudge"),
        ("xyzzy", "the variants are auction-pitch, "),
        ("", "the variants are auction-pitch, "),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(RuleSetError) as caught:
        variant(name)
    assert caught.value.field == "variant"
    assert f"{name!r} is no variant; {hint}" in str(caught.value)
