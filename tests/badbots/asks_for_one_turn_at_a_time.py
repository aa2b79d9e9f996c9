"""Takes one turn at a time, and wants no notices. That is allowed.

Verdict: none
Games: played
"""

import raw
from referee.protocol import wire

raw.play(join=wire.Join())
