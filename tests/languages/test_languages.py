"""Every sample bot in every language: built, clean, short; it decides as careful in Python does, and keeps the rules.

A language whose tools are missing is skipped with one line; with CI=true that is an error.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.bot import EventKind, Kind, parse_cards, wire
from referee.bot._session import FLUSH_S
from referee.league.entrants.new_bot import TITLES, languages, new_bot
from referee.rules import variant_names
from tests.languages import golden as runner
from tests.languages.golden_file import careful_move, golden, in_order
from tests.languages.tools import (
    BOTS,
    LANGUAGES,
    MOST_LINES,
    ROOT,
    begin_with,
    build,
    built,
    command,
    lines_of,
    params,
    place_of,
    run,
)

VECTORS = Path(__file__).resolve().parents[1] / "vectors"

pytestmark = pytest.mark.timeout(7200)  # the first build of a machine fetches what it needs


def test_there_are_samples_in_all_languages() -> None:
    assert languages() == tuple(LANGUAGES)
    assert all((ROOT / language / bot / "bot.toml").is_file() for language in LANGUAGES for bot in BOTS)


@pytest.mark.parametrize(("language", "bot"), params(*BOTS))
def test_it_is_built_clean_and_short(language: str, bot: str) -> None:
    source = built(language, bot)
    assert source.name == (bot if language == "python" else f"{bot}-{language}")
    done = run(["sh", "-c", LANGUAGES[language].clean], source.folder, place_of(language, source.folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines_of(language, bot) <= MOST_LINES[bot]


@pytest.mark.parametrize(("language", "bot"), params("careful"))
def test_careful_decides_as_the_python_one_on_all_golden_turns(language: str, bot: str) -> None:
    outcome = runner.perform(built(language, bot), golden())
    report = runner.report(f"{bot} in {language}", golden(), outcome, 3)
    assert not outcome.failure, report
    assert not list(runner.differences(golden(), outcome)), report
    most = (
        2 * len(golden().turns) / 64 + outcome.seconds / FLUSH_S
    )  # what is done is sent when so much time has gone by
    assert outcome.messages <= most, "the moves of a batch come in one message"
    assert outcome.exit is not None, "it does not leave after Farewell"
    assert outcome.exit.code == 0


@pytest.mark.parametrize(("language", "bot"), params(*BOTS))
def test_it_keeps_every_rule_of_every_game(language: str, bot: str, tmp_path: Path) -> None:
    """In a sandbox where that works, as in a league."""
    folder = str(built(language, bot).folder)
    checked = command("check", folder, "--variant", "all", "--deals", "100", "--report", "json=r.json", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    (report,) = json.loads((tmp_path / "r.json").read_text())["runs"]
    assert report["joined"]["games"] == list(variant_names())
    assert report["joined"]["language"] == TITLES[language].lower()
    not_met = [row["key"] for row in report["verdicts"] if row["level"] == "MUST" and not row["exercised"]]
    assert not not_met


@pytest.mark.parametrize(("language", "bot"), params(*BOTS))
def test_its_cards_are_legal_in_every_position_of_the_vectors(language: str, bot: str) -> None:
    """And careful takes the same: who wins a trick, and what is a trump, is in these positions."""
    file = replace(golden(), turns=tuple(vector_turns()), moves={})
    file.moves.update({turn.turn_id: careful_move(file.read(turn)) for turn in file.turns})
    outcome = runner.perform(built(language, bot), file)
    assert not outcome.failure, outcome.failure
    for turn in file.turns:
        assert outcome.moves[turn.turn_id].card in turn.options.cards
    if bot == "careful":
        assert not [one.text(file) for one in runner.differences(file, outcome)]


def vector_turns() -> list[wire.Turn]:
    """The positions of legal.json as turns: the seat after the cards on the table has to play."""
    cases = json.loads((VECTORS / "legal.json").read_text("utf-8"))["cases"]
    known = set(variant_names())
    plain = [case for case in cases if set(case["rules"]) == {"variant"} and case["rules"]["variant"] in known]
    assert len(plain) > 30
    return [_vector_turn(number, case) for number, case in enumerate(plain, 1)]


def _vector_turn(number: int, case: dict[str, Any]) -> wire.Turn:
    table, hand = parse_cards(case["table"]), parse_cards(case["hand"])
    seats = max(len(table) + 1, 4)
    turn: Any = wire.Turn(turn_id=number, kind=Kind.PLAY, seat=len(table), seats=seats, dealer=seats - 1)
    turn.rule_set_id = 1 + variant_names().index(case["rules"]["variant"])
    turn.trump = 0 if case["trump"] is None else 1 + "CDHS".index(case["trump"])
    turn.trick_leader, turn.target = 0, 7
    turn.hand.extend(sorted(hand))
    turn.trick.extend(table)
    turn.history.extend(EventKind.PLAY << 16 | seat << 8 | card for seat, card in enumerate(table))
    turn.options.cards.extend(sorted(parse_cards(case["legal"])))
    return turn  # type: ignore[no-any-return]


@pytest.mark.parametrize(("language", "bot"), [one for one in params("random") if one.values[0] != "python"])
def test_a_new_project_is_built_and_passes_the_check(language: str, bot: str, tmp_path: Path) -> None:
    """What has been fetched and compiled for the sample is used again, where the tool can do that."""
    project = new_bot(language, "brand-new", tmp_path, sample=bot)
    sample = built(language, bot)
    begin_with(sample.folder, project.folder)
    build(language, project.folder)
    checked = command("check", ".", "--deals", "20", folder=project.folder)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "brand-new 1 in auction-pitch: conforms" in checked.stdout


def test_the_moves_of_the_golden_file_are_in_order() -> None:
    assert all(in_order(wire.Move.FromString(move.SerializeToString())) == move for move in golden().moves.values())
