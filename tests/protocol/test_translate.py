"""Domain to wire and back is the identity, for every kind of turn, move, ruling, notice and rule set."""

import json
from random import Random
from typing import Any, Final

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.cards import PACK, cards_in, mask_of
from referee.protocol import wire
from referee.protocol.translate import (
    Malformed,
    deal_over,
    game_over,
    game_started,
    move_message,
    read_move,
    rule_set_message,
    ruling_message,
    turn_message,
)
from referee.rules import Action, Call, Ending, EndReason, Keeps, Kind, RuleSet, variant, variant_names
from referee.rules.ruleset import allowed_values
from referee.umpire.events import DealClosed, DealLog, Ruling, TableResult
from referee.umpire.faults import Consequence, Fault
from referee.umpire.umpire import FORFEIT
from referee.umpire.view import Chair, Turn, see
from tests.helpers import chances, random_rules
from tests.protocol.test_paired_states import Script, drawn

MOST_TURN_BYTES: Final = 400


def turn_of(script: Script, chance: Random) -> Turn:
    """What the seat to decide is told, with numbers drawn from their whole range."""
    game, deal = script.play()
    game.set_backs = [chance.randint(0, 9) for _ in game.set_backs]
    chair = Chair(
        game_id=id_(chance),
        seat=deal.seat,
        seats=script.seats,
        rules=script.rules,
        rule_set_id=chance.randint(1, 99),
        bot_seed=id_(chance),
    )
    return see(
        deal,
        game,
        chair,
        turn_id=id_(chance),
        decision=chance.randrange(500),
        retry=chance.randrange(3),
        move_us=1000 * chance.randrange(10**7),
        bank_us=1000 * chance.randrange(10**7),
    )


def id_(chance: Random) -> int:
    return chance.randint(1, 2**53 - 1)


def sides(figures: Any, side_count: int) -> list[int]:
    """Figures by seat as figures by side; partners must agree."""
    count = side_count or len(figures)
    assert all(figures[seat] == figures[seat % count] for seat in range(len(figures)))
    return list(figures[:count])


def legal_of(options: wire.Options, kind: Kind) -> list[Action]:
    """What an options message allows, as actions; no field of another kind may be filled."""
    filled = {field.name for field, _ in options.ListFields()}
    if kind is Kind.DISCARD:
        assert filled <= {"keep"}
        keep = options.keep
        keeps = Keeps(mask_of(keep.must_keep), mask_of(keep.may_keep), keep.count)
        return [len(keeps), keeps.must, keeps.may, keeps.size]
    field = {Kind.PLAY: "cards", Kind.BID: "bids", Kind.NAME_TRUMP: "suits"}.get(kind, "calls")
    assert filled <= {field}
    values = list(getattr(options, field))
    return [value - 1 for value in values] if kind is Kind.NAME_TRUMP else values


def legal_in(legal: Any) -> list[Action]:
    return [len(legal), legal.must, legal.may, legal.size] if isinstance(legal, Keeps) else list(legal)


@settings(max_examples=250)
@given(chances())
def test_a_turn_comes_back_as_it_was(chance: Random) -> None:
    turn = turn_of(drawn(chance), chance)
    sent = turn_message(turn)
    message = wire.Turn.FromString(sent.SerializeToString())
    chair, rules = turn.chair, turn.chair.rules
    assert (message.turn_id, message.game_id, message.rule_set_id) == (turn.turn_id, chair.game_id, chair.rule_set_id)
    assert (message.seat, message.seats, message.sides) == (chair.seat, chair.seats, rules.sides)
    assert (message.kind, message.bot_seed, message.target) == (turn.kind, chair.bot_seed, rules.target)
    assert list(message.hand) == list(cards_in(turn.hand))
    assert list(message.history) == list(turn.history)
    assert list(message.trick) == list(turn.trick)
    assert (message.trick_leader if message.HasField("trick_leader") else None) == turn.leader
    assert (message.pitcher if message.HasField("pitcher") else None) == turn.pitcher
    assert (message.trump - 1 if message.trump else None) == turn.trump
    assert (message.turn_up or None) == turn.turn_up
    assert (message.dealer, message.bid, message.stock_count) == (turn.dealer, turn.bid, turn.stock_count)
    assert mask_of(message.discards) == turn.laid_away
    assert (message.deal, message.decision, message.retry) == (turn.deal, turn.decision, turn.retry)
    assert (1000 * message.move_ms, 1000 * message.bank_ms) == (turn.move_us, turn.bank_us)
    assert sides(message.scores, rules.sides) == list(turn.scores)
    assert sides(message.set_backs, rules.sides) == list(turn.set_backs)
    assert legal_of(message.options, turn.kind) == legal_in(turn.legal)
    assert message.options.keep.count == 0 or turn.kind is Kind.DISCARD
    assert sent.ByteSize() <= MOST_TURN_BYTES


@settings(max_examples=250)
@given(chances())
def test_every_legal_action_is_one_move_and_back(chance: Random) -> None:
    turn = turn_of(drawn(chance), chance)
    legal = turn.legal
    for index in {0, len(legal) - 1, chance.randrange(len(legal))}:
        move = wire.Move.FromString(move_message(turn.turn_id, turn.kind, legal[index]).SerializeToString())
        assert move.turn_id == turn.turn_id
        assert read_move(move, turn.kind) == legal[index]


ACTIONS: Final[dict[Kind, st.SearchStrategy[int]]] = {
    Kind.BID: st.integers(-(2**31), 2**31 - 1),
    Kind.STAND_OR_BEG: st.sampled_from([int(call) for call in Call]),
    Kind.ANSWER_BEG: st.sampled_from([int(call) for call in Call]),
    Kind.NAME_TRUMP: st.integers(0, 3),
    Kind.DISCARD: st.sets(st.sampled_from(PACK)).map(mask_of),
    Kind.PLAY: st.sampled_from(PACK),
}


@given(st.data(), st.sampled_from(list(Kind)))
def test_every_action_that_can_be_said_is_one_move_and_back(data: st.DataObject, kind: Kind) -> None:
    action = data.draw(ACTIONS[kind])
    assert read_move(move_message(7, kind, action), kind) == action


@given(st.binary(max_size=60), st.sampled_from(list(Kind)))
def test_any_move_at_all_is_an_action_or_malformed(data: bytes, kind: Kind) -> None:
    try:
        move = wire.Move.FromString(data)
    except DecodeError:  # what cannot be decoded never comes this far
        return
    read = read_move(move, kind)
    assert isinstance(read, int) or (read.rule.startswith("AF-PROTO-") and read.sentence.endswith("."))


@pytest.mark.parametrize(
    ("kind", "move", "rule", "words"),
    [
        (Kind.PLAY, wire.Move(), "AF-PROTO-001", "this move sets no field"),
        (Kind.PLAY, wire.Move(bid=2), "AF-PROTO-001", "answered in the field 'card'; this move sets bid"),
        (Kind.PLAY, wire.Move(card=wire.CARD_QH, bid=2), "AF-PROTO-002", "this move also sets bid"),
        (Kind.PLAY, wire.Move(card=wire.Card.ValueType(99)), "AF-PROTO-003", "no card with the number 99"),
        (Kind.PLAY, wire.Move(card=wire.CARD_UNSPECIFIED), "AF-PROTO-003", "no card with the number 0"),
        (Kind.NAME_TRUMP, wire.Move(suit=wire.Suit.ValueType(5)), "AF-PROTO-003", "no suit with the number 5"),
        (Kind.NAME_TRUMP, wire.Move(suit=wire.SUIT_UNSPECIFIED), "AF-PROTO-003", "no suit with the number 0"),
        (Kind.STAND_OR_BEG, wire.Move(call=wire.Call.ValueType(9)), "AF-PROTO-003", "no call with the number 9"),
        (Kind.DISCARD, wire.Move(kept=[wire.CARD_QH, wire.CARD_QH]), "AF-PROTO-002", "names a card to keep twice"),
        (Kind.DISCARD, wire.Move(kept=[wire.Card.ValueType(-1)]), "AF-PROTO-003", "no card with the number -1"),
        (Kind.DISCARD, wire.Move(card=wire.CARD_QH), "AF-PROTO-001", "answered in the field 'kept'"),
    ],
)
def test_what_is_wrong_with_a_move_is_said_in_one_sentence(kind: Kind, move: wire.Move, rule: str, words: str) -> None:
    read = read_move(move, kind)
    assert isinstance(read, Malformed)
    assert read.rule == rule
    assert words in read.sentence


def test_to_keep_nothing_is_said_by_an_empty_move() -> None:
    assert read_move(wire.Move(turn_id=3), Kind.DISCARD) == 0


def test_a_pass_is_a_bid_of_zero_and_not_the_lack_of_one() -> None:
    assert read_move(wire.Move(bid=0), Kind.BID) == 0
    assert isinstance(read_move(wire.Move(), Kind.BID), Malformed)


def test_unknown_fields_of_a_later_version_are_overlooked() -> None:
    data = wire.Move(turn_id=3, card=wire.CARD_QH).SerializeToString() + b"\xfa\x3f\x03new"
    assert read_move(wire.Move.FromString(data), Kind.PLAY) == wire.CARD_QH


# Rule sets


@settings(max_examples=100)
@given(chances())
def test_a_rule_set_comes_back_from_its_house_rules(chance: Random) -> None:
    rules = variant(chance.choice(variant_names())) if chance.random() < 0.3 else random_rules(chance)[0]
    message = wire.RuleSet.FromString(rule_set_message(rules, 3).SerializeToString())
    assert message.rule_set_id == 3
    assert RuleSet.from_dict({rule.name: json.loads(rule.value) for rule in message.house_rules}) == rules


@pytest.mark.parametrize("name", variant_names())
def test_the_typed_fields_of_a_rule_set_say_the_same_as_the_house_rules(name: str) -> None:
    rules = variant(name)
    message = rule_set_message(rules, 1)
    values = rules.as_dict()
    assert [message.min_players, message.max_players] == list(values.pop("players"))
    fields = wire.RuleSet.DESCRIPTOR.fields_by_name
    assert set(fields) - {"rule_set_id", "min_players", "max_players", "house_rules"} <= set(values)
    for field, value in values.items():
        if field not in fields:
            continue  # a house rule that travels by its name alone
        told: Any = getattr(message, field)
        described = fields[field]
        if described.enum_type is not None and allowed_values(field):
            assert described.enum_type.values_by_number[told].name == f"{field}_{value}".upper()
            assert told != 0
        elif field in {"turned_scores", "point_cards"}:
            assert [[row.rank, row.points] for row in told] == [["23456789TJQKA".index(r[0]) + 2, p] for r, p in value]
        else:
            assert (list(told) if isinstance(value, list) else told) == value


# Rulings and notices


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("consequence", list(Consequence))
def test_every_fault_and_consequence_has_its_number(fault: Fault, consequence: Consequence) -> None:
    chair = Chair(game_id=9, seat=1, seats=4, rules=variant("auction-pitch"))
    ruling = Ruling(
        seat=1,
        turn_id=5,
        fault=fault,
        rule="AF-PLAY-001",
        sentence="A sentence.",
        legal=(2, 3),
        kind=Kind.BID,
        consequence=consequence,
        substitute=0,
        violations=2,
    )
    message = ruling_message(ruling, chair)
    assert wire.Fault.Name(message.fault) == f"FAULT_{fault.name}"
    assert wire.RulingOutcome.Name(message.outcome) == f"RULING_OUTCOME_{consequence.name}"
    assert (message.turn_id, message.game_id, message.violations) == (5, 9, 2)
    assert (message.rule_id, message.sentence) == ("AF-PLAY-001", "A sentence.")
    told = fault in {Fault.ILLEGAL_ACTION, Fault.MALFORMED}
    assert list(message.legal.bids) == ([2, 3] if told else [])
    assert message.HasField("substitute") is (consequence is Consequence.SUBSTITUTED)


@settings(max_examples=100)
@given(chances())
def test_a_ruling_tells_what_was_legal_and_what_was_played_instead(chance: Random) -> None:
    turn = turn_of(drawn(chance), chance)
    played = turn.legal[chance.randrange(len(turn.legal))]
    fault, consequence = Fault.ILLEGAL_ACTION, Consequence.SUBSTITUTED
    ruling = Ruling(
        seat=0,
        turn_id=turn.turn_id,
        fault=fault,
        rule="AF-PLAY-001",
        sentence="No.",
        legal=turn.legal,
        kind=turn.kind,
        consequence=consequence,
        substitute=played,
        violations=1,
    )
    message = ruling_message(ruling, turn.chair)
    assert legal_of(message.legal, turn.kind) == legal_in(turn.legal)
    assert read_move(message.substitute, turn.kind) == played


@settings(max_examples=100)
@given(chances())
def test_the_notice_of_a_deal_says_what_it_was_worth(chance: Random) -> None:
    script = drawn(chance, to_the_end=True)
    game, deal = script.play()
    outcome = deal.outcome
    assert outcome is not None
    log = DealLog(dealer=deal.dealer, pack=script.pack, scores=tuple(script.scores), history=deal.history)
    closed = DealClosed(4, log, outcome, tuple(game.scores))
    over = deal_over(Chair(game_id=9, seat=0, seats=script.seats, rules=script.rules), closed, deal.history).deal_over
    assert (over.game_id, over.deal, over.dealer, over.bid) == (9, 4, outcome.dealer, outcome.bid)
    assert list(over.history) == deal.history
    assert (over.pitcher if over.HasField("pitcher") else None) == outcome.pitcher
    assert (over.trump - 1 if over.trump else None) == outcome.trump
    assert sides(over.deltas, script.rules.sides) == list(outcome.deltas)
    assert sides(over.scores, script.rules.sides) == list(game.scores)
    assert sides(over.pips, script.rules.sides) == list(outcome.pips)
    assert over.set_back is (outcome.set_back is not None)
    assert [(item.seat, item.points) for item in over.items] == [(one.seat, one.points) for one in outcome.awards]
    assert all(item.item for item in over.items)


def test_every_end_of_a_deal_and_of_a_game_has_its_name() -> None:
    from referee.protocol import translate

    assert set(translate._DEAL_ENDS) == set(Ending)
    assert set(translate._GAME_ENDS) == {str(reason) for reason in EndReason} | {FORFEIT}
    assert wire.GAME_END_UNSPECIFIED not in translate._GAME_ENDS.values()


def test_the_notices_of_a_game_are_for_one_seat() -> None:
    chair = Chair(game_id=9, seat=1, seats=4, rules=variant("partnership-pitch"), rule_set_id=2, bot_seed=77)
    started = game_started(chair, 3).game_started
    assert (started.game_id, started.seat, started.seats, started.sides) == (9, 1, 4, 2)
    assert (started.first_dealer, started.rule_set_id, started.bot_seed) == (3, 2, 77)
    assert not started.names
    result = TableResult(
        winner=1, reason="by Low", scores=(3, 11), places=(2, 1, 2, 1), stakes=(0, 0, 0, 0), forfeits=()
    )
    over = game_over(chair, result, "ab" * 32, b"{}").game_over
    assert (over.seat, over.end_reason) == (1, wire.GAME_END_COUNT_LOW)
    assert (list(over.places), list(over.scores)) == ([2, 1, 2, 1], [3, 11, 3, 11])
    assert (over.record_digest, over.record_json) == ("ab" * 32, b"{}")
