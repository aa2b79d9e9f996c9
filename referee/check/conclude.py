"""The end of a check: verdicts and witnesses go into the event log, witnesses to disk; and the log as one document."""

import datetime as dt
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import referee
from referee.check.events import Event
from referee.check.exam import Result
from referee.check.plan import Plan
from referee.check.verdict import Exit, Judgement, Row
from referee.check.witness import witness_json, write_witness

FORMAT: Final = "allfours-check/1"

Document = dict[str, Any]
"""A whole report as JSON values; every format is rendered from it."""


def open_log(plan: Plan, command: str, emit: Any, sandbox: str) -> None:
    """Notes what is about to be checked."""
    emit(
        "started",
        format="allfours-check-events/1",
        referee=referee.__version__,
        bot=plan.name,
        version=plan.version,
        digest=plan.digest,
        command=command,
        games=[rules.name for rules in plan.games],
        seats=list(plan.seats),
        rules=list(plan.selection.rules),
        areas=list(plan.selection.areas),
        edition=plan.selection.edition,
        seed=plan.seed,
        move_ms=plan.limits.move_us // 1000,
        sandbox=sandbox,
        at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def conclude(result: Result, judgement: Judgement, failures: Path | None, games: Sequence[Any], replay: str) -> None:
    """Writes every witness to ``failures`` and all verdicts to the log. ``replay`` is the command to which a file is added."""
    emit = result.scribe.log.emit
    sandbox = result.scribe.process.sandbox if result.scribe.process else "remote"
    for row in judgement.rows:
        witness: dict[str, Any] | None = None
        if row.witness is not None:
            data = witness_json(row.witness, row.requirement, result.plan, sandbox, games, result.scribe.deals)
            path = write_witness(data, failures) if failures is not None else None
            witness = {
                "file": str(path) if path else "",
                "replay": f"{replay} {path}" if path else "",
                **{
                    name: data[name]
                    for name in (
                        "what",
                        "fault",
                        "needs",
                        "shown_by",
                        "asked_again",
                        "origin",
                        "poke",
                        "scene",
                        "log_tail",
                    )
                },
                "messages": data["messages"][-2:],
            }
        emit("verdict", **_verdict(row), witness=witness)
    _finish(result, judgement)


def _verdict(row: Row) -> dict[str, Any]:
    entry = row.requirement
    return {
        "rule": entry.id,
        "key": entry.key,
        "variant": entry.variant,
        "title": entry.clause.title,
        "sentence": entry.sentence,
        "level": str(entry.clause.level),
        "source": entry.clause.source,
        "differs": entry.clause.differs,
        "verdict": str(row.verdict),
        "opportunities": row.opportunities,
        "least_opportunities": row.least,
        "breaches": row.breaches,
        "exercised": row.exercised,
        "reason": row.reason,
        "hint": row.hint,
        "issue": row.excuse.issue if row.excuse else "",
    }


def _finish(result: Result, judgement: Judgement) -> None:
    scribe = result.scribe
    scribe.log.emit(
        "finished",
        exit_code=int(judgement.exit_code),
        outcome=outcome_text(judgement.exit_code),
        exercised=len(judgement.exercised),
        applicable=len(judgement.applicable),
        answers=scribe.tally.answers,
        deals=scribe.deals,
        asked_seconds=result.plan.seconds,
        least_seconds=round(result.least_seconds, 1),
        stopped=result.stopped,
        not_ready=result.not_ready,
        baseline=list(judgement.baseline),
        not_asked_for=dict(scribe.tally.others),
        doctor=result.plan.only_doctor,
        by_default=result.by_default,
        talk=scribe.talk if result.plan.only_doctor or result.not_ready or not scribe.tally.answers else [],
        log=str(result.plan.log_path),
    )


def outcome_text(code: Exit) -> str:
    """An exit code in a word or two."""
    return {
        Exit.CONFORMS: "conforms",
        Exit.FAILS: "does not conform",
        Exit.USAGE: "asked wrongly",
        Exit.INCOMPLETE: "incomplete",
        Exit.NOT_READY: "never became ready",
        Exit.HARNESS: "the harness failed",
        Exit.CANNOT_REPLAY: "cannot be replayed",
        Exit.INTERRUPTED: "interrupted",
    }[code]


def document(runs: Iterable[Sequence[Event]]) -> Document:
    """The document of one or several checks, from their events."""
    return {"format": FORMAT, "referee": referee.__version__, "runs": [_run(events) for events in runs]}


def _run(events: Sequence[Event]) -> dict[str, Any]:
    started = _only(events, "started")
    finished = _only(events, "finished")
    joined = _only(events, "joined")
    facts = {
        name: value
        for name, value in {**started, **finished}.items()
        if name not in ("event", "ms", "format", "referee")
    }
    return {
        **facts,
        "seconds": round(finished.get("ms", 0) / 1000, 1),
        "joined": {name: value for name, value in joined.items() if name not in ("event", "ms")},
        "checked": joined.get("games", started.get("games", [])),
        "verdicts": [
            {name: value for name, value in event.items() if name not in ("event", "ms")}
            for event in events
            if event["event"] == "verdict"
        ],
    }


def _only(events: Sequence[Event], name: str) -> Event:
    return next((event for event in events if event["event"] == name), {})
