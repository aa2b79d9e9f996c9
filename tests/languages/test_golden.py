"""The golden turns are current, and what compares bots with them notices a difference."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from referee.bot import wire
from referee.league.entrants.bot_source import find_bot
from referee.rules import variant_names
from tests.languages import golden as runner
from tests.languages import write_golden
from tests.languages.golden_file import PATH, careful_move, golden, move_text, tally


def test_careful_decides_as_the_file_says() -> None:
    """Whatever the version of Python. If careful was changed: ``python -m tests.languages.write_golden``."""
    file = golden()
    wrong = [turn.turn_id for turn in file.turns if careful_move(file.read(turn)) != file.moves[turn.turn_id]]
    assert not wrong


def test_there_are_ten_thousand_turns_of_all_games_and_kinds() -> None:
    file = golden()
    assert len({turn.turn_id for turn in file.turns}) == len(file.moves) == 10_000
    assert all(0 < turn.turn_id < 2**53 for turn in file.turns)
    rows = {rules.rule_set_id: rules.name for rules in file.joined.rule_sets}
    assert {rows[turn.rule_set_id] for turn in file.turns} == set(variant_names())
    assert min(tally(map(file.read, file.turns)).values()) >= 100
    assert {turn.seats for turn in file.turns} == {2, 3, 4, 5, 6, 7}
    assert any(turn.discards for turn in file.turns)
    assert any(turn.retry == 0 and turn.trick and turn.sides for turn in file.turns)


@pytest.mark.parametrize("name", ["auction-pitch", "pidro"])
def test_the_file_is_what_the_generator_writes(name: str) -> None:
    file = golden()
    number = variant_names().index(name) + 1
    assert write_golden.turns_of(name) == [turn for turn in file.turns if turn.rule_set_id == number]
    assert write_golden.joined() == file.joined


def test_the_file_is_read_and_written_without_loss(tmp_path: Path) -> None:
    golden().write(tmp_path / "again")
    assert PATH.stat().st_size < 2_000_000
    # Libraries may compress otherwise; what is in it is the same.
    assert gzip.decompress((tmp_path / "again").read_bytes()) == gzip.decompress(PATH.read_bytes())


def test_a_bot_that_decides_otherwise_is_shown_with_its_positions() -> None:
    file = replace(golden(), turns=golden().turns[:200])
    outcome = runner.perform(find_bot("random", Path()), file)
    assert not outcome.failure
    found = list(runner.differences(file, outcome))
    assert 20 < len(found) < 200
    text = found[0].text(file)
    assert "hand " in text
    assert f"careful {move_text(found[0].careful)}\n  the bot {move_text(found[0].bot)}" in text
    report = runner.report("random", file, outcome, 1)
    assert f"{len(found)} of 200 turns differ" in report
    assert "exit code 0" in report


def test_a_bot_that_leaves_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "leaves.py").write_text("from referee.bot import run\nrun(lambda turn: 1 / 0)\n")
    outcome = runner.perform(find_bot("leaves.py", tmp_path), replace(golden(), turns=golden().turns[:2]))
    assert "CRASH" in outcome.failure
    assert "ZeroDivisionError" in runner.report("leaves", golden(), outcome, 1)


def test_moves_are_said_in_words() -> None:
    moves = (wire.Move(bid=0), wire.Move(card=wire.CARD_QH), wire.Move(suit=wire.SUIT_SPADES), wire.Move(), None)
    assert [move_text(move) for move in moves] == ["pass", "QH", "spades", "keep nothing", "no answer"]
