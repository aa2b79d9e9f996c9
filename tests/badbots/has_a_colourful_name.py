"""Gives a name of sixty kilobytes full of escape codes and HTML. Nobody is told it.

Verdict: none
Games: played
"""

import raw
from referee.protocol import wire

NAME = ("\x1b[2J\x1b]0;pwned\x07<script>alert(1)</script>\u202e" * 2000)[:20_000]

raw.play(join=wire.Join(name=NAME, version=NAME[:9000], language="\x1b[31m", max_in_flight=64, wants_notices=True))
