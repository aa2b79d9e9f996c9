"""Answers every turn again and again.

Verdict: PROTOCOL
Games: lost
Says: AF-PROTO-004
"""

import raw
from referee.protocol import wire


def answer(turn):
    move = raw.first_choice(turn)
    out.put(wire.PlayRequest(moves=[move] * 10))
    return move


with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer)
