"""Crashes when it sits in seat 2, and plays well everywhere else.

Verdict: CRASH
Games: lost in seat 2
Says: exit code 3
"""

import os

from referee.bot import run


def choose(turn):
    if turn.seat == 2 and turn.decision == 1:
        os._exit(3)
    return turn.rng.choice(turn.legal)


run(choose)
