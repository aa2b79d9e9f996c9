"""Joins, reads, and never answers.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import time

from referee.bot import run


def choose(turn):
    time.sleep(3600)


run(choose)
