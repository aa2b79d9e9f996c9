"""Ends its side of the stream after its first turn, and lives on.

Verdict: DISCONNECT
Games: lost
Says: ended its stream before Farewell
"""

import time

import raw

with raw.dial() as (stream, out):
    for response in stream:
        if response.turns:
            out.put(None)
            time.sleep(3600)
