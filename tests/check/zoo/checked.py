"""The check of a faulty bot of the zoo, made once in a run of the tests, whichever worker comes first."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from referee.check.judge import CheckExit
from referee.check.plan import Plan, clock
from referee.check.run import Outputs
from referee.rules import variant
from tests.check.helpers import broken, examined, zoo_plan
from tests.check.zoo.mutants import MUTANTS
from tests.check.zoo.wires import WIRE_MUTANTS
from tests.shared import made_once

SHORT = clock(1_000)
"""For bots that hang: each silence costs as much."""

SPECIAL: dict[str, dict[str, Any]] = {
    "renege-after-199-deals": {"deals": 400},
    "uses-up-its-game": {"limits": replace(clock(10_000), game_us=2_000_000), "deals": 0, "seconds": 0.0},
    "never-answers": {"limits": SHORT, "lives": 3},
    "never-answers-as-dealer": {"limits": SHORT, "lives": 3},
    "dozes-off-now-and-then": {"limits": SHORT, "lives": 3},
    "dozes-off-seldom": {"limits": SHORT, "lives": 3},
    "forgets-one-turn": {"limits": SHORT, "lives": 3},
    "answers-only-the-first": {"limits": SHORT, "lives": 3},
    "waits-for-the-beginning": {"limits": SHORT, "lives": 3},
    "never-names-trump": {"limits": SHORT, "lives": 3},
    "cuts-batches": {"limits": SHORT, "lives": 3},
    "loses-the-last-of-a-mixture": {"limits": SHORT, "lives": 3},
    "lingers-after-farewell": {"limits": SHORT, "lives": 3},
}


@dataclass(frozen=True)
class FaultyChecked:
    """What came of a check: the rules that were broken, and the files of the witnesses by name."""

    exit_code: CheckExit
    broken: set[str]
    witnesses: dict[str, str]


def faulty_plan(file: str, name: str, folder: Path, *, as_if: str = "") -> Plan:
    """The check of a faulty bot in its own game; ``as_if`` names the faulty bot that a good one stands in for."""
    faulty = as_if or name
    mutant = MUTANTS.get(faulty) or WIRE_MUTANTS[faulty]
    games = (variant(mutant.game).with_rules(getattr(mutant, "house_rules", {})),)
    return zoo_plan(file, name, folder, **({"games": games, "lives": 3} | SPECIAL.get(faulty, {})))


def faulty_checked(file: str, name: str, folder: Path) -> FaultyChecked:
    """The check of a faulty bot in this folder, unless it was made before. Its witnesses are in ``failures``."""
    found = made_once(f"check of {file} {name}", partial(_check, file, name, folder))
    failures = folder / "failures"
    if not failures.exists():
        failures.mkdir(parents=True)
        for witness, text in found.witnesses.items():
            (failures / witness).write_text(text, "utf-8")
    return found


def _check(file: str, name: str, folder: Path) -> FaultyChecked:
    failures = folder / "failures"
    report = examined(faulty_plan(file, name, folder), strict=True, outputs=Outputs(failures, command=name))
    witnesses = {path.name: path.read_text("utf-8") for path in failures.glob("*")}
    return FaultyChecked(report.exit_code, broken(report), witnesses)
