"""Shared by the tests of the checker: plans for bots of the zoo, and what came of a check."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from referee.check.judge import Verdict
from referee.check.plan import Plan, clock
from referee.check.results import line_of
from referee.check.run import Report, check
from referee.rules import RuleSet, variant
from referee.sandbox.command import Command

SCHEMAS: Final = Path(__file__).resolve().parents[2] / "referee" / "check" / "schemas"
ZOO: Final = Path(__file__).parent / "zoo"
BROKEN: Final = (Verdict.FAIL, Verdict.ERROR, Verdict.WARN, Verdict.FLAKY)


def bot(folder: Path, text: str, name: str = "bot") -> Command:
    """A bot of a few lines, written to a folder."""
    path = folder / f"{name}.py"
    path.write_text(text, "utf-8")
    return Command(argv=(sys.executable, path.name), folder=folder, name=name, only=(path.name,))


ANY_LEGAL: Final = "from referee.bot import run\nrun(lambda turn: turn.rng.choice(turn.legal))\n"


def plan_of(command: Command | None, folder: Path, **more: Any) -> Plan:
    """A short check of a bot, without a sandbox: 30 random deals, 10 s a move (the machine may be busy)."""
    games: Sequence[RuleSet] = more.pop("games", (variant("auction-pitch"),))
    usual = {
        "by_name": True,
        "sandbox": "none",
        "deals": 30,
        "limits": clock(10_000),
        "log_path": folder / "bot.log",
        "lives": 1,
    }
    return Plan(name=command.name if command else "remote", command=command, games=tuple(games), **(usual | more))


def zoo_plan(file: str, name: str, folder: Path, **more: Any) -> Plan:
    """A check of a bot of the zoo."""
    command = Command(argv=(sys.executable, file, name), folder=ZOO, name=name, environment={"ZOO_FOLDER": str(folder)})
    return plan_of(command, folder, **more)


def schema(name: str) -> Draft202012Validator:
    """The validator of one of the schemas that are shipped."""
    content = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(content)
    return Draft202012Validator(content)


def check_events(report: Report) -> None:
    """Every line of the event stream fits its schema."""
    validator = schema("event")
    for event in report.events:
        validator.validate(json.loads(line_of(event)))


def broken(report: Report) -> set[str]:
    """The ids of the rules that a bot was found to break."""
    return {row.requirement.id for row in report.judgement.rows if row.verdict in BROKEN}


def examined(plan: Plan, **more: Any) -> Report:
    """The report of a check."""
    return check(plan, **more)
