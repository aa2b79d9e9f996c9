"""What a seat is told in the games beyond Pitch: the turned-up card, its own discards, and nothing of the others'."""

from dataclasses import fields
from typing import Any

import pytest

from referee.cards import cards_in, hand_text, parse_card, parse_hand
from referee.rules import Deal, Game, Keeps, Kind, unpack_event, variant
from referee.rules.actions import CARD_EVENTS
from referee.umpire.view import Chair, Turn, see
from tests.helpers import seeded, shuffled
from tests.rules.family import deal_of, say

TWO = ["KS QS 9S 8D 7D 6C", "9H 8H 4C 3C 2C 9D"]
RUN = "5H 2S 3S 4S AD KD QD 5D"
CINCH = [
    "AH KH QH 9S 8S 7S 6S 4S 3S",
    "5D 4H 2H 9D 8D 7D 6D 4D 3D",
    "AC KC QC JC TC 9C 8C 7C 6C",
    "5C 4C 3C 2C AS KS QS JS TS",
]
STOCK = "JH TH 9H 8H 7H 6H 5H 3H AD KD QD JD TD 2D 5S 2S"
FAMILY = ["all-fours", "all-fours-partners", "trinidad", "california-jack", "shasta-sam", "pedro", "cinch", "pidro"]


def turn_of(deal: Deal, seat: int | None = None) -> Turn:
    chair = Chair(game_id=1, seat=deal.seat if seat is None else seat, seats=deal.seats, rules=deal.rules)
    game = Game(deal.rules, deal.seats, deal.dealer)
    return see(deal, game, chair, turn_id=1, decision=0, retry=0, move_us=1, bank_us=1)


def told(turn: Turn) -> dict[str, Any]:
    values = {field.name: getattr(turn, field.name) for field in fields(turn)}
    if isinstance(turn.legal, Keeps):
        values["legal"] = (turn.legal.must, turn.legal.may, turn.legal.size)
    return values


def test_the_card_turned_up_stays_before_all_eyes() -> None:
    deal = deal_of("all-fours", TWO, RUN, dealer=0)
    turn = turn_of(deal)
    assert (turn.kind, turn.turn_up, turn.stock_count, turn.trump) == (Kind.STAND_OR_BEG, parse_card("5H"), 39, None)
    turn = turn_of(say(deal, "beg", "run"))
    assert (turn.kind, turn.turn_up, turn.stock_count, turn.trump) == (Kind.DISCARD, parse_card("5D"), 32, 1)
    assert (turn.pitcher, turn.leader) == (None, None)


def test_points_scored_at_once_show_at_once() -> None:
    assert turn_of(deal_of("all-fours", TWO, "JC", dealer=0, scores=(2, 3))).scores == [3, 3]


def test_a_seat_sees_its_own_new_cards_and_what_it_laid_away() -> None:
    deal = say(deal_of("all-fours", TWO, RUN, dealer=0), "beg", "run")
    assert turn_of(deal).hand == parse_hand(f"{TWO[1]} 2S 3S 4S")
    assert turn_of(deal).laid_away == 0
    say(deal, "keep 9H 8H 4C 3C 2C 9D")
    assert (turn_of(deal).hand, turn_of(deal).laid_away) == (parse_hand(f"{TWO[0]} AD KD QD"), 0)
    say(deal, "keep KS QS 9S AD KD QD")
    assert turn_of(deal).laid_away == parse_hand("2S 3S 4S")


def test_whoever_lays_away_later_does_not_know_what_the_others_kept() -> None:
    one = say(deal_of("all-fours", TWO, RUN, dealer=0), "beg", "run", "keep 9H 8H 4C 3C 2C 9D")
    other = say(deal_of("all-fours", TWO, RUN, dealer=0), "beg", "run", "keep 2S 3S 4S 3C 2C 9D")
    assert told(turn_of(one)) == told(turn_of(other))


def test_a_dealer_who_robs_sees_the_stock_and_nobody_else_does() -> None:
    deal = say(deal_of("cinch", CINCH, STOCK), "8", "pass", "pass", "pass", "hearts")
    turn = turn_of(say(deal, "keep AH KH QH", "keep 5D 4H 2H", "keep"))
    assert hand_text(turn.hand) == "AS KS QS JS TS 5S 2S TD 2D 5C 4C 3C 2C"
    assert (turn.kind, turn.pitcher, turn.bid, turn.stock_count) == (Kind.DISCARD, 0, 8, 0)


@pytest.mark.parametrize("name", ["cinch", "pidro"])
def test_what_the_dealer_kept_stays_hidden(name: str) -> None:
    """The same number from the stock, other cards: the seat to lead is told the same."""
    before = ("8", "pass", "pass", "pass", "hearts", "keep AH KH QH", "keep 5D 4H 2H", "keep")
    one = say(deal_of(name, CINCH, STOCK), *before, "keep AS KS QS JS TD 2D")
    other = say(deal_of(name, CINCH, STOCK), *before, "keep TS 5C 4C 3C 5S 2S")
    assert told(turn_of(one)) == told(turn_of(other))


def test_a_pidro_dealer_does_not_say_how_many_he_took() -> None:
    before = ("8", "pass", "pass", "pass", "hearts", "keep AH KH QH", "keep 5D 4H 2H", "keep")
    one = say(deal_of("pidro", CINCH, STOCK), *before, "keep AS KS QS JS TD 2D")
    other = say(deal_of("pidro", CINCH, STOCK), *before, "keep AS KS QS JS TS 5C")
    assert told(turn_of(one)) == told(turn_of(other))


def test_the_top_of_an_open_stock_is_seen_and_that_of_a_closed_one_is_not() -> None:
    stock = "5H JC 2S AD TD 6H"
    california = say(deal_of("california-jack", TWO, stock, dealer=0), "9D", "8D")
    assert (turn_of(california).turn_up, turn_of(california).stock_count) == (parse_card("2S"), 38)
    shasta = say(deal_of("shasta-sam", TWO, stock, dealer=0), "9D", "8D")
    assert (turn_of(shasta).turn_up, turn_of(shasta).stock_count, turn_of(shasta).trump) == (None, 38, 2)


@pytest.mark.parametrize("name", FAMILY)
def test_every_card_in_a_turn_is_the_seat_s_own_or_public(name: str) -> None:
    """Whatever happens: the cards that a turn names are held or laid away by the seat, or shown to all by an event."""
    rules = variant(name)
    chance = seeded(f"view/{name}")
    for number in range(12):
        seats = chance.choice(range(rules.players[0], min(rules.players[1], 4) + 1, rules.sides or 1))
        deal = Deal(rules, seats, number % seats, shuffled(chance))
        while deal.kind is not None:
            turn = turn_of(deal)
            events = map(unpack_event, turn.history)
            shown = sum({1 << event.value for event in events if event.kind in CARD_EVENTS})
            named = sum({1 << card for card in turn.trick}) | (0 if turn.turn_up is None else 1 << turn.turn_up)
            assert not named & ~shown
            assert turn.hand == deal.hands[deal.seat]
            assert turn.laid_away == deal.laid_away[deal.seat]
            for seat in range(seats):
                if seat != deal.seat:
                    assert not turn.hand & deal.hands[seat]
            if isinstance(turn.legal, Keeps):
                assert not (turn.legal.must | turn.legal.may) & ~turn.hand
            elif turn.kind is Kind.PLAY:
                assert set(turn.legal) <= set(cards_in(turn.hand))
            deal.act(chance.choice(turn.legal))
