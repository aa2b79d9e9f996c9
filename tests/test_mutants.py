"""The tool behind ``make mutants``: which faults it makes, and which it leaves."""

import ast

import pytest

from tests.mutants import all_mutants
from tests.mutants_report import wilson
from tests.mutations import mutants_of


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("x = a < b", ["x = a < b -> x = None", "a < b -> a <= b"]),
        (
            "x = a & 1 if b else 'c'",
            ["a & 1 if b else 'c' -> 'c' if b else a & 1", "a & 1 -> a | 1", "1 -> 2", "'c' -> 'c?'"],
        ),
        ("if not a: raise b", ["not a -> a", "raise b -> pass"]),
        ("def f(): return a and b", ["return a and b -> return None", "a and b -> a or b"]),
        ("a += True", ["a += True -> a -= True", "a += True -> pass", "True -> False"]),
    ],
)
def test_the_faults_of_a_line(source: str, changes: list[str]) -> None:
    found = [mutant.change for mutant in mutants_of("m", source)]
    assert [change for change in changes if change not in found] == []
    trees = {ast.dump(mutant.apply()) for mutant in mutants_of("m", source)}
    assert len(trees) == len(found)
    assert ast.dump(ast.parse(source)) not in trees


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "__all__ = ['a']",
        "x: int",
        "def f(x: 'int') -> 'bool': ...",
        "from a import b",
        "f('a sentence for people')",
        "Violation(rule, f'{x} is no card')",
        "if TYPE_CHECKING:\n    x = 1",
    ],
)
def test_what_is_not_for_the_machine_is_left_alone(source: str) -> None:
    found = [mutant.change for mutant in mutants_of("m", source)]
    assert [change for change in found if not change.endswith("-> pass")] == []


def test_every_fault_of_the_rules_has_its_own_id() -> None:
    ids = [mutant.id for mutant in all_mutants([])]
    assert len(ids) > 2000
    assert len(set(ids)) == len(ids)
    with pytest.raises(SystemExit, match="no module nothing in referee/rules"):
        all_mutants(["play", "nothing"])


def test_the_interval_of_a_share() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(95, 100)
    assert (round(low, 3), round(high, 3)) == (0.888, 0.978)
    assert wilson(10, 10)[1] == pytest.approx(1.0)
