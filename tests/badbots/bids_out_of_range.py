"""Bids more than there is to make.

Verdict: ILLEGAL_ACTION AF-BID-001
Games: lost
Says: 15 is no bid
"""

from referee.bot import Kind, run

run(lambda turn: 15 if turn.kind is Kind.BID else turn.rng.choice(turn.legal))
