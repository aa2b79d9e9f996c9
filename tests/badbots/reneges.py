"""Plays a card of another suit though it holds the suit led.

Verdict: ILLEGAL_ACTION AF-PLAY-002, ILLEGAL_ACTION AF-PLAY-003
Games: lost
Says: was led and you hold
"""

from referee.bot import Kind, run


def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal] if turn.kind is Kind.PLAY else []
    return wrong[0] if wrong else turn.rng.choice(turn.legal)


run(choose)
