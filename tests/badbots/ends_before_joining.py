"""Ends with exit code 0 before it has joined.

Lap: start
Verdict: START_FAILED
Games: none
Says: ended before it joined. It ended with exit code 0
"""

print("nothing to do")
