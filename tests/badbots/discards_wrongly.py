"""Keeps all its cards where it has to lay some away.

Variant: cinch
Verdict: ILLEGAL_ACTION AF-DRAW-002, ILLEGAL_ACTION AF-DRAW-003
Games: lost
Says: plain cards are laid away
"""

from referee.bot import Kind, run

run(lambda turn: turn.hand if turn.kind is Kind.DISCARD else turn.rng.choice(turn.legal))
