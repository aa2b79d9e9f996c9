"""The rule book: every clause with a stable id, its sentence, its source, and the games it binds.

A clause is written once. ``binds`` names the house rules under which it holds, so the printed rule book of a variant
is exactly the clauses that its ``RuleSet`` switches on. Numbers are never reused or moved. Source keys: BIC
bicyclecards.com, FOS Foster's Complete Hoyle, HOF Hoffmann, CAS Cassell, EW Enquire Within, EB Encyclopaedia Britannica
1911/1929, EN an encyclopaedia's All Fours entry, IT/DA/HU three translations of one Auction Pitch text, WIK Wikipedia,
EVG The Everything Card Games Book, ARN a games-book reprint, BGA Board Game Arena, TTS Trinidad school tournaments, DP a
decision point of the docs.
"""

from typing import Final

from referee.rules.clause import Clause, Level
from referee.rules.clauses_bid import BID, TRUMP
from referee.rules.clauses_play import DRAW, PLAY
from referee.rules.clauses_score import SCORE
from referee.rules.ruleset import RuleSet

__all__ = ["CLAUSES", "Clause", "Level", "clause", "clause_text", "clauses_of"]

CLAUSES: Final[tuple[Clause, ...]] = (*BID, *TRUMP, *DRAW, *PLAY, *SCORE)
"""Every clause of the games, in the order of the book."""

_BY_ID = {clause.id: clause for clause in CLAUSES}


def clause(rule_id: str) -> Clause:
    """The clause with that id; raises ``KeyError`` if there is none."""
    return _BY_ID[rule_id]


def clause_text(entry: Clause, rules: RuleSet) -> str:
    """The clause's sentence with the values of these house rules in it."""
    return entry.sentence.format_map({name: _value_text(getattr(rules, name)) for name in rules.as_dict()})


def clauses_of(rules: RuleSet) -> tuple[Clause, ...]:
    """The clauses that hold under these house rules, in the order of the book."""
    return tuple(entry for entry in CLAUSES if entry.bound_by(rules))


def _value_text(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(" ".join(map(str, item)) if isinstance(item, tuple) else str(item) for item in value) or "none"
    return value.replace("_", " ") if isinstance(value, str) else str(value)
