"""Sends one message of ten megabytes.

Verdict: DISCONNECT
Games: lost
Says: ended its stream before Farewell
"""

import raw
from referee.protocol import wire


def answer(turn):
    out.put(wire.PlayRequest(join=wire.Join(name="n" * 10_000_000)))
    return raw.first_choice(turn)


with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer)
raw.sleep()
