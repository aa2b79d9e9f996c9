"""Whole deals of Auction Pitch: examples 11, 20, 25 to 37, and the invariants of section 1.0."""

import pytest

from referee.oracle import OracleDeal
from referee.oracle.deal import OracleResult
from referee.oracle.house_rules import AUCTION_PITCH, PARTNERSHIP_PITCH, SMUDGE, Rules
from referee.oracle.scoring import game_owner
from tests.oracle.helpers import chance_of, finish, legal, run, shuffled, stacked, with_rules

# Section 3.3. Eldest is A, dealer D.
HANDS = ["AH JH 2H KS TC 4D", "QH 3H AS 9S TD 5C", "KH 6H TS 8S AC 7D", "9H QS QC JD 3C 8D"]
PLAY = [
    "AH",
    "3H",
    "6H",
    "9H",
    "TC",
    "5C",
    "AC",
    "3C",
    "TS",
    "QS",
    "KS",
    "AS",
    "TD",
    "7D",
    "JD",
    "2H",
    "JH",
    "QH",
    "KH",
    "QC",
    "8S",
    "8D",
    "4D",
    "9S",
]
VARIANT = ["AH JH 2S KS TC 4D", *HANDS[1:]]
VARIANT_PLAY = [
    "AH",
    "3H",
    "6H",
    "9H",
    "TC",
    "5C",
    "AC",
    "3C",
    "TS",
    "QS",
    "KS",
    "AS",
    "TD",
    "7D",
    "JD",
    "4D",
    "QC",
    "JH",
    "QH",
    "KH",
    "8S",
    "8D",
    "2S",
    "9S",
]


def hand_of_3_3(bid: int, hands: list[str] = HANDS, play: list[str] = PLAY, **changes: object) -> OracleResult:
    """The hand of section 3.3 with A as pitcher, everybody at 0."""
    deal = OracleDeal(with_rules(AUCTION_PITCH, **changes), 4, 3, stacked(hands, 3), [0] * 4)
    run(deal, [bid, 0, 0, 0])
    result = run(deal, play).result
    assert result is not None
    return result


def test_example_11_first_lead_is_any_card_and_makes_trump() -> None:
    deal = run(OracleDeal(AUCTION_PITCH, 4, 3, stacked(HANDS, 3), [0] * 4), [3, 0, 0, 0])
    assert (deal.kind, deal.seat, deal.trump) == ("PLAY", 0, None)
    assert sorted(map(str, legal(deal))) == sorted(HANDS[0].split())
    deal.act("KS")
    assert deal.trump == "S"


def test_example_20_jack_and_ten_are_eleven_pips() -> None:
    assert hand_of_3_3(2, VARIANT, VARIANT_PLAY).pips[3] == 10 + 1


def test_example_25_pips() -> None:
    assert hand_of_3_3(2).pips == [15, 19, 22, 0]


def test_example_26_items() -> None:
    assert hand_of_3_3(2).items == {"H": 0, "L": 0, "J": 2, "G": 2}


def test_example_27_set_back() -> None:
    result = hand_of_3_3(3)
    assert result.deltas == result.scores == [-3, 0, 2, 0]
    assert result.made == [2, 0, 2, 0]
    assert (result.set_back, result.set_backs) == (0, [1, 0, 0, 0])
    assert (result.winner, result.next_dealer, result.pitcher, result.bid, result.trump) == (None, 0, 0, 3, "H")


def test_example_28_bid_made() -> None:
    result = hand_of_3_3(2)
    assert result.deltas == [2, 0, 2, 0]
    assert (result.set_back, result.set_backs) == (None, [0, 0, 0, 0])


def test_example_30_pips_of_the_variant() -> None:
    assert hand_of_3_3(2, VARIANT, VARIANT_PLAY).pips == [4, 19, 22, 11]


def test_example_31_low_to_holder_or_taker() -> None:
    assert hand_of_3_3(2, VARIANT, VARIANT_PLAY).items["L"] == 1
    assert hand_of_3_3(2, VARIANT, VARIANT_PLAY, low_to="taker").items["L"] == 0


def test_example_32_low_to_holder() -> None:
    assert hand_of_3_3(2, VARIANT, VARIANT_PLAY).deltas == [-2, 1, 2, 0]
    assert hand_of_3_3(2, VARIANT, VARIANT_PLAY, low_to="taker").deltas == [2, 0, 2, 0]


def test_trick_4_of_3_3_may_trump_while_able_to_follow() -> None:
    deal = OracleDeal(AUCTION_PITCH, 4, 3, stacked(HANDS, 3), [0] * 4)
    run(deal, [2, 0, 0, 0])
    run(deal, PLAY[: PLAY.index("2H")])
    assert (deal.seat, sorted(map(str, legal(deal)))) == (0, ["2H", "4D", "JH"])


def test_example_34_one_card_gives_three_items() -> None:
    hands = ["JH AS 9S 8S 7S 6D", "2C 2S 3S 4S 5S 3C"]
    deal = OracleDeal(AUCTION_PITCH, 2, 1, stacked(hands, 1), [0, 0])
    deal.act(4)
    result = run(deal, ["JH", "2C", "AS", "2S", "9S", "3S", "8S", "4S", "7S", "5S", "6D", "3C"]).result
    assert result is not None
    assert result.items == {"H": 0, "L": 0, "J": 0, "G": 0}
    assert (result.pips, result.winner, result.reason, result.scores) == ([5, 0], 0, "SMUDGE", [4, 0])


@pytest.mark.parametrize(("low_to", "low"), [("holder", 1), ("taker", 0)])
def test_example_35_two_trumps_in_play(low_to: str, low: int) -> None:
    hands = ["AH 4C 5C 6C 7C 8C", "2H 9D 8D 7D 6D 5D"]
    deal = OracleDeal(with_rules(AUCTION_PITCH, low_to=low_to), 2, 1, stacked(hands, 1), [0, 0])
    result = run(deal, [2, 0, *["AH", "2H", "4C", "9D", "5C", "8D", "6C", "7D", "7C", "6D", "8C", "5D"]]).result
    assert result is not None
    assert (result.items["H"], result.items["L"], result.items["J"]) == (0, low, None)


def test_example_37_game_tied_in_pitch_is_nobodys() -> None:
    assert game_owner(AUCTION_PITCH, 0, 1, [20, 20, 16]) is None
    assert game_owner(AUCTION_PITCH, 0, 1, [20, 19, 16]) == 0


def test_example_40_no_pips_in_pitch_is_nobodys() -> None:
    assert game_owner(AUCTION_PITCH, 0, 1, [0, 0]) is None


def test_other_rules_for_a_tied_game() -> None:
    pitcher = with_rules(AUCTION_PITCH, game_tie="pitcher")
    assert game_owner(pitcher, 0, 1, [20, 20, 16]) == 1
    assert game_owner(pitcher, 0, 2, [20, 20, 16]) is None
    non_dealer = with_rules(AUCTION_PITCH, game_tie="non_dealer")
    assert game_owner(non_dealer, 0, 1, [20, 5, 20]) == 2
    assert game_owner(with_rules(PARTNERSHIP_PITCH, game_tie="non_dealer"), 2, 1, [10, 8, 0, 2]) == 1


def test_partners_pool_their_tricks_for_game() -> None:
    assert game_owner(PARTNERSHIP_PITCH, 0, 1, [10, 20, 11, 0]) == 0
    assert game_owner(PARTNERSHIP_PITCH, 0, 1, [10, 20, 10, 0]) is None


def test_partnership_hand_is_scored_by_side() -> None:
    deal = OracleDeal(PARTNERSHIP_PITCH, 4, 3, stacked(HANDS, 3), [0, 0])
    result = run(deal, [4, *PLAY]).result  # A and C own all four items between them
    assert result is not None
    assert result.items == {"H": 0, "L": 0, "J": 0, "G": 0}
    assert result.item_seats == {"H": 0, "L": 0, "J": 2, "G": None}
    assert (result.pips, result.winner, result.reason, result.scores) == ([15, 19, 22, 0], 0, "SMUDGE", [4, 0])


@pytest.mark.parametrize("rules", [AUCTION_PITCH, SMUDGE], ids=["auction_pitch", "smudge"])
@pytest.mark.parametrize("seats", range(2, 8))
def test_invariants_on_chance_deals(rules: Rules, seats: int) -> None:
    for seed in range(40):
        chance = chance_of(1000 * seats + seed)
        deal = OracleDeal(rules, seats, seed % seats, shuffled(seed), [0] * seats)
        result = finish(deal, chance).result
        assert result is not None
        if result.thrown_in:
            assert result.deltas == [0] * seats
            continue
        check_invariants(deal, result)


def check_invariants(deal: OracleDeal, result: OracleResult) -> None:
    """Section 1.0, "usable as property tests"."""
    worth = {"T": 10, "A": 4, "K": 3, "Q": 2, "J": 1}
    cards = [card for trick in deal.tricks for _, card in trick.plays]
    assert len(deal.tricks) == 6
    assert len(set(cards)) == 6 * deal.seats
    assert sum(result.pips) == sum(worth.get(card[0], 0) for card in cards) <= 80
    assert 2 <= sum(result.made) <= 4
    assert result.pitcher is not None
    assert result.bid is not None
    gain = result.deltas[result.pitcher]
    assert gain == -result.bid or result.bid <= gain <= 4
    others = [delta for seat, delta in enumerate(result.deltas) if seat != result.pitcher]
    assert all(0 <= delta <= 4 for delta in others)
    assert sum(delta for delta in result.deltas if delta > 0) <= 4
    top = max((card for card in cards if card[1] == result.trump), key=lambda card: "23456789TJQKA".index(card[0]))
    trick = next(trick for trick in deal.tricks if top in [card for _, card in trick.plays])
    assert result.items["H"] == trick.taker
    assert (result.items["H"], top) in trick.plays


def test_wrong_answers_are_refused_and_change_nothing() -> None:
    deal = OracleDeal(AUCTION_PITCH, 4, 3, stacked(HANDS, 3), [0] * 4)
    for wrong in [1, 5, -1, True, "2", 2.0, None, "STAND", frozenset({"AH"})]:
        assert not deal.judge(wrong)
    with pytest.raises(ValueError, match="not legal for seat 0, decision BID"):
        deal.act(1)
    run(deal, [2, 0, 0, 0])
    for wrong in ["QH", "ZZ", 2, None, frozenset({"AH"})]:
        assert not deal.judge(wrong)
    run(deal, PLAY)
    assert deal.kind is None
    assert not deal.judge("AH")
    assert deal.possible() == []
    with pytest.raises(ValueError, match="not legal"):
        deal.act("AH")


def test_what_does_not_fit_is_refused() -> None:
    deck = shuffled(1)
    with pytest.raises(ValueError, match="deck"):
        OracleDeal(AUCTION_PITCH, 4, 0, [*deck[:51], deck[0]], [0] * 4)
    with pytest.raises(ValueError, match="dealer"):
        OracleDeal(AUCTION_PITCH, 4, 4, deck, [0] * 4)
    with pytest.raises(ValueError, match="scores"):
        OracleDeal(PARTNERSHIP_PITCH, 4, 0, deck, [0] * 4)
    with pytest.raises(ValueError, match="sides"):
        OracleDeal(PARTNERSHIP_PITCH, 5, 0, deck, [0] * 2)
    with pytest.raises(ValueError, match="hand_size"):
        OracleDeal(with_rules(AUCTION_PITCH, hand_size=9), 6, 0, deck, [0] * 6)
    with pytest.raises(ValueError, match="low_to: 'both' is unknown"):
        OracleDeal(with_rules(AUCTION_PITCH, low_to="both"), 4, 0, deck, [0] * 4)
    with pytest.raises(ValueError, match="no discard is due but BID"):
        OracleDeal(AUCTION_PITCH, 4, 0, deck, [0] * 4).choice()
