"""The house: legal and always the same in every game, and sensible where it is asked about trump."""

import copy
from dataclasses import fields

import pytest

from referee.cards import hand_text, parse_card, parse_cards
from referee.rules import Call, Deal, Game, variant, variant_names
from referee.umpire.fallback_player import fallback_move
from referee.umpire.view import Chair, Turn, see
from tests.helpers import seeded, shuffled
from tests.rules.family import deal_of, say

HANDS = ["AH KH QH 9S 8S 7S 6S 4S 3S", "5D 4H 2H 9D 8D 7D 6D 4D 3D", "AC KC QC JC TC 9C 8C 7C 6C"]
HANDS += ["5C 4C 3C 2C AS KS QS JS TS"]
STRONG, WEAK = "AH JH 2H 8D 7D 6C", "KS QS 9S 8C 5C TD"


FIELDS = [field for field in fields(Turn) if field.name != "legal"]  # Keeps do not compare


def turn_of(deal: Deal) -> Turn:
    game = Game(deal.rules, deal.seats, deal.dealer)
    chair = Chair(game_id=1, seat=deal.seat, seats=deal.seats, rules=deal.rules)
    return see(deal, game, chair, turn_id=1, decision=0, retry=0, move_us=1, bank_us=1)


@pytest.mark.parametrize("name", variant_names())
def test_it_plays_every_game_to_its_end(name: str) -> None:
    rules = variant(name)
    for seats in range(rules.players[0], rules.players[1] + 1, rules.sides or 1):
        chance = seeded(f"house/{name}/{seats}")
        game = Game(rules, seats)
        while game.result is None and game.deals < 4:
            deal = game.deal_pack(shuffled(chance))
            while deal.kind is not None:
                turn = turn_of(deal)
                before = {field.name: copy.copy(getattr(turn, field.name)) for field in FIELDS}
                action = fallback_move(turn)
                assert action in turn.legal
                assert {field.name: getattr(turn, field.name) for field in FIELDS} == before
                assert fallback_move(turn) == action
                deal.act(action)
            assert deal.outcome is not None
            game.close(deal.outcome)


@pytest.mark.parametrize(("hand", "call"), [(STRONG, Call.STAND), (WEAK, Call.BEG)])
def test_eldest_accepts_a_suit_that_he_can_make_a_point_with(hand: str, call: Call) -> None:
    other = WEAK if hand == STRONG else STRONG
    assert fallback_move(turn_of(deal_of("all-fours", [other, hand], "5H", dealer=0))) == call


@pytest.mark.parametrize(("hand", "call"), [(STRONG, Call.GIVE), (WEAK, Call.RUN)])
def test_the_dealer_gives_for_a_suit_that_he_can_make_a_point_with(hand: str, call: Call) -> None:
    other = WEAK if hand == STRONG else STRONG
    assert fallback_move(turn_of(say(deal_of("all-fours", [hand, other], "5H", dealer=0), "beg"))) == call


def test_it_runs_where_it_may_not_give() -> None:
    deal = say(deal_of("all-fours", [STRONG, WEAK], "5H", dealer=0, scores=(0, 6)), "beg")
    assert fallback_move(turn_of(deal)) == Call.RUN


def test_it_names_its_best_suit_and_keeps_its_trumps() -> None:
    deal = say(deal_of("cinch", HANDS), "pass", "8", "pass", "pass")
    assert fallback_move(turn_of(deal)) == 1  # seven diamonds rather than two hearts
    say(deal, "hearts")
    assert hand_text(fallback_move(turn_of(deal))) == "AH KH QH"


def test_it_knows_that_the_left_pedro_is_a_trump() -> None:
    """A ten lies on the table: the left pedro takes the trick, and a six of diamonds does not."""
    deal = deal_of("pedro", ["AH", "TD", "5D", "KC"], left_pedro=True, hand_size=1, packet=1)
    say(deal, "6", "pass", "pass", "pass")
    deal.trump = 2
    deal.hands[2] |= 1 << parse_card("6D")
    say(deal, "AH")
    deal.trick[:] = parse_cards("KD TD")
    deal.seat = 2
    assert hand_text(1 << fallback_move(turn_of(deal))) == "5D"
