"""Begs where it has to answer a beg.

Variant: all-fours
Verdict: ILLEGAL_ACTION AF-TRUMP-004
Games: any
Says: answers a beg with give (3) or run (4)
"""

from referee.bot import Call, Kind, run


def choose(turn):
    begs = turn.kind in {Kind.STAND_OR_BEG, Kind.ANSWER_BEG}
    return Call.BEG if begs else turn.rng.choice(turn.legal)


run(choose)
