"""Deals strung together: dealer, scores, who is out first, places, settlement (AF-SCORE-010 to 018)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from referee.cards import PACK
from referee.rules import Ending, EndReason, Game, GameResult, RuleSetError, variant
from referee.rules.game import finishing_places, settlement
from tests.helpers import call, rules_of
from tests.rules.made_deals import deal_with

PITCH = variant("auction-pitch")
PITCH_ENDS = {
    "SMUDGE": "smudge",
    "PITCHER_FIRST": "pitcher first",
    "COUNT_HIGH": "by High",
    "COUNT_LOW": "by Low",
    "COUNT_JACK": "by Jack",
    "COUNT_GAME": "by Game",
    "CAP": "cap of deals",
}


def closed(
    before: Sequence[int],
    bid: int,
    items: str,
    *,
    pitcher: int = 0,
    set_backs: Sequence[int] = (),
    **rules: Any,
) -> tuple[Game, GameResult | None]:
    """A game after one deal with these items, and its result if it is over."""
    deal = deal_with(items, bid=bid, before=before, pitcher=pitcher, rules=rules)
    game = Game(deal.rules, deal.seats, deal.dealer, before, set_backs)
    assert deal.outcome is not None
    return game, game.close(deal.outcome)


def won(before: Sequence[int], bid: int, items: str, **rules: Any) -> tuple[int | None, EndReason] | None:
    """Who won, and by what."""
    result = closed(before, bid, items, **rules)[1]
    return None if result is None else (result.winner, result.reason)


def test_a_new_game_starts_at_zero() -> None:
    game = Game(PITCH, 5, 2)
    assert (game.scores, game.set_backs, game.dealer, game.deals, game.result) == ([0] * 5, [0] * 5, 2, 0, None)
    assert Game(variant("partnership-pitch"), 4).scores == [0, 0]
    assert Game(PITCH, 3).dealer == 0


def test_records_and_reports_name_endings_by_these_words() -> None:
    assert {reason.name: reason.value for reason in EndReason if reason.name in PITCH_ENDS} == PITCH_ENDS
    assert (Ending.PLAYED, Ending.THROWN_IN, Ending.SET_BACK) == ("played", "thrown in", "dealer set back")


@pytest.mark.parametrize("dealer", [-1, 4])
def test_a_dealer_who_is_no_seat_is_refused(dealer: int) -> None:
    with pytest.raises(ValueError, match=rf"first dealer {dealer} is not a seat of 0\.\.3"):
        Game(PITCH, 4, dealer)


@pytest.mark.parametrize("name", ["scores", "set_backs"])
def test_figures_that_are_not_one_a_side_are_refused(name: str) -> None:
    figures: Mapping[str, Any] = {name: [1, 2]}
    with pytest.raises(ValueError, match=f"{name}: 2 figures for 3 sides"):
        Game(PITCH, 3, 0, **figures)


def test_too_many_seats_are_refused() -> None:
    with pytest.raises(RuleSetError, match=r"^seats: Auction Pitch is for 2 to 7 players, not 8$"):
        Game(PITCH, 8)


def test_the_deal_passes_to_the_next_seat_and_is_told_the_scores() -> None:
    game = Game(PITCH, 3, 2, [1, -2, 3])
    dealers = []
    for _ in range(4):
        deal = game.deal_pack(PACK)
        dealers.append(deal.dealer)
        assert deal.scores == [1, -2, 3]
        call(deal, [0, 0, 0])
        assert deal.outcome is not None
        game.close(deal.outcome)
    assert dealers == [2, 0, 1, 2]


def test_a_set_back_is_counted_for_its_side() -> None:
    game, _ = closed([0, 0, 0], 3, "A B B A", set_backs=[1, 0, 2])
    assert (game.scores, game.set_backs) == ([-3, 2, 0], [2, 0, 2])


# Who is out first


def test_the_pitcher_is_counted_first() -> None:
    assert won([5, 6, 0], 2, "A B B A") == (0, EndReason.PITCHER_FIRST)
    assert won([3, 6, 6], 4, "A A A A", smudge="none") == (0, EndReason.PITCHER_FIRST)


def test_the_pitcher_may_be_counted_with_the_others() -> None:
    together = {"pitcher_first": False}
    assert won([5, 6, 0], 2, "A B B A", **together) == (1, EndReason.COUNT_LOW)
    assert won([6, 6, 0], 2, "A B B A", **together) == (0, EndReason.COUNT_HIGH)
    assert won([5, 0, 0], 2, "A B - A", **together) == (0, EndReason.COUNT_GAME)
    assert won([5, 0, 0], 2, "A B A B", **together) == (0, EndReason.COUNT_JACK)


def test_a_pitcher_set_back_is_not_out_however_his_items_count() -> None:
    assert won([6, 0, 0], 3, "A A B B", pitcher_first=False) is None
    assert won([6, 6, 0], 3, "A A B B", pitcher_first=False) == (1, EndReason.COUNT_JACK)
    assert won([6, 6, 0], 3, "A A B B") == (1, EndReason.COUNT_JACK)


def test_a_pitcher_who_scores_his_bid_only_counts_no_further() -> None:
    bid_only = {"pitcher_first": False, "pitcher_scores": "bid"}
    assert won([4, 0, 0], 2, "A A A B", **bid_only) is None
    assert won([5, 0, 0], 2, "A A A B", **bid_only) == (0, EndReason.COUNT_LOW)
    assert won([4, 0, 6], 2, "A A A C", **bid_only) == (2, EndReason.COUNT_GAME)


@pytest.mark.parametrize(
    ("before", "items", "winner", "reason"),
    [
        ([0, 6, 6], "B C - A", 1, EndReason.COUNT_HIGH),
        ([0, 6, 6], "A C B A", 2, EndReason.COUNT_LOW),
        ([0, 6, 6], "A A C B", 2, EndReason.COUNT_JACK),
        ([0, 6, 6], "A A A B", 1, EndReason.COUNT_GAME),
        ([0, 5, 6], "A B B C", 1, EndReason.COUNT_JACK),
        ([0, 5, 6], "A B C B", 2, EndReason.COUNT_JACK),
    ],
)
def test_the_others_are_counted_item_by_item(before: list[int], items: str, winner: int, reason: EndReason) -> None:
    assert won(before, 2, items) == (winner, reason)


def test_the_tally_is_completed_for_all() -> None:
    game, result = closed([0, 6, 6], 2, "B C B C")
    assert result is not None
    assert (result.winner, result.scores, tuple(game.scores)) == (1, (-2, 8, 8), (-2, 8, 8))


@pytest.mark.parametrize(("target", "before", "over"), [(7, 5, True), (7, 4, False), (11, 9, True), (11, 8, False)])
def test_the_target_is_reached_or_passed(target: int, before: int, over: bool) -> None:
    assert (won([before, 0, 0], 2, "A B C A", target=target) is not None) is over
    assert won([target - 1, 0, 0], 2, "A A B A", target=target) is not None


# Smudge


@pytest.mark.parametrize(
    ("smudge", "bid", "items", "before", "winner"),
    [
        ("bid", 4, "A A A A", 0, 0),
        ("bid", 4, "A A A A", -1, None),
        ("bid", 3, "A A A A", 0, None),
        ("bid", 2, "B B B B", 0, None),
        ("bid", 4, "B B B B", 0, None),
        ("bid", 4, "A A - A", 0, None),
        ("any", 2, "A A A A", 0, 0),
        ("any", 2, "A A A A", -5, 0),
        ("any", 2, "B B B B", 0, 1),
        ("any", 4, "B B B B", 0, 1),
        ("any", 2, "A A A B", 0, None),
        ("none", 4, "A A A A", 0, None),
    ],
)
def test_smudge(smudge: str, bid: int, items: str, before: int, winner: int | None) -> None:
    expected = None if winner is None else (winner, EndReason.SMUDGE)
    assert won([before, 0, 0], bid, items, smudge=smudge) == expected


@pytest.mark.parametrize(
    ("hole", "before", "wins"),
    [("below_zero", 0, True), ("below_zero", -1, False), ("zero_or_below", 0, False), ("zero_or_below", 1, True)],
)
def test_in_the_hole(hole: str, before: int, wins: bool) -> None:
    assert (won([before, 0, 0], 4, "A A A A", in_hole=hole) is not None) is wins


def test_a_smudge_goes_before_the_count() -> None:
    assert won([3, 0, 0], 4, "A A A A") == (0, EndReason.SMUDGE)


def test_a_defenders_smudge_leaves_the_pitcher_set_back() -> None:
    game, result = closed([6, -2, 0], 3, "B B B B", smudge="any")
    assert result is not None
    assert (result.winner, result.scores, game.set_backs) == (1, (3, 2, 0), [1, 0, 0])


def test_a_sides_smudge_needs_one_of_it_to_have_bid() -> None:
    sides = rules_of("partnership-pitch")
    deal = deal_with("A C A C", bid=4, before=[0, 0], rules="partnership-pitch")
    assert deal.outcome is not None
    result = Game(sides, 4, deal.dealer).close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason, result.scores, result.stakes) == (0, EndReason.SMUDGE, (4, 0), (0, 0))
    other = deal_with("B D B D", bid=4, before=[0, 0], rules="partnership-pitch")
    assert other.outcome is not None
    assert Game(sides, 4, other.dealer).close(other.outcome) is None


# The cap, places, settlement


@pytest.mark.parametrize("policy", ["thrown_in_next_dealer", "thrown_in_same_dealer", "dealer_set_back"])
def test_at_the_cap_the_game_is_undecided_and_nobody_pays(policy: str) -> None:
    game = Game(rules_of({"max_deals": 3, "all_pass": policy}), 3, 0, [4, 4, -1])
    results = []
    for _ in range(3):
        deal = call(game.deal_pack(PACK), [0, 0, 0])
        assert deal.outcome is not None
        results.append(game.close(deal.outcome))
    assert results[:2] == [None, None]
    assert results[2] == game.result
    assert game.result is not None
    assert (game.result.winner, game.result.reason, game.result.stakes) == (None, EndReason.CAP, (0, 0, 0))
    expected = (2, 2, -3) if policy == "dealer_set_back" else (4, 4, -1)
    assert (game.result.scores, game.result.places) == (expected, (1, 1, 3))


def test_a_win_in_the_last_deal_is_a_win() -> None:
    assert won([5, 0, 0], 2, "A A - -", max_deals=1) == (0, EndReason.PITCHER_FIRST)
    assert won([4, 0, 0], 2, "A A - -", max_deals=1) == (None, EndReason.CAP)


@pytest.mark.parametrize(
    ("winner", "scores", "places"),
    [
        (0, [7, 8, 0], (1, 2, 3)),
        (1, [3, 7, 3], (2, 1, 2)),
        (2, [9, 9, 5], (2, 2, 1)),
        (None, [3, 5, 5], (3, 1, 1)),
        (None, [0, 0], (1, 1)),
        (0, [-4, 2, 2, -6], (1, 2, 2, 4)),
    ],
)
def test_finishing_places(winner: int | None, scores: list[int], places: tuple[int, ...]) -> None:
    assert finishing_places(winner, scores) == places


@pytest.mark.parametrize(
    ("scores", "stakes"),
    [
        ([7, 3, 0, -2], (5, -1, -2, -2)),
        ([5, 0, 0], (4, -2, -2)),
        ([7, 8, 1], (2, -1, -1)),
        ([7, 1], (1, -1)),
        ([7, 0], (2, -2)),
    ],
)
def test_settlement(scores: list[int], stakes: tuple[int, ...]) -> None:
    assert settlement(PITCH, 0, scores, [9] * len(scores)) == stakes


def test_settlement_of_set_backs() -> None:
    rules = rules_of({"settlement_set_backs": True})
    assert settlement(rules, 0, [7, 3, 0], [2, 1, 3]) == (7, -2, -5)
    result = closed([0, 6, 0], 2, "A B - C", set_backs=[1, 0, 0], settlement_set_backs=True)[1]
    assert result is not None
    assert (result.winner, result.scores, result.stakes) == (1, (-2, 7, 1), (-4, 5, -1))


def test_without_settlement_nobody_pays() -> None:
    assert settlement(rules_of({"settlement": "none"}), 0, [7, 0, 0], [0, 0, 0]) == (0, 0, 0)
    assert settlement(PITCH, None, [6, 0, 0], [0, 0, 0]) == (0, 0, 0)


def test_reasons_as_people_read_them() -> None:
    assert [reason.value for reason in EndReason] == [
        "smudge",
        "pitcher first",
        "by High",
        "by Low",
        "by Jack",
        "by Game",
        "target reached",
        "turned card",
        "gift",
        "cap of deals",
    ]
