"""The move that the referee makes for a seat: fixed, so that replays agree."""

from referee.cards import hand_text, parse_card
from referee.rules import Call, Keeps
from referee.rules.deal import best_keep, substitute
from tests.helpers import call, pitch, play, start, to_play
from tests.rules.family import deal_of, say

HANDS = ["AS KH 3D", "QS 2H 4D", "JS 3H 2D", "TS 4H 5D"]


def test_whoever_may_pass_passes() -> None:
    assert substitute(start(HANDS)) == 0
    assert substitute(call(start(HANDS), [2, 3, 0])) == 0


def test_a_forced_dealer_bids_the_lowest() -> None:
    assert substitute(call(start(HANDS, rules="auction-pitch-forced"), [0, 0, 0])) == 2
    high = {"all_pass": "dealer_forced", "min_bid": 3, "steal": ()}
    assert substitute(call(start(HANDS, rules=high), [0, 0, 0])) == 3


def test_the_lowest_card_by_suit_then_rank_is_played() -> None:
    assert substitute(to_play("AS 2H KD 4D 9C 3C", trump=None)) == parse_card("3C")
    assert substitute(to_play("AS 2H KD 4D", trump=None)) == parse_card("4D")


def test_of_the_legal_cards() -> None:
    assert substitute(to_play("AS 3S TH 2H KD 9C", "7S")) == parse_card("2H")
    assert substitute(play(pitch(start(HANDS), 0, 2), "AS")) == parse_card("QS")


TWO = ["KS QS 9S 8D 7D 6C", "9H 8H 4C 3C 2C 9D"]


def test_it_stands_and_gives_and_runs_only_if_it_has_to() -> None:
    deal = deal_of("all-fours", TWO, "5H", dealer=0)
    assert substitute(deal) == Call.STAND
    assert substitute(say(deal, "beg")) == Call.GIVE
    assert substitute(say(deal_of("all-fours", TWO, "5H", dealer=0, scores=(0, 6)), "beg")) == Call.RUN


def test_it_names_the_longest_suit_clubs_before_spades() -> None:
    hands = ["AH KH QH 9S 8S 7S 6S 4S 3S", "5D 4H 2H 9D 8D 7D 6D 4D 3D"]
    hands += ["AC KC QC JC TC 9C 8C 7C 6C", "5C 4C 3C 2C AS KS QS JS JD"]
    assert substitute(say(deal_of("cinch", hands), "8", "pass", "pass", "pass")) == 3
    assert substitute(say(deal_of("cinch", hands), "pass", "pass", "pass", "8")) == 0


def test_it_keeps_trumps_then_the_highest_cards() -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0), "beg", "run")
    assert hand_text(substitute(deal)) == "4S 9H 8H 9D 4C 3C"
    deal.act(substitute(deal))
    assert hand_text(substitute(deal)) == "KS AD KD QD 8D 7D"
    pidro = to_play("AS 5D KD 4H", rules="pidro", trump="H")
    assert hand_text(best_keep(Keeps(0, pidro.hands[0], 2), pidro.trumps)) == "4H 5D"  # the left pedro is a trump
