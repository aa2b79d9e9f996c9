"""One deal as a state machine: dealing, asking, judging, applying, copying."""

import pytest

from referee.cards import PACK, Card, mask_of
from referee.rules import Deal, IllegalAction, Kind, RuleSetError, variant
from referee.rules.state import deal_out
from tests.helpers import call, fields_of, pitch, play, stacked, start

PITCH = variant("auction-pitch")


# Dealing


def test_packets_go_round_from_eldest_to_the_dealer() -> None:
    hands, stock = deal_out(PACK, 3, 1, 4, 2)
    assert hands[2] == mask_of(PACK[0:2] + PACK[6:8])
    assert hands[0] == mask_of(PACK[2:4] + PACK[8:10])
    assert hands[1] == mask_of(PACK[4:6] + PACK[10:12])
    assert stock == PACK[12:]


def test_a_packet_may_be_the_whole_hand() -> None:
    hands, stock = deal_out(PACK, 2, 0, 6, 6)
    assert hands == [mask_of(PACK[6:12]), mask_of(PACK[0:6])]
    assert stock == PACK[12:]


@pytest.mark.parametrize(
    ("pack", "said"),
    [
        (PACK[:51], "this one has 51 among 51"),
        ((*PACK[:51], PACK[0]), "this one has 51 among 52"),
        ((*PACK, PACK[0]), "this one has 52 among 53"),
        ((), "this one has 0 among 0"),
    ],
)
def test_a_pack_that_is_not_the_52_cards_is_refused(pack: tuple[Card, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Deal(PITCH, 4, 0, pack)


def test_a_pack_with_a_number_that_is_no_card_is_refused() -> None:
    for number in (15, -1, 64):
        with pytest.raises(ValueError, match="a pack has 52 different cards, this one has 51 among 52"):
            Deal(PITCH, 4, 0, (*PACK[:51], number))


@pytest.mark.parametrize("dealer", [-1, 4])
def test_a_dealer_who_is_no_seat_is_refused(dealer: int) -> None:
    with pytest.raises(ValueError, match=rf"dealer {dealer} is not a seat of 0\.\.3"):
        Deal(PITCH, 4, dealer, PACK)


def test_scores_that_are_not_one_a_side_are_refused() -> None:
    with pytest.raises(ValueError, match="scores: 4 figures for 2 sides"):
        Deal(variant("partnership-pitch"), 4, 0, PACK, [0, 0, 0, 0])


def test_seats_for_which_the_game_is_not_are_refused() -> None:
    with pytest.raises(RuleSetError, match=r"^seats: Pitch \(Smudge\) is for 3 to 5 players, not 2$"):
        Deal(variant("smudge"), 2, 0, PACK)


def test_a_new_deal_waits_for_eldest_to_bid() -> None:
    deal = Deal(PITCH, 4, 1, PACK, [1, 2, 3, 4])
    assert (deal.kind, deal.seat, deal.dealer, deal.scores) == (Kind.BID, 2, 1, [1, 2, 3, 4])
    assert (deal.history, deal.trick, deal.bid, deal.pitcher, deal.trump) == ([], [], 0, None, None)
    assert deal.dealt == tuple(deal.hands)
    assert Deal(PITCH, 4, 1, PACK).scores == [0, 0, 0, 0]


# Asking, judging, applying


def test_an_illegal_action_is_refused_and_changes_nothing() -> None:
    deal = call(start(["AH KS", "2H 3S"]), [2])
    before = fields_of(deal)
    with pytest.raises(IllegalAction, match=r"^AF-BID-001: 7 is no bid: a bid is 2 to 4, a pass is 0\.$") as caught:
        deal.act(7)
    assert caught.value.violation.legal == deal.legal()
    assert fields_of(deal) == before


def test_a_violation_names_what_was_legal() -> None:
    deal = play(pitch(start(["AH KS", "2H 3S"]), 0, 2), "AH")
    violation = deal.verify(PACK[0])
    assert violation is not None
    assert violation.legal == deal.legal()


def test_a_deal_that_is_over_asks_nothing() -> None:
    deal = play(pitch(start(["AH", "2H"]), 0, 2), "AH 2H")
    assert (deal.kind, deal.legal()) == (None, ())
    with pytest.raises(ValueError, match="the deal is over: nothing is to be decided"):
        deal.verify(0)
    with pytest.raises(ValueError, match="the deal is over"):
        deal.act(0)


def test_sides() -> None:
    partners = start(["AH", "KH", "QH", "JH"], rules="partnership-pitch")
    assert [partners.side(seat) for seat in range(4)] == [0, 1, 0, 1]
    alone = start(["AH", "KH", "QH", "JH"])
    assert [alone.side(seat) for seat in range(4)] == [0, 1, 2, 3]


# Copying


def test_a_copy_goes_its_own_way() -> None:
    deal = play(pitch(start(["AH KS", "2H 3S"], scores=[1, 2]), 0, 2), "AH")
    twin = deal.copy()
    before = fields_of(deal)
    assert fields_of(twin) == before
    play(twin, "2H KS 3S")
    twin.scores[0] = 9
    assert fields_of(deal) == before
    play(deal, "2H KS 3S")
    assert deal.outcome == twin.outcome


def test_a_deal_shows_itself() -> None:
    deal = Deal(PITCH, 2, 1, stacked(["AH KS QD JC TC 9C", "2H 3S 4D 5C 6C 7C"], 1))
    assert repr(deal) == "<Deal auction-pitch seat 0 BID: KS AH QD JC TC 9C | 3S 2H 4D 7C 6C 5C>"
    over = play(pitch(start(["AH", "2H"]), 0, 2), "AH 2H")
    assert repr(over).startswith("<Deal auction-pitch seat 1 None:")
