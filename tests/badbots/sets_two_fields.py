"""Sets a card and a bid in one move.

Verdict: MALFORMED AF-PROTO-002
Games: lost
Says: also sets
"""

import raw


def answer(turn):
    move = raw.first_choice(turn)
    move.bid, move.card = 2, 44
    return move


raw.play(answer)
