"""The rules of the All Fours family: pure code, no I/O, no clock, no randomness.

``ruleset`` holds the house rules of each game as data and ``registry`` names the games; ``rulebook`` has every clause
with its id and source; ``state`` is what a deal consists of, ``auction``, ``turn_up``, ``draw``, ``play`` and ``scoring``
are the phases that move it, ``deal`` puts them together; ``game`` strings deals together to the target.

>>> from referee.cards import PACK
>>> game = Game(variant("auction-pitch"), seats=4, first_dealer=3)
>>> deal = game.deal_pack(PACK)
>>> deal.legal()
(0, 2, 3, 4)
>>> deal.verify(5).sentence
'5 is no bid: a bid is 2 to 4, a pass is 0.'
"""

from referee.rules.actions import (
    Action,
    Call,
    Event,
    EventKind,
    Keeps,
    Kind,
    Violation,
    action_text,
    event_text,
    legal_text,
    parse_action,
    unpack_event,
)
from referee.rules.deal import Deal, IllegalAction
from referee.rules.game import EndReason, Game, GameResult
from referee.rules.registry import variant, variant_names
from referee.rules.ruleset import RuleSet, RuleSetError
from referee.rules.state import Award, Ending, Outcome

__all__ = [
    "Action",
    "Award",
    "Call",
    "Deal",
    "EndReason",
    "Ending",
    "Event",
    "EventKind",
    "Game",
    "GameResult",
    "IllegalAction",
    "Keeps",
    "Kind",
    "Outcome",
    "RuleSet",
    "RuleSetError",
    "Violation",
    "action_text",
    "event_text",
    "legal_text",
    "parse_action",
    "unpack_event",
    "variant",
    "variant_names",
]
