"""Actions and events: packing, text, and the lazy list of ways to keep cards."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import CardError, cards_in, hand_text, mask_of, parse_card, parse_hand
from referee.rules import Call, Event, EventKind, Keeps, Kind, action_text, event_text, unpack_event
from referee.rules.actions import CARD_EVENTS, legal_text, pack_event, parse_action, played_card

HAND = parse_hand("AS KS 2H 9C")


# Events


@given(st.sampled_from(EventKind), st.integers(0, 6), st.integers(0, 255))
def test_an_event_is_one_number(kind: EventKind, seat: int, value: int) -> None:
    event = pack_event(kind, seat, value)
    assert event == kind << 16 | seat << 8 | value
    assert unpack_event(event) == Event(kind, seat, value)


@pytest.mark.parametrize("event", [0, 15 << 16, -1])
def test_a_kind_of_event_that_does_not_exist_is_refused(event: int) -> None:
    with pytest.raises(ValueError, match="is not a valid EventKind"):
        unpack_event(event)


def test_the_card_of_a_play() -> None:
    assert played_card(pack_event(EventKind.PLAY, 3, parse_card("QH"))) == parse_card("QH")
    assert played_card(pack_event(EventKind.SHOW, 3, parse_card("QH"))) is None
    assert EventKind.PLAY in CARD_EVENTS
    assert EventKind.BID not in CARD_EVENTS


def test_numbers_of_kinds_and_calls_are_those_of_the_wire() -> None:
    assert [kind.name for kind in Kind] == ["BID", "STAND_OR_BEG", "ANSWER_BEG", "NAME_TRUMP", "DISCARD", "PLAY"]
    assert [kind.value for kind in Kind] == [1, 2, 3, 4, 5, 6]
    assert [(call.name, call.value) for call in Call] == [("STAND", 1), ("BEG", 2), ("GIVE", 3), ("RUN", 4)]
    assert [kind.value for kind in EventKind] == list(range(1, 15))


# Text


TEXTS = [
    (Kind.BID, 0, "pass"),
    (Kind.BID, 3, "3"),
    (Kind.PLAY, parse_card("QH"), "QH"),
    (Kind.NAME_TRUMP, 2, "hearts"),
    (Kind.STAND_OR_BEG, Call.BEG, "beg"),
    (Kind.ANSWER_BEG, Call.RUN, "run"),
    (Kind.DISCARD, HAND, "keep AS KS 2H 9C"),
]


@pytest.mark.parametrize(("kind", "action", "text"), TEXTS)
def test_an_action_has_a_text_that_is_read_back(kind: Kind, action: int, text: str) -> None:
    assert action_text(kind, action) == text
    assert parse_action(kind, text) == action
    assert parse_action(kind, f" {text.upper() if kind is not Kind.DISCARD else text} ") == action


@pytest.mark.parametrize(
    ("kind", "action", "text"),
    [
        (Kind.BID, 99, "99"),
        (Kind.PLAY, 0, "card number 0"),
        (Kind.PLAY, -1, "card number -1"),
        (Kind.NAME_TRUMP, 4, "suit number 4"),
        (Kind.NAME_TRUMP, -1, "suit number -1"),
        (Kind.STAND_OR_BEG, 9, "call number 9"),
    ],
)
def test_an_action_that_cannot_be_has_a_text_too(kind: Kind, action: int, text: str) -> None:
    assert action_text(kind, action) == text


@pytest.mark.parametrize("word", ["p", "-", "PASS"])
def test_a_pass_may_be_written_short(word: str) -> None:
    assert parse_action(Kind.BID, word) == 0


def test_a_suit_may_be_written_short() -> None:
    assert [parse_action(Kind.NAME_TRUMP, letter) for letter in "CdHs"] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("kind", "text", "error", "said"),
    [
        (Kind.BID, "two", ValueError, "two"),
        (Kind.PLAY, "1H", CardError, "'1H' is not a card: write rank then suit"),
        (Kind.NAME_TRUMP, "stars", CardError, "'stars' is not a suit: write clubs, diamonds, hearts, spades"),
        (Kind.DISCARD, "keep AS AS", CardError, "AS is named twice"),
        (Kind.STAND_OR_BEG, "plead", ValueError, "'plead' is not a call: write stand, beg, give or run"),
    ],
)
def test_a_text_that_means_nothing_is_refused(kind: Kind, text: str, error: type[ValueError], said: str) -> None:
    with pytest.raises(error, match=said):
        parse_action(kind, text)


def test_what_was_legal_is_listed_as_a_person_would() -> None:
    assert legal_text(Kind.BID, (0, 3, 4)) == "pass, 3, 4"
    assert legal_text(Kind.PLAY, cards_in(HAND)) == "AS KS 2H 9C"
    assert legal_text(Kind.ANSWER_BEG, (Call.GIVE, Call.RUN)) == "give, run"
    assert legal_text(Kind.DISCARD, Keeps(parse_hand("2H"), HAND, 3)) == "keep 3 cards: 2H and 2 of AS KS 9C"
    assert legal_text(Kind.DISCARD, Keeps(0, HAND, 3)) == "keep 3 cards: 3 of AS KS 2H 9C"


# Keeps


@pytest.mark.parametrize(("must", "size"), [("", 2), ("2H", 3), ("AS 9C", 2), ("", 0), ("", 4)])
def test_every_way_to_keep_cards_once_in_order(must: str, size: int) -> None:
    forced = parse_hand(must)
    keeps = Keeps(forced, HAND, size)
    free = [card for card in cards_in(HAND) if not forced >> card & 1]
    expected = [forced | mask_of(chosen) for chosen in combinations(free, size - forced.bit_count())]
    assert list(keeps) == expected
    assert len(keeps) == len(expected)
    assert keeps[0] == expected[0]
    assert keeps[-1] == expected[-1]
    assert keeps[1:3] == expected[1:3]
    for index in (len(expected), -len(expected) - 1):
        with pytest.raises(IndexError):
            keeps[index]


def test_more_that_must_be_kept_than_may_be_leaves_no_way() -> None:
    keeps = Keeps(parse_hand("AS KS 2H"), HAND, 2)
    assert list(keeps) == []
    assert parse_hand("AS KS") not in keeps


@pytest.mark.parametrize("kept", ["2H AS KS", "2H AS 9C", "2H KS 9C"])
def test_a_way_to_keep_is_contained(kept: str) -> None:
    assert parse_hand(kept) in Keeps(parse_hand("2H"), HAND, 3)


@pytest.mark.parametrize("kept", ["AS KS 9C", "2H AS", "2H AS KS 9C", "2H AS QD", ""])
def test_another_hand_is_not(kept: str) -> None:
    assert parse_hand(kept) not in Keeps(parse_hand("2H"), HAND, 3)


def test_what_is_no_number_is_not_contained() -> None:
    text: object = "2H AS KS"
    assert text not in Keeps(parse_hand("2H"), HAND, 3)


def test_a_huge_choice_needs_no_room() -> None:
    keeps = Keeps(0, parse_hand("AC KC QC JC TC 9C 8C 7C 6C 5C 4C 3C 2C AD KD QD JD TD 9D 8D 7D 6D 5D 4D 3D"), 6)
    assert len(keeps) == 177_100
    assert hand_text(keeps[0]) == "7C 6C 5C 4C 3C 2C"
    assert hand_text(keeps[177_099]) == "AD KD QD JD TD 9D"


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (EventKind.BID, 0, "seat 2: pass"),
        (EventKind.BID, 3, "seat 2: 3"),
        (EventKind.STAND, 0, "seat 2: stands"),
        (EventKind.BEG, 0, "seat 2: begs"),
        (EventKind.GIVE, 0, "seat 2: gives"),
        (EventKind.RUN, 0, "seat 2: runs the cards"),
        (EventKind.TURN_UP, parse_card("JC"), "seat 2: turns up JC"),
        (EventKind.NAME_TRUMP, 2, "seat 2: names hearts"),
        (EventKind.DISCARD, 4, "seat 2: lays 4 away"),
        (EventKind.SHOW, parse_card("5D"), "seat 2: shows 5D laid away"),
        (EventKind.DRAW, 3, "seat 2: draws 3"),
        (EventKind.TAKE, parse_card("AS"), "seat 2: takes AS"),
        (EventKind.STOCK_TOP, parse_card("TH"), "seat 2: uncovers TH on the stock"),
        (EventKind.PLAY, parse_card("QH"), "seat 2: QH"),
        (EventKind.SCORE, 3, "seat 2: scores 3 at once"),
    ],
)
def test_an_event_as_a_line_of_a_log(kind: EventKind, value: int, text: str) -> None:
    assert event_text(pack_event(kind, 1, value)) == text
