"""Passes as dealer though the others have passed and the dealer has to bid.

Seed: b
Seats: 2
Variant: auction-pitch-forced
Verdict: ILLEGAL_ACTION AF-BID-004
Games: any
Says: You dealt and all others passed
"""

from referee.bot import Kind, run

run(lambda turn: 0 if turn.kind is Kind.BID else turn.rng.choice(turn.legal))
