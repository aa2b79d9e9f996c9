"""One check of one bot from a plan to a finished report: probes, verdicts, witnesses on disk, and the event log as one document."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import referee
from referee.check.attribution import find_blame
from referee.check.judge import Baseline, CheckExit, Judgement, RuleVerdict, judge
from referee.check.plan import Plan
from referee.check.probes import at_random, directed, doctor, long_games, perturbations, probe_plan, whole_games
from referee.check.recorder import Recorder
from referee.check.requirements import SelectionError, cannot_arise, requirements
from referee.check.restarts import endurance, later_lives, leave_again, line_lost
from referee.check.results import Coverage, Event, EventLog
from referee.check.runner import BrokenAgainError, CheckRunner
from referee.check.sampling import seat_counts, seats_of
from referee.check.shrink import Witnesses
from referee.check.witness import witness_json, write_witness
from referee.protocol import wire


@dataclass(slots=True, kw_only=True)
class Result:
    """What a check has found out: the tally, the witnesses, and why it could not begin or go on, if so.

    ``least_seconds`` is how long it took to ask the least that every check asks. ``not_ready`` is the reason why the bot never joined, ``stopped`` why the check ended early. ``by_default``: neither
    the bot nor anybody else said which games it plays.
    """

    plan: Plan
    recorder: Recorder
    witnesses: Witnesses = field(default_factory=Witnesses)
    not_ready: str = ""
    stopped: str = ""
    by_default: bool = False
    least_seconds: float = 0.0

    @property
    def tally(self) -> Coverage:
        """The scores."""
        return self.recorder.tally


async def examine(plan: Plan, log: EventLog, *, until: str = "") -> Result:
    """Checks a bot; ``until`` is the key of a rule: once that is broken, nothing more is asked.

    Raises ``SelectionError`` if filters leave nothing to check, ``OSError`` if no endpoint can be had.
    """
    plan.selection.check()
    _check_seats(plan)
    recorder = Recorder(log)
    result = Result(plan=plan, recorder=recorder)
    started = asyncio.get_running_loop().time()
    async with CheckRunner.set_up(plan, recorder, until) as runner:
        result.not_ready = await runner.start()
        if result.not_ready:
            recorder.talk = runner.subject.talk.to_json()
            return result
        _open_tally(runner, result)
        with contextlib.suppress(BrokenAgainError):
            await _all_lives(runner, result)
        if recorder.stumble:
            recorder.tally.flaky["AF-LIFE-001"] = f"{recorder.stumble} Started once more it joined."
        result.stopped = runner.over
        result.least_seconds = asyncio.get_running_loop().time() - started - runner.further_seconds
    return result


async def _all_lives(runner: CheckRunner, result: Result) -> None:
    plan = result.plan
    await _first_life(runner, result)
    if not plan.only_doctor and plan.lives > 1:
        await later_lives(runner, result.witnesses)
    if not plan.only_doctor:
        await leave_again(runner)


def _open_tally(runner: CheckRunner, result: Result) -> None:
    """Counts from now on what is asked for in the games that the bot plays; those that it does not claim are waived."""
    plan, recorder = result.plan, result.recorder
    join = runner.subject.joined_with
    said = plan.by_name or plan.claims or len(plan.games) > 1 or (join is not None and join.variants)
    result.by_default = not said
    unclaimed = [rules for rules in plan.games if plan.by_name and rules not in runner.games]
    recorder.tally = Coverage(requirements([*runner.games, *unclaimed], plan.selection))
    for rules in unclaimed:
        for score in recorder.tally:
            if score.requirement.variant == rules.name:
                recorder.tally.waive(score.requirement.id, "it does not claim this game", rules.name)
    for rules in runner.games:
        for rule, reason in cannot_arise(rules, seats_of(rules, plan.seats)).items():
            recorder.tally.waive(rule, f"it cannot arise here: {reason}", rules.name)
    recorder.tally.chance("AF-LIFE-001", "start")


def _check_seats(plan: Plan) -> None:
    """Raises ``SelectionError`` if a game that was named, or every one, cannot be played by so many."""
    unfit = [rules for rules in plan.games if not seats_of(rules, plan.seats)]
    if unfit and (plan.by_name or len(unfit) == len(plan.games)):
        counts = " or ".join(map(str, seat_counts(unfit[0])))
        raise SelectionError(f"--seats: {unfit[0].title} is for {counts} players")


async def _first_life(runner: CheckRunner, result: Result) -> None:
    plan = result.plan
    answered = await doctor(runner)
    if answered and not runner.over and not plan.only_doctor:
        asked = requirements(runner.games, plan.selection)
        work = probe_plan(runner.games, plan.seats, asked, plan.seed)
        await directed(runner, work)
        await perturbations(runner, work)
        await long_games(runner)
        await whole_games(runner)
        await at_random(runner, plan.seconds, plan.deals)
        if plan.long_deals:
            await endurance(runner, plan.long_deals)
        await find_blame(runner)
        await result.witnesses.shrink(runner)
        await line_lost(runner)
    if not runner.over:
        runner.recorder.begin("farewell")
        await runner.see_off(wire.FAREWELL_REASON_FINISHED, "The first part of the check is over.")


REPORT_FORMAT: Final = "allfours-check/1"

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
    emit = result.recorder.log.emit
    sandbox = result.recorder.process.sandbox if result.recorder.process else "remote"
    for row in judgement.rows:
        witness: dict[str, Any] | None = None
        if row.witness is not None:
            data = witness_json(row.witness, row.requirement, result.plan, sandbox, games, result.recorder.deals)
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


def _verdict(row: RuleVerdict) -> dict[str, Any]:
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
    recorder = result.recorder
    recorder.log.emit(
        "finished",
        exit_code=int(judgement.exit_code),
        outcome=outcome_text(judgement.exit_code),
        exercised=len(judgement.exercised),
        applicable=len(judgement.applicable),
        answers=recorder.tally.answers,
        deals=recorder.deals,
        asked_seconds=result.plan.seconds,
        least_seconds=round(result.least_seconds, 1),
        stopped=result.stopped,
        not_ready=result.not_ready,
        baseline=list(judgement.baseline),
        not_asked_for=dict(recorder.tally.others),
        doctor=result.plan.only_doctor,
        by_default=result.by_default,
        talk=recorder.talk if result.plan.only_doctor or result.not_ready or not recorder.tally.answers else [],
        log=str(result.plan.log_path),
    )


def outcome_text(code: CheckExit) -> str:
    """An exit code in a word or two."""
    return {
        CheckExit.CONFORMS: "conforms",
        CheckExit.FAILS: "does not conform",
        CheckExit.USAGE: "wrong usage",
        CheckExit.INCOMPLETE: "incomplete",
        CheckExit.NOT_READY: "never became ready",
        CheckExit.HARNESS: "the harness failed",
        CheckExit.CANNOT_REPLAY: "cannot be replayed",
        CheckExit.INTERRUPTED: "interrupted",
    }[code]


def document(runs: Iterable[Sequence[Event]]) -> Document:
    """The document of one or several checks, from their events."""
    return {"format": REPORT_FORMAT, "referee": referee.__version__, "runs": [_run(events) for events in runs]}


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


@dataclass(frozen=True, slots=True)
class Report:
    """What a check came to: its events, and the verdicts unless the bot never became ready."""

    events: list[Event]
    result: Result
    judgement: Judgement

    @property
    def exit_code(self) -> CheckExit:
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
            judgement = Judgement((), CheckExit.NOT_READY)
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
