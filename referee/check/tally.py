"""Counting: how often each rule was put to the bot, and how it was broken."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from referee.check.course import Course
from referee.check.hints import Cause, explains
from referee.check.position import Position
from referee.check.requirements import Requirement, Requirements, key_of
from referee.umpire.faults import Fault

STATED = "stated"
"""The phase of single decisions in deals in which the bot has not made the decisions of its own seat before."""

IN_A_BATCH = "in a batch"
"""The phase of a loss that no single turn can be blamed for."""

WRITTEN = frozenset({"directed", STATED})
"""Phases whose positions may be cases with a title."""

KEPT = 24
"""Breaches of one rule that are kept, the simplest first; all are counted."""


@dataclass(frozen=True, slots=True)
class Breach:
    """One breach of a rule.

    ``position`` is where it happened, ``None`` where no single decision was to blame. ``did`` is the bot's answer as
    people read it, ``phase`` and ``origin`` say when, ``number`` is how many answers it had given before. With a
    ``poke``, ``because`` is the rule of the game that the answer to it broke. ``company`` is how many answers came in
    the same message (0 where there was none), ``batch`` their positions if they are known, ``courses`` the games that
    may have led there, ``causes`` what would explain the answer. ``shown_by`` says by what it was shown again during
    the check: "position", "batch", "game" or "run"; empty if by nothing so far. ``further``: it was found in what is
    asked while there is time, so that another run need not come to it.
    """

    rule: str
    variant: str
    fault: Fault
    sentence: str
    phase: str
    origin: str = ""
    position: Position | None = None
    action: int | None = None
    further: bool = False
    did: str = ""
    poke: str = ""
    because: str = ""
    number: int = 0
    talk: tuple[dict[str, Any], ...] = ()
    log_tail: str = ""
    company: int = 0
    batch: tuple[Position, ...] = ()
    courses: tuple[Course, ...] = ()
    causes: frozenset[Cause] = frozenset()
    shown_by: str = ""

    def size(self) -> tuple[Any, ...]:
        """How much a reader has to take in; smaller is simpler."""
        if self.position is None:
            return (not self.shown_by, 1, self.further)
        written = self.phase in WRITTEN and self.origin != "sampled"
        return (not self.shown_by, 0, self.further, not written, *self.position.size())


@dataclass(slots=True)
class Score:
    """What is known of one requirement: opportunities and breaches by phase, and the simplest breaches.

    ``least`` are the opportunities in what every check asks, however long it takes: they alone decide whether the rule
    was put often enough. ``alone`` counts breaches by an answer that came by itself, ``unheard`` the turns at which the
    rule could have been broken if the answer had been readable. ``explained`` counts for every cause the breaches that it
    would explain, with the different answers among them; ``in_batch`` is the first breach of which the whole message is
    known.
    """

    requirement: Requirement
    opportunities: Counter[str] = field(default_factory=Counter)
    least: int = 0
    broken: Counter[str] = field(default_factory=Counter)
    kept: list[Breach] = field(default_factory=list)
    alone: int = 0
    unheard: int = 0
    in_batch: Breach | None = None
    explained: dict[str, tuple[int, frozenset[int]]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Opportunities in all."""
        return self.opportunities.total()

    @property
    def breaches(self) -> int:
        """Breaches in all."""
        return self.broken.total()

    def add(self, breach: Breach) -> None:
        """Counts a breach, and keeps it if it is among the simplest."""
        self.broken[breach.phase] += 1
        self.alone += breach.company == 1
        if self.in_batch is None and breach.batch:
            self.in_batch = breach
        for cause, value in breach.causes:
            count, values = self.explained.get(cause, (0, frozenset()))
            self.explained[cause] = count + 1, values if len(values) > 1 else values | {value}
        self.kept.append(breach)
        if len(self.kept) > 2 * KEPT:
            self.kept.sort(key=Breach.size)
            del self.kept[KEPT:]

    def causes(self) -> set[str]:
        """The causes that explain every breach."""
        return {
            cause
            for cause, (count, values) in self.explained.items()
            if explains(cause, count, len(values), self.breaches)
        }

    def clear(self) -> None:
        """Nothing of what was counted as a breach is held against this rule any more."""
        self.broken.clear()
        self.kept.clear()
        self.explained.clear()
        self.alone = 0

    def simplest(self) -> list[Breach]:
        """The breaches kept, the simplest first."""
        return sorted(self.kept, key=Breach.size)


@dataclass(frozen=True, slots=True)
class Blame:
    """The rule that is to blame for the breaches of another one, and the breach that shows it."""

    rule: str
    breach: Breach


class Tally:
    """The scores of all requirements by key. What is not asked for is not counted, but ``others`` remembers it.

    ``why_not`` says why a rule could not be put, ``waived`` which do not apply, ``flaky`` what was seen and not again.
    ``blamed`` says of a rule, by key, which other rule its breaches are held against, once that was found out by asking;
    ``own`` holds those that were found to be broken by themselves; ``hints`` what may be behind the breaches of a rule.
    """

    def __init__(self, requirements: Requirements) -> None:
        self.scores = {key: Score(entry) for key, entry in requirements.of.items()}
        self.others: Counter[str] = Counter()
        self.answers = 0
        self.why_not: dict[str, str] = {}
        self.waived: dict[str, str] = {}
        self.flaky: dict[str, str] = {}
        self.blamed: dict[str, Blame] = {}
        self.own: set[str] = set()
        self.hints: dict[str, str] = {}

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores.values())

    def chance(self, rule: str, phase: str, variant: str = "", times: int = 1, *, further: bool = False) -> None:
        """The rule could have been broken here; ``further``: in more than the least that is asked."""
        score = self.scores.get(key_of(rule, variant))
        if score is not None:
            score.opportunities[phase] += times
            score.least += 0 if further else times

    def chances(self, rules: Iterable[str], phase: str, variant: str = "", *, further: bool = False) -> None:
        """Several rules could have been broken here."""
        for rule in rules:
            self.chance(rule, phase, variant, further=further)

    def unheard(self, rules: Iterable[str], variant: str) -> None:
        """Several rules could have been broken here, but the answer could not be read."""
        for rule in rules:
            score = self.scores.get(key_of(rule, variant))
            if score is not None:
                score.unheard += 1

    def breach(self, breach: Breach) -> None:
        """A rule was broken."""
        score = self.score_of(breach.rule, breach.variant)
        if score is None:
            self.others[key_of(breach.rule, breach.variant)] += 1
        else:
            score.add(breach)

    def score_of(self, rule: str, variant: str) -> Score | None:
        """The score of a rule of a game, or of conduct whatever the game; ``None`` if it is not asked for."""
        return self.scores.get(key_of(rule, variant)) or self.scores.get(rule)

    def excuse(self, rule: str, reason: str, variant: str = "") -> None:
        """Why a rule could not be put to the bot, for the report."""
        self.why_not.setdefault(key_of(rule, variant), reason)

    def waive(self, rule: str, reason: str, variant: str = "") -> None:
        """A rule does not apply to this bot."""
        key = key_of(rule, variant)
        if key in self.scores:
            self.waived[key] = reason

    def lacking(self, least: int, rules: Iterable[str] | None = None) -> list[str]:
        """The keys of binding requirements that came up less often than ``least`` in what every check asks."""
        wanted = None if rules is None else set(rules)
        return [
            key
            for key, score in self.scores.items()
            if score.least < least
            and score.requirement.clause.level != "INFO"
            and (wanted is None or score.requirement.id in wanted)
        ]
