"""Raises an exception in its own code at every fourth decision.

Verdict: CRASH
Games: lost
Says: exit code 1
"""

from referee.bot import run


def choose(turn):
    if turn.decision % 4 == 3:
        raise KeyError(turn.hand[0])
    return turn.rng.choice(turn.legal)


run(choose)
