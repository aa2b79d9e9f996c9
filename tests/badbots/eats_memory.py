"""Takes more memory than it may have.

Lap: limits
Verdict: RESOURCE_MEM
Games: lost
Says: MiB
"""

import time

from referee.bot import run

hoard = []


def choose(turn):
    for _ in range(40):
        hoard.append(b"x" * 10_000_000)
        time.sleep(0.02)
    return turn.rng.choice(turn.legal)


run(choose)
