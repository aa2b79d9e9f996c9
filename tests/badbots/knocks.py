"""Knocks at its door a hundred times with a token that nobody has, in the middle of its games.

Verdict: PROTOCOL
Games: lost
Says: streams with a token that nobody has
"""

import raw


def answer(turn):
    for _ in range(100):
        with raw.dial(token="nobody's") as (stream, _out):
            for _ in stream:
                pass
    return raw.first_choice(turn)


raw.play(answer)
