"""Starts more processes than it may have, each in a session of its own.

Lap: limits
Verdict: RESOURCE_PIDS
Games: lost
Says: processes at once
"""

import subprocess
import time

from referee.bot import run


def choose(turn):
    for _ in range(20):
        subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True)
    time.sleep(5)
    return turn.rng.choice(turn.legal)


run(choose)
