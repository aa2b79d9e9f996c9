"""All Fours and Seven-Up: the turn-up, standing, begging, giving, running, and what a deal is worth."""

import pytest

from referee.cards import card_text, parse_card, parse_hand
from referee.rules import Call, Deal, Ending, EndReason, EventKind, Game, Keeps, Kind, RuleSetError, variant
from tests.rules.family import deal_of, packed, said, say

# Two hands without a jack, ace or ten; seat 1 is eldest where seat 0 deals.
TWO = ["KS QS 9S 8D 7D 6C", "9H 8H 4C 3C 2C 9D"]
THREE = [*TWO, "8S 7S 4S 4D 3D 2D"]
FOUR = [*THREE, "KC QC 9C 8C 7C 5C"]
SAME_SUIT = "5H 2S 3S 4S KD QD 6D 6H 5S 6S AS AD 5D TD 7H"
"""A stock for two players: a heart is turned up, then after each run again."""


def history(deal: Deal) -> list[tuple[str, int, int]]:
    return [(event.kind.name, event.seat, event.value) for event in said(deal)]


# The turn-up


def test_the_deal_mapping_of_three_players() -> None:
    """Example 90."""
    deal = Deal(variant("all-fours"), 3, 0, packed(THREE, "5H", 0))
    pack = packed(THREE, "5H", 0)
    assert deal.hands[1] == sum(1 << card for card in (*pack[0:3], *pack[9:12]))
    assert deal.hands[2] == sum(1 << card for card in (*pack[3:6], *pack[12:15]))
    assert deal.hands[0] == sum(1 << card for card in (*pack[6:9], *pack[15:18]))
    assert deal.turn_up == pack[18]
    assert deal.stock == pack[19:]


def test_eldest_is_asked_about_the_card_turned_up() -> None:
    deal = deal_of("all-fours", TWO, "5H", dealer=0)
    assert (deal.kind, deal.seat, deal.legal()) == (Kind.STAND_OR_BEG, 1, (Call.STAND, Call.BEG))
    assert history(deal) == [("TURN_UP", 0, parse_card("5H"))]
    assert (deal.trump, deal.pitcher, deal.bid, deal.scores) == (None, None, 0, [0, 0])


def test_a_jack_turned_up_scores_for_the_dealer_at_once() -> None:
    deal = deal_of("all-fours", THREE, "JC", dealer=2)
    assert history(deal) == [("TURN_UP", 2, parse_card("JC")), ("SCORE", 2, 1)]
    assert deal.scores == [0, 0, 1]
    assert deal.seat == 0


def test_a_turned_jack_can_end_the_game_before_the_beg() -> None:
    """Example 76."""
    game = Game(variant("all-fours"), 2, 0, (6, 6))
    deal = game.deal_pack(packed(TWO, "JC", 0))
    assert (deal.kind, deal.legal()) == (None, ())
    assert deal.outcome is not None
    assert (deal.outcome.ending, deal.outcome.deltas, deal.outcome.trump) == (Ending.CUT_SHORT, (1, 0), None)
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason, result.scores, result.places) == (0, EndReason.TURNED_CARD, (7, 6), (1, 2))
    with pytest.raises(ValueError, match="nothing is to be decided"):
        deal.apply(Call.STAND)


def test_only_the_card_that_makes_trump_scores_where_that_is_the_rule() -> None:
    rules = variant("all-fours").with_rules({"jack_turns": "fixing"})
    rejected = deal_of(rules, TWO, "JC 2S 3S 4S AD KD QD 5D", dealer=0)
    assert rejected.scores == [0, 0]
    say(rejected, "beg", "run")
    assert rejected.scores == [0, 0]
    assert say(deal_of(rules, TWO, "JC", dealer=0), "stand").scores == [1, 0]
    assert say(deal_of(rules, TWO, "JC", dealer=0), "beg", "give").scores == [1, 1]
    assert say(deal_of(rules, TWO, "5H 2S 3S 4S AD KD QD JC", dealer=0), "beg", "run").scores == [1, 0]


def test_the_card_that_makes_trump_can_end_the_game() -> None:
    rules = variant("all-fours").with_rules({"jack_turns": "fixing"})
    deal = say(deal_of(rules, TWO, "JC", dealer=0, scores=(6, 0)), "stand")
    assert deal.outcome is not None
    assert deal.outcome.ending is Ending.CUT_SHORT
    assert [award.item for award in deal.outcome.awards] == ["turn up"]


# Stand, beg, give


def test_standing_makes_the_suit_trump_and_eldest_leads() -> None:
    deal = say(deal_of("all-fours", TWO, "5H", dealer=0), "stand")
    assert (deal.trump, deal.kind, deal.seat, deal.leader) == (2, Kind.PLAY, 1, 1)
    assert history(deal)[1:] == [("STAND", 1, 0)]
    assert len(deal.legal()) == 6


def test_begging_asks_the_dealer_once() -> None:
    deal = say(deal_of("all-fours", THREE, "5H", dealer=2), "beg")
    assert (deal.kind, deal.seat, deal.legal()) == (Kind.ANSWER_BEG, 2, (Call.GIVE, Call.RUN))


def test_giving_scores_one_for_eldest_and_makes_trump() -> None:
    """Example 82: eldest alone (BIC)."""
    deal = say(deal_of("all-fours", THREE, "5H", dealer=0), "beg", "give")
    assert history(deal)[1:] == [("BEG", 1, 0), ("GIVE", 0, 0), ("SCORE", 1, 1)]
    assert (deal.scores, deal.trump, deal.kind, deal.seat) == ([0, 1, 0], 2, Kind.PLAY, 1)


def test_a_gift_to_all_opponents() -> None:
    """Example 82, the option of FOS; a side gets it once."""
    deal = say(deal_of("all-fours", THREE, "5H", dealer=1, gift_to="opponents"), "beg", "give")
    assert deal.scores == [1, 0, 1]
    assert [event.seat for event in said(deal, EventKind.SCORE)] == [2, 0]
    sides = say(deal_of("all-fours-partners", FOUR, "5H", dealer=0, gift_to="opponents"), "beg", "give")
    assert sides.scores == [0, 1]


@pytest.mark.parametrize(("scores", "may"), [((0, 6), False), ((6, 5), True), ((6, 6), False)])
def test_the_gift_may_not_end_the_game(scores: tuple[int, int], may: bool) -> None:
    """Example 77."""
    deal = say(deal_of("all-fours", TWO, "5H", dealer=0, scores=scores), "beg")
    assert deal.legal() == ((Call.GIVE, Call.RUN) if may else (Call.RUN,))
    violation = deal.verify(Call.GIVE)
    assert (violation is None) == may
    if violation:
        assert violation.rule == "AF-TRUMP-005"
        assert violation.sentence == "The point would put seat 2 out, so you may not give: run the cards."
        assert violation.legal == (Call.RUN,)


def test_the_gift_may_end_the_game_where_that_is_the_rule() -> None:
    rules = variant("all-fours").with_rules({"gift_out": True, "gift_to": "opponents"})
    game = Game(rules, 3, 0, (6, 6, 6))
    deal = say(game.deal_pack(packed(THREE, "5H", 0)), "beg", "give")
    assert deal.outcome is not None
    assert (deal.outcome.ending, deal.outcome.deltas) == (Ending.CUT_SHORT, (0, 1, 1))
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason) == (1, EndReason.GIFT)  # both have seven; the elder counts first


@pytest.mark.parametrize(
    ("said_", "action", "rule", "sentence"),
    [
        ([], Call.GIVE, "AF-TRUMP-003", "Eldest says stand (1) or beg (2), not a give."),
        ([], 0, "AF-TRUMP-003", "Eldest says stand (1) or beg (2), not call number 0."),
        (["beg"], Call.BEG, "AF-TRUMP-004", "The dealer answers a beg with give (3) or run (4), not a beg."),
        (["beg"], 9, "AF-TRUMP-004", "The dealer answers a beg with give (3) or run (4), not call number 9."),
    ],
)
def test_wrong_calls(said_: list[str], action: int, rule: str, sentence: str) -> None:
    deal = say(deal_of("all-fours", TWO, "5H", dealer=0), *said_)
    violation = deal.verify(action)
    assert violation is not None
    assert (violation.rule, violation.sentence, violation.legal) == (rule, sentence, deal.legal())


def test_without_a_trump_where_a_house_rule_forbids_to_accept() -> None:
    """Trinidad tournaments forbid the gift; one program forbids both."""
    hands = ["KS QS 9S 8D 7D 6C", "9H 8H 4C 3C 2C 9D"]  # no club with the dealer but 6C, no spade with eldest
    for rule, stands, gives in (("accepts", True, True), ("stands", True, False), ("refuses", False, False)):
        eldest = deal_of("all-fours", hands, "5S", dealer=0, without_trump=rule)
        assert (eldest.verify(Call.STAND) is None) == stands
        dealer = say(deal_of("all-fours", hands, "5H", dealer=0, without_trump=rule), "beg")
        assert (dealer.verify(Call.GIVE) is None) == gives
        holds = say(deal_of("all-fours", hands, "5C", dealer=0, without_trump=rule), "beg")
        assert holds.verify(Call.GIVE) is None
    violation = eldest.verify(Call.STAND)
    assert violation is not None
    assert violation.rule == "AF-TRUMP-006"
    assert violation.sentence == "You hold no spades (5S is turned up), so you may not stand: beg."
    violation = dealer.verify(Call.GIVE)
    assert violation is not None
    assert violation.sentence == "You hold no hearts (5H is turned up), so you may not give: run the cards."
    assert violation.legal == dealer.legal() == (Call.RUN,)


# Running


def test_a_run_to_a_new_suit() -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0), "beg", "run")
    assert history(deal)[1:] == [("BEG", 1, 0), ("RUN", 0, 0), ("TURN_UP", 0, parse_card("5D"))]
    assert deal.hands == [parse_hand(f"{TWO[0]} AD KD QD"), parse_hand(f"{TWO[1]} 2S 3S 4S")]
    assert (deal.trump, deal.turn_up, deal.aside) == (1, parse_card("5D"), parse_hand("5H 5D"))
    assert (deal.kind, deal.seat) == (Kind.DISCARD, 1)


def test_the_same_suit_is_set_aside_and_the_cards_are_run_again() -> None:
    deal = say(deal_of("all-fours", TWO, SAME_SUIT.replace("7H", "7S"), dealer=0), "beg", "run")
    assert [card_text(event.value) for event in said(deal, EventKind.TURN_UP)] == ["5H", "6H", "7S"]
    assert len(said(deal, EventKind.RUN)) == 2
    assert deal.trump == 3
    assert [hand.bit_count() for hand in deal.hands] == [12, 12]


def test_two_turned_jacks_both_score() -> None:
    """Example 81: the dealer then can make five in one deal."""
    deal = say(deal_of("all-fours", TWO, "JC 2S 3S 4S AD KD QD JD", dealer=0), "beg", "run")
    assert (deal.scores, deal.trump) == ([2, 0], 1)
    say(deal, "keep 9H 8H 4C 3C 2C 9D", "keep AD KD QD 8D 7D KS")
    say(deal, "9H", "KS", "8H", "AD", "QD 9D", "KD 4C", "8D 3C", "7D 2C")
    assert deal.outcome is not None
    assert deal.outcome.deltas == (5, 0)
    assert [award.item for award in deal.outcome.awards] == ["turn up", "turn up", "high", "low", "game"]


@pytest.mark.parametrize(("hands", "runs", "left"), [(TWO, 5, 4), (THREE, 3, 3), (FOUR, 2, 1)])
def test_the_stock_runs_out(hands: list[str], runs: int, left: int) -> None:
    """Examples 79 and 80: the same suit comes up each time; the same dealer deals again."""
    seats = len(hands)
    suit = "H" if seats < 4 else "S"  # hands that leave enough cards of the suit in the stock
    ours = [card for hand in hands for card in hand.split()]
    cards = [rank + s for s in "CDHS" for rank in "23456789TQKAJ" if rank + s not in ours]
    up = [card for card in cards if card[1] == suit]
    others = [card for card in cards if card[1] != suit] + up[runs + 1 :]
    stock = "".join(f"{up[n]} {' '.join(others[3 * seats * n : 3 * seats * (n + 1)])} " for n in range(runs))
    name = "all-fours" if seats < 4 else "all-fours-partners"
    game = Game(variant(name), seats, 1)
    deal = say(game.deal_pack(packed(hands, stock + up[runs], 1)), "beg", "run")
    assert len(said(deal, EventKind.RUN)) == runs
    assert len(said(deal, EventKind.TURN_UP)) == runs + 1
    assert len(deal.stock) == left
    assert deal.outcome is not None
    assert (deal.outcome.ending, deal.outcome.trump) == (Ending.VOID, None)
    assert game.close(deal.outcome) is None
    assert (game.dealer, game.deals) == (1, 1)


def test_points_scored_at_once_stand_when_the_deal_is_void() -> None:
    stock = "JH 2S 3S 5S 4D KD QD 6H 5C 7C 8C 6D 5D TD 7H 9C TC QC KC AC AD 5H 3H 4H TS AS 3D 2D TH"
    game = Game(variant("all-fours"), 2, 0, (3, 2))
    deal = game.deal_pack(packed(TWO, f"{stock} 7S 6S 4S 8S 2H JS QH", 0))
    say(deal, "beg", "run")
    assert deal.outcome is not None
    assert deal.outcome.ending is Ending.VOID
    assert deal.outcome.deltas == (1, 0)
    game.close(deal.outcome)
    assert (game.scores, game.dealer) == ([4, 2], 0)


def test_a_jack_turned_up_in_a_run_can_end_the_game() -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD JD", dealer=0, scores=(6, 6)), "beg", "run")
    assert deal.outcome is not None
    assert deal.outcome.ending is Ending.CUT_SHORT
    assert deal.scores == [7, 6]


# After a run


def test_hands_are_reduced_from_eldest_on_and_nobody_sees_it_before_all_have_chosen() -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0), "beg", "run")
    keeps = deal.legal()
    assert isinstance(keeps, Keeps)
    assert (keeps.must, keeps.may, keeps.size) == (0, parse_hand(f"{TWO[1]} 2S 3S 4S"), 6)
    told = len(deal.history)
    say(deal, "keep 9H 8H 4C 3C 2C 9D")
    assert (deal.seat, len(deal.history)) == (0, told)
    assert deal.laid_away == [0, parse_hand("2S 3S 4S")]
    say(deal, "keep AD KD QD 8D 7D KS")
    assert history(deal)[told:] == [("DISCARD", 1, 3), ("DISCARD", 0, 3)]
    assert (deal.kind, deal.seat) == (Kind.PLAY, 1)
    assert [hand.bit_count() for hand in deal.hands] == [6, 6]


def test_everything_is_kept_where_that_is_the_rule() -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0, after_run="keep"), "beg", "run")
    assert (deal.kind, deal.seat, len(deal.legal())) == (Kind.PLAY, 1, 9)


def test_nine_cards_are_kept_and_twelve_reduced_where_that_is_the_rule() -> None:
    once = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0, after_run="keep_once"), "beg", "run")
    assert once.kind is Kind.PLAY
    stock = SAME_SUIT.replace("7H", "7S")
    twice = say(deal_of("all-fours", TWO, stock, dealer=0, after_run="keep_once"), "beg", "run")
    keeps = twice.legal()
    assert isinstance(keeps, Keeps)
    assert (twice.kind, keeps.size, keeps.may.bit_count()) == (Kind.DISCARD, 6, 12)


@pytest.mark.parametrize(
    ("kept", "rule", "sentence"),
    [
        ("9H 8H 4C 3C 2C", "AF-DRAW-002", "You keep 5 cards; here 6 are kept."),
        ("9H 8H 4C 3C 2C KS", "AF-DRAW-001", "You do not hold KS."),
        ("9H 8H 4C 3C 2C 9D 2S", "AF-DRAW-002", "You keep 7 cards; here 6 are kept."),
    ],
)
def test_wrong_ways_to_reduce(kept: str, rule: str, sentence: str) -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0), "beg", "run")
    violation = deal.verify(parse_hand(kept))
    assert violation is not None
    assert (violation.rule, violation.sentence) == (rule, sentence)


def test_numbers_that_are_no_set_of_cards() -> None:
    deal = say(deal_of("all-fours", TWO, "5H 2S 3S 4S AD KD QD 5D", dealer=0), "beg", "run")
    for number in (-1, 1, 1 << 64, 1 << 15):
        violation = deal.verify(number)
        assert violation is not None
        assert (violation.rule, violation.sentence) == ("AF-DRAW-001", f"{number} is no set of cards.")


# What a deal is worth


def test_a_whole_deal_of_two() -> None:
    """Example 85: Low stays with eldest, to whom it was dealt; the jack goes to its winner."""
    hands = ["TD 4S JD TC 5H 8C", "AD KS 2D QC KH 3S"]
    deal = say(deal_of("all-fours", hands, "9D", dealer=0), "stand")
    say(deal, "AD TD KS 4S 2D JD TC QC KH 5H 3S 8C")
    outcome = deal.outcome
    assert outcome is not None
    assert outcome.pips == (1, 32)
    assert {award.item: award.seat for award in outcome.awards} == {"high": 1, "low": 1, "game": 1, "jack": 0}
    assert (outcome.deltas, outcome.set_back, outcome.pitcher) == ((1, 3), None, None)
    taker = say(deal_of("all-fours", hands, "9D", dealer=0, low_to="taker"), "stand")
    say(taker, "AD TD KS 4S 2D JD TC QC KH 5H 3S 8C")
    assert taker.outcome is not None
    assert taker.outcome.deltas == (2, 2)


def test_items_count_one_by_one_where_nobody_pitched() -> None:
    """Example 84."""
    game = Game(variant("all-fours"), 2, 0, (6, 6))
    deal = say(game.deal_pack(packed(["2D 4S JD TC 5H 8C", "AD KS 3D QC KH 3S"], "9D", 0)), "stand")
    say(deal, "AD 2D 3D JD TC QC KS 4S KH 5H 3S 8C")
    outcome = deal.outcome
    assert outcome is not None
    assert {award.item: award.seat for award in outcome.awards} == {"high": 1, "low": 0, "jack": 0, "game": 1}
    result = game.close(outcome)
    assert result is not None
    assert (result.winner, result.reason, result.scores) == (1, EndReason.COUNT_HIGH, (8, 8))


def test_the_gift_counts_before_the_items() -> None:
    """Eldest reaches seven by Low only because the gift was scored before."""
    game = Game(variant("all-fours"), 2, 0, (6, 4))
    deal = say(game.deal_pack(packed(["2D 4S JD TC 5H 8C", "AD KS 3D QC KH 3S"], "9D", 0)), "beg", "give")
    assert deal.scores == [6, 5]
    say(deal, "AD 2D 3D JD TC QC KS 4S KH 5H 3S 8C")
    assert deal.outcome is not None
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason) == (0, EndReason.COUNT_LOW)  # eldest stands at six after High


def test_no_trump_in_play() -> None:
    """High, Low and Jack score for nobody; Game still counts."""
    hands = ["KS QS 9S 8D 7D 6C", "TC 8S 4C 3C 2C 9D"]
    deal = say(deal_of("all-fours", hands, "5H", dealer=0), "stand", "TC 6C 9D 8D 8S 9S KS 4C QS 3C 7D 2C")
    assert deal.outcome is not None
    assert [(award.item, award.seat) for award in deal.outcome.awards] == [("game", 1)]


@pytest.mark.parametrize(("hands", "owner"), [(TWO, 1), (THREE, 1)])
def test_without_pips_the_elder_hand_scores_game(hands: list[str], owner: int) -> None:
    """Example 40, and 38 for three: from eldest on."""
    plain = ["9S 8S 7S 8D 7D 6D", "9H 8H 7H 4C 3C 2C", "6S 5S 4S 4D 3D 2D"][: len(hands)]
    deal = deal_of("all-fours", plain, "5H", dealer=0)
    say(deal, "stand")
    while deal.kind is not None:
        deal.act(deal.legal()[0])
    assert deal.outcome is not None
    assert deal.outcome.awards[-1].item == "game"
    assert deal.outcome.awards[-1].seat == owner


def test_partners_score_together_and_the_dealer_s_side_takes_the_jack_turned_up() -> None:
    deal = deal_of("all-fours-partners", FOUR, "JD", dealer=2)
    assert (deal.scores, deal.seat) == ([1, 0], 3)
    say(deal, "beg", "give")
    assert (deal.scores, deal.seat) == ([1, 1], 3)


# Seven-Up


def test_seven_up_has_the_rules_of_all_fours() -> None:
    for one, other in (("all-fours", "seven-up"), ("all-fours-partners", "seven-up-partners")):
        ours, theirs = variant(one).as_dict(), variant(other).as_dict()
        assert {name for name in ours if ours[name] != theirs[name]} == {"name", "title"}


def test_two_and_three_play_each_for_self_and_four_in_two_sides() -> None:
    for name in ("all-fours", "seven-up"):
        assert variant(name).players == (2, 3)
        with pytest.raises(RuleSetError, match="is for 2 to 3 players, not 4"):
            variant(name).check_seats(4)
        assert (variant(f"{name}-partners").players, variant(f"{name}-partners").sides) == ((4, 4), 2)
