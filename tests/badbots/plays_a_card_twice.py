"""Plays the card of its first trick once more.

Verdict: ILLEGAL_ACTION AF-PLAY-001
Games: lost
Says: You do not hold
"""

from referee.bot import EventKind, Kind, run


def choose(turn):
    played = [event.value for event in turn.history if event.kind is EventKind.PLAY and event.seat == turn.seat]
    return played[0] if played and turn.kind is Kind.PLAY else turn.rng.choice(turn.legal)


run(choose)
