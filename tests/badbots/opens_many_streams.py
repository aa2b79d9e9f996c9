"""Is asked for its first move, and opens forty streams with its token.

Verdict: PROTOCOL
Games: lost
Says: 5 a game are enough
"""

import contextlib

import raw

asked = []

with contextlib.ExitStack() as stack:
    raw.answer_all(*stack.enter_context(raw.dial()), asked.append, until=lambda: asked)
    for _ in range(40):
        stack.enter_context(raw.dial())
    raw.sleep()
