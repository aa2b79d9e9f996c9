"""Joins by hand with no room for a single byte of an answer, and never reads its socket.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import http2
import raw
from referee.protocol import wire

line = http2.connect(settings=http2.NO_WINDOW)
line.sendall(http2.joining(http2.token(), wire.PlayRequest(join=raw.JOIN).SerializeToString()))
raw.sleep()
