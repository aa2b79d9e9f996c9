"""Bids as much as the bid before it, without the right to.

Verdict: ILLEGAL_ACTION AF-BID-003
Games: any
Says: Only the dealer may take a bid
"""

from referee.bot import Kind, run


def choose(turn):
    if turn.kind is Kind.BID and turn.high_bid and turn.high_bid not in turn.legal:
        return turn.high_bid
    return turn.rng.choice(turn.legal)


run(choose)
