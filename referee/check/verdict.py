"""From the tally to a verdict on every rule, and from the verdicts to the exit code."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Final

from referee.check.baseline import Baseline, Excuse
from referee.check.requirements import LEAST, ONLY_LONG, Requirement
from referee.check.shrink import Witness, Witnesses
from referee.check.tally import IN_A_BATCH, STATED, Score, Tally
from referee.faults import Fault
from referee.rules.clause import Level


class Verdict(StrEnum):
    """What is to be said of one rule."""

    PASS = "PASS"
    FAIL = "FAIL"
    WARN = "WARN"
    INFO = "INFO"
    UNTESTED = "UNTESTED"
    NOT_APPLICABLE = "N/A"
    XFAIL = "XFAIL"
    XPASS = "XPASS"
    FLAKY = "FLAKY"
    ERROR = "ERROR"


class Exit(IntEnum):
    """The exit codes of a check."""

    CONFORMS = 0
    FAILS = 1
    USAGE = 2
    INCOMPLETE = 3
    NOT_READY = 4
    HARNESS = 5
    INTERRUPTED = 130


FAILING: Final = frozenset({Verdict.FAIL, Verdict.ERROR, Verdict.FLAKY, Verdict.XPASS})
_ERRORS: Final = frozenset({Fault.CRASH, Fault.START_FAILED})
_ENOUGH_ELSEWHERE = 20
"""So many breaches would have been expected outside of stated positions, before none of them means something."""


@dataclass(frozen=True, slots=True)
class Row:
    """The verdict on one requirement, with the figures behind it and why it is not a plain pass or fail."""

    requirement: Requirement
    verdict: Verdict
    opportunities: int
    breaches: int
    reason: str = ""
    witness: Witness | None = None
    excuse: Excuse | None = None

    @property
    def exercised(self) -> bool:
        """Whether something is known of the rule."""
        return self.verdict not in (Verdict.UNTESTED, Verdict.NOT_APPLICABLE, Verdict.INFO) and (
            self.opportunities > 0 or self.breaches > 0
        )


@dataclass(frozen=True, slots=True)
class Judgement:
    """All verdicts in the order of the rule book, and the exit code."""

    rows: tuple[Row, ...]
    exit_code: Exit
    baseline: tuple[str, ...] = ()

    @property
    def applicable(self) -> list[Row]:
        """The MUST rules that apply."""
        return [
            row
            for row in self.rows
            if row.requirement.clause.level is Level.MUST and row.verdict is not Verdict.NOT_APPLICABLE
        ]

    @property
    def exercised(self) -> list[Row]:
        """Those of them of which something is known."""
        return [row for row in self.applicable if row.exercised]

    def of(self, *verdicts: Verdict) -> list[Row]:
        """The rows with one of these verdicts."""
        return [row for row in self.rows if row.verdict in verdicts]


def judge(
    tally: Tally, witnesses: Witnesses, *, baseline: Baseline | None = None, strict: bool = False, stopped: str = ""
) -> Judgement:
    """The verdicts. ``stopped`` is why the check ended early, if it did; ``strict`` lets a broken SHOULD fail."""
    reattribute(tally)
    witnesses.rest(tally)
    rows = [_row(score, tally, witnesses, stopped) for score in tally]
    lines: list[str] = []
    if baseline is not None:
        rows, lines = _excused(rows, baseline)
    return Judgement(tuple(rows), _exit_code(rows, lines, strict), tuple(lines))


def _row(score: Score, tally: Tally, witnesses: Witnesses, stopped: str) -> Row:
    entry, key = score.requirement, score.requirement.key
    count, breaches = max(score.count, score.breaches), score.breaches
    witness = witnesses.of.get(key) if breaches else None
    if entry.clause.level is Level.INFO:
        return Row(entry, Verdict.INFO, 0, 0, "It tells what the referee does.")
    if breaches:
        return Row(entry, _broken(score), count, breaches, witness=witness)
    if key in tally.flaky:
        return Row(entry, Verdict.FLAKY, count, 0, tally.flaky[key])
    if key in tally.waived:
        return Row(entry, Verdict.NOT_APPLICABLE, count, 0, tally.waived[key])
    if count >= LEAST or (count and entry.id in ONLY_LONG):
        return Row(entry, Verdict.PASS, count, 0)
    times = {0: "It never came up.", 1: "It came up once.", 2: "It came up twice."}[count]
    why = tally.why_not.get(key) or stopped
    return Row(entry, Verdict.UNTESTED, count, 0, f"{times} {why}".strip())


def _broken(score: Score) -> Verdict:
    if score.requirement.clause.level is Level.SHOULD:
        return Verdict.WARN
    return Verdict.ERROR if all(breach.fault in _ERRORS for breach in score.kept) else Verdict.FAIL


def _excused(rows: Iterable[Row], baseline: Baseline) -> tuple[list[Row], list[str]]:
    """What the baseline expects becomes XFAIL; what it expects and is not so becomes XPASS."""
    judged = []
    for row in rows:
        excuse = baseline.excuse_for(row.requirement)
        if excuse is None:
            judged.append(row)
        elif row.verdict in (Verdict.FAIL, Verdict.ERROR, Verdict.WARN, Verdict.FLAKY):
            judged.append(replace(row, verdict=Verdict.XFAIL, reason=excuse.reason, excuse=excuse))
        elif row.verdict is Verdict.PASS:
            judged.append(replace(row, verdict=Verdict.XPASS, reason=baseline.stale(excuse), excuse=excuse))
        else:
            judged.append(row)
    return judged, baseline.complaints([row.requirement for row in judged])


def _exit_code(rows: Sequence[Row], complaints: Sequence[str], strict: bool) -> Exit:
    failing = FAILING | ({Verdict.WARN} if strict else set())
    if complaints or any(row.verdict in failing for row in rows):
        return Exit.FAILS
    musts = [row for row in rows if row.requirement.clause.level is Level.MUST]
    known = [row for row in rows if row.exercised]
    if not known or any(row.verdict is Verdict.UNTESTED for row in musts):
        return Exit.INCOMPLETE
    return Exit.CONFORMS


def reattribute(tally: Tally) -> None:
    """Breaches that only happen where the bot had not played the deal itself are breaches of AF-ROBUST-002.

    That is said of a rule of a game only where so many breaches would have been expected elsewhere that their absence
    is no accident; and of a lost bot when it survived everything else.
    """
    for score in tally:
        _forgive_pokes(score, tally)
    target = tally.scores.get("AF-ROBUST-002")
    if target is None or "AF-ROBUST-002" in tally.waived:
        return
    for score in tally:
        stated = score.broken[STATED]
        elsewhere = score.breaches - stated - score.broken[IN_A_BATCH]
        if not stated or elsewhere or score is target:
            continue
        rate = stated / max(score.opportunities[STATED], stated)
        chances = score.count - score.opportunities[STATED]
        lost = score.requirement.id == "AF-LIFE-002"
        if (lost and tally.answers > LEAST * _ENOUGH_ELSEWHERE) or (not lost and rate * chances > _ENOUGH_ELSEWHERE):
            _move(score, target)


def _forgive_pokes(score: Score, tally: Tally) -> None:
    """A rule of the game that is broken without pokes as well is no matter of pokes."""
    without = [
        breach
        for breach in score.kept
        if breach.because and (broken := tally.score_of(breach.because, breach.variant)) is not None and broken.breaches
    ]
    for breach in without:
        score.kept.remove(breach)
        score.broken[breach.phase] -= 1


def _move(score: Score, target: Score) -> None:
    for breach in score.kept:
        told = f"In a deal that it had not played itself: {breach.sentence} ({score.requirement.id})"
        target.add(replace(breach, rule=target.requirement.id, sentence=told))
    target.broken[STATED] += score.broken[STATED] - len(score.kept)
    score.broken.clear()
    score.kept.clear()
