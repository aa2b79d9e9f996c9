"""Playing the tricks: legal cards, the clauses they break, who wins (AF-PLAY, AF-TRUMP)."""

from collections.abc import Mapping
from typing import Any

import pytest

from referee.cards import PACK, card_text, parse_card, parse_hand
from referee.rules import Kind
from tests.helpers import CONCEIVABLE, legal_cards, pitch, play, start, taker_of, to_play

STRICT = {"follow": "strict"}
HAND = "AS 3S TH 2H KD 9C"


def broken(
    hand: str, table: str, card: str, trump: str | None = "H", rules: Mapping[str, Any] | None = None
) -> str | None:
    violation = to_play(hand, table, trump, rules or {}).verify(parse_card(card))
    return violation.rule if violation else None


def sentence(hand: str, table: str, card: str, rules: Mapping[str, Any] | None = None) -> str:
    violation = to_play(hand, table, "H", rules or {}).verify(parse_card(card))
    assert violation is not None
    return violation.sentence


# AF-PLAY-001: a card of one's own


@pytest.mark.parametrize("table", ["", "7S", "9H", "7S QH"])
def test_a_card_of_ones_own_may_be_played_another_not(table: str) -> None:
    deal = to_play(HAND, table)
    held = parse_hand(HAND)
    for card in PACK:
        violation = deal.verify(card)
        assert (violation is not None and violation.rule == "AF-PLAY-001") is (not held >> card & 1)


def test_the_sentence_names_the_card() -> None:
    assert sentence(HAND, "7S", "QS") == "You do not hold QS."


@pytest.mark.parametrize("number", [-1, 0, 1, 15, 16, 63, 64, 10**30])
def test_a_number_that_is_no_card_is_refused(number: int) -> None:
    violation = to_play(HAND, "7S").verify(number)
    assert violation is not None
    assert (violation.rule, violation.sentence) == ("AF-PLAY-001", f"{number} is not the number of a card.")


def test_a_card_already_played_is_not_held() -> None:
    deal = play(pitch(start(["AH KS", "2H 3S"]), 0, 2), "AH 2H")
    violation = deal.verify(parse_card("AH"))
    assert violation is not None
    assert violation.rule == "AF-PLAY-001"


# AF-PLAY-002: trump led


def test_trump_led_is_followed() -> None:
    assert legal_cards(to_play(HAND, "9H")) == "TH 2H"
    assert broken(HAND, "9H", "2H") is None
    assert broken(HAND, "9H", "AS") == "AF-PLAY-002"
    assert sentence(HAND, "9H", "AS") == "Trump 9H was led and you hold TH 2H: play a trump."


def test_trump_led_is_followed_where_following_is_strict() -> None:
    assert broken(HAND, "9H", "AS", rules=STRICT) == "AF-PLAY-002"
    assert broken(HAND, "9H", "2H", rules=STRICT) is None


def test_trump_led_by_the_pitch_itself_is_followed() -> None:
    deal = play(pitch(start(["9H 2C", "TH AS"]), 0, 2), "9H")
    assert legal_cards(deal) == "TH"


# AF-PLAY-003: plain suit led


@pytest.mark.parametrize(("card", "rule"), [("AS", None), ("3S", None), ("TH", None), ("2H", None)])
def test_a_plain_suit_is_followed_or_trumped(card: str, rule: str | None) -> None:
    assert broken(HAND, "7S", card) == rule


@pytest.mark.parametrize("card", ["KD", "9C"])
def test_a_third_suit_is_a_revoke(card: str) -> None:
    assert broken(HAND, "7S", card) == "AF-PLAY-003"
    assert sentence(HAND, "7S", card) == "7S was led and you hold AS 3S: play spades or a trump (hearts)."


def test_a_trump_need_not_beat_the_trump_on_the_table() -> None:
    assert legal_cards(to_play(HAND, "7S QH")) == "AS 3S TH 2H"


# AF-PLAY-004: strict following


def test_strictly_a_plain_suit_is_followed() -> None:
    assert legal_cards(to_play(HAND, "7S", rules=STRICT)) == "AS 3S"
    assert broken(HAND, "7S", "3S", rules=STRICT) is None


@pytest.mark.parametrize("card", ["TH", "KD"])
def test_strictly_neither_trump_nor_third_suit_may_be_played(card: str) -> None:
    assert broken(HAND, "7S", card, rules=STRICT) == "AF-PLAY-004"
    assert sentence(HAND, "7S", card, STRICT) == "7S was led and you hold AS 3S: follow suit."


# AF-PLAY-006: leading, and being void


@pytest.mark.parametrize("rules", [{}, STRICT])
def test_the_leader_plays_any_card(rules: Mapping[str, Any]) -> None:
    assert legal_cards(to_play(HAND, "", rules=rules)) == HAND
    assert legal_cards(to_play(HAND, "", None, rules)) == HAND


@pytest.mark.parametrize("rules", [{}, STRICT])
def test_a_void_seat_plays_any_card(rules: Mapping[str, Any]) -> None:
    assert legal_cards(to_play("TH KD 4C", "7S", rules=rules)) == "TH KD 4C"
    assert legal_cards(to_play("AS KD 4C", "9H", rules=rules)) == "AS KD 4C"


def test_verify_and_legal_agree_on_every_number() -> None:
    for table in ("", "7S", "9H", "KD", "2C", "7S QH"):
        for rules in ({}, STRICT):
            deal = to_play(HAND, table, rules=rules)
            allowed = [card for card in CONCEIVABLE[Kind.PLAY] if deal.verify(card) is None]
            assert allowed == list(deal.legal())


# AF-TRUMP-001 and AF-PLAY-007


@pytest.mark.parametrize("card", ["AH", "2C", "9D", "KS"])
def test_the_pitch_makes_trump(card: str) -> None:
    deal = pitch(start([f"{card} 3H 4C", "5H 5C 5D"]), 0, 2)
    assert deal.trump is None
    play(deal, card)
    assert deal.trump == parse_card(card) >> 4


@pytest.mark.parametrize("pitcher", [0, 1, 2, 3])
def test_the_pitcher_leads_whoever_dealt(pitcher: int) -> None:
    deal = pitch(start(["AH 2C", "KH 3C", "QH 4C", "JH 5C"]), pitcher, 2)
    assert (deal.seat, deal.leader) == (pitcher, pitcher)


@pytest.mark.parametrize(
    ("cards", "trump", "winner"),
    [
        ("KS 3S AS 2H", "H", 3),
        ("KS 2H AS 3H", "H", 3),
        ("KS 3H AS 2H", "H", 1),
        ("5C AD KC 9C", "H", 2),
        ("5C AD KD QD", "H", 0),
        ("2H AS KS QS", "H", 0),
        ("TD 7D JD 4D", "H", 2),
        ("2C 3C", "D", 1),
        ("AC 2D 3D 4D 5D 6D 7D", "D", 6),
    ],
)
def test_the_winner_of_a_trick(cards: str, trump: str, winner: int) -> None:
    assert taker_of(cards, trump)[0] == winner


def test_the_winner_leads_next_and_takes_the_cards() -> None:
    deal = play(pitch(start(["2H 3S", "AH 4S", "9H 5S"]), 0, 2), "2H AH 9H")
    assert (deal.seat, deal.leader, deal.trick) == (1, 1, [])
    assert deal.taken == [0, parse_hand("2H AH 9H"), 0]
    assert deal.played == [parse_hand("2H"), parse_hand("AH"), parse_hand("9H")]


def test_play_goes_clockwise_from_the_leader() -> None:
    deal = pitch(start(["AH 2C", "KH 3C", "QH 4C", "JH 5C"]), 2, 2)
    seats = []
    for card in ("QH", "JH", "AH", "KH"):
        seats.append(deal.seat)
        play(deal, card)
    assert seats == [2, 3, 0, 1]
    assert deal.seat == 0


def test_every_card_played_is_a_public_event() -> None:
    deal = play(pitch(start(["AH 2C", "KH 3C"]), 0, 2), "AH KH")
    assert deal.history[2:] == [13 << 16 | parse_card("AH"), 13 << 16 | 1 << 8 | parse_card("KH")]
    assert [card_text(event & 0xFF) for event in deal.history[2:]] == ["AH", "KH"]
