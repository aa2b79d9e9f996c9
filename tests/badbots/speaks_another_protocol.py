"""Sends HTTP/1 and then single bytes to the socket, and never joins.

Lap: start
Verdict: START_FAILED
Games: none
Says: did not join within
"""

import os
import socket
import time

with socket.socket(socket.AF_UNIX) as line:
    line.connect(os.environ["REFEREE_ADDRESS"].removeprefix("unix:"))
    for byte in b"GET / HTTP/1.1\r\nHost: referee\r\n" * 100:
        try:
            line.send(bytes([byte]))
        except OSError:
            break
        time.sleep(0.001)
time.sleep(3600)
