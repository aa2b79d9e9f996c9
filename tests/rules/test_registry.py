"""The variants by name."""

import pytest

from referee.rules import RuleSetError, variant, variant_names
from referee.rules.registry import ALIASES

PITCH = variant("auction-pitch")
OTHER_NAMES = {
    "pitch": "auction-pitch",
    "auction-pitch-stick-the-dealer": "auction-pitch-forced",
    "pitch-smudge": "smudge",
    "setback": "partnership-pitch",
    "set-back": "partnership-pitch",
    "all-4s": "all-fours",
    "high-low-jack": "all-fours",
    "old-sledge": "seven-up",
    "sledge": "seven-up",
    "7-up": "seven-up",
    "trinidad-all-fours": "trinidad",
    "all-foes": "trinidad",
    "double-pedro": "cinch",
    "high-five": "cinch",
    "single-pedro": "pedro",
    "cajun-pedro": "pedro-louisiana",
    "louisiana-pedro": "pedro-louisiana",
    "finnish-pedro": "pidro",
    "california-all-fours": "california-jack",
}


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
    assert f"{name!r} is not a variant; {hint}" in str(caught.value)


def test_what_the_turned_up_games_change() -> None:
    no_auction = {
        "min_bid": 0,
        "max_bid": 0,
        "steal": [],
        "first_lead": "eldest",
        "pitcher_first": False,
        "smudge": "none",
        "settlement": "none",
    }
    all_fours = {
        **no_auction,
        "players": [2, 3],
        "trump_by": "turn_up",
        "turned_scores": [["J", 1]],
        "game_tie": "elder",
    }
    partners = {"players": [4, 4], "sides": 2}
    assert changed("all-fours") == changed("seven-up") == all_fours
    assert changed("all-fours-partners") == changed("seven-up-partners") == {**all_fours, **partners}
    assert changed("trinidad") == {
        **no_auction,
        **partners,
        "trump_by": "turn_up",
        "turned_scores": [["A", 1], ["6", 2], ["J", 3]],
        "after_run": "keep",
        "stock_out": "turn_last",
        "follow": "no_undertrump",
        "hang_jack": 3,
        "target": 14,
    }
    california = {**no_auction, "players": [2, 2], "trump_by": "cut", "stock": "face_up", "low_to": "taker"}
    assert changed("california-jack") == california
    assert changed("shasta-sam") == {**california, "stock": "face_down"}


def test_what_the_games_with_the_left_pedro_change() -> None:
    cinch = {
        "players": [4, 4],
        "sides": 2,
        "hand_size": 9,
        "trump_by": "name",
        "min_bid": 1,
        "max_bid": 14,
        "steal": [],
        "all_pass": "dealer_free",
        "left_pedro": True,
        "discard": "cinch",
        "rob": "dealer",
        "scoring": "points",
        "point_cards": [["A", 1], ["J", 1], ["T", 1], ["2", 1], ["5", 5]],
        "low_to": "taker",
        "smudge": "none",
        "settlement": "none",
        "target": 51,
    }
    assert changed("cinch") == cinch
    assert changed("pedro-louisiana") == {**cinch, "min_bid": 7, "all_pass": "dealer_forced", "target": 62}
    pidro = {
        **cinch,
        "min_bid": 6,
        "steal": [14],
        "steal_by": "anyone",
        "all_pass": "dealer_forced",
        "play_only_trumps": True,
        "discard": "pidro",
        "target": 62,
    }
    del pidro["low_to"]  # the two stays with its holder, as Low does in Auction Pitch
    assert changed("pidro") == pidro


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("All Fours", "all-fours"),
        ("OLD SLEDGE", "seven-up"),
        ("high_five", "cinch"),
        ("  Double  Pedro ", "cinch"),
        ("7-Up", "seven-up"),
        ("Shasta Sam", "shasta-sam"),
    ],
)
def test_a_name_may_be_written_as_people_write_it(written: str, name: str) -> None:
    assert variant(written).name == name


def test_every_other_name_of_a_game() -> None:
    assert {alias: variant(alias).name for alias in OTHER_NAMES} == OTHER_NAMES
    assert set(ALIASES) == set(OTHER_NAMES)
