"""Sends a move before any Join, and stays.

Lap: start
Verdict: START_FAILED
Games: none
Says: first message was no Join
"""

import time

import raw
from referee.protocol import wire

with raw.dial(wire.PlayRequest(moves=[wire.Move(turn_id=1, bid=2)])) as (_stream, _out):
    time.sleep(3600)
