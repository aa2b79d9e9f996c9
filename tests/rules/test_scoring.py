"""What a deal is worth: the four items, the contract, the deltas (AF-SCORE-001 to 009)."""

from collections.abc import Sequence
from typing import Any

import pytest

from referee.cards import HEARTS, card_text
from referee.rules import Award, Deal, Ending, Outcome
from referee.rules.scoring import close_played
from tests.helpers import pitch, play, start
from tests.rules.made_deals import deal_with


def outcome_of(deal: Deal) -> Outcome:
    assert deal.outcome is not None
    return deal.outcome


def made_by(hands: Sequence[str], cards: str, bid: int = 2, dealer: int | None = None, **rules: Any) -> Outcome:
    """The outcome of a small deal in which seat A pitches."""
    return outcome_of(play(pitch(start(hands, dealer=dealer, rules=rules), 0, bid), cards))


def owners(outcome: Outcome) -> dict[str, int]:
    return {award.item: award.seat for award in outcome.awards}


# High, Low, Jack


def test_high_goes_to_the_holder_of_the_highest_trump_in_play() -> None:
    outcome = made_by(["9H", "KH", "TH"], "9H KH TH")
    assert outcome.awards[0] == Award("high", 1, 1, HEARTS << 4 | 13)


def test_low_goes_to_its_holder_or_its_taker() -> None:
    hands, cards = ["9H", "KH", "TH"], "9H KH TH"
    assert owners(made_by(hands, cards, low_to="holder"))["low"] == 0
    assert owners(made_by(hands, cards, low_to="taker"))["low"] == 1


def test_jack_goes_to_its_taker() -> None:
    outcome = made_by(["JH", "KH", "TH"], "JH KH TH")
    assert outcome.awards[2] == Award("jack", 1, 1, HEARTS << 4 | 11)


def test_a_jack_of_another_suit_is_no_item() -> None:
    assert "jack" not in owners(made_by(["9H", "JD", "JS"], "9H JD JS"))


def test_one_trump_in_play_is_high_and_low() -> None:
    assert owners(made_by(["5H", "2D", "3S"], "5H 2D 3S")) == {"high": 0, "low": 0}


def test_a_lone_jack_is_high_low_and_jack() -> None:
    assert owners(made_by(["JH", "2D", "3S"], "JH 2D 3S")) == {"high": 0, "low": 0, "jack": 0, "game": 0}


def test_only_cards_played_are_in_play() -> None:
    """The ace and the two of trumps lie in the stock."""
    outcome = made_by(["9H", "TH"], "9H TH")
    assert [award.card and card_text(award.card) for award in outcome.awards] == ["TH", "9H", None]


def test_items_are_listed_in_counting_order() -> None:
    for owners_ in ("A B C A", "C A B B", "B B B B"):
        deal = deal_with(owners_, bid=2, before=[0, 0, 0])
        assert [award.item for award in outcome_of(deal).awards] == ["high", "low", "jack", "game"]


# Game


def test_game_goes_to_the_most_pips() -> None:
    outcome = made_by(["2H AD", "3H KD", "4H TC"], "2H 3H 4H TC AD KD")
    assert outcome.pips == (0, 0, 17)
    assert owners(outcome)["game"] == 2


def test_game_may_be_worth_more() -> None:
    outcome = made_by(["2H AD", "3H KD", "4H TC"], "2H 3H 4H TC AD KD", game_points=2)
    assert outcome.awards[-1] == Award("game", 2, 2, None)
    assert outcome.made == (1, 0, 3)


@pytest.mark.parametrize(
    ("tie", "dealer", "owner"),
    [
        ("nobody", 2, None),
        ("elder", 2, 0),
        ("elder", 0, 1),
        ("elder", 1, 0),
        ("pitcher", 0, 0),
        ("pitcher", 1, 0),
    ],
)
def test_equal_pips(tie: str, dealer: int, owner: int | None) -> None:
    outcome = made_by(["AH 2C", "3C AC", "4C 5C"], "AH 3C 4C 2C AC 5C", dealer=dealer, game_tie=tie)
    assert outcome.pips == (4, 4, 0)
    assert owners(outcome).get("game") == owner


def test_equal_pips_of_two_others_are_not_the_pitchers() -> None:
    outcome = made_by(["2H 3C", "AH 2D", "4C AC"], "2H AH 4C 2D AC 3C", game_tie="pitcher")
    assert outcome.pips == (0, 8, 0)
    outcome = made_by(["2H 3C", "AH 2C", "4D AC"], "2H AH 4D 2C AC 3C", game_tie="pitcher")
    assert outcome.pips == (0, 4, 4)
    assert "game" not in owners(outcome)


def test_equal_pips_go_to_the_elder_of_those_tied() -> None:
    outcome = made_by(["2H 3C", "AH 2C", "4D AC"], "2H AH 4D 2C AC 3C", dealer=1, game_tie="elder")
    assert outcome.pips == (0, 4, 4)
    assert owners(outcome)["game"] == 2


@pytest.mark.parametrize("dealer", [0, 1])
def test_equal_pips_go_to_the_non_dealer(dealer: int) -> None:
    outcome = made_by(["AH 2C", "3D AC"], "AH 3D 2C AC", dealer=dealer, game_tie="non_dealer")
    assert outcome.pips == (4, 4)
    assert owners(outcome)["game"] == 1 - dealer


@pytest.mark.parametrize(("tie", "owner"), [("elder", 1), ("non_dealer", 1), ("pitcher", 0), ("nobody", None)])
def test_no_pips_at_all_are_equal_pips(tie: str, owner: int | None) -> None:
    outcome = made_by(["2H", "3H"], "2H 3H", dealer=0, game_tie=tie)
    assert outcome.pips == (0, 0)
    assert owners(outcome).get("game") == owner


# Sides


PARTNERS: dict[str, Any] = {"sides": 2, "settlement": "none"}


def test_partners_pool_their_tricks_and_items() -> None:
    hands = ["2H AS", "KH 3S", "AH 4S", "3H TS"]
    outcome = made_by(hands, "2H KH AH 3H 4S TS AS 3S", **PARTNERS)
    assert outcome.pips == (21, 0)
    assert owners(outcome) == {"high": 2, "low": 0, "game": 0}
    assert (outcome.made, outcome.deltas) == ((3, 0), (3, 0))


def test_equal_pips_of_sides_go_to_the_elder_side() -> None:
    hands = ["AH 2C", "3H AC", "4H 3C", "5H 4C"]
    for dealer, side in ((3, 0), (0, 1), (1, 0), (2, 1)):
        outcome = made_by(hands, "AH 3H 4H 5H 2C AC 3C 4C", dealer=dealer, game_tie="elder", **PARTNERS)
        assert outcome.pips == (4, 4)
        assert owners(outcome)["game"] % 2 == side
        other = made_by(hands, "AH 3H 4H 5H 2C AC 3C 4C", dealer=dealer, game_tie="non_dealer", **PARTNERS)
        assert owners(other)["game"] % 2 == side == (dealer + 1) % 2


def test_a_set_back_is_the_sides() -> None:
    outcome = made_by(["2H", "KH", "AS", "3D"], "2H KH AS 3D", bid=3, **PARTNERS)
    assert (outcome.made, outcome.deltas, outcome.set_back) == ((1, 2), (-3, 2), 0)


def test_a_partner_makes_the_contract() -> None:
    outcome = made_by(["2H", "3D", "AH", "3H"], "2H 3D AH 3H", bid=3, **PARTNERS)
    assert (outcome.made, outcome.deltas, outcome.set_back, outcome.all_four) == ((3, 0), (3, 0), None, None)


def test_three_sides_of_two() -> None:
    hands = ["2H", "3D", "4D", "AH", "TD", "5D"]
    rules: dict[str, Any] = {"sides": 3, "settlement": "none", "target": 11}
    outcome = made_by(hands, "2H 3D 4D AH TD 5D", **rules)
    assert (outcome.pips, outcome.made) == ((14, 0, 0), (3, 0, 0))


# The contract


@pytest.mark.parametrize(
    ("items", "bid", "deltas", "set_back"),
    [
        ("A A A A", 2, (4, 0, 0), None),
        ("A A B A", 3, (3, 1, 0), None),
        ("A A B A", 4, (-4, 1, 0), 0),
        ("A B C B", 2, (-2, 2, 1), 0),
        ("B B B B", 3, (-3, 4, 0), 0),
        ("A B - -", 2, (-2, 1, 0), 0),
        ("A A - -", 2, (2, 0, 0), None),
    ],
)
def test_the_pitcher_scores_all_he_made_or_loses_his_bid(
    items: str, bid: int, deltas: tuple[int, ...], set_back: int | None
) -> None:
    outcome = outcome_of(deal_with(items, bid=bid, before=[0, 0, 0]))
    assert (outcome.deltas, outcome.set_back) == (deltas, set_back)
    assert outcome.ending is Ending.PLAYED


def test_a_pitcher_may_score_his_bid_only() -> None:
    rules = {"pitcher_scores": "bid"}
    assert outcome_of(deal_with("A A A A", bid=2, before=[0, 0, 0], rules=rules)).deltas == (2, 0, 0)
    assert outcome_of(deal_with("A A B A", bid=3, before=[0, 0, 0], rules=rules)).deltas == (3, 1, 0)
    assert outcome_of(deal_with("A B B A", bid=3, before=[0, 0, 0], rules=rules)).deltas == (-3, 2, 0)
    assert outcome_of(deal_with("B B B A", bid=2, before=[0, 0, 0], rules=rules)).deltas == (-2, 3, 0)


def test_all_four_names_the_side_whatever_was_bid() -> None:
    assert outcome_of(deal_with("B B B B", bid=2, before=[0, 0, 0])).all_four == 1
    assert outcome_of(deal_with("A A A A", bid=4, before=[0, 0, 0])).all_four == 0
    assert outcome_of(deal_with("A A A B", bid=2, before=[0, 0, 0])).all_four is None
    assert outcome_of(deal_with("A A - A", bid=2, before=[0, 0, 0])).all_four is None


def test_the_outcome_tells_the_contract() -> None:
    outcome = outcome_of(deal_with("B C A C", bid=3, before=[0, 0, 0], pitcher=2, dealer=1))
    assert (outcome.dealer, outcome.pitcher, outcome.bid, outcome.trump) == (1, 2, 3, HEARTS)


# What Pitch never meets, and its relatives do


def test_without_a_trump_in_play_game_alone_counts() -> None:
    deal = play(pitch(start(["9H", "TD"]), 0, 2), "9H TD")
    deal.trump, deal.outcome = 0, None
    close_played(deal)
    assert owners(outcome_of(deal)) == {"game": 0}


def test_without_a_pitcher_everybody_scores_what_he_made() -> None:
    deal = play(pitch(start(["9H", "TD"]), 0, 4), "9H TD")
    assert outcome_of(deal).deltas == (-4, 0)
    deal.pitcher, deal.outcome = None, None
    close_played(deal)
    assert (outcome_of(deal).deltas, outcome_of(deal).set_back) == ((3, 0), None)
