"""From the tally to a verdict on every rule, and from the verdicts to the exit code."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Final

from referee.check.baseline import Baseline, Excuse
from referee.check.hints import ANOTHER_TURN, SENTENCES
from referee.check.requirements import LEAST, ONLY_LONG, Requirement
from referee.check.shrink import Witness, Witnesses
from referee.check.tally import Breach, Score, Tally
from referee.rules.rulebook import Level
from referee.umpire.faults import Fault


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
    CANNOT_REPLAY = 6
    INTERRUPTED = 130


FAILING: Final = frozenset({Verdict.FAIL, Verdict.ERROR, Verdict.FLAKY, Verdict.XPASS})
_ERRORS: Final = frozenset({Fault.CRASH, Fault.START_FAILED})


@dataclass(frozen=True, slots=True)
class Row:
    """The verdict on one requirement, with the figures behind it and why it is not a plain pass or fail.

    ``least`` are the opportunities in what every check asks: the same for the same seed, however fast bot and machine are.
    """

    requirement: Requirement
    verdict: Verdict
    opportunities: int
    breaches: int
    reason: str = ""
    witness: Witness | None = None
    excuse: Excuse | None = None
    hint: str = ""
    least: int = 0

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
    witnesses.conclude(tally)
    rows = [replace(_row(score, tally, witnesses, stopped), least=score.least) for score in tally]
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
        return Row(entry, _broken(score), count, breaches, witness=witness, hint=tally.hints.get(key, ""))
    if key in tally.flaky:
        return Row(entry, Verdict.FLAKY, count, 0, tally.flaky[key])
    if key in tally.waived:
        return Row(entry, Verdict.NOT_APPLICABLE, count, 0, tally.waived[key])
    if score.unheard >= LEAST > count:
        why = _unreadable(tally)
        return Row(entry, Verdict.NOT_APPLICABLE, count, 0, f"It was asked {score.unheard} times, and {why}")
    if score.least >= LEAST or (count and entry.id in ONLY_LONG):
        return Row(entry, Verdict.PASS, count, 0)
    times = {0: "It never came up.", 1: "It came up once.", 2: "It came up twice."}[score.least]
    if count > score.least:
        times = f"{times[:-1]} in the least that every check asks, {count - score.least} times in what came after it."
    why = tally.why_not.get(key) or stopped
    return Row(entry, Verdict.UNTESTED, count, 0, f"{times} {why}".strip())


def _broken(score: Score) -> Verdict:
    if score.requirement.clause.level is Level.SHOULD:
        return Verdict.WARN
    return Verdict.ERROR if any(breach.fault in _ERRORS for breach in score.kept) else Verdict.FAIL


def _unreadable(tally: Tally) -> str:
    broken = [
        score.requirement.id for score in tally if score.breaches and score.requirement.id.startswith("AF-PROTO-")
    ]
    return f"no answer to it could be read: see {', '.join(broken)}."


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
    """Breaches go to the rule that was found to blame for them, and those of one mistake to one rule."""
    for score in tally:
        _forgive_pokes(score, tally)
    for key, blame in tally.blamed.items():
        target = tally.scores.get(blame.rule)
        if target is not None and blame.rule not in tally.waived and tally.scores[key].breaches:
            _move(tally.scores[key], target, blame.breach)
    _one_mistake(tally)


def _one_mistake(tally: Tally) -> None:
    """Tells the causes; where one explains all breaches of several rules, they go to the rule broken most often."""
    for cause, sentence in SENTENCES.items():
        if cause == ANOTHER_TURN:
            continue  # among many turns an answer may fit another one by chance: that is asked for, see ``blame``
        explained = [score for score in tally if cause in score.causes()]
        few = [score for score in tally if _fits(score, cause) and score not in explained]
        if not explained:
            continue
        most = max(explained, key=lambda score: score.breaches)
        for score in [*explained, *few]:
            if score is not most:
                _move(score, most, replace(score.simplest()[0], rule=most.requirement.id))
        tally.hints.setdefault(most.requirement.key, sentence)


def _fits(score: Score, cause: str) -> bool:
    """Whether a cause would explain all breaches of a rule, however few."""
    return 0 < score.breaches == score.explained.get(cause, (0, frozenset()))[0]


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


def _move(score: Score, target: Score, shown: Breach) -> None:
    """Counts the breaches of one rule at another one, which ``shown`` stands for."""
    moved = score.breaches
    target.add(shown)
    target.broken[shown.phase] += moved - 1
    score.clear()
