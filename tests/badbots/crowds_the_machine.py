"""Starts thirty busy processes for a while and thinks beside them. That is allowed, and excuses nothing.

Verdict: none
Games: played
"""

import subprocess
import sys

from referee.bot import run

BUSY = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
for _ in range(30):
    subprocess.Popen([sys.executable, "-S", "-c", BUSY])
run(lambda turn: turn.rng.choice(turn.legal))
