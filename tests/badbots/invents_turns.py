"""Answers turns that it was never asked.

Verdict: PROTOCOL
Games: lost
Says: AF-PROTO-004
"""

import raw
from referee.protocol import wire


def answer(turn):
    out.put(wire.PlayRequest(moves=[wire.Move(turn_id=number, bid=2) for number in range(1, 20)]))
    return raw.first_choice(turn)


with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer)
