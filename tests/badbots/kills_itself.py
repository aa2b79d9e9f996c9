"""Ends itself with SIGKILL while it is written to.

Verdict: CRASH
Games: lost
Says: ended by SIGKILL, which the referee did not send
"""

import os
import signal

from referee.bot import run


def choose(turn):
    if turn.decision == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return turn.rng.choice(turn.legal)


run(choose)
