"""Prints more than it may.

Lap: limits
Verdict: RESOURCE_OUTPUT
Games: lost
Says: bytes of output, which is its limit
"""

from referee.bot import run


def choose(turn):
    for _ in range(2_000):
        print("x" * 10_000)
    return turn.rng.choice(turn.legal)


run(choose)
