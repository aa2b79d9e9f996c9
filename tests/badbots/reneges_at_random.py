"""Reneges now and then, by chance.

Verdict: ILLEGAL_ACTION AF-PLAY-003
Perhaps: ILLEGAL_ACTION AF-PLAY-002
Games: any
Says: was led and you hold
"""

from referee.bot import Kind, run


def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal] if turn.kind is Kind.PLAY else []
    return wrong[0] if wrong and turn.rng.random() < 0.2 else turn.rng.choice(turn.legal)


run(choose)
