"""Its first process ends, and a child in a session of its own is to play on.

Verdict: DISCONNECT
Games: lost
Says: left before Farewell
"""

import os
import time

pid = os.fork()
if pid:
    time.sleep(3)
    os._exit(0)
os.setsid()

from referee.bot import run


def choose(turn):
    time.sleep(0.5)
    return turn.rng.choice(turn.legal)


run(choose)
