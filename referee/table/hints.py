"""What the sample bot careful would do in the person's place, and why: its own figures, said in words."""

import importlib.util
import sys
from functools import cache
from types import ModuleType
from typing import Any, Final

from referee.bot import Call, Card, Kind, Suit, Turn, cards_text
from referee.cards import SUIT_NAMES
from referee.league.definition.shipped import sample_bots
from referee.table.state import MoveHint
from referee.table.words import card_name, listed, move_label

_ONE: Final = 1_000_000
"""One point, and certainty, as careful counts them."""


class NoHintError(Exception):
    """There is no hint; the message says why."""


@cache
def _careful() -> ModuleType:
    """The sample bot's own module, as it plays; raises ``NoHintError`` where it is not installed."""
    path = sample_bots().get("careful")
    spec = importlib.util.spec_from_file_location("referee_careful_for_hints", path / "bot.py") if path else None
    if spec is None or spec.loader is None:
        raise NoHintError("The sample bot careful, which gives the hints, is not installed.")
    module = importlib.util.module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # its folder has a fingerprint
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


def hint_for(turn: Turn) -> MoveHint:
    """What careful would do at this turn, as it came over the wire. Raises ``NoHintError``."""
    careful = _careful()
    chosen: Any = careful.choose(turn)
    match turn.kind:
        case Kind.BID:
            return MoveHint(str(chosen) if chosen else "pass", _label(turn, chosen), _why_bid(careful, turn, chosen))
        case Kind.NAME_TRUMP:
            return MoveHint(SUIT_NAMES[chosen], _label(turn, chosen), _promised(careful, turn, chosen))
        case Kind.PLAY:
            return MoveHint(str(Card(chosen)), _label(turn, chosen), _why_card(careful, turn, Card(chosen)))
        case Kind.DISCARD:
            kept = tuple(str(card) for card in sorted(chosen, reverse=True))
            why = "Trumps are worth most, then high cards." if turn.keeps.may else "There is no choice here."
            return MoveHint(f"keep {' '.join(kept)}", f"Keep {cards_text(chosen)}", why, kept)
    call = Call(chosen)
    return MoveHint(str(call), _label(turn, chosen), _why_call(careful, turn))


def _label(turn: Turn, chosen: int) -> str:
    from referee.rules import Kind as RulesKind

    return move_label(RulesKind(turn.kind), chosen)


def _points(millionths: int) -> str:
    tenths = round(millionths / (_ONE // 10))
    return f"{tenths / 10:g} point{'' if tenths == 10 else 's'}"


def _promised(careful: ModuleType, turn: Turn, suit: int) -> str:
    promised = _points(careful.promise(turn, Suit(suit)))
    held = [card for card in turn.hand if careful.is_trump(turn, card, Suit(suit))]
    with_ = f" with {listed([card_name(card) for card in sorted(held, reverse=True)])}" if held else ""
    return f"As trump, {SUIT_NAMES[suit]} promise about {promised}{with_}."


def _why_bid(careful: ModuleType, turn: Turn, chosen: int) -> str:
    best = max(Suit, key=lambda suit: careful.promise(turn, suit))
    promised = _promised(careful, turn, best)
    if chosen and 0 not in turn.legal and chosen == min(turn.legal):
        return f"{promised} You have to bid, and this is the least."
    if chosen:
        return f"{promised} That is about what the bid asks for."
    return f"Your best suit does not promise enough for a bid that would take the auction. {promised}"


def _why_call(careful: ModuleType, turn: Turn) -> str:
    if turn.turn_up is None:
        return ""
    promised = _promised(careful, turn, turn.turn_up.suit)
    likes = careful.likes_turn_up(turn)
    return f"{promised} That is {'enough' if likes else 'too little'}: a point is what it should promise."


def _why_card(careful: ModuleType, turn: Turn, card: Card) -> str:
    if len(turn.legal) == 1:
        return "It is the only card that you may play."
    if turn.trump is None and not turn.trick:
        kind = (
            "a high card, which should hold the trick" if card.rank >= 13 else "a low card, for a higher one might fall"
        )
        return f"{_promised(careful, turn, card.suit)} It is {kind}."
    trump = card.suit if turn.trump is None else turn.trump
    percent = round(careful.chance_of_trick(turn, card, trump) * 100 / _ONE)
    own = careful.worth(turn, card, trump)
    lies = sum(careful.worth(turn, other, trump) for other in turn.trick)
    if not percent:
        what = f"gives away about {_points(own)}" if own else "gives nothing away"
        return f"It cannot win this trick, and {what}."
    if turn.trick and not turn.beats(card):
        return f"Your partner holds the trick, with a chance of {percent} %: it brings about {_points(own)} home."
    gains = f", and what lies there is worth about {_points(lies)}" if lies else ""
    cost = " It is the cheapest card that does as well." if careful.price(turn, card, trump) else ""
    return f"It wins this trick with a chance of {percent} %{gains}.{cost}"
