"""Raises an exception when it is told what the first deal was worth.

Verdict: CRASH
Games: any
Says: exit code 1
"""

from referee.bot import Bot, run


class Sore(Bot):
    def choose(self, turn):
        return turn.rng.choice(turn.legal)

    def deal_over(self, over):
        if over.deal == 0:
            raise RuntimeError("I do not agree")


run(Sore())
