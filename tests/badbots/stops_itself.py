"""Stops its own process by a signal, in the middle of a game.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import os
import signal

from referee.bot import run


def choose(turn):
    os.kill(os.getpid(), signal.SIGSTOP)
    return turn.rng.choice(turn.legal)


run(choose)
