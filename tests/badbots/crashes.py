"""Crashes at its third decision of every game.

Verdict: CRASH
Games: lost
Says: crashed with SIGSEGV
"""

import os
import signal

from referee.bot import run


def choose(turn):
    if turn.decision == 3:
        os.kill(os.getpid(), signal.SIGSEGV)
    return turn.rng.choice(turn.legal)


run(choose)
