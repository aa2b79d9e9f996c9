"""Plays a card that is not in its hand.

Verdict: ILLEGAL_ACTION AF-PLAY-001
Games: lost
Says: You do not hold
"""

from referee.bot import PACK, Kind, run


def choose(turn):
    if turn.kind is Kind.PLAY:
        return next(card for card in PACK if card not in turn.hand)
    return turn.rng.choice(turn.legal)


run(choose)
