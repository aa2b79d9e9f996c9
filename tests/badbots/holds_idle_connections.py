"""Plays well, with a hundred connections beside its stream that say nothing.

Verdict: none
Games: played
"""

import attacks
import http2
import raw

held = attacks.held(http2.address(), 100)
raw.play()
