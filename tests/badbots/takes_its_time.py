"""Uses half of the time for a move, more than once. That is allowed.

Lap: slow
Verdict: none
Games: played
"""

import time

from referee.bot import run


def choose(turn):
    if turn.decision in (1, 3):
        time.sleep(4)
    return turn.rng.choice(turn.legal)


run(choose)
