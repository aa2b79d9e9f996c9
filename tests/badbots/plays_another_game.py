"""Joins for a variant that is not played.

Lap: start
Verdict: START_FAILED
Games: none
Says: It plays cinch, not auction-pitch
"""

from referee.bot import Bot, run


class Cinch(Bot):
    variants = ("cinch",)

    def choose(self, turn):
        return turn.legal[0]


run(Cinch())
