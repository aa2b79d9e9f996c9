"""The three games called Pedro: the single one of the 1870s, that of Louisiana, and Pidro, where only trumps are played."""

import pytest

from referee.cards import cards_text, hand_text, parse_card, parse_hand
from referee.rules import Deal, EndReason, EventKind, Game, Keeps, Kind, variant
from tests.helpers import seeded, shuffled, to_play
from tests.rules.family import deal_of, packed, said, say

# Single Pedro

SINGLE = ["AH TH 2H KS TC 4D", "JH 5H 3H AS 9S TD", "KH 9H 6H TS 8S 7D"]


def test_single_pedro_is_auction_pitch_with_other_points() -> None:
    ours, pitch = variant("pedro").as_dict(), variant("auction-pitch").as_dict()
    changed = {name: value for name, value in ours.items() if value != pitch[name]}
    assert changed == {
        "name": "pedro",
        "title": "Pedro",
        "max_bid": 9,
        "scoring": "points",
        "point_cards": [["A", 1], ["J", 1], ["T", 1], ["2", 1], ["5", 5]],
        "low_to": "taker",
        "smudge": "none",
        "target": 50,
    }


def test_nine_points_to_the_takers() -> None:
    deal = say(deal_of("pedro", SINGLE), "6", "pass", "pass")
    say(deal, "AH 3H 6H", "2H 5H 9H", "TS KS 9S", "4D TD 7D", "AS 8S TC", "JH KH TH")
    outcome = deal.outcome
    assert outcome is not None
    assert [(award.item, award.seat, award.points) for award in outcome.awards] == [
        ("high", 0, 1),
        ("low", 2, 1),
        ("jack", 2, 1),
        ("game", 2, 1),
        ("right pedro", 2, 5),
    ]
    assert (outcome.deltas, outcome.set_back) == ((-6, 0, 8), 0)


def test_the_first_to_reach_the_target_by_the_order_of_the_points() -> None:
    """Seat 1 makes the jack and the ten, seat 2 the two and the five: the two counts before the jack."""
    game = Game(variant("pedro"), 3, 2, (0, 49, 49))
    deal = say(game.deal_pack(packed(SINGLE, "", 2)), "6", "pass", "pass")
    say(deal, "AH 3H 6H", "2H 5H 9H", "TS KS 9S", "4D TD 7D", "AS KH TC", "8S TH JH")
    assert deal.outcome is not None
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason, result.stakes) == (2, EndReason.TARGET, (-2, -1, 3))


def test_pedro_sancho_counts_the_nine() -> None:
    sancho = variant("pedro").with_rules(
        {"point_cards": {"A": 1, "2": 1, "J": 1, "T": 1, "5": 5, "9": 9, "3": 3}, "max_bid": 21}
    )
    deal = say(deal_of(sancho, SINGLE), "12", "pass", "pass")
    say(deal, "AH 3H 6H", "2H 5H 9H", "TS KS 9S", "4D TD 7D", "AS 8S TC", "JH KH TH")
    assert deal.outcome is not None
    items = [award.item for award in deal.outcome.awards]
    assert items == ["high", "low", "jack", "game", "three", "right pedro", "nine"]
    assert sum(deal.outcome.made) == 21


# Louisiana

CAJUN = [
    "AH KH QH 9S 8S 7S 6S 4S 3S",
    "5D 4H 2H 9D 8D 7D 6D 4D 3D",
    "AC KC QC JC TC 9C 8C 7C 6C",
    "5C 4C 3C 2C AS KS QS JS TS",
]
STOCK = "JH TH 9H 8H 7H 6H 5H 3H AD KD QD JD TD 2D 5S 2S"


def test_in_louisiana_seven_is_the_least_and_the_dealer_is_forced() -> None:
    deal = deal_of("pedro-louisiana", CAJUN, STOCK)
    assert deal.legal() == (0, *range(7, 15))
    say(deal, "pass", "pass", "pass")
    assert deal.legal() == tuple(range(7, 15))
    violation = deal.verify(0)
    assert violation is not None
    assert violation.rule == "AF-BID-004"
    say(deal, "7")
    assert (deal.kind, deal.pitcher, deal.bid) == (Kind.NAME_TRUMP, 3, 7)


def test_thibodaux_follows_strictly_and_houma_may_trump() -> None:
    """With the left pedro a trump: holding a diamond, it may not be played to a diamond in Thibodaux."""
    houma = to_play("5D AD KC", "2D", rules="pedro-louisiana")
    thibodaux = to_play("5D AD KC", "2D", rules={"variant": "pedro-louisiana", "follow": "strict"})
    assert hand_text(sum(1 << card for card in houma.legal())) == "AD 5D"
    assert hand_text(sum(1 << card for card in thibodaux.legal())) == "AD"
    violation = thibodaux.verify(parse_card("5D"))
    assert violation is not None
    assert (violation.rule, violation.sentence) == ("AF-PLAY-004", "2D was led and you hold AD: follow suit.")


# Pidro


def named(hands: list[str] = CAJUN, stock: str = STOCK, **changes: object) -> Deal:
    return say(deal_of("pidro", hands, stock, **changes), "8", "pass", "pass", "pass", "hearts")


def keeps_of(deal: Deal) -> tuple[str, str, int]:
    keeps = deal.legal()
    assert isinstance(keeps, Keeps)
    return hand_text(keeps.must), hand_text(keeps.may), keeps.size


def test_fourteen_may_be_taken_over_by_any_later_seat() -> None:
    deal = say(deal_of("pidro", CAJUN), "14")
    assert (deal.seat, deal.legal()) == (1, (0, 14))
    say(deal, "14", "pass")
    assert (deal.seat, deal.legal()) == (3, (0, 14))
    assert say(deal, "14").pitcher == 3
    assert say(deal_of("pidro", CAJUN), "14", "pass", "pass", "pass").pitcher == 0


def test_no_other_bid_may_be_taken_over() -> None:
    violation = say(deal_of("pidro", CAJUN), "8").verify(8)
    assert violation is not None
    assert (violation.rule, violation.sentence) == ("AF-BID-011", "A bid of 8 cannot be stolen by anybody.")


@pytest.mark.parametrize("by", ["dealer", "anyone"])
@pytest.mark.parametrize("ends", [True, False])
def test_who_speaks_after_a_fourteen(by: str, ends: bool) -> None:
    """Where the highest bid ends the auction, only those who may steal it still speak."""
    deal = say(deal_of("pidro", CAJUN, steal_by=by, top_bid_ends=ends), "pass", "14")
    assert deal.seat == (3 if by == "dealer" and ends else 2)
    assert deal.legal() == ((0, 14) if by == "anyone" or ends else (0,))


def test_trumps_are_kept_and_plain_cards_go() -> None:
    deal = named()
    assert keeps_of(deal) == ("AH KH QH", "", 3)
    say(deal, "keep AH KH QH", "keep 5D 4H 2H")
    assert keeps_of(deal) == ("", "", 0)


def test_a_trump_that_scores_is_never_laid_away() -> None:
    hands = ["AH KH QH JH TH 9H 8H 5D 2H", "4H 3H 9D 8D 7D 6D 4D 3D 2D", *CAJUN[2:]]
    deal = named(hands, "")
    assert keeps_of(deal) == ("AH JH TH 2H 5D", "KH QH 9H 8H", 6)
    violation = deal.verify(parse_hand("AH JH TH KH QH 5D"))
    assert violation is not None
    assert violation.rule == "AF-DRAW-005"
    assert violation.sentence == "2H: trumps that score are kept; lay others away."
    say(deal, "keep AH JH TH 2H 5D KH")
    shown = [event.value for event in said(deal, EventKind.SHOW)]
    assert shown == [parse_card("8H"), parse_card("9H"), parse_card("QH")]


def test_the_dealer_robs_and_keeps_his_trumps() -> None:
    """Like Finnish tables: he holds six, and does not say how many come from the stock."""
    stock = "AD KD QD JD TD 2D 5S 2S 3H 6H 7H TH JH 9H 8H 5H"
    deal = say(named(stock=stock), "keep AH KH QH", "keep 5D 4H 2H", "keep")
    assert keeps_of(deal) == ("JH 9H 8H 5H", "AS KS QS JS TS 5C 4C 3C 2C", 6)
    violation = deal.verify(parse_hand("JH 9H 8H AS KS QS"))
    assert violation is not None
    assert violation.rule == "AF-DRAW-004"
    say(deal, "keep JH 9H 8H 5H AS KS")
    assert deal.hands[3].bit_count() == 6
    assert said(deal)[-1][:2] == (EventKind.DISCARD, 3)
    assert said(deal)[-1].value == 7


def test_a_dealer_with_more_than_six_trumps_keeps_those_that_score() -> None:
    hands = [*CAJUN[:3], "JH TH 9H 8H AS KS QS JS TS"]
    stock = "AD KD QD JD TD 2D 5S 2S 5C 4C 3C 2C 7H 6H 5H 3H"
    deal = say(named(hands, stock), "keep AH KH QH", "keep 5D 4H 2H", "keep")
    assert keeps_of(deal) == ("JH TH 5H", "9H 8H 7H 6H 3H", 6)


def test_a_short_stock_fills_nobody_with_plain_cards() -> None:
    hands = [
        "9S 8S 7S 6S 4S 3S 2S AS KS",
        "9D 8D 7D 6D 4D 3D 2D AD KD",
        "AH KC QC JC TC 9C 8C 7C 6C",
        "5C 4C 3C 2C AC QS JS TS 5S",
    ]
    deal = say(named(hands, ""), "keep", "keep")
    assert (len(deal.stock), keeps_of(deal)) == (4, ("AH", "", 1))
    say(deal, "keep AH")
    assert deal.hands[2].bit_count() == 5


def only_trumps(hands: list[str], leader: int = 0, bid: int = 8) -> Deal:
    """A position at the first lead in which the seats hold just these cards, hearts trump."""
    deal = Deal(variant("pidro"), 4, 3, shuffled(seeded("pidro")))
    deal.act(0) if leader else deal.act(bid)
    while deal.kind is Kind.BID:
        deal.act(bid if deal.seat == leader and deal.pitcher is None else 0)
    deal.act(2)
    deal.kind, deal.seat, deal.leader = Kind.PLAY, leader, leader
    deal.hands = [parse_hand(hand) for hand in hands]
    return deal


def test_only_trumps_are_played_and_who_has_none_drops_out() -> None:
    deal = only_trumps(["AH 3H 9S", "KS QS", "KH 4H", "5D 2C"])
    assert cards_text(deal.legal()) == "3H AH"
    violation = deal.verify(parse_card("9S"))
    assert violation is not None
    assert (violation.rule, violation.sentence) == (
        "AF-PLAY-008",
        "9S is no trump: only trumps (hearts) are played.",
    )
    say(deal, "AH")
    assert deal.seat == 2  # seat 1 has no trump
    say(deal, "KH", "5D")
    assert (deal.seat, deal.leader) == (0, 0)
    assert deal.taken[0] == parse_hand("AH KH 5D")
    say(deal, "3H", "4H")
    assert deal.kind is None  # nobody has a trump left; plain cards stay unplayed
    assert deal.outcome is not None
    assert {award.item: award.seat for award in deal.outcome.awards} == {"high": 0, "left pedro": 0}


def test_a_winner_without_a_trump_passes_the_lead_on() -> None:
    deal = only_trumps(["3H", "AH", "KH", "QH 4H"])
    say(deal, "3H", "AH", "KH", "4H")
    assert (deal.kind, deal.seat, deal.leader) == (Kind.PLAY, 3, 3)
    say(deal, "QH")
    assert deal.outcome is not None
    assert [pile.bit_count() for pile in deal.taken] == [0, 4, 0, 1]


def test_who_alone_has_trumps_plays_them_out() -> None:
    deal = say(only_trumps(["AH QH TH", "2S", "3S", "4S"]), "QH", "AH", "TH")
    assert deal.outcome is not None
    assert deal.taken[0] == parse_hand("AH QH TH")


def test_a_pitcher_without_a_trump_lets_the_next_seat_lead() -> None:
    hands = ["9S 8S 7S 6S 4S 3S 2S AS KS", CAJUN[1], CAJUN[2], "AH 5C 4C 3C 2C QS JS TS 5S"]
    deal = named(hands, "AD KD QD JD TD 2D KH QH JH TH 9H 8H 7H 6H 5H 3H")
    say(deal, "keep", "keep 5D 4H 2H", "keep", "keep AH 3H QS JS TS 5S")
    assert (deal.kind, deal.pitcher, deal.leader, deal.seat) == (Kind.PLAY, 0, 1, 1)


def test_without_a_trump_at_the_table_the_play_is_over_at_once() -> None:
    """Only with other house rules: no discard, and a suit that nobody holds."""
    rules = variant("pidro").with_rules({"discard": "none", "rob": "none", "hand_size": 3})
    hands = ["AC KC QC", "AS KS QS", "AD KD QD", "TC TS TD"]
    deal = say(deal_of(rules, hands), "8", "pass", "pass", "pass", "hearts")
    assert deal.outcome is not None
    assert (deal.outcome.awards, deal.outcome.deltas) == ((), (-8, 0))


def test_the_two_scores_for_its_holder() -> None:
    deal = say(only_trumps(["AH", "2H", "3S", "4S"]), "AH", "2H")
    assert deal.outcome is not None
    assert {award.item: award.seat for award in deal.outcome.awards} == {"high": 0, "low": 1}
