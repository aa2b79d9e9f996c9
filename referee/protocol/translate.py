"""The one place where the domain and the wire meet: turns, rulings and notices out, moves in.

Cards, events and kinds have the same numbers on both sides. What differs: suits count from 1 on the wire, and figures
by side are spread over the seats.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from referee.cards import PACK, RANKS, TWO, cards_in, is_card, mask_of
from referee.protocol import wire
from referee.rules import Action, Award, Call, Ending, EndReason, Keeps, Kind, RuleSet
from referee.umpire.events import DealClosed, Ruling, TableResult
from referee.umpire.faults import Consequence, Fault
from referee.umpire.umpire import FORFEIT
from referee.umpire.view import Chair, Turn

_CARDS = frozenset(PACK)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A move that holds no action: the clause it breaks, and the breach in one sentence."""

    rule: str
    sentence: str


def turn_message(turn: Turn) -> wire.Turn:
    """The message of a turn."""
    response = wire.PlayResponse()
    add_turn(response, turn)
    return response.turns[0]


def add_turn(response: wire.PlayResponse, turn: Turn) -> None:
    """Writes a turn into a response, where it is made once and not copied.

    Field by field, and none that would be empty: that takes three quarters of the time of a call with all of them by name.
    """
    chair, rules = turn.chair, turn.chair.rules
    sides, seats = rules.sides, chair.seats
    message: Any = response.turns.add()  # the stubs have a type for each enum's numbers; here they are plain integers
    message.turn_id = turn.turn_id
    message.game_id = chair.game_id
    message.kind = turn.kind
    message.seat = chair.seat
    message.seats = seats
    message.hand.extend(cards_in(turn.hand))
    fill_options(message.options, turn.kind, turn.legal)
    message.history.extend(turn.history)
    message.scores.extend(by_seat(turn.scores, sides, seats))
    if turn.trump is not None:
        message.trump = turn.trump + 1
    if turn.trick:
        message.trick.extend(turn.trick)
    if turn.leader is not None:
        message.trick_leader = turn.leader
    message.deal = turn.deal
    message.decision = turn.decision
    message.dealer = turn.dealer
    message.retry = turn.retry
    message.sides = sides
    message.rule_set_id = chair.rule_set_id
    if turn.pitcher is not None:
        message.pitcher = turn.pitcher
    message.bid = turn.bid
    if turn.turn_up is not None:
        message.turn_up = turn.turn_up
    message.stock_count = turn.stock_count
    if turn.laid_away:
        message.discards.extend(cards_in(turn.laid_away))
    message.target = rules.target
    message.set_backs.extend(by_seat(turn.set_backs, sides, seats))
    message.move_ms = turn.move_us // 1000
    message.bank_ms = turn.bank_us // 1000
    message.bot_seed = chair.bot_seed


def fill_options(message: wire.Options, kind: Kind | None, legal: Sequence[Action]) -> None:
    """Writes what is legal into the field of the turn's kind."""
    options: Any = message
    if kind is Kind.PLAY:
        options.cards.extend(legal)
    elif kind is Kind.BID:
        options.bids.extend(legal)
    elif kind is Kind.NAME_TRUMP:
        options.suits.extend(suit + 1 for suit in legal)
    elif isinstance(legal, Keeps):
        options.keep.must_keep.extend(cards_in(legal.must))
        options.keep.may_keep.extend(cards_in(legal.may))
        options.keep.count = legal.size
    else:
        options.calls.extend(legal)


def by_seat(figures: Sequence[int], sides: int, seats: int) -> Sequence[int]:
    """Figures by side, spread over the seats."""
    return [figures[seat % sides] for seat in range(seats)] if sides else figures


_FIELD = {
    Kind.BID: "bid",
    Kind.STAND_OR_BEG: "call",
    Kind.ANSWER_BEG: "call",
    Kind.NAME_TRUMP: "suit",
    Kind.DISCARD: "kept",
    Kind.PLAY: "card",
}


def read_move(move: wire.Move, kind: Kind) -> Action | Malformed:
    """The action of a move that answers a turn of this kind, or what is wrong with the message."""
    expected = _FIELD[kind]
    found = move.ListFields()
    if len(found) == 2 and kind is Kind.PLAY and move.turn_id and found[1][0].name == "card" and found[1][1] in _CARDS:
        card: Action = found[1][1]
        return card
    fields = [field.name for field, _ in found if field.name != "turn_id"]
    if fields != [expected]:
        if not fields and kind is Kind.DISCARD:
            return 0
        return _field_fault(kind, expected, fields)
    if kind is Kind.PLAY:
        return move.card if is_card(move.card) else _unknown("card", move.card)
    if kind is Kind.BID:
        return move.bid
    if kind is Kind.NAME_TRUMP:
        return move.suit - 1 if 1 <= move.suit <= 4 else _unknown("suit", move.suit)
    if kind is Kind.DISCARD:
        return _kept(move.kept)
    return int(move.call) if int(move.call) in tuple(Call) else _unknown("call", move.call)


def _field_fault(kind: Kind, expected: str, fields: Sequence[str]) -> Malformed:
    asked = f"A turn of kind {kind.name} is answered in the field {expected!r}"
    if expected in fields:
        others = ", ".join(field for field in fields if field != expected)
        return Malformed("AF-PROTO-002", f"{asked} alone; this move also sets {others}.")
    found = f"this move sets {', '.join(fields)}" if fields else "this move sets no field"
    return Malformed("AF-PROTO-001", f"{asked}; {found}.")


def _unknown(what: str, number: int) -> Malformed:
    return Malformed("AF-PROTO-003", f"There is no {what} with the number {number}.")


def _kept(cards: Sequence[int]) -> Action | Malformed:
    for card in cards:
        if not is_card(card):
            return _unknown("card", card)
    kept = mask_of(cards)
    if kept.bit_count() != len(cards):
        return Malformed("AF-PROTO-002", "This move names a card to keep twice.")
    return kept


def move_message(turn_id: int, kind: Kind, action: Action) -> wire.Move:
    """The move that carries an action: the inverse of ``read_move``."""
    move = wire.Move(turn_id=turn_id)
    if kind is Kind.PLAY:
        move.card = wire.Card.ValueType(action)
    elif kind is Kind.BID:
        move.bid = action
    elif kind is Kind.NAME_TRUMP:
        move.suit = wire.Suit.ValueType(action + 1)
    elif kind is Kind.DISCARD:
        move.kept.extend(wire.Card.ValueType(card) for card in cards_in(action))
    else:
        move.call = wire.Call.ValueType(action)
    return move


def rule_set_message(rules: RuleSet, rule_set_id: int) -> wire.RuleSet:
    """A rule set in full: every house rule by name, and those that the contract has a field for in that field too."""
    values = rules.as_dict()
    message = wire.RuleSet(rule_set_id=rule_set_id)
    for name, value in values.items():
        message.house_rules.add(name=name, value=json.dumps(value))
    message.min_players, message.max_players = values.pop("players")
    for name, value in values.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            continue
        if field.message_type is not None:
            for rank, points in value:
                getattr(message, name).add(rank=RANKS.index(rank) + TWO, points=points)
        elif field.enum_type is not None:
            setattr(message, name, field.enum_type.values_by_name[f"{name}_{value}".upper()].number)
        elif isinstance(value, list):
            getattr(message, name).extend(value)
        else:
            setattr(message, name, value)
    return message


def ruling_message(ruling: Ruling, chair: Chair) -> wire.Ruling:
    """The message of a ruling, for the seat it is about."""
    message = wire.Ruling(
        turn_id=ruling.turn_id,
        game_id=chair.game_id,
        rule_id=ruling.rule,
        fault=wire.Fault.Value(f"FAULT_{ruling.fault.name}"),
        sentence=ruling.sentence,
        outcome=wire.RulingOutcome.Value(f"RULING_OUTCOME_{ruling.consequence.name}"),
        violations=ruling.violations,
    )
    if ruling.legal and ruling.fault in (Fault.ILLEGAL_ACTION, Fault.MALFORMED):
        fill_options(message.legal, ruling.kind, ruling.legal)
    if ruling.consequence is Consequence.SUBSTITUTED and ruling.kind and ruling.substitute is not None:
        message.substitute.CopyFrom(move_message(ruling.turn_id, ruling.kind, ruling.substitute))
    return message


def game_started(chair: Chair, first_dealer: int) -> wire.Notice:
    """The notice that a game begins, for one seat."""
    started = wire.GameStarted(
        game_id=chair.game_id,
        seat=chair.seat,
        seats=chair.seats,
        sides=chair.rules.sides,
        first_dealer=first_dealer,
        rule_set_id=chair.rule_set_id,
        bot_seed=chair.bot_seed,
    )
    return wire.Notice(game_started=started)


_DEAL_ENDS = {
    Ending.PLAYED: wire.DEAL_END_PLAYED,
    Ending.THROWN_IN: wire.DEAL_END_THROWN_IN,
    Ending.SET_BACK: wire.DEAL_END_THROWN_IN,
    Ending.VOID: wire.DEAL_END_VOID,
    Ending.CUT_SHORT: wire.DEAL_END_CUT_SHORT,
}


def deal_over(chair: Chair, closed: DealClosed, history: Sequence[int]) -> wire.Notice:
    """The notice of what a deal was worth, for one seat; only played cards are shown."""
    outcome, sides, seats = closed.outcome, chair.rules.sides, chair.seats
    pitching = None if outcome.pitcher is None else chair.rules.side(outcome.pitcher)
    over = wire.DealOver(
        game_id=chair.game_id,
        deal=closed.number,
        end_reason=_DEAL_ENDS[outcome.ending],
        dealer=outcome.dealer,
        history=history,
        trump=wire.Suit.ValueType(0 if outcome.trump is None else outcome.trump + 1),
        pitcher=outcome.pitcher,
        bid=outcome.bid,
        made=0 if pitching is None else outcome.made[pitching],
        set_back=outcome.set_back is not None,
        items=[_item(award) for award in outcome.awards],
        pips=by_seat(outcome.pips, sides, seats),
        deltas=by_seat(outcome.deltas, sides, seats),
        scores=by_seat(closed.scores, sides, seats),
    )
    return wire.Notice(deal_over=over)


def _item(award: Award) -> wire.ItemScore:
    item = wire.Item.Value(f"ITEM_{award.item.upper().replace(' ', '_')}")
    return wire.ItemScore(item=item, seat=award.seat, points=award.points)


_GAME_ENDS = {
    EndReason.SMUDGE: wire.GAME_END_SMUDGE,
    EndReason.PITCHER_FIRST: wire.GAME_END_PITCHER_FIRST,
    EndReason.COUNT_HIGH: wire.GAME_END_COUNT_HIGH,
    EndReason.COUNT_LOW: wire.GAME_END_COUNT_LOW,
    EndReason.COUNT_JACK: wire.GAME_END_COUNT_JACK,
    EndReason.COUNT_GAME: wire.GAME_END_COUNT_GAME,
    EndReason.TARGET: wire.GAME_END_TARGET,
    EndReason.TURNED_CARD: wire.GAME_END_TURN_UP,
    EndReason.GIFT: wire.GAME_END_GIFT,
    EndReason.CAP: wire.GAME_END_CAP,
    FORFEIT: wire.GAME_END_FORFEIT,
}


def receipt(chair: Chair, record_digest: str) -> wire.Receipt:
    """The receipt of a game that is over, for one seat."""
    return wire.Receipt(game_id=chair.game_id, seat=chair.seat, bot_seed=chair.bot_seed, record_digest=record_digest)


def game_over(chair: Chair, result: TableResult, record_digest: str, record_json: bytes) -> wire.Notice:
    """The notice that a game is over, for one seat, with that seat's own record."""
    over = wire.GameOver(
        game_id=chair.game_id,
        seat=chair.seat,
        end_reason=_GAME_ENDS.get(result.reason, wire.GAME_END_UNSPECIFIED),
        places=result.places,
        scores=by_seat(result.scores, chair.rules.sides, chair.seats),
        stakes=result.stakes,
        record_digest=record_digest,
        record_json=record_json,
    )
    return wire.Notice(game_over=over)
