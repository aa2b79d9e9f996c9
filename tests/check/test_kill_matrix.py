"""The tester is tested: every faulty bot of the zoo fails its own rule and no other; no good bot is ever flagged.

The rows of what came out stand in docs/zoo.md; ``python -m tests.check.zoo.write_matrix`` writes them.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.check.plan import clock
from referee.check.requirements import Selection
from referee.check.verdict import Exit, Verdict
from referee.rules import variant, variant_names
from referee.rules.clause import Level
from referee.rules.conduct import WHOLE_BOOK
from referee.rules.rulebook import clauses_of
from tests.check.helpers import broken, examined, zoo_plan
from tests.check.zoo.good import GOOD
from tests.check.zoo.mutants import MUTANTS
from tests.check.zoo.wires import WIRE_MUTANTS
from tests.check.zoo.write_matrix import HEAD, PAGE, entries, row, tail

GAME_AREAS = ("BID", "PLAY", "TRUMP", "DRAW")
SHORT = clock(1_500)
"""For bots that hang: each silence costs as much."""

SPECIAL: dict[str, dict[str, Any]] = {
    "renege-after-199-deals": {"deals": 400},
    "uses-up-its-game": {"limits": replace(clock(10_000), game_us=1_000_000), "deals": 0},
    "never-answers": {"limits": SHORT, "lives": 3},
    "never-answers-as-dealer": {"limits": SHORT, "lives": 3},
    "dozes-off-now-and-then": {"limits": SHORT, "lives": 3},
    "forgets-one-turn": {"limits": SHORT, "lives": 3},
    "answers-only-the-first": {"limits": SHORT, "lives": 3},
}

UNSAYABLE = {"AF-TRUMP-002": "a fifth suit cannot be said on the wire: it is AF-PROTO-003"}
"""MUST clauses that no bot can break, and why."""


def needs_lives(rule: str) -> bool:
    return rule.split("-")[1] not in GAME_AREAS


def found_of(file: str, name: str, folder: Path) -> set[str]:
    """The rules that a faulty bot is found to break, each bot checked in its own game."""
    if file == "mutants.py":
        mutant = MUTANTS[name]
        games = (variant(mutant.game).with_rules(mutant.house_rules),)
        more = {"games": games, "lives": 3 if needs_lives(mutant.rule) else 1}
    else:
        more = {"games": (variant(WIRE_MUTANTS[name].game),), "lives": 3}
    report = examined(zoo_plan(file, name, folder, **(more | SPECIAL.get(name, {}))), strict=True)
    assert report.exit_code is Exit.FAILS
    return broken(report)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_fails_its_own_rule_and_no_other(name: str, tmp_path: Path) -> None:
    assert found_of("mutants.py", name, tmp_path) == {MUTANTS[name].rule}, MUTANTS[name].about


@pytest.mark.parametrize("name", WIRE_MUTANTS)
def test_a_client_that_speaks_wrongly_fails_its_own_rule_and_no_other(name: str, tmp_path: Path) -> None:
    assert found_of("wires.py", name, tmp_path) == {WIRE_MUTANTS[name].rule}, WIRE_MUTANTS[name].about


@pytest.mark.parametrize("name", GOOD)
def test_a_good_bot_is_never_flagged(name: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"lives": 3}
    if name == "takes-its-time":  # only as much as a slow bot has to be asked
        rules = ("AF-BID-*", "AF-PLAY-*", "AF-LIFE-*", "AF-CLOCK-001")
        more |= {"limits": clock(1000), "deals": 0, "selection": Selection(rules=rules)}
    report = examined(zoo_plan("good.py", name, tmp_path, **more), strict=True)
    assert broken(report) == set()
    assert [row.requirement.id for row in report.judgement.rows if row.verdict is Verdict.UNTESTED] == []
    assert report.exit_code is Exit.CONFORMS


@pytest.mark.parametrize("name", variant_names())
def test_a_good_bot_passes_in_every_game_with_every_rule_exercised(name: str, tmp_path: Path) -> None:
    report = examined(zoo_plan("good.py", "any-legal", tmp_path, games=(variant(name),), lives=3, deals=0), strict=True)
    assert broken(report) == set()
    assert report.exit_code is Exit.CONFORMS
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
    text = PAGE.read_text("utf-8")
    assert text.startswith(HEAD.format(bad=len(MUTANTS) + len(WIRE_MUTANTS), good=len(GOOD)))
    for _, name, about, game, rule in entries():
        assert row(name, about, game, rule, rule) in text
    assert text.endswith(tail())


def test_the_zoo_is_large() -> None:
    assert len(MUTANTS) + len(WIRE_MUTANTS) >= 60
    assert len(GOOD) >= 12
