"""Legal cards and trick winners: examples 1 to 24 of the rule book."""

import pytest

from referee.oracle.decisions import legal_cards, trick_taker
from referee.oracle.house_rules import AUCTION_PITCH, CINCH, PEDRO_LOUISIANA, TRINIDAD, Rules
from referee.oracle.pack import PACK, cards_of_suit


def legal(rules: Rules, hand: str, lying: str) -> list[str]:
    """Legal cards, trump hearts, `lying` the cards on the trick."""
    plays = list(enumerate(lying.split()))
    return sorted(legal_cards(rules, hand.split(), plays, "H"))


@pytest.mark.parametrize(
    ("lying", "hand", "expected"),
    [
        pytest.param("7S", "AS 3S TH 2H KD 9C", "AS 3S TH 2H", id="example_1_follow_or_trump"),
        pytest.param("9H", "AS TH 2H KD", "TH 2H", id="example_2_trump_led_must_follow"),
        pytest.param("9H", "AS KD 4C", "AS KD 4C", id="example_3_void_in_trump"),
        pytest.param("7S", "TH KD 4C", "TH KD 4C", id="example_4_no_duty_to_trump"),
        pytest.param("7S QH", "AS 2H KH", "AS 2H KH", id="example_6_may_ruff_below"),
        pytest.param("7S", "QS 8S", "QS 8S", id="example_10_no_trump_held"),
    ],
)
def test_legal_cards_in_pitch(lying: str, hand: str, expected: str) -> None:
    assert legal(AUCTION_PITCH, hand, lying) == sorted(expected.split())


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        pytest.param("AS 2H KH", "AS KH", id="example_7_no_undertrump"),
        pytest.param("2H 3H", "2H 3H", id="example_9_hand_is_all_trumps"),
        pytest.param("2H KD", "KD", id="void_but_not_all_trumps"),
    ],
)
def test_trinidad_bars_undertrumping(hand: str, expected: str) -> None:
    assert legal(TRINIDAD, hand, "7S QH") == sorted(expected.split())


def test_trinidad_trump_led_is_no_undertrump() -> None:
    assert legal(TRINIDAD, "2H 3D", "QH") == ["2H"]


@pytest.mark.parametrize(
    ("lying", "hand", "expected"),
    [
        pytest.param("2D", "5D AD 9D KC", "AD 9D 5D", id="example_12_left_pedro_is_a_ruff"),
        pytest.param("3H", "5D AD KC", "5D", id="example_14_left_pedro_must_follow_trump"),
        pytest.param("2D", "5D KC", "5D KC", id="left_pedro_does_not_follow_its_printed_suit"),
        pytest.param("5D", "3H AD", "3H", id="left_pedro_led_is_trump_led"),
    ],
)
def test_legal_cards_in_cinch(lying: str, hand: str, expected: str) -> None:
    assert legal(CINCH, hand, lying) == sorted(expected.split())


def test_strict_follow_trumps_only_when_void() -> None:
    strict = {**PEDRO_LOUISIANA, "follow": "strict"}
    assert legal(strict, "AS 3S TH KD", "7S") == ["3S", "AS"]
    assert legal(strict, "TH KD", "7S") == ["KD", "TH"]


@pytest.mark.parametrize(
    ("rules", "cards", "taker"),
    [
        pytest.param(AUCTION_PITCH, "KS 3S AS 2H", "D", id="example_15_lowest_trump_beats_ace"),
        pytest.param(AUCTION_PITCH, "5C AD KC 9C", "C", id="example_16_off_suit_ace"),
        pytest.param(AUCTION_PITCH, "2C AD KS QD", "A", id="example_18_nobody_followed"),
        pytest.param(AUCTION_PITCH, "3H AS 2H KS", "A", id="example_19_trump_led"),
        pytest.param(AUCTION_PITCH, "TD 7D JD 4D", "C", id="example_20_jack_outranks_ten"),
        pytest.param(CINCH, "5H 5D 4H 6H", "D", id="example_21_six_over_both_pedros"),
        pytest.param(CINCH, "5D 4H 3H 5H", "D", id="example_22_right_over_left_pedro"),
        pytest.param(CINCH, "5D 4H 3H 2H", "A", id="left_pedro_over_four"),
        pytest.param(CINCH, "KD 5D AD 9D", "B", id="example_24_left_pedro_trumps"),
    ],
)
def test_trick_winner(rules: Rules, cards: str, taker: str) -> None:
    assert "ABCD"[trick_taker(rules, list(enumerate(cards.split())), "H")] == taker


def test_example_89_fourteen_trumps_for_each_suit() -> None:
    for trump in "CDHS":
        suits = {suit: cards_of_suit(suit, trump, True) for suit in "CDHS"}
        assert sorted(map(len, suits.values())) == [12, 13, 13, 14]
        assert len(suits[trump]) == 14
        assert sorted(card for cards in suits.values() for card in cards) == sorted(PACK)
    assert cards_of_suit("H", "H", True) == ["2H", "3H", "4H", "5D", "5H", *[rank + "H" for rank in "6789TJQKA"]]
