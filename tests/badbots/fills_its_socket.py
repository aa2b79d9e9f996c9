"""Allows any number of bytes, asks for notices, joins, and never reads its socket.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import struct

import http2
import raw
from referee.protocol import wire

line = http2.connect(settings=struct.pack(">HI", 4, 0x7FFFFFFF))
line.sendall(http2.frame(http2.WINDOW_UPDATE, 0, 0, b"\x7f\xff\x00\x00"))
join = wire.PlayRequest(join=wire.Join(name="full", max_in_flight=64, wants_notices=True))
line.sendall(http2.joining(http2.token(), join.SerializeToString()))
raw.sleep()
