"""One call from a plan to a finished report, for the command line and for everybody else."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.check.baseline import Baseline
from referee.check.conclude import conclude, document, open_log
from referee.check.events import Event, EventLog
from referee.check.exam import Result, examine
from referee.check.plan import Plan
from referee.check.verdict import Exit, Judgement, judge


@dataclass(frozen=True, slots=True)
class Report:
    """What a check came to: its events, and the verdicts unless the bot never became ready."""

    events: list[Event]
    result: Result
    judgement: Judgement

    @property
    def exit_code(self) -> Exit:
        """The exit code of the check."""
        return self.judgement.exit_code

    @property
    def run(self) -> dict[str, Any]:
        """The document's part on this bot."""
        run: dict[str, Any] = document([self.events])["runs"][0]
        return run


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where a check leaves what it finds. ``command`` is how the bot is named on the command line."""

    failures: Path | None = None
    events: Path | None = None
    command: str = ""
    options: str = ""


def check(
    plan: Plan, outputs: Outputs | None = None, *, baseline: Baseline | None = None, strict: bool = False
) -> Report:
    """Checks a bot and judges it.

    Raises ``SelectionError`` for a filter that matches nothing, ``CaseError`` if the cases are garbled, ``OSError`` if
    a file or address cannot be had.
    """
    outputs = outputs or Outputs()
    with _log(outputs.events) as log:
        open_log(plan, outputs.command, log.emit, plan.sandbox)
        result = asyncio.run(examine(plan, log))
        if result.not_ready:
            judgement = Judgement((), Exit.NOT_READY)
        else:
            judgement = judge(result.tally, result.witnesses, baseline=baseline, strict=strict, stopped=result.stopped)
        games = [score.requirement.rules for score in result.tally if score.requirement.rules is not None]
        replay = f"referee check {outputs.command}{outputs.options} --replay"
        conclude(result, judgement, outputs.failures, list(dict.fromkeys(games)), replay)
        return Report(log.events, result, judgement)


@contextmanager
def _log(path: Path | None) -> Iterator[EventLog]:
    log = EventLog(path)
    try:
        yield log
    finally:
        log.close()
