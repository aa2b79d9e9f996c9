"""The umpire: forfeits, seats that cannot go on, and clocks."""

import sys

import pytest

from referee.rules import EndReason, Kind
from referee.umpire.events import (
    Ask,
    DealClosed,
    GameClosed,
    Output,
    Ruled,
    TimeLimits,
    Voided,
    places_with_forfeits,
)
from referee.umpire.faults import Consequence, Fault
from referee.umpire.umpire import FORFEIT
from referee.umpire.view import Turn
from tests.umpired import (
    DEV,
    SECOND,
    answer,
    asked,
    finish,
    illegal,
    new_umpire,
    offend,
    only,
    result_of,
    ruling_of,
    until_asked,
)

# Forfeits


def test_ranked_the_third_violation_forfeits() -> None:
    umpire = new_umpire("auction-pitch-forced")
    umpire.start()
    offend(umpire, 1, 1)
    until_asked(umpire, 1)
    umpire.late(asked(umpire).turn_id, 0)
    assert umpire.forfeits == []
    turn = until_asked(umpire, 1)
    outputs = umpire.malformed(turn.turn_id, "AF-PROTO-002", "Two values.", b"", 0)
    ruling = ruling_of(outputs)
    assert (ruling.consequence, ruling.substitute, ruling.violations) == (Consequence.FORFEITED, None, 3)
    assert ruling.sentence == "Two values. That is number 3: the game is forfeited."
    assert (umpire.forfeits, umpire.closed) == ([1], False)
    assert [noted.consequence for noted in umpire.irregularities][-1] is Consequence.FORFEITED


def test_dev_nobody_ever_forfeits() -> None:
    umpire = new_umpire({"max_deals": 5}, profile=DEV)
    umpire.start()
    while not umpire.closed:
        illegal(umpire)
    assert result_of(umpire).forfeits == ()
    assert min(umpire.violations) > 3


def test_each_for_himself_the_house_plays_on() -> None:
    umpire = new_umpire("auction-pitch-forced")
    umpire.start()
    offend(umpire, 1, 3)
    decisions = umpire.decisions[1]
    while not umpire.closed:
        assert asked(umpire).chair.seat != 1
        answer(umpire)
    assert umpire.decisions[1] > decisions
    result = result_of(umpire)
    assert result.forfeits == (1,)
    assert result.places[1] == 4
    assert min(result.places) == 1
    assert result.stakes == (0, 0, 0, 0)
    assert result.winner != 1


def test_the_house_is_asked_only_for_seats_that_forfeited_and_told_no_more_than_they_were() -> None:
    asked_of: list[Turn] = []

    def house(turn: Turn) -> int:
        assert turn.chair.seat in umpire.forfeits
        assert turn.hand == umpire._deal.hands[turn.chair.seat]
        asked_of.append(turn)
        return turn.legal[-1]

    umpire = new_umpire("auction-pitch-forced", fallback_move=house)
    umpire.start()
    offend(umpire, 1, 3)
    before = len(asked_of)
    finish(umpire)
    assert len(asked_of) > before
    assert {turn.chair.seat for turn in asked_of} == {1}


def test_where_the_house_wins_the_best_of_the_others_is_first() -> None:
    """The house bids two for the seat that forfeited, the others pass: now and then it is first to the target."""
    wins = 0
    for seed in range(60):
        umpire = new_umpire(
            {"target": 1}, 3, seed=seed, fallback_move=lambda turn: 2 if turn.kind is Kind.BID else max(turn.legal)
        )
        umpire.start()
        umpire.lose(1, Fault.CRASH, "The process ended.")
        result = finish(umpire)
        won = umpire.game.result
        assert won is not None
        assert result.reason == won.reason != FORFEIT
        assert result.places[1] == 3
        if won.winner != 1:
            assert result.winner == won.winner
            continue
        wins += 1
        best = max(result.scores[0], result.scores[2])
        first = [seat for seat in (0, 2) if result.scores[seat] == best]
        assert [seat for seat, place in enumerate(result.places) if place == 1] == first
        assert result.winner == (first[0] if len(first) == 1 else None)
    assert 0 < wins < 60


def test_a_side_loses_at_once() -> None:
    umpire = new_umpire("partnership-pitch")
    umpire.start()
    outputs = offend(umpire, 2, 3)
    result = only(outputs, GameClosed).result
    assert (result.winner, result.reason, result.forfeits) == (1, FORFEIT, (2,))
    assert result.places == (2, 1, 2, 1)
    assert umpire.closed
    assert umpire.open is None


def test_of_three_sides_two_play_on() -> None:
    rules = {"sides": 3, "settlement": "none", "all_pass": "dealer_forced"}
    umpire = new_umpire(rules, 6)
    umpire.start()
    umpire.lose(4, Fault.DISCONNECT, "The stream ended.")
    assert not umpire.closed
    result = only(umpire.lose(2, Fault.DISCONNECT, "The stream ended."), GameClosed).result
    assert (result.winner, result.reason, result.forfeits) == (0, FORFEIT, (4, 2))
    assert result.places == (1, 3, 2, 1, 3, 2)


def test_the_last_seat_left_wins() -> None:
    umpire = new_umpire("auction-pitch-forced", 4)
    umpire.start()
    for seat in (2, 0):
        offend(umpire, seat, 3)
        assert not umpire.closed
    outputs = offend(umpire, 3, 3)
    result = only(outputs, GameClosed).result
    assert (result.winner, result.reason, result.forfeits) == (1, FORFEIT, (2, 0, 3))
    assert result.places == (3, 1, 4, 2)
    assert result.stakes == (0, 0, 0, 0)
    assert umpire.open is None


def test_of_two_the_other_wins() -> None:
    umpire = new_umpire("auction-pitch-forced", 2)
    umpire.start()
    outputs = offend(umpire, 0, 3)
    assert (only(outputs, GameClosed).result.winner, umpire.closed) == (1, True)


@pytest.mark.parametrize(
    ("winner", "scores", "sides", "forfeits", "places"),
    [
        (0, [7, 3, 5], [0, 1, 2], [], (1, 3, 2)),
        (0, [7, 8, 0], [0, 1, 2], [], (1, 2, 3)),
        (None, [4, 4, 1], [0, 1, 2], [], (1, 1, 3)),
        (0, [7, 3, 5], [0, 1, 2], [1], (1, 3, 2)),
        (0, [7, 3, 5], [0, 1, 2], [2, 1], (1, 2, 3)),
        (0, [7, 3, 5, 5], [0, 1, 2, 3], [0], (4, 3, 1, 1)),
        (0, [7, 3, 5, 4], [0, 1, 2, 3], [0, 3], (4, 2, 1, 3)),
        (3, [7, 9, 5, 4], [0, 1, 2, 3], [0], (4, 2, 3, 1)),
        (1, [11, 2], [0, 1, 0, 1], [2], (2, 1, 2, 1)),
        (1, [5, 2, 9], [0, 1, 2, 0, 1, 2], [3], (3, 1, 2, 3, 1, 2)),
        (1, [5, 2, 9], [0, 1, 2, 0, 1, 2], [3, 5, 0], (3, 1, 2, 3, 1, 2)),
        (2, [0, 0, 0], [0, 1, 2], [0, 1], (3, 2, 1)),
    ],
)
def test_places_with_forfeits(
    winner: int | None, scores: list[int], sides: list[int], forfeits: list[int], places: tuple[int, ...]
) -> None:
    assert places_with_forfeits(winner, scores, sides, forfeits) == places


# Seats that cannot go on


def test_a_seat_that_is_asked_and_lost_is_played_on_at_once() -> None:
    umpire = new_umpire()
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.lose(turn.chair.seat, Fault.CRASH, "The process ended with signal 11.")
    ruling = ruling_of(outputs)
    assert (ruling.seat, ruling.turn_id, ruling.fault) == (1, turn.turn_id, Fault.CRASH)
    assert (ruling.rule, ruling.sentence) == ("", "The process ended with signal 11.")
    assert (ruling.consequence, ruling.kind, ruling.legal) == (Consequence.FORFEITED, None, ())
    assert umpire.deals[0].actions[0] == 4  # the house bids the highest, and pitches
    assert (only(outputs, Ask).turn.kind, asked(umpire).chair.seat) == (Kind.PLAY, 2)
    assert umpire.answer(turn.turn_id, 2, 0) == []


def test_a_seat_that_is_not_asked_leaves_the_open_turn_as_it_is() -> None:
    umpire = new_umpire()
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.lose(3, Fault.RESOURCE_MEM, "Too much memory.")
    assert [type(output) for output in outputs] == [Ruled]
    assert ruling_of(outputs).turn_id == 0
    assert umpire.open is turn
    outputs = umpire.answer(turn.turn_id, 2, 0)
    assert only(outputs, Ask).turn.chair.seat == 2
    answer(umpire, 0)
    assert asked(umpire).chair.seat != 3


def test_a_seat_is_lost_only_once() -> None:
    umpire = new_umpire()
    umpire.start()
    umpire.lose(3, Fault.CRASH, "It ended.")
    assert umpire.lose(3, Fault.CRASH, "It ended again.") == []
    assert umpire.forfeits == [3]
    assert len(umpire.irregularities) == 1


def test_nothing_is_lost_after_the_end() -> None:
    umpire = new_umpire(seats=2)
    umpire.start()
    umpire.lose(0, Fault.CRASH, "It ended.")
    result = result_of(umpire)
    assert umpire.lose(1, Fault.CRASH, "It ended too.") == []
    assert umpire.abandon("Too late.") == []
    assert umpire.start() == []
    assert (umpire.result, umpire.void) == (result, None)


def test_seats_may_be_lost_before_the_start() -> None:
    umpire = new_umpire(seats=3)
    umpire.lose(1, Fault.START_FAILED, "It never joined.")
    outputs = umpire.start()
    assert umpire.deals[0].actions[0] == 4  # the house bids the highest
    assert only(outputs, Ask).turn.chair.seat == 2
    alone = new_umpire(seats=2)
    assert only(alone.lose(0, Fault.START_FAILED, "It never joined."), GameClosed).result.winner == 1
    assert alone.start() == []


def test_a_game_may_be_no_contest() -> None:
    umpire = new_umpire()
    turn = only(umpire.start(), Ask).turn
    assert umpire.abandon("The store could not be written.") == [Voided("The store could not be written.")]
    assert (umpire.closed, umpire.result, umpire.open) == (True, None, None)
    assert umpire.void == "The store could not be written."
    assert umpire.answer(turn.turn_id, 2, 0) == []
    assert umpire.abandon("Again.") == []
    assert umpire.start() == []


# Clocks


def test_what_exceeds_the_move_allowance_comes_off_the_bank() -> None:
    umpire = new_umpire({"max_deals": 50}, 2)
    umpire.start()
    spent = []
    for charged in (1, 5 * SECOND, 6 * SECOND, 2 * SECOND, 20 * SECOND, 100 * SECOND, 3 * SECOND):
        turn = until_asked(umpire, 0)
        assert turn.bank_us == umpire.bank[0]
        assert turn.move_us == 5 * SECOND
        umpire.answer(turn.turn_id, turn.legal[0], charged)
        spent.append(umpire.bank[0])
    assert spent == [30 * SECOND, 30 * SECOND, 29 * SECOND, 29 * SECOND, 14 * SECOND, 0, 0]
    assert umpire.game_us[0] == 136 * SECOND + 1
    assert umpire.bank[1] == 30 * SECOND
    assert [figure for figure in umpire.charged[0] if figure] == [1] + [
        figure * SECOND for figure in (5, 6, 2, 20, 100, 3)
    ]


def test_the_time_of_the_game_is_a_limit() -> None:
    limits = TimeLimits(game_us=10 * SECOND)
    umpire = new_umpire("auction-pitch-forced", limits=limits)
    umpire.start()
    until_asked(umpire, 1)
    assert [type(output) for output in answer(umpire, None, 10 * SECOND)] == [Ask]  # used up to the last, but in time
    outputs: list[Output] = []
    while not [output for output in outputs if isinstance(output, Ruled)]:
        outputs = answer(umpire)
    ruling = ruling_of(outputs)
    assert (ruling.seat, ruling.fault, ruling.rule) == (1, Fault.TIMEOUT_GAME, "AF-CLOCK-002")
    assert ruling.consequence is Consequence.SUBSTITUTED
    while not umpire.forfeits:
        assert asked(umpire).chair.seat != 1
        answer(umpire)
    assert umpire.forfeits == [1]


def test_an_answer_beyond_the_time_of_the_game_does_not_count() -> None:
    umpire = new_umpire(limits=TimeLimits(game_us=10 * SECOND))
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.answer(turn.turn_id, 4, 10 * SECOND + 1)
    assert (ruling_of(outputs).fault, ruling_of(outputs).substitute) == (Fault.TIMEOUT_GAME, 0)
    assert umpire.deals[0].actions == [0]
    assert umpire.irregularities[0].action == 4
    assert umpire.game_us[1] == 10 * SECOND + 1


def test_without_a_limit_a_game_may_take_for_ever() -> None:
    umpire = new_umpire({"max_deals": 2}, limits=TimeLimits(game_us=0))
    umpire.start()
    while not umpire.closed:
        answer(umpire, None, 10**12)
    assert umpire.irregularities == []


def test_when_all_have_spent_their_time_the_game_runs_out_by_itself() -> None:
    """Under dev nobody forfeits: thousands of substitutes in one go, without a recursion as deep."""
    deals = 2 * sys.getrecursionlimit()
    umpire = new_umpire({"max_deals": deals}, 2, profile=DEV, limits=TimeLimits(game_us=1))
    umpire.start()
    outputs: list[Output] = []
    for _ in range(2):
        outputs = answer(umpire, 0, 1)
    result = only(outputs, GameClosed).result
    assert result.reason == EndReason.CAP
    assert sum(isinstance(output, DealClosed) for output in outputs) == deals
    assert len(umpire.irregularities) == 2 * deals - 2
