"""Cards as numbers, hands as masks, both as text."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee import cards
from referee.cards import (
    PACK,
    PACK_MASK,
    PIPS,
    SUIT_MASKS,
    SUIT_NAMES,
    CardError,
    card_text,
    cards_in,
    cards_text,
    hand_text,
    is_card,
    iter_suits,
    mask_of,
    parse_card,
    parse_cards,
    parse_hand,
    pips_in,
    rank_of,
    suit_of,
)
from referee.protocol.allfours.v1 import cards_pb2

HANDS = st.sets(st.sampled_from(PACK))


def test_the_examples_of_the_docstring_hold() -> None:
    assert doctest.testmod(cards).attempted > 0
    assert doctest.testmod(cards).failed == 0


def test_the_pack_has_52_cards_ascending() -> None:
    assert len(PACK) == len(set(PACK)) == 52
    assert list(PACK) == sorted(PACK)
    assert mask_of(PACK) == PACK_MASK
    assert PACK_MASK < 1 << 64


def test_numbers_of_cards_are_those_of_the_wire() -> None:
    for card in PACK:
        assert cards_pb2.Card.Value(f"CARD_{card_text(card)}") == card
    assert len(cards_pb2.Card.values()) == 53  # and the zero value


def test_suits_and_ranks() -> None:
    assert (suit_of(parse_card("2C")), rank_of(parse_card("2C"))) == (0, 2)
    assert (suit_of(parse_card("AS")), rank_of(parse_card("AS"))) == (3, 14)
    assert [SUIT_NAMES[suit_of(parse_card(f"9{letter}"))] for letter in "CDHS"] == list(SUIT_NAMES)
    assert all(mask.bit_count() == 13 for mask in SUIT_MASKS)
    assert sum(SUIT_MASKS) == PACK_MASK


def test_aces_are_high_and_a_jack_is_above_a_ten() -> None:
    assert [card_text(card)[0] for card in PACK[:13]] == list("23456789TJQKA")


def test_pips() -> None:
    assert {card_text(card): PIPS[card] for card in PACK if PIPS[card] and suit_of(card) == 2} == {
        "TH": 10,
        "JH": 1,
        "QH": 2,
        "KH": 3,
        "AH": 4,
    }
    assert pips_in(PACK_MASK) == 80
    assert pips_in(0) == 0
    assert [pips_in(mask) for mask in SUIT_MASKS] == [20] * 4


@given(st.integers(-100, 200))
def test_a_number_is_a_card_or_has_no_text(number: int) -> None:
    if is_card(number):
        assert parse_card(card_text(number)) == number
    else:
        assert number not in PACK
        with pytest.raises(CardError, match=f"{number} is not the number of a card"):
            card_text(number)


@given(HANDS)
def test_a_hand_is_a_set(hand: set[int]) -> None:
    mask = mask_of(hand)
    assert set(cards_in(mask)) == hand
    assert list(cards_in(mask)) == sorted(hand)
    assert mask.bit_count() == len(hand)
    assert parse_hand(hand_text(mask)) == mask
    assert list(iter_suits(mask)) == sorted({suit_of(card) for card in hand})
    assert pips_in(mask) == sum(PIPS[card] for card in hand)


@given(st.permutations(PACK))
def test_cards_in_order_are_read_back_in_order(pack: list[int]) -> None:
    assert parse_cards(cards_text(pack)) == tuple(pack)


def test_a_hand_is_written_as_a_person_sorts_it() -> None:
    assert hand_text(parse_hand("2C TD AS 3H QH 9S")) == "AS 9S QH 3H TD 2C"
    assert hand_text(0) == ""
    assert parse_hand("") == 0


@pytest.mark.parametrize("text", ["QH", "qh", " Qh "])
def test_a_card_is_read_in_either_case(text: str) -> None:
    assert card_text(parse_card(text)) == "QH"


@pytest.mark.parametrize("text", ["", "H", "10H", "1H", "QX", "HQ", "Q H", "QHH", "♥Q"])
def test_what_is_no_card_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(CardError, match="is not a card: write rank then suit, such as QH, TS or 2C"):
        parse_card(text)


def test_a_card_named_twice_is_refused() -> None:
    with pytest.raises(CardError, match="qh is named twice"):
        parse_hand("QH AS qh")
    with pytest.raises(CardError, match="AS is named twice"):
        parse_cards("AS 2H AS")
