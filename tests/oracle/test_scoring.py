"""End of game and settlement: examples 42 and 52 to 74."""

import pytest

from referee.oracle import OracleGame, stakes
from referee.oracle.house_rules import AUCTION_PITCH, PARTNERSHIP_PITCH, SMUDGE
from referee.oracle.scoring import count_hand, in_hole
from tests.oracle.helpers import chance_of, finish, items, run, shuffled, stacked, with_rules


@pytest.mark.parametrize(
    ("before", "bid", "owners", "after", "winner", "reason"),
    [
        pytest.param([5, 0, 0], 4, "A A - A", [1, 0, 0], None, None, id="example_42_jack_undealt"),
        pytest.param([5, 6, 0], 2, "A B B A", [7, 8, 0], "A", "PITCHER_FIRST", id="example_52_pitcher_first"),
        pytest.param([0, 6, 6], 2, "B C - A", [-2, 7, 7], "B", "COUNT_H", id="example_53_high_before_low"),
        pytest.param([0, 6, 5], 2, "A C - B", [-2, 7, 6], "B", "COUNT_G", id="example_55_by_game"),
        pytest.param([0, 6, 0], 2, "A B - A", [2, 7, 0], "B", "COUNT_L", id="example_57_pitcher_not_out"),
        pytest.param([1, 0, 0], 4, "A A A A", [5, 0, 0], "A", "SMUDGE", id="example_58_smudge"),
        pytest.param([-3, 0, 0], 4, "A A A A", [1, 0, 0], None, None, id="example_59_in_the_hole"),
        pytest.param([0, 0, 0], 4, "A A A A", [4, 0, 0], "A", "SMUDGE", id="example_60_zero_is_not_in_the_hole"),
        pytest.param([2, 0, 0], 3, "A A A A", [6, 0, 0], None, None, id="example_61_four_items_on_a_bid_of_3"),
        pytest.param([3, 0, 0], 2, "A A A A", [7, 0, 0], "A", "PITCHER_FIRST", id="example_62_plain_arrival"),
        pytest.param([5, 2, 0], 4, "A A - A", [1, 2, 0], None, None, id="example_63_four_without_jack"),
        pytest.param([4, 0, 6], 2, "A A - C", [6, 0, 7], "C", "COUNT_G", id="example_65_by_game_pitcher_at_6"),
        pytest.param([0, -2, 0], 2, "B B B B", [-2, 2, 0], None, None, id="example_66_no_smudge_by_a_defender"),
    ],
)
def test_end_of_hand(
    before: list[int], bid: int, owners: str, after: list[int], winner: str | None, reason: str | None
) -> None:
    counted = count_hand(AUCTION_PITCH, before, items(owners), 0, bid)
    assert counted.after == after
    assert counted.winner == (None if winner is None else "ABC".index(winner))
    assert counted.reason == reason
    assert counted.set_back == (0 if after[0] < before[0] else None)


def test_example_66_in_the_smudge_game_the_defender_wins() -> None:
    counted = count_hand(SMUDGE, [0, -2, 0], items("B B B B"), 0, 2)
    assert (counted.after, counted.winner, counted.reason) == ([-2, 2, 0], 1, "SMUDGE")  # 1.4 (a), DP-11


def test_smudge_game_four_items_on_a_low_bid_win() -> None:
    assert count_hand(SMUDGE, [-5, 0, 0], items("A A A A"), 0, 2).winner == 0
    assert count_hand(with_rules(SMUDGE, smudge="none"), [0, 0, 0], items("A A A A"), 0, 4).winner is None


def test_example_68_counting_down() -> None:
    set_back = count_hand(SMUDGE, [0, 0, 0], items("A - C A"), 1, 2).after
    assert set_back == [2, -2, 1]
    assert [7 - up for up in [0, set_back[1], 0]] == [7, 9, 7]
    assert in_hole(SMUDGE, set_back[1])
    assert not in_hole(SMUDGE, 0)


def test_example_69_pitching_side_first() -> None:
    counted = count_hand(PARTNERSHIP_PITCH, [9, 10], items("A B B A"), 0, 2)
    assert (counted.after, counted.winner, counted.reason) == ([11, 12], 0, "PITCHER_FIRST")


def test_in_the_hole_at_zero_as_a_house_rule() -> None:
    rules = with_rules(AUCTION_PITCH, in_hole="zero_or_below")
    assert count_hand(rules, [0, 0], items("A A A A"), 0, 4).winner is None
    assert count_hand(rules, [1, 0], items("A A A A"), 0, 4).winner == 0


def test_pitcher_scores_his_bid_only_as_a_house_rule() -> None:
    rules = with_rules(AUCTION_PITCH, pitcher_scores="bid")
    assert count_hand(rules, [0, 0], items("A A A B"), 0, 2).after == [2, 1]
    assert count_hand(rules, [0, 0], items("A B B B"), 0, 2).after == [-2, 3]
    assert count_hand(rules, [0, 0], items("A A A B"), 0, 0).after == [3, 1]  # without a bid: what he made


def test_items_in_order_without_pitcher_first() -> None:
    rules = with_rules(AUCTION_PITCH, pitcher_first=False)
    won = count_hand(rules, [5, 6, 0], items("A B B A"), 0, 2)
    assert (won.after, won.winner, won.reason) == ([7, 8, 0], 1, "COUNT_L")
    won = count_hand(rules, [6, 6, 0], items("A B - A"), 0, 2)
    assert (won.winner, won.reason) == (0, "COUNT_H")
    failed = count_hand(rules, [6, 5, 0], items("A B B -"), 0, 2)
    assert (failed.after, failed.winner, failed.reason) == ([4, 7, 0], 1, "COUNT_J")
    bid_only = with_rules(rules, pitcher_scores="bid")
    won = count_hand(bid_only, [4, 6, 0], items("A A A B"), 0, 2)
    assert (won.after, won.winner, won.reason) == ([6, 7, 0], 1, "COUNT_G")


@pytest.mark.parametrize(
    ("scores", "winner", "expected"),
    [
        pytest.param([7, 3, 0, -2], 0, [5, -1, -2, -2], id="example_70"),
        pytest.param([5, 0, 0], 0, [4, -2, -2], id="example_72_smudge"),
        pytest.param([7, 8, 1], 0, [2, -1, -1], id="example_73_the_loser_with_8_pays_1"),
        pytest.param([-2, 7, 7], 1, [-2, 3, -1], id="example_74_winner_b"),
        pytest.param([3, 3, 0], None, [0, 0, 0], id="no_sole_winner"),
    ],
)
def test_settlement(scores: list[int], winner: int | None, expected: list[int]) -> None:
    assert stakes(AUCTION_PITCH, scores, [3, 2, 1, 0][: len(scores)], winner) == expected


def test_settlement_with_set_backs() -> None:
    rules = with_rules(AUCTION_PITCH, settlement_set_backs=True)
    assert stakes(rules, [7, 3, 0], [5, 2, 1], 0) == [6, -3, -3]  # the winner's own are ignored


def test_no_settlement_between_sides_or_without_stakes() -> None:
    assert stakes(with_rules(PARTNERSHIP_PITCH, settlement="stakes"), [11, 3], [0, 0], 0) == [0, 0]
    assert stakes(with_rules(AUCTION_PITCH, settlement="none"), [7, 3], [0, 0], 0) == [0, 0]


def test_games_by_chance_settle_to_zero_and_end_for_a_reason() -> None:
    for seed in range(25):
        seats = 2 + seed % 6
        chance = chance_of(seed)
        game = OracleGame(with_rules(AUCTION_PITCH, max_deals=12, settlement_set_backs=True), seats, seed % seats)
        dealers = []
        while not game.finished:
            dealers.append(game.dealer)
            game.close(finish(game.deal(shuffled(chance.randrange(10**9))), chance))
        assert dealers == [(seed + turn) % seats for turn in range(game.deals)]
        assert sum(game.settlement) == 0
        assert game.deals <= 12
        if game.reason == "CAP":
            assert [game.scores[seat] for seat in game.winners] == [max(game.scores)] * len(game.winners)
        else:
            assert game.winners == [game.winner]
        with pytest.raises(ValueError, match="finished"):
            game.deal(shuffled(0))


def test_the_cap_counts_thrown_in_deals_and_shares_ties() -> None:
    game = OracleGame(with_rules(AUCTION_PITCH, max_deals=2), 3, 0, [4, 4, 1])
    for _ in range(2):
        assert not game.finished
        game.close(run(game.deal(shuffled(3)), [0, 0, 0]))
    assert (game.finished, game.winner, game.winners, game.reason, game.dealer) == (True, None, [0, 1], "CAP", 2)
    assert game.settlement == [0, 0, 0]


def test_a_sole_leader_at_the_cap_wins_nothing() -> None:
    game = OracleGame(with_rules(AUCTION_PITCH, max_deals=1), 3, 0, [4, 3, 0])
    game.close(run(game.deal(shuffled(3)), [0, 0, 0]))
    assert (game.winner, game.winners, game.reason, game.settlement) == (None, [0], "CAP", [0, 0, 0])


def test_a_running_deal_cannot_be_closed() -> None:
    game = OracleGame(AUCTION_PITCH, 3)
    with pytest.raises(ValueError, match="not over, seat 1 must answer BID"):
        game.close(game.deal(shuffled(3)))


def test_set_backs_are_carried_through_the_game() -> None:
    hands = ["AH 4C 5C 6C 7C 8C", "2H 9D 8D 7D 6D 5D"]
    game = OracleGame(AUCTION_PITCH, 2, 1)
    deal = run(
        game.deal(stacked(hands, 1)), [4, *["AH", "2H", "4C", "9D", "5C", "8D", "6C", "7D", "7C", "6D", "8C", "5D"]]
    )
    game.close(deal)
    assert (game.scores, game.set_backs, game.dealer, game.deals) == ([-4, 1], [1, 0], 0, 1)
