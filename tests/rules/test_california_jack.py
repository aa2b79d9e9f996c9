"""California Jack and Shasta Sam: the stock shows trump, every trick is followed by drawing, all 52 cards are played."""

import pytest

from referee.cards import PACK, card_text, mask_of, parse_card, parse_hand, pips_in
from referee.rules import Deal, EventKind, Kind, RuleSetError, variant
from tests.helpers import play_out, seeded, shuffled
from tests.rules.family import deal_of, said, say

HANDS = ["KS QS 9S 8D 7D 6C", "9H 8H 4C 3C 2C 9D"]
STOCK = "5H JC 2S AD TD 6H"


def test_the_top_card_of_the_stock_shows_trump_and_stays_there() -> None:
    deal = deal_of("california-jack", HANDS, STOCK, dealer=0)
    assert (deal.trump, deal.turn_up, deal.kind, deal.seat) == (2, parse_card("5H"), Kind.PLAY, 1)
    assert len(deal.stock) == 40
    assert [(event.kind, event.seat, event.value) for event in said(deal)] == [(EventKind.TURN_UP, 0, parse_card("5H"))]


def test_the_winner_takes_the_top_card_and_the_other_the_next() -> None:
    deal = say(deal_of("california-jack", HANDS, STOCK, dealer=0), "9D", "8D")
    assert deal.hands == [parse_hand("KS QS 9S 7D 6C JC"), parse_hand("9H 8H 4C 3C 2C 5H")]
    assert (deal.leader, deal.seat, len(deal.stock), deal.turn_up) == (1, 1, 38, parse_card("2S"))
    drawn = [(event.kind.name, event.seat, card_text(event.value)) for event in said(deal)[3:]]
    assert drawn == [("TAKE", 1, "5H"), ("TAKE", 0, "JC"), ("STOCK_TOP", 0, "2S")]
    say(deal, "4C", "JC")
    drawn = [(event.kind.name, event.seat, card_text(event.value)) for event in said(deal)[8:]]
    assert drawn == [("TAKE", 0, "2S"), ("TAKE", 1, "AD"), ("STOCK_TOP", 0, "TD")]


def test_in_shasta_sam_only_the_card_that_made_trump_is_seen() -> None:
    deal = say(deal_of("shasta-sam", HANDS, STOCK, dealer=0), "9D", "8D")
    assert deal.hands == [parse_hand("KS QS 9S 7D 6C JC"), parse_hand("9H 8H 4C 3C 2C 5H")]
    drawn = [(event.kind.name, event.seat, event.value) for event in said(deal)[3:]]
    assert drawn == [("TAKE", 1, parse_card("5H")), ("DRAW", 0, 1)]
    assert deal.turn_up is None
    say(deal, "4C", "JC")
    assert [(event.kind.name, event.seat, event.value) for event in said(deal)[7:]] == [("DRAW", 0, 1), ("DRAW", 1, 1)]


@pytest.mark.parametrize("name", ["california-jack", "shasta-sam"])
@pytest.mark.parametrize("seed", range(5))
def test_all_cards_are_played_in_26_tricks(name: str, seed: int) -> None:
    chance = seeded(f"{name}/{seed}")
    deal = play_out(Deal(variant(name), 2, seed % 2, shuffled(chance)), chance)
    assert len(said(deal, EventKind.PLAY)) == 52
    assert deal.taken[0] | deal.taken[1] == mask_of(PACK)
    assert deal.stock == ()
    outcome = deal.outcome
    assert outcome is not None
    assert outcome.pips == (pips_in(deal.taken[0]), pips_in(deal.taken[1]))
    assert sum(outcome.pips) == 80
    owners = {award.item: award.seat for award in outcome.awards}
    trump = deal.trump
    assert trump is not None
    for item, rank in (("high", 14), ("low", 2), ("jack", 11)):
        assert deal.taken[owners[item]] >> (trump << 4 | rank) & 1  # everything counts to the taker


def test_forty_pips_each_score_game_for_nobody() -> None:
    chance = seeded("forty")
    for _ in range(2000):
        deal = play_out(Deal(variant("california-jack"), 2, 0, shuffled(chance)), chance)
        assert deal.outcome is not None
        if deal.outcome.pips == (40, 40):
            break
    assert deal.outcome.pips == (40, 40)
    assert [award.item for award in deal.outcome.awards] == ["high", "low", "jack"]


def test_it_is_a_game_for_two() -> None:
    assert variant("california-jack").players == (2, 2)
    with pytest.raises(
        RuleSetError, match=r"^players: \(2, 4\) makes no sense: two draw from the stock: write \[2, 2\]$"
    ):
        variant("california-jack").with_rules({"players": (2, 4)})


def test_without_drawing_the_card_that_shows_trump_stays_out() -> None:
    rules = variant("california-jack").with_rules({"stock": "none"})
    chance = seeded("none")
    deal = play_out(Deal(rules, 2, 0, shuffled(chance)), chance)
    assert (len(said(deal, EventKind.PLAY)), len(deal.stock), deal.turn_up) == (12, 40, deal.stock[0])
