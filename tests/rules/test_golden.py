"""The golden records: one whole game of every variant, confirmed by the umpire to the last field."""

import copy
import json
from typing import Any

import pytest

from referee.cards import parse_cards, parse_hand
from referee.rules import Game, Kind, RuleSet, parse_action, variant_names
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import RecordError, canonical, replay, seat_record, write_record
from tests.rules.write_golden import FOLDER, text

NAMES = variant_names()


def golden(name: str) -> dict[str, Any]:
    """The record as the umpire wrote it: with all house rules."""
    record: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return record | {"rules": RuleSet.from_dict(record["rules"]).as_dict()}


def test_there_is_one_for_every_variant() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_umpire_confirms_it(name: str) -> None:
    record = golden(name)
    umpire = replay(record, fallback_move)
    again = write_record(umpire, {"variant": name})
    assert canonical(again) == canonical(record)
    assert (FOLDER / f"{name}.json").read_text("utf-8") == text(record)
    assert RuleSet.from_dict(record["rules"]).name == name
    assert [entry["fault"] for entry in record["irregular"]] == ["TIMEOUT_MOVE", "ILLEGAL_ACTION"]


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_alone_lead_to_the_same_end(name: str) -> None:
    """Without the umpire: every action of the record, in the order of its kinds, is legal and ends in the same scores."""
    record = golden(name)
    rules = RuleSet.from_dict(record["rules"])
    game = Game(rules, record["seat_count"], record["first_dealer"])
    for entry in record["deals"]:
        deal = game.deal_pack(parse_cards(entry["pack"]))
        words = {
            Kind.BID: entry["bids"].split(),
            Kind.STAND_OR_BEG: (calls := entry.get("calls", "").split()),
            Kind.ANSWER_BEG: calls,
            Kind.NAME_TRUMP: entry.get("named", "").split(),
            Kind.DISCARD: entry.get("kept", [])[:],
            Kind.PLAY: " ".join(entry["tricks"]).split(),
        }
        while deal.kind is not None:
            deal.act(parse_action(deal.kind, words[deal.kind].pop(0)))
        assert not any(words.values())
        assert deal.outcome is not None
        assert (str(deal.outcome.ending), list(deal.outcome.deltas)) == (entry["ending"], entry["deltas"])
        result = game.close(deal.outcome)
    assert result is not None
    assert (str(result.reason), list(result.scores), result.winner) == (
        record["result"]["reason"],
        record["result"]["scores"],
        record["result"]["winner"],
    )


def changed(record: dict[str, Any], field: str, number: int, value: object) -> dict[str, Any]:
    other = copy.deepcopy(record)
    deal = next(deal for deal in other["deals"] if deal.get(field))
    if isinstance(deal[field], list):
        deal[field][number] = value
    else:
        deal[field] = value
    return other


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("all-fours", "calls", "stand stand"),
        ("all-fours", "turned", "AS"),
        ("cinch", "named", "stars"),
        ("cinch", "named", ""),
        ("pidro", "kept", "AS"),
        ("trinidad", "at_once", {"item": "gift", "seat": 0, "points": 9}),
    ],
)
def test_a_record_that_says_something_else_is_not_confirmed(name: str, field: str, value: object) -> None:
    record = golden(name)
    assert any(deal.get(field) for deal in record["deals"])
    with pytest.raises(RecordError):
        replay(changed(record, field, 0, value), fallback_move)


@pytest.mark.parametrize("name", ["all-fours-partners", "cinch", "pidro"])
def test_a_seat_is_not_given_what_the_others_kept(name: str) -> None:
    record = golden(name)
    assert any(deal.get("kept") for deal in record["deals"])
    for seat in range(record["seat_count"]):
        part = seat_record(record, seat)
        for whole, deal in zip(record["deals"], part["deals"], strict=True):
            assert "pack" not in deal
            own = (seat - whole["dealer"] - 1) % record["seat_count"]
            for place, kept in enumerate(deal.get("kept", [])):
                assert parse_hand(kept) == (parse_hand(whole["kept"][place]) if place == own else 0)
