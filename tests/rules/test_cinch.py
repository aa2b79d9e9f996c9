"""Cinch: fourteen trumps, naming, discard and draw, robbing, single trumps that score, both ways of scoring."""

from collections.abc import Sequence

import pytest

from referee.cards import cards_in, hand_text, parse_card, parse_hand
from referee.rules import Deal, Ending, EndReason, EventKind, Game, Keeps, Kind, RuleSet, variant
from referee.rules.ranking import RANKINGS, TRUMP_POWER
from referee.rules.scoring import contract
from tests.helpers import to_play
from tests.rules.family import deal_of, packed, said, say

CINCH = variant("cinch")
HANDS = [
    "AH KH QH 9S 8S 7S 6S 4S 3S",
    "5D 4H 2H 9D 8D 7D 6D 4D 3D",
    "AC KC QC JC TC 9C 8C 7C 6C",
    "5C 4C 3C 2C AS KS QS JS TS",
]
STOCK = "JH TH 9H 8H 7H 6H 5H 3H AD KD QD JD TD 2D 5S 2S"
BID = ("8", "pass", "pass", "pass", "hearts")


def keeps_of(deal: Deal) -> tuple[str, str, int]:
    """Which cards have to be kept, which may be, and how many are kept."""
    keeps = deal.legal()
    assert isinstance(keeps, Keeps)
    assert deal.kind is Kind.DISCARD
    return hand_text(keeps.must), hand_text(keeps.may), keeps.size


# Trumps


@pytest.mark.parametrize("trump", range(4))
def test_fourteen_trumps_and_fourteen_points(trump: int) -> None:
    """Example 89."""
    trumps, suits, powers = RANKINGS[True][trump]
    assert trumps.bit_count() == 14
    assert sorted(mask.bit_count() for mask in {suits[card] for card in range(64)}) == [12, 13, 13, 14]
    assert [powers[card] >= TRUMP_POWER for card in cards_in(trumps)] == [True] * 14
    worth = {2: 1, 10: 1, 11: 1, 14: 1, 5: 5}
    assert sum(worth.get(card & 15, 0) for card in cards_in(trumps)) == 14


@pytest.mark.parametrize(("trump", "left"), [("C", "5S"), ("D", "5H"), ("H", "5D"), ("S", "5C")])
def test_the_left_pedro_ranks_just_below_the_five_of_trumps(trump: str, left: str) -> None:
    trumps, _, powers = RANKINGS[True]["CDHS".index(trump)]
    order = sorted(cards_in(trumps), key=powers.__getitem__, reverse=True)
    assert hand_text(1 << order[9]) == f"5{trump}"
    assert hand_text(1 << order[10]) == left
    assert hand_text(1 << order[11]) == f"4{trump}"


@pytest.mark.parametrize(
    ("hand", "table", "card", "rule", "sentence"),
    [
        ("5D AD 9D KC", "2D", "KC", "AF-PLAY-003", "2D was led and you hold AD 9D: play diamonds or a trump (hearts)."),
        ("5D AD KC", "3H", "AD", "AF-PLAY-002", "Trump 3H was led and you hold 5D: play a trump."),
        ("2H AD KC", "5D", "AD", "AF-PLAY-002", "Trump 5D was led and you hold 2H: play a trump."),
    ],
)
def test_the_left_pedro_in_a_sentence(hand: str, table: str, card: str, rule: str, sentence: str) -> None:
    violation = to_play(hand, table, rules="cinch").verify(parse_card(card))
    assert violation is not None
    assert (violation.rule, violation.sentence) == (rule, sentence)


# Auction and trump


def test_the_pitcher_names_trump() -> None:
    deal = say(deal_of("cinch", HANDS), "8", "pass", "9", "pass")
    assert (deal.kind, deal.seat, deal.pitcher, deal.bid, deal.legal()) == (Kind.NAME_TRUMP, 2, 2, 9, (0, 1, 2, 3))
    say(deal, "hearts")
    assert deal.trump == 2
    assert said(deal, EventKind.NAME_TRUMP)[0][1:] == (2, 2)


@pytest.mark.parametrize("action", [-1, 4, 34])
def test_what_is_no_suit(action: int) -> None:
    violation = say(deal_of("cinch", HANDS), "8", "pass", "9", "pass").verify(action)
    assert violation is not None
    assert (violation.rule, violation.legal) == ("AF-TRUMP-002", (0, 1, 2, 3))
    assert violation.sentence == f"{action} is no suit: name 0 clubs, 1 diamonds, 2 hearts, 3 spades."


def test_all_pass_the_dealer_names_trump_and_owes_nothing() -> None:
    deal = say(deal_of("cinch", HANDS), "pass", "pass", "pass", "pass")
    assert (deal.kind, deal.seat, deal.pitcher, deal.bid) == (Kind.NAME_TRUMP, 3, 3, 0)


def test_fourteen_ends_the_auction() -> None:
    deal = say(deal_of("cinch", HANDS), "14")
    assert (deal.kind, deal.seat, deal.pitcher) == (Kind.NAME_TRUMP, 0, 0)


def test_without_a_discard_the_play_follows_the_naming() -> None:
    rules = CINCH.with_rules({"discard": "none", "rob": "none"})
    deal = say(deal_of(rules, HANDS), *BID)
    assert (deal.kind, deal.seat, len(deal.legal())) == (Kind.PLAY, 0, 9)


# Discard and draw


def test_from_eldest_on_plain_cards_go_and_hands_are_filled_to_six() -> None:
    deal = say(deal_of("cinch", HANDS, STOCK), *BID)
    assert (deal.seat, keeps_of(deal)) == (0, ("AH KH QH", "", 3))
    say(deal, "keep AH KH QH")
    assert deal.hands[0] == parse_hand("AH KH QH JH TH 9H")
    assert deal.laid_away[0] == parse_hand("9S 8S 7S 6S 4S 3S")
    assert (deal.seat, keeps_of(deal)) == (1, ("4H 2H 5D", "", 3))
    say(deal, "keep 5D 4H 2H")
    assert deal.hands[1] == parse_hand("5D 4H 2H 8H 7H 6H")
    assert (deal.seat, keeps_of(deal)) == (2, ("", "", 0))
    say(deal, "keep")
    assert deal.hands[2] == parse_hand("5H 3H AD KD QD JD")
    counted = said(deal, EventKind.DISCARD, EventKind.SHOW, EventKind.DRAW)
    assert [(event.kind.name, event.seat, event.value) for event in counted] == [
        ("DISCARD", 0, 6),
        ("DRAW", 0, 3),
        ("DISCARD", 1, 6),
        ("DRAW", 1, 3),
        ("DISCARD", 2, 9),
        ("DRAW", 2, 6),
    ]


def robbed(*, rules: RuleSet = CINCH, kept: str = "keep AS KS QS JS TD 2D") -> Deal:
    return say(deal_of(rules, HANDS, STOCK), *BID, "keep AH KH QH", "keep 5D 4H 2H", "keep", kept)


def test_the_dealer_takes_the_rest_of_the_stock_and_keeps_any_six() -> None:
    deal = say(deal_of("cinch", HANDS, STOCK), *BID, "keep AH KH QH", "keep 5D 4H 2H", "keep")
    assert deal.hands[3] == parse_hand(f"{HANDS[3]} TD 2D 5S 2S")
    assert deal.stock == ()
    assert keeps_of(deal) == ("", "AS KS QS JS TS 5S 2S TD 2D 5C 4C 3C 2C", 6)
    assert len(deal.legal()) == 1716
    deal = robbed()
    assert (deal.kind, deal.seat) == (Kind.PLAY, 0)
    last = [(event.kind.name, event.seat, event.value) for event in said(deal)][-2:]
    assert last == [("DISCARD", 3, 7), ("DRAW", 3, 2)]  # two of the six come from the stock
    assert deal.laid_away[3] == parse_hand("TS 5S 2S 5C 4C 3C 2C")


def test_a_dealer_shows_the_trumps_that_he_leaves_out() -> None:
    hands = [HANDS[0], HANDS[1], HANDS[2], "5H JH 3C 2C AS KS QS JS TS"]
    stock = "5C 4C AD KD QD JD TD 2D 9H 8H 7H 6H TH 3H 5S 2S"
    deal = say(deal_of("cinch", hands, stock), *BID, "keep AH KH QH", "keep 5D 4H 2H", "keep")
    say(deal, "keep 5H AS KS QS JS TS")
    shown = [event.value for event in said(deal, EventKind.SHOW)]
    assert shown == [parse_card("3H"), parse_card("TH"), parse_card("JH")]
    assert said(deal)[-5][1:] == (3, 4)  # 5S 2S 3C 2C face down
    assert said(deal)[-1][1:] == (3, 0)  # nothing kept from the stock
    assert said(deal, EventKind.DISCARD)[-1].value == 4


@pytest.mark.parametrize(
    ("kept", "rule", "sentence"),
    [
        ("AH KH QH 9S", "AF-DRAW-003", "9S: plain cards are laid away, trumps are kept."),
        ("AH KH", "AF-DRAW-004", "QH: you have room for your trumps, so keep them."),
        ("AH KH QH JH", "AF-DRAW-001", "You do not hold JH."),
        ("9S 8S 7S 6S 4S 3S", "AF-DRAW-003", "9S 8S 7S 6S 4S 3S: plain cards are laid away, trumps are kept."),
    ],
)
def test_wrong_ways_to_keep(kept: str, rule: str, sentence: str) -> None:
    violation = say(deal_of("cinch", HANDS, STOCK), *BID).verify(parse_hand(kept))
    assert violation is not None
    assert (violation.rule, violation.sentence) == (rule, sentence)
    assert isinstance(violation.legal, Keeps)


def test_of_more_than_six_trumps_any_six_are_kept_and_the_others_shown() -> None:
    hands = ["AH KH QH JH TH 9H 5D 2H 7S", "4H 3H 9D 8D 7D 6D 4D 3D 2D", *HANDS[2:]]
    deal = say(deal_of("cinch", hands), *BID)
    assert keeps_of(deal) == ("", "AH KH QH JH TH 9H 2H 5D", 6)
    violation = deal.verify(parse_hand("AH KH QH JH TH"))
    assert violation is not None
    assert violation.rule == "AF-DRAW-002"
    say(deal, "keep AH KH QH JH TH 9H")
    events = [(event.kind.name, event.value) for event in said(deal)][-4:]
    assert events == [("DISCARD", 1), ("SHOW", parse_card("5D")), ("SHOW", parse_card("2H")), ("DRAW", 0)]


def test_just_six_trumps_are_kept() -> None:
    hands = ["AH KH QH JH TH 9H 4S 8S 7S", *HANDS[1:]]
    assert keeps_of(say(deal_of("cinch", hands), *BID)) == ("AH KH QH JH TH 9H", "", 6)


def test_whom_the_stock_cannot_fill_keeps_plain_cards_of_his_choice() -> None:
    hands = [
        "9S 8S 7S 6S 4S 3S 2S AS KS",
        "9D 8D 7D 6D 4D 3D 2D AD KD",
        "AH KC QC JC TC 9C 8C 7C 6C",
        "5C 4C 3C 2C AC QS JS TS 5S",
    ]
    deal = say(deal_of("cinch", hands), *BID, "keep", "keep")
    assert (deal.seat, len(deal.stock)) == (2, 4)
    assert keeps_of(deal) == ("AH", "KC QC JC TC 9C 8C 7C 6C", 2)
    say(deal, "keep AH KC")
    assert deal.hands[2].bit_count() == 6
    assert (deal.seat, deal.stock) == (3, ())
    assert keeps_of(deal)[2] == 6
    no_rob = say(deal_of(CINCH.with_rules({"rob": "none"}), hands), *BID, "keep", "keep", "keep AH KC")
    assert keeps_of(no_rob) == ("", "QS JS TS 5S AC 5C 4C 3C 2C", 6)


def test_without_robbing_the_dealer_draws_like_the_others() -> None:
    deal = say(deal_of(CINCH.with_rules({"rob": "none"}), HANDS, STOCK), *BID, "keep AH KH QH", "keep 5D 4H 2H", "keep")
    assert (deal.seat, len(deal.stock)) == (3, 4)
    assert keeps_of(deal)[1:] == ("AS KS QS JS TS 5C 4C 3C 2C", 2)
    say(deal, "keep AS KS")
    assert said(deal)[-1][1:] == (3, 4)


@pytest.mark.parametrize(("rule", "leader"), [("pitcher", 1), ("eldest", 0)])
def test_who_leads(rule: str, leader: int) -> None:
    deal = deal_of("cinch", HANDS, STOCK, first_lead=rule)
    say(deal, "pass", "8", "pass", "pass", "hearts", "keep AH KH QH", "keep 5D 4H 2H", "keep", "keep AS KS QS JS TD 2D")
    assert (deal.leader, deal.seat) == (leader, leader)


# Points

TRICKS = ("AH 2H 3H 2D", "JH 5D 5H AS", "KH 4H AD KS", "QH 6H KD QS", "TH 7H QD JS", "9H 8H JD TD")


def played(bid: int, before: Sequence[int] = (0, 0), pitcher: int = 0, **changes: object) -> tuple[Deal, Game]:
    """Seat 0 or 1 bids; side 0 takes every trick, and so all fourteen points."""
    game = Game(CINCH.with_rules(changes), 4, 3, tuple(before))
    calls = [str(bid) if seat == pitcher else "pass" for seat in range(4)]
    deal = say(game.deal_pack(packed(HANDS, STOCK, 3)), *calls, "hearts")
    say(deal, "keep AH KH QH", "keep 5D 4H 2H", "keep", "keep AS KS QS JS TD 2D")
    return say(deal, TRICKS[0] if pitcher == 0 else "2H 3H 2D AH", *TRICKS[1:]), game


def test_single_trumps_score_for_their_taker_in_counting_order() -> None:
    deal, _ = played(8)
    outcome = deal.outcome
    assert outcome is not None
    assert [(award.item, award.points) for award in outcome.awards] == [
        ("high", 1),
        ("low", 1),
        ("jack", 1),
        ("game", 1),
        ("right pedro", 5),
        ("left pedro", 5),
    ]
    assert outcome.ending is Ending.PLAYED
    assert (outcome.made, outcome.deltas, outcome.set_back) == ((14, 0), (14, 0), None)
    assert outcome.all_four is None


def test_a_trump_that_is_not_in_play_scores_for_nobody() -> None:
    """The dealer has laid the jack away."""
    hands = [HANDS[0], HANDS[1], HANDS[2], "5H JH 3C 2C AS KS QS JS TS"]
    stock = "9H 8H 7H 6H 3H KD AD TH QD JD TD 2D 5C 4C 5S 2S"
    deal = say(deal_of("cinch", hands, stock), *BID, "keep AH KH QH", "keep 5D 4H 2H", "keep")
    say(deal, "keep 5H AS KS QS JS TS")
    while deal.kind is not None:
        deal.act(deal.legal()[0])
    assert deal.outcome is not None
    assert "jack" not in {award.item for award in deal.outcome.awards}
    assert sum(deal.outcome.made) == 13


@pytest.mark.parametrize(
    ("bid", "made", "set_back", "difference", "failed"),
    [
        (8, (9, 5), (9, 5), (4, 0), False),  # example 86
        (6, (6, 8), (6, 8), (0, 2), False),  # example 88
        (8, (7, 7), (-8, 7), (0, 15), True),  # the hand of ARN
        (7, (7, 7), (7, 7), (0, 0), False),
        (0, (0, 14), (0, 14), (0, 14), False),
        (14, (13, 1), (-14, 1), (0, 15), True),
    ],
)
def test_both_ways_of_scoring(
    bid: int, made: tuple[int, int], set_back: tuple[int, int], difference: tuple[int, int], failed: bool
) -> None:
    for style, deltas in (("set_back", set_back), ("difference", difference)):
        deal = Deal(CINCH.with_rules({"score_style": style}), 4, 3, packed(HANDS, STOCK, 3))
        deal.pitcher, deal.bid = 0, bid
        assert contract(deal, list(made)) == (list(deltas), 0 if failed else None)


# The end of the game


def test_the_pitching_side_is_counted_first() -> None:
    deal, game = played(8, (40, 51 - 1))
    assert deal.outcome is not None
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason, result.scores) == (0, EndReason.PITCHER_FIRST, (54, 50))


def test_without_that_rule_the_points_count_one_by_one() -> None:
    deal, game = played(8, (50, 50), pitcher_first=False)
    assert deal.outcome is not None
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason) == (0, EndReason.TARGET)


@pytest.mark.parametrize(("before", "won"), [((29, 40), True), ((28, 40), False)])
def test_the_other_side_can_win_by_points_and_the_bid_that_failed(before: tuple[int, int], won: bool) -> None:
    """Scored by the difference: eight bid, nothing taken, so the others get fourteen and eight."""
    deal, game = played(8, before, pitcher=1, score_style="difference")
    assert deal.outcome is not None
    assert (deal.outcome.deltas, deal.outcome.set_back) == ((22, 0), 1)
    result = game.close(deal.outcome)
    assert (result is not None) == won
    if result:
        assert (result.winner, result.reason, result.scores) == (0, EndReason.TARGET, (51, 40))
    assert game.set_backs == [0, 1]


def test_the_bid_that_failed_is_taken_off() -> None:
    deal, game = played(8, (30, 40), pitcher=1)
    assert deal.outcome is not None
    game.close(deal.outcome)
    assert game.scores == [44, 32]
