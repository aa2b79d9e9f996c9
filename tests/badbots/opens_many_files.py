"""Opens more files than it may, and dies of it.

Lap: limits
Verdict: CRASH
Games: lost
Says: exit code 1
"""

from referee.bot import run

opened = []


def choose(turn):
    for _ in range(1000):
        opened.append(open(__file__))
    return turn.rng.choice(turn.legal)


run(choose)
