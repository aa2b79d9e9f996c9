"""Needs far too long to start.

Lap: start
Verdict: START_FAILED
Games: none
Says: did not join within
"""

import time

time.sleep(3600)
