"""Keeps a processor busy beside its own thinking, for a while. That is allowed.

Verdict: none
Games: played
"""

import subprocess
import sys

from referee.bot import run

BUSY = "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass"
subprocess.Popen([sys.executable, "-S", "-c", BUSY])
run(lambda turn: turn.rng.choice(turn.legal))
