"""Answers with a bid where a card is asked for.

Verdict: MALFORMED AF-PROTO-001
Games: lost
Says: answered in the field 'card'
"""

import raw
from referee.protocol import wire


def answer(turn):
    return wire.Move(turn_id=turn.turn_id, bid=2) if turn.options.cards else raw.first_choice(turn)


raw.play(answer)
