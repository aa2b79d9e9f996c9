"""Thinks too long once in each game; its late answer is dropped.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001
Games: any
Says: No answer within the time for this move and the bank
"""

import time

from referee.bot import run


def choose(turn):
    if turn.decision == 3:
        time.sleep(10)
    return turn.rng.choice(turn.legal)


run(choose)
