"""From what was found to a verdict on every rule and an exit code, with breaches that are known and accepted for now."""

import datetime as dt
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, Final

from referee.check.requirements import LEAST, ONLY_LONG, Requirement
from referee.check.results import ANOTHER_TURN, SENTENCES, Breach, ClauseCoverage, Coverage
from referee.check.shrink import Witness, Witnesses
from referee.rules.conduct_clauses import WHOLE_BOOK
from referee.rules.rulebook import Level
from referee.umpire.faults import Fault

BASELINE_FORMAT: Final = 1
_FIELDS: Final = {"rule": str, "variant": str, "reason": str, "issue": str, "expires": dt.date}
_IDS: Final = frozenset(entry.id for entry in WHOLE_BOOK)


class BaselineError(ValueError):
    """A baseline that cannot be used; the message names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedBreach:
    """One accepted breach. ``line`` is where it stands in the file."""

    rule: str
    variant: str
    reason: str
    issue: str
    expires: dt.date | None
    line: int

    def covers(self, requirement: Requirement) -> bool:
        """Whether it speaks of this requirement."""
        return self.rule == requirement.id and self.variant in ("", requirement.variant)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as it is read on one day."""

    file: str
    excuses: tuple[AcceptedBreach, ...]
    today: dt.date

    def excuse_for(self, requirement: Requirement) -> AcceptedBreach | None:
        """The excuse of a requirement, if there is one and its day has not passed."""
        for excuse in self.excuses:
            if excuse.covers(requirement) and not self._expired(excuse):
                return excuse
        return None

    def stale(self, excuse: AcceptedBreach) -> str:
        """What to do about an excuse that is not needed any more."""
        return f"{self.file}:{excuse.line}: {excuse.rule} passes: delete this entry"

    def complaints(self, requirements: Sequence[Requirement]) -> list[str]:
        """What is wrong with the file itself: unknown rules, days that have passed."""
        told = []
        for excuse in self.excuses:
            where = f"{self.file}:{excuse.line}: {excuse.rule}"
            if excuse.rule not in _IDS:
                told.append(f"{where} is not a rule: delete this entry")
            elif self._expired(excuse):
                told.append(f"{where} was accepted until {excuse.expires}: fix the bot, or delete this entry")
            elif (
                excuse.variant
                and not any(excuse.covers(one) for one in requirements)
                and any(one.id == excuse.rule for one in requirements)
            ):
                told.append(f"{where} names the variant {excuse.variant!r}, which has no such rule: delete this entry")
        return told

    def _expired(self, excuse: AcceptedBreach) -> bool:
        return excuse.expires is not None and excuse.expires < self.today


def read_baseline(path: Path, today: dt.date) -> Baseline:
    """The baseline in a file; raises ``BaselineError``."""
    if path.exists() and not path.is_file():  # a pipe would keep us for ever
        raise BaselineError(f"--baseline {path}: it is not a regular file")
    try:
        text = path.read_text("utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise BaselineError(f"--baseline {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise BaselineError(f"{path}: it is no UTF-8 text: save the file as UTF-8") from None
    except RecursionError:
        raise BaselineError(f"{path}: it is nested too deeply: take brackets away") from None
    except tomllib.TOMLDecodeError as error:
        raise BaselineError(f"{path}: {error}") from None
    if data.get("format") != BASELINE_FORMAT:
        raise BaselineError(f"{path}: format is {data.get('format')!r}: write format = {BASELINE_FORMAT}")
    unknown = set(data) - {"format", "accepted"}
    if unknown:
        raise BaselineError(f"{path}: unknown field {min(unknown)}: delete it")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[accepted]]")]
    entries = data.get("accepted", [])
    if not isinstance(entries, list) or len(lines) != len(entries):
        raise BaselineError(f"{path}: write each accepted breach as a section [[accepted]]")
    return Baseline(str(path), tuple(_excuse(path, *pair) for pair in zip(entries, lines, strict=True)), today)


def _excuse(path: Path, entry: dict[str, Any], line: int) -> AcceptedBreach:
    for name, value in entry.items():
        if name not in _FIELDS:
            raise BaselineError(f"{path}:{line}: unknown field {name}; the fields are {', '.join(_FIELDS)}")
        if not isinstance(value, _FIELDS[name]) or isinstance(value, dt.datetime):
            kind = "a day such as 2027-01-31" if name == "expires" else "text in quotes"
            raise BaselineError(f"{path}:{line}: {name} = {value!r}: write {kind}")
    for name in ("rule", "reason"):
        if not entry.get(name):
            raise BaselineError(f"{path}:{line}: {name} is missing: every accepted breach says which rule, and why")
    return AcceptedBreach(
        rule=entry["rule"],
        variant=entry.get("variant", ""),
        reason=entry["reason"],
        issue=entry.get("issue", ""),
        expires=entry.get("expires"),
        line=line,
    )


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


class CheckExit(IntEnum):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleVerdict:
    """The verdict on one requirement, with the figures behind it and why it is not a plain pass or fail.

    ``least`` are the opportunities in what every check asks: the same for the same seed, however fast bot and machine are.
    """

    requirement: Requirement
    verdict: Verdict
    opportunities: int
    breaches: int
    reason: str = ""
    witness: Witness | None = None
    excuse: AcceptedBreach | None = None
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

    rows: tuple[RuleVerdict, ...]
    exit_code: CheckExit
    baseline: tuple[str, ...] = ()

    @property
    def applicable(self) -> list[RuleVerdict]:
        """The MUST rules that apply."""
        return [
            row
            for row in self.rows
            if row.requirement.clause.level is Level.MUST and row.verdict is not Verdict.NOT_APPLICABLE
        ]

    @property
    def exercised(self) -> list[RuleVerdict]:
        """Those of them of which something is known."""
        return [row for row in self.applicable if row.exercised]

    def of(self, *verdicts: Verdict) -> list[RuleVerdict]:
        """The rows with one of these verdicts."""
        return [row for row in self.rows if row.verdict in verdicts]


def judge(
    tally: Coverage, witnesses: Witnesses, *, baseline: Baseline | None = None, strict: bool = False, stopped: str = ""
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


def _row(score: ClauseCoverage, tally: Coverage, witnesses: Witnesses, stopped: str) -> RuleVerdict:
    entry, key = score.requirement, score.requirement.key
    count, breaches = max(score.count, score.breaches), score.breaches
    witness = witnesses.of.get(key) if breaches else None
    if entry.clause.level is Level.INFO:
        return RuleVerdict(
            requirement=entry,
            verdict=Verdict.INFO,
            opportunities=0,
            breaches=0,
            reason="It tells what the referee does.",
        )
    if breaches:
        return RuleVerdict(
            requirement=entry,
            verdict=_broken(score),
            opportunities=count,
            breaches=breaches,
            witness=witness,
            hint=tally.hints.get(key, ""),
        )
    if key in tally.flaky:
        return RuleVerdict(
            requirement=entry, verdict=Verdict.FLAKY, opportunities=count, breaches=0, reason=tally.flaky[key]
        )
    if key in tally.waived:
        return RuleVerdict(
            requirement=entry, verdict=Verdict.NOT_APPLICABLE, opportunities=count, breaches=0, reason=tally.waived[key]
        )
    if score.unheard >= LEAST > count:
        why = _unreadable(tally)
        return RuleVerdict(
            requirement=entry,
            verdict=Verdict.NOT_APPLICABLE,
            opportunities=count,
            breaches=0,
            reason=f"It was asked {score.unheard} times, and {why}",
        )
    if score.least >= LEAST or (count and entry.id in ONLY_LONG):
        return RuleVerdict(requirement=entry, verdict=Verdict.PASS, opportunities=count, breaches=0)
    times = {0: "It never came up.", 1: "It came up once.", 2: "It came up twice."}[score.least]
    if count > score.least:
        times = f"{times[:-1]} in the least that every check asks, {count - score.least} times in what came after it."
    why = tally.why_not.get(key) or stopped
    return RuleVerdict(
        requirement=entry, verdict=Verdict.UNTESTED, opportunities=count, breaches=0, reason=f"{times} {why}".strip()
    )


def _broken(score: ClauseCoverage) -> Verdict:
    if score.requirement.clause.level is Level.SHOULD:
        return Verdict.WARN
    return Verdict.ERROR if any(breach.fault in _ERRORS for breach in score.kept) else Verdict.FAIL


def _unreadable(tally: Coverage) -> str:
    broken = [
        score.requirement.id for score in tally if score.breaches and score.requirement.id.startswith("AF-PROTO-")
    ]
    return f"no answer to it could be read: see {', '.join(broken)}."


def _excused(rows: Iterable[RuleVerdict], baseline: Baseline) -> tuple[list[RuleVerdict], list[str]]:
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


def _exit_code(rows: Sequence[RuleVerdict], complaints: Sequence[str], strict: bool) -> CheckExit:
    failing = FAILING | ({Verdict.WARN} if strict else set())
    if complaints or any(row.verdict in failing for row in rows):
        return CheckExit.FAILS
    musts = [row for row in rows if row.requirement.clause.level is Level.MUST]
    known = [row for row in rows if row.exercised]
    if not known or any(row.verdict is Verdict.UNTESTED for row in musts):
        return CheckExit.INCOMPLETE
    return CheckExit.CONFORMS


def reattribute(tally: Coverage) -> None:
    """Breaches go to the rule that was found to blame for them, and those of one mistake to one rule."""
    for score in tally:
        _forgive_perturbations(score, tally)
    for key, blame in tally.blamed.items():
        target = tally.scores.get(blame.rule)
        if target is not None and blame.rule not in tally.waived and tally.scores[key].breaches:
            _move(tally.scores[key], target, blame.breach)
    _one_mistake(tally)


def _one_mistake(tally: Coverage) -> None:
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


def _fits(score: ClauseCoverage, cause: str) -> bool:
    """Whether a cause would explain all breaches of a rule, however few."""
    return 0 < score.breaches == score.explained.get(cause, (0, frozenset()))[0]


def _forgive_perturbations(score: ClauseCoverage, tally: Coverage) -> None:
    """A rule of the game that is broken without perturbations as well is no matter of perturbations."""
    without = [
        breach
        for breach in score.kept
        if breach.because and (broken := tally.score_of(breach.because, breach.variant)) is not None and broken.breaches
    ]
    for breach in without:
        score.kept.remove(breach)
        score.broken[breach.phase] -= 1


def _move(score: ClauseCoverage, target: ClauseCoverage, shown: Breach) -> None:
    """Counts the breaches of one rule at another one, which ``shown`` stands for."""
    moved = score.breaches
    target.add(shown)
    target.broken[shown.phase] += moved - 1
    score.clear()
