"""What a clause of the rule book is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from referee.rules.ruleset import RuleSet


class Level(StrEnum):
    """How binding a clause is on a bot: MUST and SHOULD bind it, INFO tells what the referee does."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    INFO = "INFO"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause. ``sentence`` may name house rules in braces; ``clause_text`` fills them in.

    It holds where every field of ``binds`` has one of its values, and no field of ``unless`` has one of its.
    """

    id: str
    title: str
    sentence: str
    source: str
    level: Level = Level.MUST
    differs: str = ""
    binds: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    unless: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    since: str = "2026.1"

    def bound_by(self, rules: RuleSet) -> bool:
        """Whether the clause holds under these house rules."""
        return all(getattr(rules, name) in values for name, values in self.binds.items()) and not any(
            getattr(rules, name) in values for name, values in self.unless.items()
        )
