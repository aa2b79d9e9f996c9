"""The person's table in itself: sheets, pauses, the clock, answers that come twice or too late, hints, taking back."""

import asyncio
import itertools
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from referee.bot import Kind as WireKind
from referee.bot import Turn as WireTurn
from referee.net.games_in_play import GamesInPlay
from referee.net.open_turns import TurnSession
from referee.protocol import wire
from referee.protocol.translate import add_turn, rule_set_message
from referee.rules import action_text, parse_action, variant, variant_names
from referee.table.hints import hint_for
from referee.table.state import GameOver, TableState
from referee.table.table import TAKEN_BACK, IllegalMoveError, LeftTableError, RefusedError
from referee.umpire.faults import Fault
from tests.table.seated import Seated, answer_by_chance


class Clock:
    """Time as a test lets it pass."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def seated_at(name: str = "auction-pitch", seats: int = 3, seed: int = 1, **options: Any) -> Seated:
    one = Seated(variant(name).with_rules({"max_deals": 3}), seats, seed, **options)
    one.start()
    return one


def asked(one: Seated) -> TableState:
    state = one.until_asked()
    assert state is not None
    assert state.turn is not None
    return state


def play_until(one: Seated, is_there: Callable[[], bool]) -> None:
    choose = answer_by_chance(one)
    while not is_there():
        choose(asked(one))
        one.carry()
        while one.table.state().sheet is None and one.bot_moves():
            pass


def sheet_of(one: Seated) -> TableState:
    """On until a deal has been counted that is not the last."""
    play_until(one, lambda: one.table.state().sheet is not None)
    return one.table.state()


def test_the_sheet_of_a_deal_stays_until_it_is_read_and_then_what_came_meanwhile_is_shown() -> None:
    one = seated_at()
    state = sheet_of(one)
    assert state.sheet is not None
    assert state.turn is None
    assert state.hand == ()
    while one.bot_moves():
        pass
    assert one.table.state() == state
    one.table.go_on()
    after = one.table.state()
    assert after.sheet is None
    assert after.game.deal == 2
    assert after.sheets == (state.sheet,)
    assert [line.n for line in after.log][-1] > [line.n for line in state.log][-1]
    with pytest.raises(RefusedError, match="nothing to go on with"):
        one.table.go_on()


def test_the_items_of_a_sheet_and_its_contract_are_the_score() -> None:
    one = seated_at("partnership-pitch", 4)
    sheet = sheet_of(one).sheet
    assert sheet is not None
    outcome = one.umpire.deals[0].outcome
    assert outcome is not None
    assert sum(item.points for item in sheet.items) == sum(outcome.made)
    assert sheet.totals == tuple(one.umpire.game.scores[seat % 2] for seat in range(4))
    assert {item.side for item in sheet.items} <= {"You and bot 2", "bot 1 and bot 3"}


def test_a_pause_holds_what_is_shown_and_refuses_moves() -> None:
    one = seated_at()
    state = asked(one)
    one.table.pause()
    one.table.pause()
    assert state.turn is not None
    with pytest.raises(RefusedError, match="paused"):
        one.table.move(state.turn.id, "pass")
    one.table.go_on()
    assert one.table.state().turn == state.turn
    assert not one.table.state().paused


def test_an_answer_that_comes_twice_is_one_and_another_is_refused() -> None:
    one = seated_at()
    state = asked(one)
    assert state.turn is not None
    legal = [move.move for move in state.moves if move.legal]
    one.table.move(state.turn.id, legal[0])
    one.table.move(state.turn.id, legal[0])
    with pytest.raises(RefusedError, match="answered this turn") as refused:
        one.table.move(state.turn.id, legal[1])
    assert refused.value.over
    one.carry()
    with pytest.raises(RefusedError) as over:
        one.table.move("12345", legal[0])
    assert over.value.over


def test_nothing_is_taken_that_the_rules_forbid_and_the_clause_is_in_words() -> None:
    one = seated_at()
    state = asked(one)
    assert state.turn is not None
    with pytest.raises(IllegalMoveError) as refused:
        one.table.move(state.turn.id, "9")
    assert refused.value.ruling.rule == "AF-BID-001"
    assert refused.value.ruling.sentence == "9 is no bid: a bid is 2 to 4, a pass is 0."
    assert refused.value.ruling.clause.startswith("Amount of a bid: ")
    assert one.umpire.irregularities == []
    assert one.table.state().turn == state.turn


def wire_turn(one: Seated) -> WireTurn:
    """The open turn as it crosses the wire."""
    response = wire.PlayResponse()
    turn = one.umpire.open
    assert turn is not None
    add_turn(response, turn)
    return WireTurn(response.turns[0], rule_set_message(one.umpire.spec.rules, 1))


def brain(one: Seated, turn: WireTurn) -> tuple[threading.Thread, list[Any]]:
    """The seat of the person, waiting in a thread of its own; and what comes of it."""
    came: list[Any] = []

    def think() -> None:
        try:
            came.append(one.table.choose(turn))
        except LeftTableError:
            came.append("left")

    thread = threading.Thread(target=think)
    thread.start()
    return thread, came


@pytest.mark.parametrize("name", ["auction-pitch", "cinch", "all-fours"])
def test_the_seat_sends_what_the_person_has_said(name: str) -> None:
    seats = variant(name).players[0] if name != "auction-pitch" else 3
    one = seated_at(name, seats)
    choose, kinds = answer_by_chance(one), set()
    while (state := one.until_asked()) is not None:
        turn = wire_turn(one)
        kinds.add(turn.kind)
        thread, came = brain(one, turn)
        choose(state)
        thread.join()
        given = one.table._answer
        assert given is not None
        sent = sum(1 << card for card in came[0]) if turn.kind is WireKind.DISCARD else came[0]
        assert sent == given[1]
        one.carry()
    assert len(kinds) >= 2


def test_a_table_that_is_closed_makes_no_move() -> None:
    one = seated_at()
    asked(one)
    thread, came = brain(one, wire_turn(one))
    one.table.close()
    thread.join()
    assert came == ["left"]


def rulings(one: Seated) -> list[str]:
    return [line.text for line in one.table.state().log if line.text.startswith("Ruling on")]


def test_a_turn_that_was_ruled_upon_meanwhile_is_not_waited_for() -> None:
    one = seated_at()
    state = asked(one)
    turn = wire_turn(one)
    thread, came = brain(one, turn)
    opened = one.umpire.open
    assert opened is not None
    one.umpire.late(opened.turn_id, 35_000_000)
    one.look()
    thread.join()
    assert came[0] in turn.legal
    assert rulings(one) == [
        "Ruling on you (AF-CLOCK-001): No answer within the time for this move and the bank. Consequence: the referee moved instead."
    ]
    assert state.turn is not None
    with pytest.raises(RefusedError) as refused:
        one.table.move(state.turn.id, "pass")
    assert refused.value.over


def test_the_clock_of_the_person_stands_in_a_pause_and_while_nobody_watches() -> None:
    clock = Clock()
    one = seated_at(seconds=20.0, clock=clock)
    table, left = one.table, lambda: one.table.state().turn.seconds  # type: ignore[union-attr]
    assert asked(one).turn.seconds == 20.0  # type: ignore[union-attr]
    clock.now += 5
    assert left() == 15.0
    table.pause()
    clock.now += 1000
    assert left() == 15.0
    table.go_on()
    clock.now += 1
    assert left() == 14.0
    table.need_watchers()
    clock.now += 1000
    assert left() == 14.0
    with table.listening(lambda _: None):
        clock.now += 4
        assert left() == 10.0
    clock.now += 1000
    assert left() == 10.0


def test_when_the_time_is_up_the_umpire_rules_and_charges_what_was_given() -> None:
    clock = Clock()
    one = seated_at(seconds=20.0, clock=clock)
    asked(one)
    opened, turn = one.umpire.open, wire_turn(one)
    assert opened is not None

    async def passes() -> list[Any]:
        one.table.moved(one.games, one.umpire)  # this loop is the game's
        one.games.seated[one.umpire] = [TurnSession(5_000_000) for _ in range(3)]
        thinking = asyncio.ensure_future(asyncio.to_thread(one.table.choose, turn))
        clock.now += 20
        one.table.need_watchers()  # wakes the seat, as a second's passing does
        with one.table.listening(lambda _: None):
            return [await thinking]

    came = asyncio.run(passes())
    assert came[0] in turn.legal
    (item,) = one.umpire.irregularities
    assert (item.fault, item.seat) == (Fault.TIMEOUT_MOVE, one.you)
    assert item.charged_us == opened.move_us + opened.bank_us


def test_what_was_taken_back_is_decided_again_with_the_same_cards() -> None:
    one = seated_at(practice=True)
    choose = answer_by_chance(one)
    first = asked(one)
    with pytest.raises(RefusedError, match="nothing to take back"):
        one.table.take_back()
    choose(first)
    one.carry()
    asked(one)
    take_back(one)
    again = one.table.state()
    assert again.turn is not None
    assert first.turn is not None
    assert again.turn.id != first.turn.id
    assert (again.hand, again.moves, again.trick, again.phase) == (first.hand, first.moves, first.trick, first.phase)
    assert again.log[-1].text == TAKEN_BACK
    assert one.umpire.decisions[one.you] == 0


def take_back(one: Seated) -> None:
    async def done() -> None:
        one.table.moved(one.games, one.umpire)
        one.games.seated[one.umpire] = [TurnSession(5_000_000) for _ in range(3)]
        one.table.take_back()
        await asyncio.sleep(0)

    asyncio.run(done())


def test_what_was_taken_back_may_lie_in_the_deal_before() -> None:
    one = seated_at(practice=True)
    counted = sheet_of(one)
    assert counted.sheet is not None
    take_back(one)
    again = one.table.state()
    assert again.sheet is None
    assert again.sheets == ()
    assert again.game.deal == 1
    assert again.turn is not None


def test_nothing_is_taken_back_where_somebody_has_forfeited() -> None:
    one = seated_at(practice=True)
    choose = answer_by_chance(one)
    choose(asked(one))
    one.carry()
    asked(one)
    one.umpire.lose(1, Fault.CRASH, "It crashed.")
    one.look()
    with pytest.raises(RefusedError, match="somebody has lost the game"):
        one.table.take_back()
    assert one.table.state().seats[1].out == "It crashed."


def test_another_game_begins_anew_at_the_same_table() -> None:
    """As after one that was no contest."""
    one = seated_at()
    asked(one)
    other = Seated(one.umpire.spec.rules, 3, 2)
    other.table = one.table
    other.games = GamesInPlay(watch=one.table.moved)
    one.umpire.abandon("a stall")
    one.look()
    one.table.tell("This game does not count.")
    other.start()
    state = asked(other)
    assert state.game.deal == 1
    texts = [line.text for line in state.log]
    assert texts.index("This game does not count.") > 0
    assert len([text for text in texts if text.endswith("the cards of deal 1.")]) == 2


def test_the_end_is_told_behind_what_has_led_to_it() -> None:
    """A game is stored, and so ends, before whoever looks on hears of its last card."""
    one = seated_at()
    choose, table = answer_by_chance(one), one.table
    while (state := one.until_asked()) is not None:
        choose(state)
        given = table._answer
        assert given is not None
        one.umpire.answer(*given, 0)
        while (turn := one.umpire.open) is not None and turn.chair.seat != one.you:
            one.umpire.answer(turn.turn_id, one.by_chance(turn), 0)
        if one.umpire.closed:
            table.end(GameOver("The end.", "", ""))
            assert table.state().over is None
        one.look()
    heard = [line.text for line in table.state().log]
    assert heard[-1] == "The end."
    assert heard[-2].startswith("After deal 3:")
    assert table.state().over == GameOver("The end.", "", "")
    assert table.state().turn is None
    with pytest.raises(RefusedError):
        table.pause()


@pytest.mark.parametrize("name", variant_names())
def test_a_hint_is_a_legal_move_with_a_reason(name: str) -> None:
    one = seated_at(name, variant(name).players[0])
    kinds = set()
    while one.until_asked() is not None:
        turn = wire_turn(one)
        one.table._wire_turn = turn
        hint = one.table.hint()
        assert hint == hint_for(turn)
        opened = one.umpire.open
        assert opened is not None
        action = parse_action(opened.kind, hint.move)
        assert one.deal.verify(action) is None
        assert action_text(opened.kind, action) == hint.move
        assert re.search(r"\.$", hint.why)
        assert hint.label[0].isupper()
        kinds.add(opened.kind)
        one.umpire.answer(opened.turn_id, action, 0)
        one.look()
    assert len(kinds) >= 1
    with pytest.raises(RefusedError):
        one.table.hint()


def test_an_observer_is_given_every_state_in_order() -> None:
    one = Seated(variant("auction-pitch").with_rules({"max_deals": 1}), 3, 1)
    states: list[TableState] = []
    with one.table.listening(states.append):
        for state in one.turns(answer_by_chance(one)):
            assert state.turn is not None
    assert [state.revision for state in states] == list(range(1, len(states) + 1))
    played = [len(state.trick) for state in states if state.phase == "play"]
    assert all(abs(one - other) <= 2 for one, other in itertools.pairwise(played))
