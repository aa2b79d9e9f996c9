"""Opens streams with its token and resets them at once, thousands of times, in the middle of its games.

Verdict: PROTOCOL
Games: lost
"""

import attacks
import http2
import raw


def answer(turn):
    attacks.attack(http2.address(), "rapid_reset", http2.token())
    return raw.first_choice(turn)


raw.play(answer)
