"""What is asked of a bot in one check: the clauses of each game and those of conduct, and which of them are selected."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from referee.rules import RuleSet
from referee.rules.conduct import CONDUCT, EDITIONS, ROBUST, WHOLE_BOOK
from referee.rules.rulebook import Clause, Level, clause_text, clauses_of

LEAST = 3
"""How often a rule has to be put to a bot before its silence on it counts as a pass."""

ONLY_LONG = frozenset({"AF-ROBUST-007"})
"""Clauses that need an endurance run."""

AREAS = tuple(dict.fromkeys(entry.id.split("-")[1] for entry in WHOLE_BOOK))


class SelectionError(ValueError):
    """A filter, an edition or a rule id that matches nothing. The message says what there is."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One clause for one game; ``variant`` is empty for clauses of conduct, which hold for the whole session."""

    clause: Clause
    variant: str = ""
    rules: RuleSet | None = None

    @property
    def id(self) -> str:
        """The id of the clause."""
        return self.clause.id

    @property
    def key(self) -> str:
        """Clause and variant, as ``AF-PLAY-004/variant:cinch``."""
        return key_of(self.clause.id, self.variant)

    @property
    def sentence(self) -> str:
        """The clause in one sentence, with the values of the house rules."""
        return clause_text(self.clause, self.rules) if self.rules else self.clause.sentence


def key_of(rule: str, variant: str) -> str:
    """The key of a rule and a variant."""
    return f"{rule}/variant:{variant}" if variant else rule


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules are asked for: by pattern of id, by area; empty = all. ``edition`` freezes the rule book."""

    rules: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    edition: str = EDITIONS[-1]
    long: bool = False

    def check(self) -> None:
        """Raises ``SelectionError`` for a pattern, an area or an edition that matches nothing at all."""
        for pattern in self.rules:
            if not any(fnmatchcase(entry.id, pattern.upper()) for entry in WHOLE_BOOK):
                raise SelectionError(
                    f"--rule {pattern}: no such rule; rule ids look like AF-PLAY-003, AF-PLAY-* is a pattern"
                )
        for area in self.areas:
            if area.upper() not in AREAS:
                raise SelectionError(f"--area {area}: no such area; the areas are {', '.join(AREAS)}")
        if self.edition not in EDITIONS:
            raise SelectionError(f"--ruleset {self.edition}: no such edition; there are {', '.join(EDITIONS)}")

    def wants(self, entry: Clause) -> bool:
        """Whether a clause is asked for."""
        if _age(entry.since) > _age(self.edition) or (entry.id in ONLY_LONG and not self.long):
            return False
        if self.rules and not any(fnmatchcase(entry.id, pattern.upper()) for pattern in self.rules):
            return False
        return not self.areas or entry.id.split("-")[1] in {area.upper() for area in self.areas}


@dataclass(frozen=True, slots=True)
class Requirements:
    """All that is asked of a bot, by key."""

    of: dict[str, Requirement] = field(default_factory=dict)

    def binding(self) -> list[Requirement]:
        """Those that bind the bot, that is all but INFO."""
        return [entry for entry in self.of.values() if entry.clause.level is not Level.INFO]

    def wants(self, *rules: str) -> bool:
        """Whether any of these rule ids is asked for, in any variant."""
        return any(entry.id in rules for entry in self.of.values())

    def wants_area(self, *areas: str) -> bool:
        """Whether any rule of these areas is asked for."""
        return any(entry.id.split("-")[1] in areas for entry in self.binding())


def requirements(games: Sequence[RuleSet], selection: Selection) -> Requirements:
    """The selected requirements of these games; raises ``SelectionError`` if the selection leaves none that binds."""
    found = [
        Requirement(entry, rules.name, rules)
        for rules in games
        for entry in clauses_of(rules)
        if selection.wants(entry)
    ]
    found += [Requirement(entry) for entry in (*CONDUCT, *ROBUST) if selection.wants(entry)]
    chosen = Requirements({entry.key: entry for entry in found})
    if not chosen.binding():
        games_text = ", ".join(rules.name for rules in games) or "no game"
        raise SelectionError(f"the filters leave no rule that binds a bot in {games_text}")
    return chosen


def _age(edition: str) -> tuple[int, ...]:
    return tuple(map(int, edition.split(".")))
