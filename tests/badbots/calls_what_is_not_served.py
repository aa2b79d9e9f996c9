"""Calls methods that there are not, more at a time than it may, before it plays.

Verdict: START_FAILED
Games: none
Says: AF-PROTO-00
"""

import attacks
import http2
import raw

for _ in range(100):
    attacks.attack(http2.address(), "unknown_methods")
raw.play()
