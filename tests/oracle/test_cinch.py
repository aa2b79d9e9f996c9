"""Cinch and the Pedro games: examples 86 to 89, discards, the rob, points."""

import pytest

from referee.oracle import OracleDeal
from referee.oracle.decisions import Trick, cards_to_keep
from referee.oracle.house_rules import CINCH, PEDRO_LOUISIANA, PEDRO_SINGLE, PIDRO, Rules
from referee.oracle.scoring import Earned, count_hand, earned
from tests.oracle.helpers import ALL_CARDS, chance_of, finish, legal, run, shuffled, stacked, with_rules


def took(pitcher_side: int, other_side: int) -> list[Earned]:
    """So many points for side 0, the bidder's, and side 1."""
    return [Earned("5", 0, 0, pitcher_side), Earned("left5", 1, 1, other_side)]


@pytest.mark.parametrize(
    ("style", "bid", "taken", "expected"),
    [
        pytest.param("set_back", 8, (9, 5), [9, 5], id="example_86_set_back_style"),
        pytest.param("difference", 8, (9, 5), [4, 0], id="example_86_difference_style"),
        pytest.param("set_back", 6, (6, 8), [6, 8], id="example_88_set_back_style"),
        pytest.param("difference", 6, (6, 8), [0, 2], id="example_88_difference_style"),
        pytest.param("set_back", 8, (7, 7), [-8, 7], id="bid_failed_set_back_style"),
        pytest.param("difference", 8, (7, 7), [0, 15], id="bid_failed_difference_style"),
        pytest.param("set_back", 0, (0, 14), [0, 14], id="no_obligation"),
    ],
)
def test_score_styles(style: str, bid: int, taken: tuple[int, int], expected: list[int]) -> None:
    counted = count_hand(with_rules(CINCH, score_style=style), [0, 0], took(*taken), 0, bid)
    assert counted.deltas == expected
    assert counted.set_back == (0 if taken[0] < bid else None)


def test_bidders_side_is_counted_first() -> None:
    assert count_hand(CINCH, [45, 50], took(8, 6), 0, 7).winner == 0
    lost = count_hand(CINCH, [45, 50], took(6, 8), 0, 7)
    assert (lost.after, lost.winner, lost.reason) == ([38, 58], 1, "COUNT_LEFT5")
    out = count_hand(with_rules(CINCH, score_style="difference"), [45, 50], took(6, 8), 0, 6)
    assert (out.after, out.winner, out.reason) == ([45, 52], 1, "DIFFERENCE")


def test_difference_needs_two_parties() -> None:
    with pytest.raises(ValueError, match="two parties only"):
        count_hand(with_rules(CINCH, score_style="difference"), [0, 0, 0], took(6, 8), 0, 6)


@pytest.mark.parametrize("trump", list("CDHS"))
def test_example_89_fourteen_points_for_each_suit(trump: str) -> None:
    tricks = [Trick([(0, card)], 0) for card in ALL_CARDS]
    assert sum(item.points for item in earned(CINCH, 4, 3, 0, trump, tricks) if item.party == 0) == 14


def test_points_go_to_the_taker_but_the_two_to_its_holder_in_pidro() -> None:
    tricks = [Trick([(0, "AH"), (1, "2H"), (2, "5D"), (3, "TH")], 0), Trick([(0, "4H"), (1, "5H")], 1)]
    cinch = {item.name: (item.party, item.points) for item in earned(CINCH, 4, 3, 0, "H", tricks)}
    assert cinch == {"H": (0, 1), "L": (0, 1), "J": (None, 1), "G": (0, 1), "5": (1, 5), "left5": (0, 5)}
    pidro = {item.name: item.party for item in earned(PIDRO, 4, 3, 0, "H", tricks)}
    assert pidro == {"H": 0, "L": 1, "J": None, "G": 0, "5": 1, "left5": 0}


def test_without_left_pedro_the_other_five_is_a_plain_card() -> None:
    tricks = [Trick([(0, "5D"), (1, "6D")], 1)]
    assert earned(with_rules(CINCH, left_pedro=False), 4, 3, 0, "H", tricks)[-1].party is None


PLAIN = "AS KS QS JS TS 9S 8S 7S 6S"


@pytest.mark.parametrize(
    ("rules", "hand", "stock", "must", "may", "count"),
    [
        pytest.param(CINCH, "AH 5D 2C 3C 4C 6C 7C 8C 9C", PLAIN, "AH 5D", None, 0, id="every_non_trump_goes"),
        pytest.param(CINCH, "AH KH QH JH TH 9H 8H 2C 3C", PLAIN, "", "AH KH QH JH TH 9H 8H", 6, id="seven_trumps"),
        pytest.param(
            CINCH, "AH 5D 2C 3C 4C 6C 7C 8C 9C", "AS KS", "AH 5D", "2C 3C 4C 6C 7C 8C 9C", 2, id="short_stock"
        ),
        pytest.param(PIDRO, "AH 5D 2C 3C 4C 6C 7C 8C 9C", "AS KS", "AH 5D", None, 0, id="pidro_trumps_only"),
        pytest.param(PIDRO, "AH KH QH JH TH 9H 8H 5D 3C", PLAIN, "AH JH TH 5D", "KH QH 9H 8H", 2, id="pidro_must_kill"),
    ],
)
def test_what_a_non_dealer_keeps(rules: Rules, hand: str, stock: str, must: str, may: str | None, count: int) -> None:
    choice = cards_to_keep(rules, hand.split(), stock.split(), "H", False)
    assert choice.must == frozenset(must.split())
    assert choice.count == count
    if may is not None:
        assert choice.may == frozenset(may.split())
    assert choice.allows(choice.must | frozenset(sorted(choice.may)[:count]))
    assert not choice.allows(choice.must | frozenset(sorted(choice.may)[: count - 1]) | frozenset(["2D"]))


def test_what_a_robbing_dealer_keeps() -> None:
    hand, stock = ["AH", "KH", "QH", "JH", "TH", "9H", "8H", "2C", "3C"], PLAIN.split()
    cinch = cards_to_keep(CINCH, hand, stock, "H", True)
    assert (cinch.must, cinch.may, cinch.count) == (frozenset(), frozenset(hand + stock), 6)
    pidro = cards_to_keep(PIDRO, hand, stock, "H", True)
    assert (pidro.must, pidro.may, pidro.count) == (
        frozenset(["AH", "JH", "TH"]),
        frozenset(["KH", "QH", "9H", "8H"]),
        3,
    )
    assert cards_to_keep(with_rules(CINCH, rob="none"), hand, stock, "H", True) == cards_to_keep(
        CINCH, hand, stock, "H", False
    )


CINCH_HANDS = [
    "AH KH 2S 3S 4S 5S 6S 7S 8S",
    "QH JH TH 2C 3C 4C 6C 7C 8C",
    "9H 8H 5D 2D 3D 4D 6D 7D 8D",
    "7H 6H 5H 4H 9S TS JS QS KS",
]


def test_discard_and_draw_in_rotation_and_the_rob() -> None:
    deck = stacked(CINCH_HANDS, 3, "AS 9C TC JC QC KC AC 9D TD JD QD KD AD 3H 2H 5C")
    deal = run(OracleDeal(CINCH, 4, 3, deck, [0, 0]), [7, 0, 0, 0, "H"])
    assert (deal.kind, deal.seat, deal.choice().must) == ("DISCARD", 0, frozenset(["AH", "KH"]))
    deal.act(frozenset(["AH", "KH"]))
    assert deal.hands[0] == ["AH", "KH", "AS", "9C", "TC", "JC"]
    deal.act(frozenset(["QH", "JH", "TH"]))
    assert deal.hands[1] == ["QH", "JH", "TH", "QC", "KC", "AC"]
    deal.act(frozenset(["9H", "8H", "5D"]))
    assert deal.hands[2] == ["9H", "8H", "5D", "9D", "TD", "JD"]
    assert deal.seat == 3
    assert deal.choice().may == frozenset([*CINCH_HANDS[3].split(), *["QD", "KD", "AD", "3H", "2H", "5C"]])
    deal.act(frozenset(["7H", "6H", "5H", "4H", "3H", "2H"]))
    assert (deal.kind, deal.seat, deal.stock, len(deal.hands[3])) == ("PLAY", 0, [], 6)
    assert legal(deal)  # the bidder leads any card
    result = finish(deal, chance_of(3)).result
    assert result is not None
    assert sum(result.made) == 14


@pytest.mark.parametrize("rules", [CINCH, PEDRO_LOUISIANA, PIDRO], ids=["cinch", "pedro", "pidro"])
def test_invariants_on_chance_deals(rules: Rules) -> None:
    for seed in range(60):
        deal = finish(OracleDeal(rules, 4, seed % 4, shuffled(seed), [0, 0]), chance_of(seed))
        result = deal.result
        assert result is not None
        assert not result.thrown_in
        cards = [card for trick in deal.tricks for _, card in trick.plays]
        assert len(cards) == len(set(cards))
        worth = {**dict.fromkeys("AJT2", 1), "5": 5}
        left = "5" + {"C": "S", "S": "C", "D": "H", "H": "D"}[str(result.trump)]
        in_play = sum(5 if card == left else worth.get(card[0], 0) * (card[1] == result.trump) for card in cards)
        assert sum(result.made) == in_play <= 14
        if rules is PIDRO:
            assert all(card[1] == result.trump or card == left for card in cards)
            assert in_play == 14  # nobody can lose a point card
        else:
            assert len(cards) == 24


def test_pidro_passes_over_who_has_no_trump() -> None:
    deck = stacked(CINCH_HANDS, 3, "AS 9C TC JC QC KC AC 9D TD JD QD KD AD 3H 2H 5C")
    deal = run(OracleDeal(PIDRO, 4, 3, deck, [0, 0]), [7, 0, 0, 0, "H"])
    run(deal, [frozenset(["AH", "KH"]), frozenset(["QH", "JH", "TH"]), frozenset(["9H", "8H", "5D"])])
    deal.act(frozenset(["7H", "6H", "5H", "4H", "3H", "2H"]))
    assert legal(deal) == ["KH", "AH"]
    run(deal, ["AH", "TH", "5D", "2H", "KH", "JH", "8H", "3H"])
    assert (deal.seat, legal(deal)) == (1, ["QH"])  # A took both tricks but is out of trumps
    run(deal, ["QH", "9H", "4H"])
    assert deal.seat == 3  # B and C are out too
    run(deal, ["5H", "6H", "7H"])
    result = deal.result
    assert result is not None
    assert [len(trick.plays) for trick in deal.tricks] == [4, 4, 3, 1, 1, 1]
    assert result.items == {"H": 0, "L": 1, "J": 0, "G": 0, "5": 1, "left5": 0}
    assert result.deltas == [8, 6]


def test_single_pedro_is_pitched() -> None:
    deal = run(OracleDeal(PEDRO_SINGLE, 4, 3, shuffled(4), [0] * 4), [9])
    assert (deal.kind, deal.seat, deal.bid) == ("PLAY", 0, 9)
    result = finish(deal, chance_of(4)).result
    assert result is not None
    assert set(result.items) == {"H", "L", "J", "G", "5"}
    assert result.deltas[0] == (9 if result.made[0] == 9 else -9)
    sancho = with_rules(PEDRO_SINGLE, max_bid=18, point_cards={"9": 9, **PEDRO_SINGLE["point_cards"]})
    deal = OracleDeal(sancho, 4, 3, shuffled(4), [0] * 4)
    assert legal(deal) == [0, *range(2, 19)]
    result = finish(run(deal, [18]), chance_of(4)).result
    assert result is not None
    assert list(result.items) == ["H", "L", "J", "G", "5", "9"]
