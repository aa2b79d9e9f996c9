"""Sends a small compressed message that unpacks to fifty megabytes.

Verdict: DISCONNECT
Games: lost
Says: ended its stream before Farewell
"""

import raw
from referee.protocol import wire


def answer(turn):
    out.put(wire.PlayRequest(join=wire.Join(name="n" * 50_000_000)))
    return raw.first_choice(turn)


with raw.dial(compressed=True) as (stream, out):
    raw.answer_all(stream, out, answer)
raw.sleep()
