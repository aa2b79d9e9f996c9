"""Makes room for one byte of what it is sent, again and again, and answers nothing.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import struct
import time

import http2

line = http2.connect(settings=http2.NO_WINDOW)
line.sendall(http2.joining(http2.token()))
http2.drain(line)
while True:
    line.sendall(http2.frame(http2.WINDOW_UPDATE, 0, 1, struct.pack(">I", 1)))
    time.sleep(0.01)
