"""What the tests of the check need again and again is at hand: Python bots that start at once, and the positions of a game."""

from functools import cache, partial

import pytest

from referee.check import probes
from referee.check.probes import ProbePlan
from referee.rules import RuleSet
from referee.sandbox import launch
from tests import warm_start
from tests.shared import made_once

FOUND = probes._positions


@pytest.fixture(autouse=True)
def at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forks bots from one that has imported what they import; looks for positions once in a run, not once a worker."""
    monkeypatch.setattr(launch, "_spawn", warm_start.spawn)
    monkeypatch.setattr(probes, "_positions", positions)


@cache
def positions(
    rules: RuleSet, counts: tuple[int, ...], wanted: frozenset[str], seed: str, most: int, looks: int
) -> ProbePlan:
    """The positions of one game, found by whichever worker needs them first."""
    key = f"positions {rules.as_dict()} {counts} {sorted(wanted)} {seed} {most} {looks}"
    return made_once(key, partial(FOUND, rules, counts, wanted, seed, most, looks))
