"""Asks the referee thousands of times whether it is well, in the middle of its games.

Verdict: PROTOCOL
Games: lost
Says: AF-PROTO-004: it flooded its connection
"""

import attacks
import http2
import raw


def answer(turn):
    attacks.attack(http2.address(), "health_checks")
    return raw.first_choice(turn)


raw.play(answer)
