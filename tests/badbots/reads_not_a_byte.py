"""Joins by hand with no room for a single byte of an answer, and never reads its socket.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import time

import http2
import raw
from referee.protocol import wire

line = http2.connect(settings=http2.NO_WINDOW)
join = wire.PlayRequest(join=raw.JOIN).SerializeToString()
line.sendall(http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.headers(token=http2.token())))
line.sendall(http2.frame(http2.DATA, 0, 1, http2.message(join)))
time.sleep(3600)
