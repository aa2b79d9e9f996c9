"""Joins and never reads what it is sent.

Lap: slow
Verdict: TIMEOUT_MOVE AF-CLOCK-001, CRASH
Games: lost
Says: did not answer twice in a row
"""

import time

import raw

with raw.dial() as (_stream, _out):
    time.sleep(3600)
