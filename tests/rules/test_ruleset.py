"""House rules as data: types, sense, errors that name the field and the remedy, reading and writing."""

import json
from dataclasses import FrozenInstanceError, fields
from random import Random
from typing import Any

import pytest
from hypothesis import given

from referee.rules import RuleSet, RuleSetError, variant, variant_names
from referee.rules.ruleset import allowed_values, meanings
from tests.helpers import chances, random_rules

PITCH = variant("auction-pitch")
NAMES = tuple(field.name for field in fields(RuleSet))


def refused(changes: dict[str, Any]) -> RuleSetError:
    with pytest.raises(RuleSetError) as caught:
        PITCH.with_rules(changes)
    return caught.value


def test_a_rule_set_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        PITCH.target = 11  # type: ignore[misc]
    assert PITCH.with_rules({"target": 11}).target == 11
    assert PITCH.target == 7


def test_equal_rules_are_equal_and_hash_alike() -> None:
    assert PITCH.with_rules({"target": 11}).with_rules({"target": 7}) == PITCH
    assert hash(PITCH.with_rules({})) == hash(PITCH)


def test_every_house_rule_says_what_it_means() -> None:
    assert tuple(meanings()) == NAMES
    assert all(meaning.endswith(".") for meaning in meanings().values())


CHOICES = tuple(name for name in NAMES if allowed_values(name))


def test_numbers_and_lists_have_no_list_of_values() -> None:
    assert {"target", "steal", "players", "name"}.isdisjoint(CHOICES)
    assert {"low_to", "follow", "pitcher_first"} <= set(CHOICES)


def stands_in(rules: RuleSet, name: str, value: object) -> bool:
    """Whether the game can be played with that house rule, all others being its own."""
    try:
        return bool(getattr(rules.with_rules({name: value}), name) == value)
    except RuleSetError:
        return False


@pytest.mark.parametrize("name", CHOICES)
def test_every_allowed_value_is_accepted_and_no_other(name: str) -> None:
    """A value need not make sense in Pitch, but it does in some game of the registry."""
    for value in allowed_values(name) or ():
        assert any(stands_in(rules, name, value) for rules in map(variant, variant_names())), value
    assert refused({name: "whatever"}).field == name


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        # the type is wrong
        ({"target": "7"}, "target", "'7' is not a whole number"),
        ({"target": 7.0}, "target", "7.0 is not a whole number"),
        ({"target": True}, "target", "True is not a whole number"),
        ({"target": None}, "target", "None is not a whole number"),
        ({"top_bid_ends": 1}, "top_bid_ends", "1 is not true or false"),
        ({"title": 5}, "title", "5 is not a text"),
        ({"low_to": "owner"}, "low_to", "'owner' is not one of 'holder', 'taker'"),
        ({"low_to": ["holder"]}, "low_to", "['holder'] is not one of"),
        ({"steal": 2}, "steal", "2 is not a list"),
        ({"steal": ["2"]}, "steal", "'2' is not a whole number"),
        ({"players": [2]}, "players", "[2] needs 2 entries"),
        ({"players": [2, 4, 6]}, "players", "[2, 4, 6] needs 2 entries"),
        ({"point_cards": {"A": "one"}}, "point_cards", "'one' is not a whole number"),
        ({"point_cards": [["A"]]}, "point_cards", "['A'] needs 2 entries"),
        # the value makes no sense
        ({"players": (1, 4)}, "players", "the family is played by 2 to 7"),
        ({"players": (5, 4)}, "players", "the family is played by 2 to 7"),
        ({"players": (2, 8)}, "players", "the family is played by 2 to 7"),
        ({"hand_size": 0}, "hand_size", "a hand has 1 to 26 cards"),
        ({"hand_size": 27}, "hand_size", "a hand has 1 to 26 cards"),
        ({"packet": 0}, "packet", "a packet has from one card to the whole hand"),
        ({"packet": 7}, "packet", "a packet has from one card to the whole hand"),
        ({"packet": 4}, "packet", "6 cards do not divide into it"),
        ({"sides": 1}, "sides", "0 is each for self, else 2 or 3 sides"),
        ({"sides": 4}, "sides", "0 is each for self, else 2 or 3 sides"),
        ({"min_bid": 0}, "min_bid", "it must lie between 1 and max_bid (4)"),
        ({"min_bid": 5}, "min_bid", "it must lie between 1 and max_bid (4)"),
        ({"max_bid": 256, "smudge": "none"}, "max_bid", "a bid is at most 255"),
        ({"steal": (2, 5)}, "steal", "the amounts must lie between 2 and 4"),
        ({"steal": (1,)}, "steal", "the amounts must lie between 2 and 4"),
        ({"min_bid": 3}, "steal", "the amounts must lie between 3 and 4"),
        ({"steal": (3, 2)}, "steal", "name each amount once, ascending"),
        ({"steal": (2, 2)}, "steal", "name each amount once, ascending"),
        ({"max_bid": 5}, "smudge", "it means a bid of four: use it with max_bid = 4"),
        ({"max_bid": 3}, "smudge", "it means a bid of four: use it with max_bid = 4"),
        ({"target": 0}, "target", "it must lie between 1 and 1000"),
        ({"target": 1001}, "target", "it must lie between 1 and 1000"),
        ({"max_deals": 0}, "max_deals", "it must lie between 1 and 10000"),
        ({"max_deals": 10_001}, "max_deals", "it must lie between 1 and 10000"),
        ({"game_points": 0}, "game_points", "it must lie between 1 and 10"),
        ({"game_points": 11}, "game_points", "it must lie between 1 and 10"),
        ({"hang_jack": 0}, "hang_jack", "it must lie between 1 and 10"),
        ({"hang_jack": 11}, "hang_jack", "it must lie between 1 and 10"),
        ({"sides": 2}, "settlement", "no source settles stakes between sides"),
        (
            {"settlement": "none", "settlement_set_backs": True},
            "settlement_set_backs",
            "it needs settlement = 'stakes'",
        ),
        # there is no such rule
        ({"low": "taker"}, "low", "no such house rule; the house rules are name, title, players, sides,"),
    ],
)
def test_a_refusal_names_the_field_and_what_is_allowed(changes: dict[str, Any], field: str, said: str) -> None:
    error = refused(changes)
    assert error.field == field
    assert str(error).startswith(f"{field}: ")
    assert said in str(error)


@pytest.mark.parametrize(
    "changes",
    [
        {"hand_size": 1, "packet": 1},
        {"hand_size": 26, "packet": 2},
        {"packet": 6},
        {"min_bid": 4, "steal": ()},
        {"max_bid": 22, "smudge": "none", "game_points": 10, "hang_jack": 10},
        {"steal": ()},
        {"steal": (2, 3, 4)},
        {"target": 1},
        {"target": 1000},
        {"max_deals": 1},
        {"max_deals": 10_000},
        {"game_points": 10},
        {"hang_jack": 10},
        {"players": (2, 2)},
        {"players": (7, 7)},
        {"sides": 3, "settlement": "none"},
        {"settlement_set_backs": True},
    ],
)
def test_the_outermost_values_are_accepted(changes: dict[str, Any]) -> None:
    rules = PITCH.with_rules(changes)
    assert {name: getattr(rules, name) for name in changes} == changes


def test_lists_and_tables_are_read_as_files_write_them() -> None:
    rules = variant("pedro").with_rules(
        {"steal": [2], "max_bid": 6, "players": [3, 5], "point_cards": {"A": 1, "5": 5}}
    )
    assert (rules.steal, rules.players, rules.point_cards) == ((2,), (3, 5), (("A", 1), ("5", 5)))
    assert (
        variant("pedro").with_rules({"max_bid": 6, "point_cards": [["A", 1], ["5", 5]]}).point_cards
        == rules.point_cards
    )


@given(chances())
def test_what_is_written_is_read_back(chance: Random) -> None:
    rules, _ = random_rules(chance)
    text = json.dumps(rules.as_dict())
    assert RuleSet.from_dict(json.loads(text)) == rules
    assert tuple(rules.as_dict()) == NAMES


def test_reading_refuses_unknown_and_missing_fields() -> None:
    with pytest.raises(RuleSetError, match=r"^jokers: no such house rule; the house rules are name, title") as unknown:
        RuleSet.from_dict({**PITCH.as_dict(), "jokers": 2})
    assert unknown.value.field == "jokers"
    with pytest.raises(RuleSetError, match=r"^title: it is missing, and has no default$") as missing:
        RuleSet.from_dict({"name": "mine"})
    assert missing.value.field == "title"
    mine = RuleSet.from_dict({"name": "mine", "title": "My game", "players": [2, 4]})
    assert mine == PITCH.with_rules({"name": "mine", "title": "My game", "players": (2, 4)})


# Seats


@pytest.mark.parametrize("seats", range(2, 8))
def test_auction_pitch_is_for_two_to_seven(seats: int) -> None:
    PITCH.check_seats(seats)
    assert PITCH.side_count(seats) == seats


@pytest.mark.parametrize(
    ("changes", "seats", "field", "said"),
    [
        ({}, 1, "seats", "Auction Pitch is for 2 to 7 players, not 1"),
        ({}, 8, "seats", "Auction Pitch is for 2 to 7 players, not 8"),
        ({"sides": 2, "settlement": "none"}, 5, "sides", "5 seats cannot form 2 equal sides"),
        ({"sides": 3, "settlement": "none"}, 4, "sides", "4 seats cannot form 3 equal sides"),
        ({"hand_size": 9}, 6, "hand_size", "6 hands of 9 need more than 52 cards"),
        ({"game_tie": "non_dealer"}, 3, "game_tie", "'non_dealer' names nobody among more than two sides; use 'elder'"),
    ],
)
def test_too_few_too_many_or_uneven_seats_are_refused(
    changes: dict[str, Any], seats: int, field: str, said: str
) -> None:
    with pytest.raises(RuleSetError) as caught:
        PITCH.with_rules(changes).check_seats(seats)
    assert caught.value.field == field
    assert str(caught.value) == f"{field}: {said}"


def test_seats_that_just_fit_are_accepted() -> None:
    PITCH.with_rules({"hand_size": 26, "packet": 1}).check_seats(2)
    PITCH.with_rules({"game_tie": "non_dealer"}).check_seats(2)
    sides = PITCH.with_rules({"sides": 2, "settlement": "none", "game_tie": "non_dealer"})
    sides.check_seats(6)
    assert sides.side_count(6) == 2
