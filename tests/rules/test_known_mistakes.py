"""The mistakes seen in open implementations, one test each: none of them is ours.

The numbers are those of the list in the rule text. Missing here are those of other games of the family.
"""

from referee.rules import Deal, Ending, EndReason, Game, Kind, variant
from tests.helpers import call, legal_cards, pitch, play, start, taker_of, to_play
from tests.rules.made_deals import deal_with

HANDS = ["AH JH 2H KS TC 4D", "QH 3H AS 9S TD 5C", "KH 6H TS 8S AC 7D", "9H QS QC JD 3C 8D"]


def owners(deal: Deal) -> dict[str, int]:
    assert deal.outcome is not None
    return {award.item: award.seat for award in deal.outcome.awards}


def deltas(deal: Deal) -> tuple[int, ...]:
    assert deal.outcome is not None
    return deal.outcome.deltas


def test_mistake_1_the_highest_card_of_another_suit_wins_the_trick() -> None:
    assert taker_of("9C AD AS TC")[0] == 3
    assert taker_of("2C AD AS KD")[0] == 0


def test_mistake_2_jack_and_game_go_to_the_player_of_the_card() -> None:
    deal = play(pitch(start(["JH 3S", "QH TS", "2H AS"]), 0, 2), "JH QH 2H TS AS 3S")
    assert owners(deal) == {"high": 1, "low": 2, "jack": 1, "game": 2}
    assert deltas(deal) == (-2, 2, 2)


def test_mistake_3_low_goes_to_whoever_the_program_happens_to_name() -> None:
    tricks = "AH 3H 4C KS 2D 3D"
    for low_to, owner in (("holder", 1), ("taker", 0)):
        deal = play(pitch(start(["AH KS", "3H 2D", "4C 3D"], rules={"low_to": low_to}), 0, 2), tricks)
        assert owners(deal)["low"] == owner


def test_mistake_4_equal_pips_score_in_every_game_alike() -> None:
    hands = ["AH 4D", "3C AD", "5C 6D"]
    for tie, owner in (("nobody", None), ("elder", 1), ("pitcher", 0)):
        deal = play(pitch(start(hands, dealer=0, rules={"game_tie": tie}), 0, 2), "AH 3C 5C 4D AD 6D")
        assert deal.outcome is not None
        assert deal.outcome.pips == (4, 4, 0)
        assert owners(deal).get("game") == owner


def test_mistake_5_the_ten_beats_the_jack_in_play() -> None:
    assert taker_of("TD 2D JD 3D") == (2, 11)
    assert taker_of("JH TH 2H 3H") == (0, 11)


def test_mistake_6_another_seat_than_the_pitcher_is_set_back() -> None:
    deal = deal_with("A A - A", bid=2, before=[0, 0, 0])
    assert deltas(deal) == (3, 0, 0)
    game = Game(deal.rules, 3, 2)
    assert deal.outcome is not None
    game.close(deal.outcome)
    assert game.set_backs == [0, 0, 0]


def test_mistake_7_the_pitcher_scores_his_bid_only() -> None:
    assert deltas(deal_with("A A B A", bid=2, before=[0, 0, 0])) == (3, 1, 0)


def test_mistake_8_the_higher_score_wins() -> None:
    deal = deal_with("A B B A", bid=2, before=[5, 6, 0])
    assert deal.outcome is not None
    result = Game(deal.rules, 3, 2, [5, 6, 0]).close(deal.outcome)
    assert result is not None
    assert (result.winner, result.scores) == (0, (7, 8, 0))


def test_mistake_8_the_order_of_counting_is_that_of_the_seats() -> None:
    deal = deal_with("C B - A", bid=2, before=[0, 6, 6])
    assert deal.outcome is not None
    result = Game(deal.rules, 3, 2, [0, 6, 6]).close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason) == (2, EndReason.COUNT_HIGH)


def test_mistake_9_four_items_are_a_smudge_whatever_the_bid_and_the_score() -> None:
    for bid, before, wins in ((4, 0, True), (4, -1, False), (3, 0, False), (2, 0, False)):
        deal = deal_with("A A A A", bid=bid, before=[before, 0, 0])
        assert deal.outcome is not None
        result = Game(deal.rules, 3, 2, [before, 0, 0]).close(deal.outcome)
        assert (result is not None) is wins
        assert deltas(deal) == (4, 0, 0)


def test_mistake_10_everybody_steals_or_the_dealer_steals_everything() -> None:
    assert 2 not in call(start(HANDS), [2]).legal()
    assert 2 in call(start(HANDS), [2, 0, 0]).legal()
    assert 2 not in call(start(HANDS), [2, 3, 0]).legal()
    assert call(start(HANDS), [0, 4]).kind is Kind.PLAY


def test_mistake_11_all_pass_hangs_the_game_or_keeps_the_dealer() -> None:
    game = Game(variant("auction-pitch"), 4, 3)
    deal = call(start(HANDS), [0, 0, 0, 0])
    assert deal.outcome is not None
    assert deal.outcome.ending is Ending.THROWN_IN
    assert game.close(deal.outcome) is None
    assert (game.dealer, game.deals, game.scores) == (0, 1, [0, 0, 0, 0])


def test_mistake_12_without_the_jack_three_items_make_a_bid_of_four() -> None:
    assert deltas(deal_with("A A - A", bid=4, before=[0, 0, 0])) == (-4, 0, 0)


def test_mistake_14_a_trump_must_beat_the_trumps_on_the_table() -> None:
    assert legal_cards(to_play("AS 2H KH", "7S QH")) == "AS KH 2H"
    assert legal_cards(to_play("2H 3D", "7S QH")) == "2H 3D"


def test_mistake_15_whoever_can_follow_may_not_trump() -> None:
    deal = play(pitch(start(HANDS), 0, 2), "AH 3H 6H 9H TC 5C AC 3C TS QS KS AS TD 7D JD")
    assert legal_cards(deal) == "JH 2H 4D"


def test_mistake_18_the_target_must_be_passed() -> None:
    for before, over in ((3, True), (2, False)):
        deal = deal_with("A A A A", bid=2, before=[before, 0, 0])
        assert deal.outcome is not None
        assert (Game(deal.rules, 3, 2, [before, 0, 0]).close(deal.outcome) is not None) is over
