"""Sends bytes that are no message: random ones, deep nesting, text that is no UTF-8.

Verdict: PROTOCOL
Games: lost
Says: AF-PROTO-004
"""

import raw

NOISE = [b"\xff" * 99, b"\x0b" * 5000 + b"\x0c" * 5000, b"\x0a\x04\x0a\x02\xc3\x28"]


def answer(turn):
    for noise in NOISE * 10:
        out.put(noise)
    return raw.first_choice(turn)


with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer)
