"""Opens a second stream in the middle of its games, and plays on there. That is allowed.

Verdict: none
Games: played
"""

import raw

asked = 0


def answer(turn):
    global asked
    asked += 1
    return raw.first_choice(turn) if asked != 7 else None


with raw.dial() as (stream, out):
    raw.answer_all(stream, out, answer, until=lambda: asked >= 7)
    raw.play()
