"""Plays well, and beside its game sends a header that grows two-thousandfold when it is read.

Verdict: none
Games: played
"""

import attacks
import http2
import raw

attacks.attack(http2.address(), "header_bomb")
raw.play()
