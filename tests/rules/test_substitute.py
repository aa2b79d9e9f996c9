"""The move that the referee makes for a seat: fixed, so that replays agree."""

from referee.cards import parse_card
from referee.rules.substitute import substitute
from tests.helpers import call, pitch, play, start, to_play

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
