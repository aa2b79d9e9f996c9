"""Verification: the commitment, the definition and the schedule; and whatever else may stand in the file."""

import copy
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import parse_card
from referee.league.league import plan_of, read_league
from referee.league.store import Store
from referee.rules import Action, Kind
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import replay
from referee.umpire.umpire import Umpire
from referee.verification import second_engine
from referee.verification.result import KEPT, Check
from referee.verification.verify_game import StoredGame, check_game, packs_of
from tests.league.inprocess import play_league
from tests.league.tampered import edit_fact, edit_record, rows, sql
from tests.verification.findings import GAMES, PLAYERS, first, fixture_of, ruling_of, verdict

# Commitment, definition, schedule, sets.


def test_a_changed_master_is_named_and_every_pack_counted(league: Path) -> None:
    edit_fact(league, "master", lambda _: "11" * 32)
    found = verdict(league)
    assert [one.check for one in found.findings[:3]] == [Check.COMMITMENT, Check.COMMITMENT, Check.PACK]
    assert (found.findings[2].game, found.findings[2].deal) == (1, 1)
    assert found.findings[1].should == "that of the seed 'kitchen'"
    assert found.divergences == 2 + GAMES + 1  # and the record root


def test_more_divergences_than_are_named_are_counted(tmp_path: Path) -> None:
    path = play_league(tmp_path / "league.sqlite", PLAYERS, seats=4, sets=8, seed=None, length="deal")
    edit_fact(path, "master", lambda _: "11" * 32)
    found = verdict(path)
    assert len(found.findings) == KEPT
    assert found.divergences == 1 + 32 + 1  # and the record root
    assert f"and {34 - KEPT} more" in str(found)


@pytest.mark.parametrize(
    ("section", "field", "value", "checks"),
    [
        ("schedule", "seed", "parlour", {Check.DEFINITION, Check.COMMITMENT}),
        ("schedule", "sets", 5, {Check.DEFINITION, Check.COMMITMENT, Check.SCHEDULE}),
        ("limits", "move_ms", 4000, {Check.DEFINITION, Check.COMMITMENT, Check.RECORD}),
        ("rules", "target", 5, {Check.DEFINITION, Check.COMMITMENT}),
        ("tournament", "name", "Other", {Check.DEFINITION, Check.COMMITMENT}),
    ],
)
def test_a_changed_definition_is_named(
    league: Path, section: str, field: str, value: object, checks: set[Check]
) -> None:
    edit_fact(league, "definition", lambda text: text | {section: text[section] | {field: value}})
    found = verdict(league)
    assert (found.findings[0].check, found.findings[0].what) == (Check.DEFINITION, "digest of the definition")
    assert {one.check for one in found.findings} >= checks


def test_a_definition_that_cannot_be_read_is_named(league: Path) -> None:
    edit_fact(league, "definition", lambda text: text | {"tournament": {"name": ""}})
    odd = first(league)
    assert (odd.check, odd.what) == (Check.STORE, "league.sqlite cannot be read to its end")


def test_changed_rules_of_the_league_are_named(league: Path) -> None:
    edit_fact(league, "rules", lambda rules: rules | {"target": 9})
    odd = first(league)
    assert (odd.check, odd.what, odd.says, odd.should) == (Check.DEFINITION, "rules.target", "9", "7")


def test_an_entrant_of_another_version_is_another_schedule(league: Path) -> None:
    sql(
        league,
        'UPDATE entrant SET about = replace(about, \'"version":"1"\', \'"version":"2"\') WHERE key = \'careful\'',
    )
    found = verdict(league)
    assert found.findings[0].check is Check.SCHEDULE
    assert found.games == 0  # no stored game belongs to that schedule


def test_other_seats_of_a_fixture_are_named(league: Path) -> None:
    fixture = fixture_of(league, 1)
    seats = json.loads(rows(league, "SELECT seats FROM fixture WHERE id = ?", fixture)[0][0])
    sql(league, "UPDATE fixture SET seats = ? WHERE id = ?", json.dumps(seats[::-1]), fixture)
    odd = first(league)
    assert (odd.check, odd.fixture) == (Check.SCHEDULE, fixture)
    assert odd.says.startswith(", ".join(seats[::-1]))
    assert odd.should.startswith(", ".join(seats))


def test_a_changed_head_of_a_chain_is_named(league: Path) -> None:
    set_id = fixture_of(league, 1).rpartition("-")[0]
    sql(league, "UPDATE game_set SET chain = ? WHERE id = ?", "0" * 64, set_id)
    odd = first(league)
    assert (odd.check, odd.what) == (Check.CHAIN, f"head of the chain of set {set_id}")


@pytest.mark.parametrize(("state", "says"), [("OPEN", "OPEN"), ("VOID", "VOID without a reason")])
def test_a_set_that_is_neither_scored_nor_void_is_named(league: Path, state: str, says: str) -> None:
    set_id = fixture_of(league, 1).rpartition("-")[0]
    sql(league, "UPDATE game_set SET state = ? WHERE id = ?", state, set_id)
    odd = first(league)
    assert (odd.check, odd.says) == (Check.SETS, says)
    assert set_id in odd.what


def test_void_sets_are_told(league: Path) -> None:
    set_id = fixture_of(league, 1).rpartition("-")[0]
    with Store.write(league) as store:
        store.void_scored_set(set_id, "a reason")
    found = verdict(league)
    assert any("Sets that do not count: 1 void: a reason" in note for note in found.notes)
    assert {one.check for one in found.findings} == {Check.ROOT, Check.STANDINGS, Check.SETS}


# Whatever stands in the file.


@pytest.mark.parametrize("blob", [b"", b"rubbish", b"x\x9c" + b"\x00" * 40])
def test_a_record_that_cannot_be_read_is_named(league: Path, blob: bytes) -> None:
    sql(league, "UPDATE game SET record = ? WHERE number = 12", blob)
    odd = first(league)
    assert (odd.check, odd.what, odd.game) == (Check.RECORD, "it cannot be read", 12)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM league WHERE key = 'master'",
        "UPDATE league SET value = '\"zz\"' WHERE key = 'master'",
        "UPDATE league SET value = '{' WHERE key = 'name'",
        "UPDATE league SET value = '7' WHERE key = 'definition'",
        "UPDATE game SET summary = '[' WHERE number = 3",
        "UPDATE fixture SET seats = '7'",
        "UPDATE entrant SET about = '{}'",
    ],
)
def test_a_store_that_makes_no_sense_is_a_divergence_not_a_crash(league: Path, statement: str) -> None:
    sql(league, statement)
    odd = first(league)
    assert odd.check in (Check.STORE, Check.COMMITMENT)


def test_foreign_text_is_harmless_in_the_verdict(league: Path) -> None:
    bad = "\x1b[31m\u202e\r\n" * 200
    number, place = ruling_of(league, "CRASH")
    edit_record(league, number, lambda record: record["irregular"][place].update(sentence=bad))
    edit_fact(league, "standings", lambda table: table | {"seed": bad})
    sql(league, "UPDATE game_set SET state = 'VOID', reason = ? WHERE position = 0", bad)
    text = str(verdict(league))
    assert all(line.isprintable() and len(line) < 1000 for line in text.split("\n"))


def spots(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value that a replay can prove."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(spot for key, one in inner if key not in UNPROVABLE for spot in spots(one, (*path, key)))]


UNPROVABLE = ("volatile", "charged_us", "raw")
"""Times are measured, and the number of the turn that is in the raw bytes means nothing."""


@pytest.fixture(scope="module")
def cases(sound: Path) -> list[tuple[StoredGame, list[dict[str, Any]]]]:
    """Every game of the sound league as verification sees it, with the rows of its rulings."""
    with Store.read(sound) as store:
        league, rulings = read_league(store), store.rulings()
        plan, fixtures = plan_of(league, Path(), "none"), {row.id: row for row in store.fixtures()}
        return [
            (
                StoredGame(plan, packs_of(plan), game, fixtures[game.fixture_id], store.record(game.number)),
                [row for row in rulings if row["game"] == game.number],
            )
            for game in store.every_game()
        ]


@given(data=st.data())
def test_whatever_is_changed_in_a_record_is_found(
    cases: list[tuple[StoredGame, list[dict[str, Any]]]], data: st.DataObject
) -> None:
    """Even by somebody who makes the digests fit."""
    case, rulings = data.draw(st.sampled_from(cases))
    assert check_game(case, rulings).found == []
    record = copy.deepcopy(case.record)
    spot = data.draw(st.sampled_from(spots(record)[1:]))
    junk: st.SearchStrategy[object] = (
        st.none() | st.booleans() | st.integers(-5, 70) | st.text(max_size=3) | st.just([]) | st.just({})
    )
    value = data.draw(junk | st.sampled_from([10**30, -1, 0.5, "AS", "RETRY", "CRASH", "x" * 5000]))
    inner: Any = record
    for key in spot[:-1]:
        inner = inner[key]
    inner[spot[-1]] = "changed" if json.dumps(inner[spot[-1]]) == json.dumps(value) else value
    found = check_game(replace(case, record=record), rulings).found
    assert any(one.check is not Check.DIGEST and one.game == case.row.number for one in found)
    assert all(str(one).isprintable() for one in found)


def test_the_judge_takes_no_word_for_granted() -> None:
    """An action is put to the oracle in its own words, the impossible ones too."""
    words: list[tuple[Kind, Action, object]] = [
        (Kind.BID, 3, 3),
        (Kind.PLAY, parse_card("QH"), "QH"),
        (Kind.PLAY, 99, "card 99"),
        (Kind.NAME_TRUMP, 3, "S"),
        (Kind.NAME_TRUMP, 9, "suit 9"),
        (Kind.ANSWER_BEG, 4, "RUN"),
        (Kind.STAND_OR_BEG, 0, "call 0"),
        (Kind.DISCARD, 1 << parse_card("2C") | 1 << parse_card("AS"), frozenset({"2C", "AS"})),
        (Kind.DISCARD, -1, frozenset({"cards -1"})),
    ]
    for kind, action, word in words:
        assert second_engine.for_oracle(kind.name, action) == word


def test_a_table_that_is_not_finished_is_no_game(sound: Path) -> None:
    with Store.read(sound) as store:
        league, record = read_league(store), store.record(1)
    umpire: Umpire = replay(record, fallback_move)
    assert second_engine.judge_game(umpire).decisions == umpire.steps
    umpire.result = None
    with pytest.raises(second_engine.Disagreement, match="no result"):
        second_engine.judge_game(umpire)
    assert league.rules == umpire.spec.rules


def test_a_reader_sees_one_moment_while_others_write(league: Path) -> None:
    """Verification holds a snapshot: what is written meanwhile does not mix into it."""
    with Store.read(league) as reader, reader.snapshot():
        before = reader.sets()
        with sqlite3.connect(league) as db:
            db.execute("UPDATE game_set SET chain = 'x'")
        db.close()
        assert reader.sets() == before
    with Store.read(league) as reader:
        assert reader.sets() != before
