"""Always follows suit though it might trump. That is allowed.

Verdict: none
Games: played
"""

from referee.bot import Kind, run


def choose(turn):
    if turn.kind is Kind.PLAY and turn.trick:
        follow = [card for card in turn.legal if card.suit == turn.trick[0].suit]
        return min(follow or turn.legal)
    return turn.rng.choice(turn.legal)


run(choose)
