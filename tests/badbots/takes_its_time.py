"""Uses half of the time for a move, again and again. That is allowed.

Lap: slow
Verdict: none
Games: played
"""

import time

from referee.bot import run


def choose(turn):
    if turn.decision < 3:
        time.sleep(0.7)
    return turn.rng.choice(turn.legal)


run(choose)
