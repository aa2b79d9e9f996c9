"""The oracle: a second, naive rules engine for the All Fours family.

It is written from the rule text alone and shares no code with the rules engine of Referee: cards are strings ("QH"),
hands are lists, house rules are a plain dict. It is slow and obvious on purpose. Two independent readings of one text
can be compared action by action; where they differ, one of them is wrong, or the text is silent. README.md lists what
the text left open and how it was read here.
"""

from .deal import Action, OracleDeal, OracleResult
from .decisions import Choice
from .game import OracleGame, stakes

__all__ = ["Action", "Choice", "OracleDeal", "OracleGame", "OracleResult", "stakes"]
