"""Rulings in the words of version 0.1.0 are still confirmed; other words are not."""

import copy

import pytest

from referee.rules import Call, Kind
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, RecordError, replay
from referee.umpire.view import Turn
from tests.league.inprocess import Reply, record_of

ONE_BID = "[rules]\nmin_bid = 4\nsteal = []\n"


def always_gives(turn: Turn) -> Reply:
    if turn.kind is Kind.STAND_OR_BEG:
        return Call.BEG
    return Call.GIVE if turn.kind is Kind.ANSWER_BEG else fallback_move(turn)


def bids_too_high(turn: Turn) -> Reply:
    return 9 if turn.kind is Kind.BID and turn.decision == 0 else fallback_move(turn)


def reworded(record: Record, new: str, old: str) -> Record:
    """The record with these words of its rulings exchanged; there must be some."""
    changed = copy.deepcopy(record)
    found = [entry for entry in changed["irregular"] if new in entry["sentence"]]
    assert found
    for entry in found:
        entry["sentence"] = entry["sentence"].replace(new, old)
    return changed


def test_a_seat_that_was_counted_from_0() -> None:
    players = {"a": always_gives, "b": always_gives}
    record = record_of(players, variant="all-fours", seats=2, more="[rules]\ntarget = 1\n")
    number = next(
        int(words.split(" seat ")[1][0])
        for words in (entry["sentence"] for entry in record["irregular"])
        if "would put seat" in words
    )
    replay(record, fallback_move)
    replay(reworded(record, f"put seat {number} out", f"put seat {number - 1} out"), fallback_move)
    with pytest.raises(RecordError):
        replay(reworded(record, f"put seat {number} out", f"put seat {number + 1} out"), fallback_move)


def test_a_range_of_one_bid() -> None:
    record = record_of({"a": bids_too_high, "b": bids_too_high}, variant="auction-pitch", seats=2, more=ONE_BID)
    replay(record, fallback_move)
    replay(reworded(record, "a bid is 4, a pass", "a bid is 4 to 4, a pass"), fallback_move)
    with pytest.raises(RecordError):
        replay(reworded(record, "a bid is 4, a pass", "a bid is 4 to 5, a pass"), fallback_move)
