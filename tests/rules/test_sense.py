"""House rules that make no sense together are refused with the field and the reason; these go beyond Pitch."""

from typing import Any

import pytest

from referee.rules import RuleSet, RuleSetError, variant, variant_names

TABLE = "write each rank of 2 3 4 5 6 7 8 9 T J Q K A once, with 1 to 100 points"
POINTS = "write each rank of A 2 J T 3 5 9 once, with 1 to 100 points"
NO_PITCHER = "there is no pitcher"
TURNED = "it has no effect without a turned-up trump"
NAMED = "it has no effect without trump_by = 'name'"


@pytest.mark.parametrize(
    ("game", "changes", "field", "said"),
    [
        # no auction
        ("all-fours", {"min_bid": 1}, "min_bid", "nobody bids with trump_by = 'turn_up': write 0"),
        ("all-fours", {"max_bid": 4}, "max_bid", "nobody bids with trump_by = 'turn_up': write 0"),
        ("california-jack", {"max_bid": 4}, "max_bid", "nobody bids with trump_by = 'cut': write 0"),
        ("all-fours", {"steal": (2,)}, "steal", "there is no bid to take over: write an empty list"),
        ("all-fours", {"steal_by": "anyone"}, "steal_by", "it has no effect without amounts in 'steal'"),
        ("cinch", {"steal_by": "anyone"}, "steal_by", "it has no effect without amounts in 'steal'"),
        ("all-fours", {"pitcher_scores": "bid"}, "pitcher_scores", "it has no effect without an auction"),
        ("trinidad", {"score_style": "difference"}, "score_style", "it has no effect without an auction"),
        ("all-fours", {"all_pass": "dealer_forced"}, "all_pass", "it has no effect without an auction"),
        ("all-fours", {"top_bid_ends": False}, "top_bid_ends", "it has no effect without an auction"),
        ("all-fours", {"first_lead": "pitcher"}, "first_lead", "there is no pitcher: write 'eldest'"),
        ("auction-pitch", {"first_lead": "eldest"}, "first_lead", "the first lead is the pitch"),
        ("all-fours", {"smudge": "bid"}, "smudge", "it means a bid of four: use it with max_bid = 4"),
        ("all-fours", {"game_tie": "pitcher"}, "game_tie", NO_PITCHER),
        # no turned-up trump
        ("auction-pitch", {"turned_scores": (("J", 1),)}, "turned_scores", TURNED),
        ("auction-pitch", {"stock_out": "turn_last"}, "stock_out", TURNED),
        ("auction-pitch", {"gift_to": "opponents"}, "gift_to", TURNED),
        ("cinch", {"gift_out": True}, "gift_out", TURNED),
        ("cinch", {"without_trump": "refuses"}, "without_trump", TURNED),
        ("california-jack", {"after_run": "keep"}, "after_run", TURNED),
        (
            "all-fours",
            {"turned_scores": (), "jack_turns": "fixing"},
            "jack_turns",
            "it has no effect without 'turned_scores'",
        ),
        ("all-fours", {"turned_scores": (("10", 1),)}, "turned_scores", TABLE),
        ("all-fours", {"turned_scores": (("", 1),)}, "turned_scores", TABLE),
        ("all-fours", {"turned_scores": (("J", 0),)}, "turned_scores", TABLE),
        ("all-fours", {"turned_scores": (("J", 101),)}, "turned_scores", TABLE),
        ("all-fours", {"turned_scores": (("J", 1), ("J", 2))}, "turned_scores", TABLE),
        # the left pedro, naming, discards, the stock
        (
            "pedro",
            {"left_pedro": True, "point_cards": (("A", 1),)},
            "left_pedro",
            "it scores as the five: give point_cards a '5'",
        ),
        ("auction-pitch", {"left_pedro": True}, "left_pedro", "it scores as the five: give point_cards a '5'"),
        (
            "all-fours",
            {"scoring": "points", "point_cards": (("5", 5),), "game_tie": "nobody", "left_pedro": True},
            "left_pedro",
            "no turned-up trump is played with it",
        ),
        ("auction-pitch", {"discard": "cinch"}, "discard", NAMED),
        ("pedro", {"play_only_trumps": True}, "play_only_trumps", NAMED),
        ("pidro", {"follow": "strict"}, "follow", "it has no effect without plain suits in play"),
        ("auction-pitch", {"rob": "dealer"}, "rob", "it has no effect without a discard"),
        ("cinch", {"discard": "none"}, "rob", "it has no effect without a discard"),
        ("cinch", {"hand_size": 3}, "discard", "hands of 6 cannot be kept of 3"),
        (
            "pidro",
            {"point_cards": (("A", 1), ("2", 1), ("J", 1), ("T", 1), ("5", 5), ("9", 9))},
            "discard",
            "no more than 6 trumps that score can be kept",
        ),
        ("auction-pitch", {"stock": "face_up"}, "stock", "it has no effect without trump_by = 'cut'"),
        ("california-jack", {"players": (2, 3)}, "players", "two draw from the stock: write [2, 2]"),
        # what scores
        ("pedro", {"smudge": "any"}, "smudge", "all four items must score"),
        ("pedro", {"point_cards": ()}, "point_cards", "they score with scoring = 'points', and only there"),
        (
            "auction-pitch",
            {"point_cards": (("A", 1),)},
            "point_cards",
            "they score with scoring = 'points', and only there",
        ),
        ("pedro", {"point_cards": (("K", 1),)}, "point_cards", POINTS),
        ("pedro", {"point_cards": (("A", 1), ("A", 1))}, "point_cards", POINTS),
        ("pedro", {"game_points": 2}, "game_points", "it has no effect without scoring = 'items'"),
        ("cinch", {"hang_jack": 3}, "hang_jack", "it has no effect without scoring = 'items'"),
        ("cinch", {"game_tie": "elder"}, "game_tie", "it has no effect without scoring = 'items'"),
        (
            "pedro",
            {"score_style": "difference"},
            "score_style",
            "the difference is between two sides: write sides = 2",
        ),
        (
            "cinch",
            {"score_style": "difference", "pitcher_scores": "bid"},
            "pitcher_scores",
            "the difference is scored",
        ),
    ],
)
def test_what_makes_no_sense(game: str, changes: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(RuleSetError) as caught:
        variant(game).with_rules(changes)
    assert caught.value.field == field
    assert str(caught.value).startswith(f"{field}: ")
    assert str(caught.value).endswith(f"makes no sense: {said}")


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("all-fours", {"hand_size": 3, "after_run": "keep"}),
        ("all-fours", {"turned_scores": {"2": 1, "A": 100}}),
        ("all-fours", {"scoring": "points", "point_cards": {"A": 1}, "game_tie": "nobody"}),
        ("cinch", {"sides": 0, "players": [2, 5]}),
        ("cinch", {"hand_size": 6}),
        ("cinch", {"scoring": "items", "point_cards": [], "left_pedro": False, "smudge": "any", "max_bid": 4}),
        ("pidro", {"discard": "none", "rob": "none"}),
        ("california-jack", {"stock": "none", "players": [2, 4]}),
        ("pedro", {"left_pedro": True, "max_bid": 14}),
    ],
)
def test_what_does(game: str, changes: dict[str, Any]) -> None:
    rules = variant(game).with_rules(changes)
    assert RuleSet.from_dict(rules.as_dict()) == rules


def test_a_card_to_turn_up_has_to_be_left() -> None:
    rules = variant("all-fours").with_rules({"hand_size": 26, "packet": 1})
    with pytest.raises(RuleSetError, match="2 hands of 26 and a card to turn up need more than 52 cards"):
        rules.check_seats(2)
    variant("all-fours").with_rules({"hand_size": 25, "packet": 1}).check_seats(2)


def test_every_variant_makes_sense_for_each_number_of_seats_that_it_names() -> None:
    for name in variant_names():
        rules = variant(name)
        for seats in range(rules.players[0], rules.players[1] + 1, rules.sides or 1):
            rules.check_seats(seats)
