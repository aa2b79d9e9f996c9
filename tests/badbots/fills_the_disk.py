"""Writes a file larger than it may be.

Lap: limits
Verdict: CRASH
Games: lost
Says: exit code 1
"""

import os
from pathlib import Path

from referee.bot import run


def choose(turn):
    Path(os.environ["HOME"], "big").write_bytes(bytes(20 << 20))
    return turn.rng.choice(turn.legal)


run(choose)
