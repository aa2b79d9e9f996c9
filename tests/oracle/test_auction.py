"""The auction: examples 43 to 51 and what happens when nobody bids."""

import copy

import pytest

from referee.oracle import OracleDeal
from referee.oracle.house_rules import AUCTION_PITCH, CINCH, PARTNERSHIP_PITCH, SMUDGE, Rules
from tests.oracle.helpers import legal, run, shuffled, with_rules


def after(calls: list[int], rules: Rules = AUCTION_PITCH, seats: int = 4) -> OracleDeal:
    """A deal after these calls; eldest is A, the last seat deals."""
    parties = rules["sides"] or seats
    return run(OracleDeal(rules, seats, seats - 1, shuffled(7), [0] * parties), calls)


@pytest.mark.parametrize(
    ("calls", "seat", "expected"),
    [
        pytest.param([2, 0, 0], 3, [0, 2, 3, 4], id="example_43_dealer_may_steal_2"),
        pytest.param([2, 3, 0], 3, [0, 3, 4], id="example_44_dealer_may_steal_3_not_2"),
        pytest.param([3], 1, [0, 4], id="example_47_only_4_beats_3"),
        pytest.param([2], 1, [0, 3, 4], id="example_48_only_the_dealer_may_equal"),
        pytest.param([], 0, [0, 2, 3, 4], id="first_call"),
        pytest.param([0, 0, 0], 3, [0, 2, 3, 4], id="dealer_may_pass_too"),
    ],
)
def test_legal_calls(calls: list[int], seat: int, expected: list[int]) -> None:
    deal = after(calls)
    assert (deal.kind, deal.seat, legal(deal)) == ("BID", seat, expected)


def test_example_46_a_four_ends_the_auction() -> None:
    deal = after([4])
    assert (deal.kind, deal.seat, deal.pitcher, deal.bid) == ("PLAY", 0, 0, 4)


def test_example_50_no_steal_in_smudge() -> None:
    assert legal(after([2, 0, 0], SMUDGE)) == [0, 3, 4]


def test_stealing_dealer_is_pitcher() -> None:
    deal = after([2, 3, 0, 3])
    assert (deal.kind, deal.seat, deal.pitcher, deal.bid) == ("PLAY", 3, 3, 3)


def test_dealer_may_steal_from_his_partner() -> None:
    deal = after([0, 3, 0], PARTNERSHIP_PITCH)
    assert legal(deal) == [0, 3, 4]


def test_four_in_steal_leaves_the_dealer_alone_to_speak() -> None:
    rules = with_rules(AUCTION_PITCH, steal=[2, 3, 4])
    deal = after([4], rules)
    assert (deal.kind, deal.seat, legal(deal)) == ("BID", 3, [0, 4])
    deal.act(4)
    assert (deal.kind, deal.pitcher, deal.bid) == ("PLAY", 3, 4)
    assert after([0, 0, 0, 4], rules).pitcher == 3


def test_without_top_bid_ends_the_others_still_pass() -> None:
    rules = with_rules(AUCTION_PITCH, top_bid_ends=False)
    deal = after([4], rules)
    assert (deal.seat, legal(deal)) == (1, [0])
    assert after([4, 0, 0, 0], rules).pitcher == 0


def auctions(deal: OracleDeal) -> int:
    """How many different complete auctions start here."""
    if deal.kind != "BID":
        return 1
    count = 0
    for bid in legal(deal):
        then = copy.deepcopy(deal)
        then.act(bid)
        count += auctions(then)
    return count


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, [12, 25, 44, 70, 104, 147], id="default"),
        pytest.param({"all_pass": "dealer_forced"}, [11, 24, 43, 69, 103, 146], id="dealer_forced"),
        pytest.param({"steal": []}, [10, 20, 35, 56, 84, 120], id="no_steal"),
        pytest.param({"steal": [2, 3, 4]}, [13, 29, 54, 90, 139, 203], id="steal_2_3_4"),
    ],
)
def test_example_51_number_of_auctions(changes: Rules, expected: list[int]) -> None:
    rules = with_rules(AUCTION_PITCH, **changes)
    assert [auctions(after([], rules, seats)) for seats in range(2, 8)] == expected


@pytest.mark.parametrize(("all_pass", "next_dealer"), [("thrown_in_next_dealer", 0), ("thrown_in_same_dealer", 3)])
def test_all_pass_thrown_in(all_pass: str, next_dealer: int) -> None:
    deal = after([0, 0, 0, 0], with_rules(AUCTION_PITCH, all_pass=all_pass))
    assert deal.kind is None
    assert deal.result is not None
    assert deal.result.thrown_in
    assert not deal.result.redeal
    assert deal.result.deltas == [0] * 4
    assert (deal.result.next_dealer, deal.result.pitcher, deal.result.winner) == (next_dealer, None, None)


def test_all_pass_dealer_set_back() -> None:
    result = after([0, 0, 0, 0], with_rules(AUCTION_PITCH, all_pass="dealer_set_back")).result
    assert result is not None
    assert result.deltas == [0, 0, 0, -2]
    assert (result.thrown_in, result.set_back, result.set_backs, result.next_dealer) == (True, 3, [0, 0, 0, 1], 0)


@pytest.mark.parametrize(("all_pass", "pitcher"), [("dealer_free", 3), ("eldest_free", 0)])
def test_all_pass_pitch_without_obligation(all_pass: str, pitcher: int) -> None:
    deal = after([0, 0, 0, 0], with_rules(AUCTION_PITCH, all_pass=all_pass))
    assert (deal.kind, deal.seat, deal.pitcher, deal.bid) == ("PLAY", pitcher, pitcher, 0)
    while deal.kind is not None:
        deal.act(legal(deal)[0])
    assert deal.result is not None
    assert deal.result.set_back is None
    assert deal.result.deltas == deal.result.made


def test_dealer_forced_may_pass_once_somebody_bid() -> None:
    rules = with_rules(AUCTION_PITCH, all_pass="dealer_forced")
    assert legal(after([0, 0, 0], rules)) == [2, 3, 4]
    assert legal(after([2, 0, 0], rules)) == [0, 2, 3, 4]


def test_cinch_bids_and_names() -> None:
    assert legal(after([], CINCH)) == list(range(15))
    assert legal(after([8], CINCH)) == [0, *range(9, 15)]
    assert legal(after([8, 0, 0], CINCH)) == [0, *range(9, 15)]
    deal = after([14], CINCH)
    assert (deal.kind, deal.seat, legal(deal)) == ("NAME_TRUMP", 0, list("CDHS"))
    free = after([0, 0, 0, 0], CINCH)
    assert (free.kind, free.seat, free.bid) == ("NAME_TRUMP", 3, 0)
