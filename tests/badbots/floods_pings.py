"""Pings the referee without end, in the middle of its games.

Verdict: PROTOCOL
Games: lost
Says: AF-PROTO-004: it flooded its connection
"""

import attacks
import http2
import raw


def answer(turn):
    attacks.attack(http2.address(), "pings")
    return raw.first_choice(turn)


raw.play(answer)
