"""Shows a token that is nobody's.

Lap: start
Verdict: START_FAILED
Games: none
Says: ended before it joined
"""

import os

os.environ["REFEREE_TOKEN"] = "nobody's"

from referee.bot import run

run(lambda turn: turn.legal[0])
