"""Counting: how often each rule was put to the bot, and how it was broken."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from referee.check.position import Position
from referee.check.requirements import Requirement, Requirements, key_of
from referee.faults import Fault

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
    ``poke``, ``because`` is the rule of the game that the answer to it broke.
    """

    rule: str
    variant: str
    fault: Fault
    sentence: str
    phase: str
    origin: str = ""
    position: Position | None = None
    action: int | None = None
    did: str = ""
    poke: str = ""
    because: str = ""
    number: int = 0
    talk: tuple[dict[str, Any], ...] = ()
    log_tail: str = ""

    def size(self) -> tuple[Any, ...]:
        """How much a reader has to take in; smaller is simpler."""
        if self.position is None:
            return (1,)
        written = self.phase in WRITTEN and self.origin != "sampled"
        return (0, not written, *self.position.size())


@dataclass(slots=True)
class Score:
    """What is known of one requirement: opportunities and breaches by phase, and the simplest breaches."""

    requirement: Requirement
    opportunities: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    kept: list[Breach] = field(default_factory=list)

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
        self.kept.append(breach)
        if len(self.kept) > 2 * KEPT:
            self.kept.sort(key=Breach.size)
            del self.kept[KEPT:]

    def simplest(self) -> list[Breach]:
        """The breaches kept, the simplest first."""
        return sorted(self.kept, key=Breach.size)


class Tally:
    """The scores of all requirements by key. What is not asked for is not counted, but ``others`` remembers it.

    ``why_not`` says why a rule could not be put, ``waived`` which do not apply, ``flaky`` what was seen and not again.
    """

    def __init__(self, requirements: Requirements) -> None:
        self.scores = {key: Score(entry) for key, entry in requirements.of.items()}
        self.others: Counter[str] = Counter()
        self.answers = 0
        self.why_not: dict[str, str] = {}
        self.waived: dict[str, str] = {}
        self.flaky: dict[str, str] = {}

    def __iter__(self) -> Iterator[Score]:
        return iter(self.scores.values())

    def chance(self, rule: str, phase: str, variant: str = "", times: int = 1) -> None:
        """The rule could have been broken here."""
        score = self.scores.get(key_of(rule, variant))
        if score is not None:
            score.opportunities[phase] += times

    def chances(self, rules: Iterable[str], phase: str, variant: str = "") -> None:
        """Several rules could have been broken here."""
        for rule in rules:
            self.chance(rule, phase, variant)

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
        """The keys of binding requirements that came up less often than ``least``."""
        wanted = None if rules is None else set(rules)
        return [
            key
            for key, score in self.scores.items()
            if score.count < least
            and score.requirement.clause.level != "INFO"
            and (wanted is None or score.requirement.id in wanted)
        ]
