"""Answers with a move that holds nothing.

Verdict: MALFORMED AF-PROTO-001
Games: lost
Says: sets no field
"""

import raw
from referee.protocol import wire

raw.play(lambda turn: wire.Move(turn_id=turn.turn_id))
