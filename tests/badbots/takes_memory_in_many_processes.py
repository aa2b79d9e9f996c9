"""Takes more memory than it may have, in six processes at once: each alone stays within the limit.

Lap: limits
Verdict: RESOURCE_MEM
Games: lost
Says: MiB
"""

import os
import time

from referee.bot import run


def choose(turn):
    for _ in range(6):
        if os.fork() == 0:
            hoard = bytearray(90 << 20)
            time.sleep(30)
            os._exit(len(hoard) & 1)
    time.sleep(30)
    return turn.rng.choice(turn.legal)


run(choose)
