"""Always does the last thing on the list: bids the most, plays the highest. That is allowed.

Verdict: none
Games: played
"""

from referee.bot import run

run(lambda turn: turn.legal[-1])
