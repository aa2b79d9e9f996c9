"""Plays a card that does not exist.

Verdict: MALFORMED AF-PROTO-003
Games: lost
Says: no card with the number 99
"""

from referee.bot import Kind, run

run(lambda turn: 99 if turn.kind is Kind.PLAY else turn.rng.choice(turn.legal))
