"""Sends twenty thousand empty messages.

Verdict: PROTOCOL
Games: lost
Says: AF-PROTO-004
"""

import raw


def answer(turn):
    for _ in range(20_000):
        out.put(b"")
    return raw.first_choice(turn)


with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer)
