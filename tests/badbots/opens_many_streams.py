"""Opens forty streams with its token.

Verdict: PROTOCOL
Perhaps: START_FAILED
Games: lost
Says: 5 a game are enough
"""

import contextlib

import raw

with contextlib.ExitStack() as stack:
    for _ in range(40):
        stack.enter_context(raw.dial())
    raw.sleep()
