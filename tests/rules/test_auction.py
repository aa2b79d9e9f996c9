"""The auction: who may call what, how it ends, what follows when all pass (AF-BID)."""

from collections.abc import Sequence
from typing import Any

import pytest

from referee.rules import Deal, Ending, Game, Kind, variant
from tests.helpers import CONCEIVABLE, call, play, start

HANDS = ["AH JH 2H KS TC 4D", "QH 3H AS 9S TD 5C", "KH 6H TS 8S AC 7D", "9H QS QC JD 3C 8D"]


def after(calls: Sequence[int], **rules: Any) -> Deal:
    """Four seats, A eldest and D the dealer, after these calls."""
    return call(start(HANDS, rules=rules), calls)


def broken(deal: Deal, bid: int) -> str | None:
    """The clause that a call breaks."""
    violation = deal.verify(bid)
    return violation.rule if violation else None


def sentence(deal: Deal, bid: int) -> str:
    violation = deal.verify(bid)
    assert violation is not None
    return violation.sentence


# AF-BID-001: amounts


@pytest.mark.parametrize("bid", [0, 2, 3, 4])
def test_a_call_is_a_pass_or_two_to_four(bid: int) -> None:
    assert broken(after([]), bid) is None


@pytest.mark.parametrize("bid", [-2, -1, 1, 5, 6, 255, 10**30])
def test_no_other_amount_is_a_bid(bid: int) -> None:
    assert broken(after([]), bid) == "AF-BID-001"
    assert sentence(after([]), bid) == f"{bid} is no bid: a bid is 2 to 4, a pass is 0."


def test_the_lowest_and_the_highest_bid_are_house_rules() -> None:
    assert after([], min_bid=1).legal() == (0, 1, 2, 3, 4)
    assert after([], min_bid=3, steal=()).legal() == (0, 3, 4)
    assert after([], max_bid=6, game_points=3, smudge="none").legal() == (0, 2, 3, 4, 5, 6)
    assert broken(after([], min_bid=3, steal=()), 2) == "AF-BID-001"
    assert broken(after([], max_bid=6, game_points=3, smudge="none"), 7) == "AF-BID-001"


# AF-BID-002: higher than the bids before


@pytest.mark.parametrize(
    ("calls", "legal"), [([2], (0, 3, 4)), ([3], (0, 4)), ([0, 2], (0, 3, 4)), ([2, 0], (0, 3, 4))]
)
def test_a_bid_is_higher_than_every_bid_before(calls: list[int], legal: tuple[int, ...]) -> None:
    deal = after(calls)
    assert deal.legal() == legal
    assert [bid for bid in CONCEIVABLE[Kind.BID] if broken(deal, bid) is None] == list(legal)


def test_a_lower_bid_breaks_the_order() -> None:
    assert broken(after([3]), 2) == "AF-BID-002"
    assert sentence(after([3]), 2) == "A bid of 2 is not higher than the 3 bid before."
    assert broken(after([2, 3, 0]), 2) == "AF-BID-002"


def test_an_equal_bid_breaks_the_order_where_nobody_may_steal() -> None:
    assert broken(after([2], steal=()), 2) == "AF-BID-002"
    assert broken(after([2, 0, 0], steal=()), 2) == "AF-BID-002"


# AF-BID-003: stealing


def test_the_dealer_may_equal_the_highest_bid() -> None:
    deal = after([2, 0, 0])
    assert deal.legal() == (0, 2, 3, 4)
    deal.act(2)
    assert (deal.pitcher, deal.bid, deal.seat) == (3, 2, 3)


def test_nobody_else_may() -> None:
    for calls in ([2], [2, 0], [0, 3]):
        assert broken(after(calls), max(calls)) == "AF-BID-003"
    assert sentence(after([2]), 2) == "Only the dealer may take a bid of 2 at the same amount."


def test_the_dealer_may_steal_only_at_the_amounts_of_the_house_rule() -> None:
    assert after([3, 0, 0], steal=(2,)).legal() == (0, 4)
    assert broken(after([3, 0, 0], steal=(2,)), 3) == "AF-BID-003"
    assert sentence(after([3, 0, 0], steal=(2,)), 3) == "A bid of 3 cannot be stolen, not even by the dealer."
    assert after([3, 0, 0], steal=(3,)).legal() == (0, 3, 4)


def test_an_equal_bid_that_nobody_may_make_is_not_said_to_be_the_dealers() -> None:
    deal = after([4], top_bid_ends=False)
    assert sentence(deal, 4) == "A bid of 4 cannot be stolen, not even by the dealer."


def test_there_is_nothing_to_steal_when_all_have_passed() -> None:
    assert after([0, 0, 0]).legal() == (0, 2, 3, 4)
    assert after([0, 0, 0], min_bid=3, steal=(3,)).legal() == (0, 3, 4)


def test_with_two_seats_the_other_speaks_first_and_the_dealer_steals() -> None:
    deal = start(HANDS[:2], dealer=0)
    assert deal.seat == 1
    deal.act(3)
    assert (deal.seat, deal.legal()) == (0, (0, 3, 4))


# AF-BID-004: the dealer is forced


def test_a_forced_dealer_must_bid_when_all_passed() -> None:
    deal = after([0, 0, 0], all_pass="dealer_forced")
    assert deal.legal() == (2, 3, 4)
    assert broken(deal, 0) == "AF-BID-004"
    assert sentence(deal, 0) == "You dealt and all others passed: you must bid at least 2."
    assert broken(deal, 2) is None


def test_a_forced_dealer_may_pass_when_somebody_bid() -> None:
    assert broken(after([2, 0, 0], all_pass="dealer_forced"), 0) is None


def test_nobody_but_the_dealer_is_forced() -> None:
    assert broken(after([0, 0], all_pass="dealer_forced"), 0) is None


@pytest.mark.parametrize(
    "policy", ["thrown_in_next_dealer", "thrown_in_same_dealer", "dealer_free", "eldest_free", "dealer_set_back"]
)
def test_under_every_other_policy_the_dealer_may_pass(policy: str) -> None:
    assert broken(after([0, 0, 0], all_pass=policy), 0) is None


# AF-BID-005 and 006: order and end


def test_eldest_speaks_first_dealer_last_each_once() -> None:
    for dealer in range(4):
        deal = start(HANDS, dealer=dealer)
        speakers = []
        while deal.kind is Kind.BID:
            speakers.append(deal.seat)
            deal.act(0)
        assert speakers == [(dealer + place) % 4 for place in (1, 2, 3, 4)]


def test_the_pitcher_is_the_last_who_bid() -> None:
    deal = after([2, 3, 0, 0])
    assert (deal.kind, deal.pitcher, deal.bid, deal.seat, deal.leader) == (Kind.PLAY, 1, 3, 1, 1)


@pytest.mark.parametrize("passes", [0, 1, 2, 3])
def test_a_bid_of_four_ends_the_auction_at_once(passes: int) -> None:
    deal = after([0] * passes + [4])
    assert (deal.kind, deal.pitcher, deal.bid) == (Kind.PLAY, passes, 4)


def test_where_four_may_be_stolen_the_dealer_alone_still_speaks() -> None:
    deal = after([4], steal=(2, 3, 4))
    assert (deal.kind, deal.seat, deal.legal()) == (Kind.BID, 3, (0, 4))
    assert broken(deal, 3) == "AF-BID-002"
    kept = call(deal.copy(), [0])
    assert (kept.kind, kept.pitcher) == (Kind.PLAY, 0)
    stolen = call(deal, [4])
    assert (stolen.kind, stolen.pitcher, stolen.bid) == (Kind.PLAY, 3, 4)


def test_the_dealers_own_four_ends_the_auction_also_where_it_may_be_stolen() -> None:
    deal = after([0, 0, 0, 4], steal=(2, 3, 4))
    assert (deal.kind, deal.pitcher) == (Kind.PLAY, 3)


def test_where_four_does_not_end_the_auction_all_still_speak() -> None:
    deal = after([4], top_bid_ends=False)
    assert (deal.kind, deal.seat, deal.legal()) == (Kind.BID, 1, (0,))
    call(deal, [0, 0])
    assert (deal.seat, deal.legal()) == (3, (0,))
    assert call(deal, [0]).pitcher == 0


def test_every_call_is_a_public_event() -> None:
    assert after([0, 2, 0, 3]).history == [
        1 << 16 | 0 << 8,
        1 << 16 | 1 << 8 | 2,
        1 << 16 | 2 << 8,
        1 << 16 | 3 << 8 | 3,
    ]


# AF-BID-007 to 010: all pass


def closed(policy: str, **rules: Any) -> tuple[Deal, Game]:
    """A deal in which all passed, booked in a game with A at 1, B 2, C 3, D 4 points and D dealing."""
    deal = after([0, 0, 0, 0], all_pass=policy, **rules)
    game = Game(deal.rules, 4, 3, [1, 2, 3, 4] if not deal.rules.sides else [1, 2])
    assert deal.outcome is not None
    assert deal.outcome.pitcher is None
    game.close(deal.outcome)
    return deal, game


@pytest.mark.parametrize(("policy", "dealer"), [("thrown_in_next_dealer", 0), ("thrown_in_same_dealer", 3)])
def test_thrown_in_nobody_scores(policy: str, dealer: int) -> None:
    deal, game = closed(policy)
    assert deal.outcome is not None
    assert deal.outcome.ending is Ending.THROWN_IN
    assert (deal.kind, deal.legal(), deal.outcome.deltas) == (None, (), (0, 0, 0, 0))
    assert (game.scores, game.set_backs, game.dealer, game.deals) == ([1, 2, 3, 4], [0] * 4, dealer, 1)


def test_a_played_deal_passes_on_also_where_a_thrown_in_one_stays() -> None:
    deal = start(["2H", "3H"], rules={"all_pass": "thrown_in_same_dealer"})
    call(deal, [2, 0])
    game = Game(deal.rules, 2, 1)
    assert play(deal, "2H 3H").outcome is not None
    assert deal.outcome is not None
    game.close(deal.outcome)
    assert game.dealer == 0


def test_the_dealer_is_set_back_without_play() -> None:
    deal, game = closed("dealer_set_back", min_bid=3, steal=())
    assert deal.outcome is not None
    assert deal.outcome.ending is Ending.SET_BACK
    assert (deal.outcome.deltas, deal.outcome.set_back) == ((0, 0, 0, -3), 3)
    assert (game.scores, game.set_backs, game.dealer) == ([1, 2, 3, 1], [0, 0, 0, 1], 0)


def test_the_dealers_side_is_set_back_without_play() -> None:
    deal, game = closed("dealer_set_back", sides=2, settlement="none")
    assert deal.outcome is not None
    assert (deal.outcome.deltas, game.scores, game.set_backs) == ((0, -2), [1, 0], [0, 1])


@pytest.mark.parametrize(("policy", "pitcher"), [("dealer_free", 3), ("eldest_free", 0)])
def test_a_pitcher_without_obligation_cannot_be_set_back(policy: str, pitcher: int) -> None:
    deal = call(start(["2C", "9C", "AC", "5C"], rules={"all_pass": policy}), [0, 0, 0, 0])
    assert (deal.kind, deal.seat, deal.pitcher, deal.bid) == (Kind.PLAY, pitcher, pitcher, 0)
    order = ["2C", "9C", "AC", "5C"] if pitcher == 0 else ["5C", "2C", "9C", "AC"]
    play(deal, " ".join(order))
    assert deal.outcome is not None
    assert deal.outcome.set_back is None
    assert deal.outcome.deltas == (1, 0, 2, 0)


def test_a_pitcher_without_obligation_scores_what_he_made_also_where_bids_count() -> None:
    rules = {"all_pass": "eldest_free", "pitcher_scores": "bid"}
    deal = play(call(start(["AC", "2D"], rules=rules), [0, 0]), "AC 2D")
    assert deal.outcome is not None
    assert deal.outcome.deltas == (3, 0)


def test_the_variants_differ_in_the_auction_as_their_rules_say() -> None:
    assert call(start(HANDS, rules="auction-pitch-forced"), [0, 0, 0]).legal() == (2, 3, 4)
    assert call(start(HANDS, rules="smudge"), [2, 0, 0]).legal() == (0, 3, 4)
    partners = call(start(HANDS, rules="partnership-pitch"), [2, 0])
    assert partners.legal() == (0, 3, 4)  # C may outbid A, his partner
    assert call(start(HANDS, rules="partnership-pitch"), [0, 3, 0]).legal() == (0, 3, 4)  # and D steal from B
    assert variant("partnership-pitch").sides == 2
