"""The tester is tested: every faulty bot of the zoo fails its own rule and no other; no good bot is ever flagged.

The bots are listed in docs/testing.md; ``python -m tests.check.zoo.write_matrix`` writes that list.
"""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from referee.check.judge import CheckExit, Verdict
from referee.check.plan import clock
from referee.check.replay import ReplayOutcome, replay
from referee.check.requirements import Selection
from referee.check.results import EventLog
from referee.check.witness import read_witnesses
from referee.rules import variant, variant_names
from referee.rules.conduct_clauses import WHOLE_BOOK
from referee.rules.rulebook import Level, clauses_of
from tests.check.helpers import broken, examined, zoo_plan
from tests.check.zoo.checked import faulty_checked, faulty_plan
from tests.check.zoo.good import GOOD
from tests.check.zoo.mutants import MUTANTS
from tests.check.zoo.wires import ODD, WIRE_MUTANTS
from tests.check.zoo.write_matrix import PAGE, part

GAME_AREAS = ("BID", "PLAY", "TRUMP", "DRAW")
ODD_GAMES = {
    "answers-backwards": "cinch",
    "thinks-in-threads": "pidro",
    "answers-in-halves": "all-fours",
    "asks-for-much": "smudge",
    "asynchronous": "partnership-pitch",
}
"""Games in which clients that speak oddly are checked, where it is not Auction Pitch."""
UNSAYABLE = {"AF-TRUMP-002": "a fifth suit cannot be said on the wire: it is AF-PROTO-003"}
"""MUST clauses that no bot can break, and why."""


def needs_lives(rule: str) -> bool:
    return rule.split("-")[1] not in GAME_AREAS


def check_matrix(file: str, name: str, folder: Path, rule: str) -> None:
    """It is found to break its own rule and no other; every witness fails again with it, and with a fixed bot it does not."""
    found = faulty_checked(file, name, folder)
    assert found.exit_code is CheckExit.FAILS
    assert found.broken == {rule}
    witnesses = read_witnesses(folder / "failures")
    again = asyncio.run(replay(faulty_plan(file, name, folder), witnesses, EventLog()))
    assert {one.answer for one in again} == {ReplayOutcome.STILL_FAILS}, again
    mended = faulty_plan("good.py", "any-legal", folder, as_if=name)
    then = asyncio.run(replay(mended, witnesses, EventLog()))
    assert {one.answer for one in then} == {ReplayOutcome.FIXED}, then


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_fails_its_own_rule_and_no_other_and_again_until_it_is_mended(name: str, tmp_path: Path) -> None:
    check_matrix("mutants.py", name, tmp_path, MUTANTS[name].rule)


@pytest.mark.parametrize("name", WIRE_MUTANTS)
def test_so_does_a_client_that_speaks_wrongly(name: str, tmp_path: Path) -> None:
    check_matrix("wires.py", name, tmp_path, WIRE_MUTANTS[name].rule)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_bot_is_never_flagged(name: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"lives": 3}
    if name == "takes-its-time":  # only as much as a slow bot has to be asked
        rules = ("AF-BID-*", "AF-PLAY-*", "AF-LIFE-*", "AF-CLOCK-001")
        more |= {"limits": clock(1000), "deals": 0, "selection": Selection(rules=rules)}
    report = examined(zoo_plan("good.py", name, tmp_path, **more), strict=True)
    assert broken(report) == set()
    assert [row.requirement.id for row in report.judgement.rows if row.verdict is Verdict.UNTESTED] == []
    assert report.exit_code is CheckExit.CONFORMS


@pytest.mark.parametrize("name", ODD)
def test_a_client_that_speaks_oddly_is_never_flagged(name: str, tmp_path: Path) -> None:
    games = (variant(ODD_GAMES.get(name, "auction-pitch")),)
    report = examined(zoo_plan("wires.py", name, tmp_path, lives=3, games=games), strict=True)
    assert broken(report) == set()
    assert report.exit_code is CheckExit.CONFORMS


@pytest.mark.parametrize("name", variant_names())
def test_a_good_bot_passes_in_every_game_with_every_rule_exercised(name: str, tmp_path: Path) -> None:
    report = examined(zoo_plan("good.py", "any-legal", tmp_path, games=(variant(name),), lives=3, deals=0), strict=True)
    assert broken(report) == set()
    assert report.exit_code is CheckExit.CONFORMS
    assert len(report.judgement.exercised) == len(report.judgement.applicable)


@pytest.mark.parametrize("name", ["first-legal", "strangest-legal"])
def test_all_games_in_one_session(name: str, tmp_path: Path) -> None:
    games = tuple(map(variant, variant_names()))
    report = examined(zoo_plan("good.py", name, tmp_path, games=games, deals=60))
    assert broken(report) == set()
    assert not [row for row in report.judgement.rows if row.verdict is Verdict.UNTESTED and row.requirement.variant]


def test_there_is_a_mutant_for_every_must() -> None:
    """And for every clause that binds at all, but for those that no bot can break."""
    binding = {entry.id for entry in WHOLE_BOOK if entry.level is not Level.INFO and entry.id != "AF-ROBUST-007"}
    killed = {mutant.rule for mutant in (*MUTANTS.values(), *WIRE_MUTANTS.values())}
    assert binding - killed == set(UNSAYABLE)
    assert killed <= binding


def test_mutants_are_checked_where_their_rule_holds() -> None:
    for mutant in MUTANTS.values():
        rules = variant(mutant.game).with_rules(mutant.house_rules)
        if not needs_lives(mutant.rule):
            assert mutant.rule in {entry.id for entry in clauses_of(rules)}


def test_the_page_of_the_zoo_tells_of_every_bot() -> None:
    assert part() in PAGE.read_text("utf-8")


def test_the_zoo_is_large() -> None:
    assert len(MUTANTS) + len(WIRE_MUTANTS) >= 60
    assert len(GOOD) >= 12
