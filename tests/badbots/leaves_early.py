"""Ends with exit code 0 in the middle of its games.

Verdict: DISCONNECT
Games: lost
Says: left before Farewell
"""

import os

from referee.bot import run


def choose(turn):
    if turn.decision == 2:
        os._exit(0)
    return turn.rng.choice(turn.legal)


run(choose)
