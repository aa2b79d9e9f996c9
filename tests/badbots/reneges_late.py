"""Plays by the rules twenty times, then reneges whenever it can.

Verdict: ILLEGAL_ACTION AF-PLAY-002, ILLEGAL_ACTION AF-PLAY-003
Games: any
Says: was led and you hold
"""

from referee.bot import Kind, run


def choose(turn):
    wrong = [card for card in turn.hand if card not in turn.legal]
    late = turn.kind is Kind.PLAY and turn.decision > 20
    return wrong[0] if wrong and late else turn.rng.choice(turn.legal)


run(choose)
