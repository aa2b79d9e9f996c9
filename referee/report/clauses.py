"""The rule book for reports: a clause by its id, in words."""

from functools import cache
from typing import Final

from referee.rules import RuleSet
from referee.rules.conduct_clauses import WHOLE_BOOK
from referee.rules.rulebook import Clause, clause_text


@cache
def _by_id() -> dict[str, Clause]:
    return {clause.id: clause for clause in WHOLE_BOOK}


def clause(rule: str, rules: RuleSet) -> str:
    """The sentence of a clause under these house rules, its title before it; empty if there is no such clause."""
    found = _by_id().get(rule)
    return f"{found.title}: {clause_text(found, rules)}" if found else ""


CONSEQUENCES: Final = {
    "RETRY": "asked again",
    "SUBSTITUTED": "the referee moved instead",
    "FORFEITED": "lost the game",
    "IGNORED": "not counted",
    "REPLAYED": "played again",
}
"""What followed a fault, in words."""
