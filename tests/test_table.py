"""The umpire: asks, rulings, retries, substitutes, forfeits, clocks; and whatever is thrown at it."""

import itertools
import sys
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from referee.cards import PACK
from referee.faults import PROFILES, Consequence, Fault, Profile
from referee.proceedings import (
    Ask,
    DealClosed,
    GameClosed,
    GameSpec,
    House,
    Limits,
    Output,
    Ruled,
    Ruling,
    TableResult,
    Voided,
    places_with_forfeits,
)
from referee.rules import Deal, EndReason, Game, Kind, RuleSet
from referee.rules.substitute import substitute
from referee.table import FORFEIT, Table
from referee.view import Chair, Turn
from tests.helpers import chances, random_rules, rules_of, seeded, shuffled

DEV, RANKED = PROFILES["dev"], PROFILES["ranked"]
SECOND = 1_000_000
OutputType = TypeVar("OutputType", bound=Output)


def table(
    rules: str | Mapping[str, Any] | RuleSet = "auction-pitch",
    seats: int = 4,
    *,
    profile: Profile = RANKED,
    limits: Limits | None = None,
    seed: object = 0,
    first_dealer: int = 0,
    house: House | None = None,
) -> Table:
    """A table with packs from a seed, turn ids 1, 2, 3 ... and a house that plays the highest legal action."""
    ruleset = rules if isinstance(rules, RuleSet) else rules_of(rules)
    chairs = tuple(Chair(7, seat, seats, ruleset) for seat in range(seats))
    spec = GameSpec("test", ruleset, chairs, first_dealer, profile, limits or Limits())
    ids = itertools.count(1).__next__
    return Table(spec, lambda number: shuffled(seeded(f"{seed}/{number}")), ids, house or highest)


def highest(turn: Turn) -> int:
    return max(turn.legal)


def only(outputs: list[Output], kind: type[OutputType]) -> OutputType:
    """The one output of that kind."""
    found = [output for output in outputs if isinstance(output, kind)]
    assert len(found) == 1, outputs
    return found[0]


def asked(umpire: Table) -> Turn:
    """The open turn."""
    assert umpire.open is not None
    return umpire.open


def answer(umpire: Table, action: int | None = None, charged_us: int = 0) -> list[Output]:
    """Answers the open turn, with its first legal action if none is given."""
    turn = asked(umpire)
    return umpire.answer(turn.turn_id, turn.legal[0] if action is None else action, charged_us)


def illegal(umpire: Table, charged_us: int = 0) -> list[Output]:
    """Answers the open turn with 99: no bid, no card."""
    return answer(umpire, 99, charged_us)


def until_asked(umpire: Table, seat: int) -> Turn:
    """Answers for all others until that seat is asked; they never pass when they can bid, so that cards are played."""
    while asked(umpire).chair.seat != seat:
        answer(umpire)
    return asked(umpire)


def offend(umpire: Table, seat: int, times: int) -> list[Output]:
    """Lets a seat break a rule that many times, all else being in order; returns the outputs of the last time."""
    outputs: list[Output] = []
    for _ in range(times):
        until_asked(umpire, seat)
        outputs = illegal(umpire)
    return outputs


def result_of(umpire: Table) -> TableResult:
    assert umpire.result is not None
    return umpire.result


def finish(umpire: Table, chance: Random | None = None) -> TableResult:
    """Goes on with legal answers until the game is over."""
    while not umpire.closed:
        answer(umpire, chance.choice(asked(umpire).legal) if chance else None)
    return result_of(umpire)


# A plain game


@pytest.mark.parametrize(("rules", "seats"), [("auction-pitch", 2), ("smudge", 3), ("partnership-pitch", 4), ({}, 7)])
def test_a_plain_game_to_its_end(rules: str | Mapping[str, Any], seats: int) -> None:
    umpire = table(rules, seats, first_dealer=1)
    chance = seeded(5)
    outputs = umpire.start()
    closed: list[DealClosed] = []
    while not umpire.closed:
        turn = only(outputs, Ask).turn
        assert turn is umpire.open
        outputs = umpire.answer(turn.turn_id, chance.choice(turn.legal), 1)
        closed += [output for output in outputs if isinstance(output, DealClosed)]
    result = only(outputs, GameClosed).result
    assert result == umpire.result
    assert umpire.open is None
    assert umpire.irregularities == []
    assert [output.number for output in closed] == list(range(len(umpire.deals)))
    replay(umpire, closed, result)


def replay(umpire: Table, closed: list[DealClosed], result: TableResult) -> None:
    """The logs of the table, played again without it, lead to the same outcomes and the same result."""
    game = Game(umpire.spec.rules, umpire.spec.seats, umpire.spec.first_dealer)
    for log, output in zip(umpire.deals, closed, strict=True):
        assert (log.dealer, log.scores) == (game.dealer, tuple(game.scores))
        deal = game.deal_pack(log.pack)
        for action in log.actions:
            deal.act(action)
        assert deal.outcome == log.outcome == output.outcome
        assert deal.history == log.history
        game.close(output.outcome)
        assert output.scores == tuple(game.scores)
    assert game.result is not None
    sides = [umpire._deal.side(seat) for seat in range(umpire.spec.seats)]
    assert (result.winner, result.reason, result.scores) == (game.result.winner, game.result.reason, game.result.scores)
    assert result.places == tuple(game.result.places[side] for side in sides)
    assert result.stakes == tuple(game.result.stakes[side] for side in sides)
    assert result.forfeits == ()


def test_the_first_turn_is_eldests_first_call() -> None:
    umpire = table(seats=3, first_dealer=2)
    turn = only(umpire.start(), Ask).turn
    assert (turn.chair.seat, turn.kind, list(turn.legal)) == (0, Kind.BID, [0, 2, 3, 4])
    assert (turn.turn_id, turn.deal, turn.decision, turn.retry) == (1, 0, 0, 0)
    assert (turn.move_us, turn.bank_us) == (5 * SECOND, 30 * SECOND)


def test_decisions_are_counted_by_seat_and_deals_by_number() -> None:
    umpire = table({"max_deals": 3}, 2)
    umpire.start()
    seen: dict[int, list[int]] = {0: [], 1: []}
    deals = set()
    while not umpire.closed:
        turn = asked(umpire)
        seen[turn.chair.seat].append(turn.decision)
        deals.add(turn.deal)
        answer(umpire)
    assert deals == {0, 1, 2}
    assert all(decisions == list(range(len(decisions))) for decisions in seen.values())
    assert umpire.steps == sum(map(len, seen.values()))


def test_an_answer_before_the_start_has_no_effect() -> None:
    umpire = table()
    assert umpire.answer(1, 0, 0) == umpire.late(1, 0) == umpire.malformed(1, "", "", b"", 0) == []
    with pytest.raises(RuntimeError, match="the game has not been started"):
        _ = umpire._deal


# Illegal, malformed and late answers


def ruling_of(outputs: list[Output]) -> Ruling:
    return only(outputs, Ruled).ruling


def test_ranked_an_illegal_answer_is_replaced_by_the_substitute() -> None:
    umpire = table()
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.answer(turn.turn_id, 7, 10)
    ruling = ruling_of(outputs)
    assert (ruling.seat, ruling.turn_id, ruling.fault) == (1, turn.turn_id, Fault.ILLEGAL_ACTION)
    assert (ruling.rule, ruling.sentence) == ("AF-BID-001", "7 is no bid: a bid is 2 to 4, a pass is 0.")
    assert (list(ruling.legal), ruling.kind) == ([0, 2, 3, 4], Kind.BID)
    assert (ruling.consequence, ruling.substitute, ruling.violations) == (Consequence.SUBSTITUTED, 0, 1)
    assert only(outputs, Ask).turn.chair.seat == 2
    assert umpire.deals[0].actions == [0]
    noted = umpire.irregularities[0]
    assert (noted.step, noted.seat, noted.fault, noted.rule) == (0, 1, Fault.ILLEGAL_ACTION, "AF-BID-001")
    assert (noted.consequence, noted.action, noted.raw, noted.charged_us) == (Consequence.SUBSTITUTED, 7, "", 10)


@pytest.mark.parametrize("kind", [Kind.BID, Kind.PLAY])
def test_the_substitute_is_the_fixed_one(kind: Kind) -> None:
    umpire = table("auction-pitch-forced")
    umpire.start()
    while asked(umpire).kind is not kind:
        answer(umpire)
    expected = substitute(umpire._deal.copy())
    assert ruling_of(illegal(umpire)).substitute == expected
    assert umpire.deals[0].actions[-1] == expected


def test_dev_an_illegal_answer_goes_back_once_on_the_same_clock() -> None:
    umpire = table(profile=DEV)
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.answer(turn.turn_id, 7, 2 * SECOND)
    ruling = ruling_of(outputs)
    assert (ruling.consequence, ruling.substitute, ruling.violations) == (Consequence.RETRY, None, 1)
    again = only(outputs, Ask).turn
    assert again.turn_id != turn.turn_id
    assert replace(again, turn_id=turn.turn_id, retry=0, move_us=turn.move_us) == turn
    assert (again.retry, again.move_us, again.bank_us) == (1, 3 * SECOND, 30 * SECOND)
    assert umpire.answer(turn.turn_id, 2, 0) == []
    outputs = umpire.answer(again.turn_id, 7, 4 * SECOND)
    assert ruling_of(outputs).consequence is Consequence.SUBSTITUTED
    assert ruling_of(outputs).violations == 2
    assert umpire.bank[1] == 29 * SECOND
    assert [noted.consequence for noted in umpire.irregularities] == [Consequence.RETRY, Consequence.SUBSTITUTED]
    assert umpire.charged[1] == [2 * SECOND, 4 * SECOND]


def test_dev_the_second_answer_may_be_right() -> None:
    umpire = table(profile=DEV)
    umpire.start()
    illegal(umpire)
    outputs = answer(umpire, 3)
    assert [type(output) for output in outputs] == [Ask]
    assert umpire.deals[0].actions == [3]
    assert umpire.violations == [0, 1, 0, 0]
    assert only(outputs, Ask).turn.retry == 0


def test_every_decision_has_its_own_retry() -> None:
    umpire = table(profile=DEV)
    umpire.start()
    for _ in range(4):
        assert ruling_of(illegal(umpire)).consequence is Consequence.RETRY
        answer(umpire, 0)
    assert umpire.violations == [1, 1, 1, 1]


@pytest.mark.parametrize("profile", [RANKED, DEV])
def test_a_malformed_answer_is_treated_as_an_illegal_one(profile: Profile) -> None:
    umpire = table(profile=profile)
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.malformed(turn.turn_id, "AF-PROTO-001", "The move holds nothing.", b"\x01\xff" * 2000, 5)
    ruling = ruling_of(outputs)
    assert (ruling.fault, ruling.rule, ruling.sentence) == (Fault.MALFORMED, "AF-PROTO-001", "The move holds nothing.")
    assert list(ruling.legal) == [0, 2, 3, 4]
    assert ruling.consequence is (Consequence.RETRY if profile is DEV else Consequence.SUBSTITUTED)
    noted = umpire.irregularities[0]
    assert (noted.action, noted.charged_us) == (None, 5)
    assert noted.raw == "01ff" * 512  # 1 KiB is kept


@pytest.mark.parametrize("profile", [RANKED, DEV])
def test_a_late_seat_has_no_retry(profile: Profile) -> None:
    umpire = table(profile=profile)
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.late(turn.turn_id, 35 * SECOND)
    ruling = ruling_of(outputs)
    assert (ruling.fault, ruling.rule) == (Fault.TIMEOUT_MOVE, "AF-CLOCK-001")
    assert (ruling.consequence, ruling.substitute) == (Consequence.SUBSTITUTED, 0)
    assert only(outputs, Ask).turn.chair.seat == 2
    assert umpire.bank[1] == 0
    assert umpire.answer(turn.turn_id, 2, 0) == []


def test_turns_that_are_not_open_have_no_effect() -> None:
    umpire = table()
    umpire.start()
    answer(umpire, 2)
    before = (umpire.steps, list(umpire.bank), list(umpire.violations), list(umpire.irregularities), umpire.open)
    for stale in (1, 99, 0, -1):
        assert umpire.answer(stale, 0, SECOND) == []
        assert umpire.malformed(stale, "AF-PROTO-001", "No.", b"", SECOND) == []
        assert umpire.late(stale, SECOND) == []
    after = (umpire.steps, list(umpire.bank), list(umpire.violations), list(umpire.irregularities), umpire.open)
    assert after == before


# Forfeits


def test_ranked_the_third_violation_forfeits() -> None:
    umpire = table("auction-pitch-forced")
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
    umpire = table({"max_deals": 5}, profile=DEV)
    umpire.start()
    while not umpire.closed:
        illegal(umpire)
    assert result_of(umpire).forfeits == ()
    assert min(umpire.violations) > 3


def test_each_for_himself_the_house_plays_on() -> None:
    umpire = table("auction-pitch-forced")
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

    umpire = table("auction-pitch-forced", house=house)
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
        umpire = table({"target": 1}, 3, seed=seed, house=lambda turn: 2 if turn.kind is Kind.BID else max(turn.legal))
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
    umpire = table("partnership-pitch")
    umpire.start()
    outputs = offend(umpire, 2, 3)
    result = only(outputs, GameClosed).result
    assert (result.winner, result.reason, result.forfeits) == (1, FORFEIT, (2,))
    assert result.places == (2, 1, 2, 1)
    assert umpire.closed
    assert umpire.open is None


def test_of_three_sides_two_play_on() -> None:
    rules = {"sides": 3, "settlement": "none", "all_pass": "dealer_forced"}
    umpire = table(rules, 6)
    umpire.start()
    umpire.lose(4, Fault.DISCONNECT, "The stream ended.")
    assert not umpire.closed
    result = only(umpire.lose(2, Fault.DISCONNECT, "The stream ended."), GameClosed).result
    assert (result.winner, result.reason, result.forfeits) == (0, FORFEIT, (4, 2))
    assert result.places == (1, 3, 2, 1, 3, 2)


def test_the_last_seat_left_wins() -> None:
    umpire = table("auction-pitch-forced", 4)
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
    umpire = table("auction-pitch-forced", 2)
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
    umpire = table()
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
    umpire = table()
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
    umpire = table()
    umpire.start()
    umpire.lose(3, Fault.CRASH, "It ended.")
    assert umpire.lose(3, Fault.CRASH, "It ended again.") == []
    assert umpire.forfeits == [3]
    assert len(umpire.irregularities) == 1


def test_nothing_is_lost_after_the_end() -> None:
    umpire = table(seats=2)
    umpire.start()
    umpire.lose(0, Fault.CRASH, "It ended.")
    result = result_of(umpire)
    assert umpire.lose(1, Fault.CRASH, "It ended too.") == []
    assert umpire.abandon("Too late.") == []
    assert umpire.start() == []
    assert (umpire.result, umpire.void) == (result, None)


def test_seats_may_be_lost_before_the_start() -> None:
    umpire = table(seats=3)
    umpire.lose(1, Fault.START_FAILED, "It never joined.")
    outputs = umpire.start()
    assert umpire.deals[0].actions[0] == 4  # the house bids the highest
    assert only(outputs, Ask).turn.chair.seat == 2
    alone = table(seats=2)
    assert only(alone.lose(0, Fault.START_FAILED, "It never joined."), GameClosed).result.winner == 1
    assert alone.start() == []


def test_a_game_may_be_no_contest() -> None:
    umpire = table()
    turn = only(umpire.start(), Ask).turn
    assert umpire.abandon("The store could not be written.") == [Voided("The store could not be written.")]
    assert (umpire.closed, umpire.result, umpire.open) == (True, None, None)
    assert umpire.void == "The store could not be written."
    assert umpire.answer(turn.turn_id, 2, 0) == []
    assert umpire.abandon("Again.") == []
    assert umpire.start() == []


# Clocks


def test_what_exceeds_the_move_allowance_comes_off_the_bank() -> None:
    umpire = table({"max_deals": 50}, 2)
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
    limits = Limits(game_us=10 * SECOND)
    umpire = table("auction-pitch-forced", limits=limits)
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
    umpire = table(limits=Limits(game_us=10 * SECOND))
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.answer(turn.turn_id, 4, 10 * SECOND + 1)
    assert (ruling_of(outputs).fault, ruling_of(outputs).substitute) == (Fault.TIMEOUT_GAME, 0)
    assert umpire.deals[0].actions == [0]
    assert umpire.irregularities[0].action == 4
    assert umpire.game_us[1] == 10 * SECOND + 1


def test_without_a_limit_a_game_may_take_for_ever() -> None:
    umpire = table({"max_deals": 2}, limits=Limits(game_us=0))
    umpire.start()
    while not umpire.closed:
        answer(umpire, None, 10**12)
    assert umpire.irregularities == []


def test_when_all_have_spent_their_time_the_game_runs_out_by_itself() -> None:
    """Under dev nobody forfeits: thousands of substitutes in one go, without a recursion as deep."""
    deals = 2 * sys.getrecursionlimit()
    umpire = table({"max_deals": deals}, 2, profile=DEV, limits=Limits(game_us=1))
    umpire.start()
    outputs: list[Output] = []
    for _ in range(2):
        outputs = answer(umpire, 0, 1)
    result = only(outputs, GameClosed).result
    assert result.reason == EndReason.CAP
    assert sum(isinstance(output, DealClosed) for output in outputs) == deals
    assert len(umpire.irregularities) == 2 * deals - 2


# Whatever is thrown at it


class TableMachine(RuleBasedStateMachine):
    """A table that is thrown anything, in any order."""

    @initialize(
        chance=chances(), profile=st.sampled_from([DEV, RANKED, Profile("harsh", 2, 1)]), game_s=st.integers(0, 60)
    )
    def sit_down(self, chance: Random, profile: Profile, game_s: int) -> None:
        self.chance = chance
        rules, self.seats = random_rules(chance)
        limits = Limits(5 * SECOND, 30 * SECOND, game_s * SECOND)
        self.table = table(rules, self.seats, profile=profile, limits=limits, seed=chance.random())
        self.asks = 0
        self.started = False
        self.heard: list[Output] = []

    def hear(self, outputs: list[Output]) -> None:
        """Every input is answered by at most one question, and it is the open turn."""
        asks = [output for output in outputs if isinstance(output, Ask)]
        assert len(asks) <= 1
        if asks:
            assert asks[0] is outputs[-1]
            assert asks[0].turn is self.table.open
        self.heard += outputs

    def turn_id(self, right: bool) -> int:
        turn = self.table.open
        return turn.turn_id if turn is not None and right else self.chance.randrange(-1, 30)

    @rule()
    def start(self) -> None:
        self.started = True
        self.hear(self.table.start())

    @rule(right=st.booleans(), charged=st.integers(0, 20))
    def answer_well(self, right: bool, charged: int) -> None:
        turn = self.table.open
        action = self.chance.choice(turn.legal) if turn is not None else 0
        self.hear(self.table.answer(self.turn_id(right), action, charged * SECOND))

    @rule(times=st.integers(1, 40))
    def play_on(self, times: int) -> None:
        for _ in range(times):
            self.answer_well(True, 0)

    @rule(right=st.booleans(), action=st.integers(-5, 70), charged=st.integers(0, 20))
    def answer_anything(self, right: bool, action: int, charged: int) -> None:
        self.hear(self.table.answer(self.turn_id(right), action, charged * SECOND))

    @rule(right=st.booleans(), raw=st.binary(max_size=3000), charged=st.integers(0, 20))
    def answer_rubbish(self, right: bool, raw: bytes, charged: int) -> None:
        self.hear(self.table.malformed(self.turn_id(right), "AF-PROTO-001", "Rubbish.", raw, charged * SECOND))

    @rule(right=st.booleans(), charged=st.integers(0, 40))
    def be_late(self, right: bool, charged: int) -> None:
        self.hear(self.table.late(self.turn_id(right), charged * SECOND))

    @rule(seat=st.integers(0, 6), fault=st.sampled_from(Fault))
    def lose(self, seat: int, fault: Fault) -> None:
        if seat < self.seats:
            self.hear(self.table.lose(seat, fault, "It is gone."))

    @rule(really=st.integers(0, 9))
    def abandon(self, really: int) -> None:
        if not really:
            self.hear(self.table.abandon("The machine stopped."))

    @invariant()
    def it_is_over_or_waits_for_just_one(self) -> None:
        umpire = self.table
        if umpire.closed:
            assert umpire.open is None
        elif self.started:
            assert umpire.open is not None
            turn = umpire.open
            assert turn.chair.seat not in umpire.forfeits
            assert turn.legal
            assert turn.kind is umpire._deal.kind
            assert 0 <= turn.move_us <= 5 * SECOND
            assert turn.bank_us == umpire.bank[turn.chair.seat] >= 0
        else:
            assert umpire.open is None

    @invariant()
    def ends_are_told_once(self) -> None:
        ends = [output for output in self.heard if isinstance(output, GameClosed | Voided)]
        assert len(ends) == self.table.closed
        assert (self.table.result is None) or (self.table.void is None)

    @invariant()
    def a_result_is_whole(self) -> None:
        result = self.table.result
        if result is None:
            return
        rules = self.table.spec.rules
        assert len(result.places) == len(result.stakes) == self.seats
        assert len(result.scores) == rules.side_count(self.seats)
        assert min(result.places) == 1
        assert max(result.places) <= self.seats
        assert list(result.forfeits) == self.table.forfeits
        if result.forfeits:
            assert set(result.stakes) == {0}
            out = {self.table._side(seat) for seat in result.forfeits}
            assert all(result.places[seat] > 1 for seat in range(self.seats) if self.table._side(seat) in out)
        if result.winner is not None:
            winners = [seat for seat in range(self.seats) if self.table._side(seat) == result.winner]
            assert all(result.places[seat] == 1 for seat in winners)
            assert result.places.count(1) == len(winners)

    @invariant()
    def every_ruling_is_in_the_notes(self) -> None:
        rulings = [output.ruling for output in self.heard if isinstance(output, Ruled)]
        noted = self.table.irregularities
        assert [(ruling.seat, ruling.fault, ruling.consequence) for ruling in rulings] == [
            (entry.seat, entry.fault, entry.consequence) for entry in noted
        ]
        assert all(len(entry.raw) <= 2048 for entry in noted)

    @invariant()
    def the_logs_hold_every_action(self) -> None:
        assert sum(len(log.actions) for log in self.table.deals) == self.table.steps == sum(self.table.decisions)
        for log in self.table.deals:
            assert log.outcome is not None or log is self.table.deals[-1]


TestTable = TableMachine.TestCase
TestTable.settings = settings(max_examples=80, stateful_step_count=40)


@settings(max_examples=30)
@given(chances())
def test_a_game_with_faults_can_be_played_again_from_its_logs(chance: Random) -> None:
    """Every action of the logs is legal where it stands: substitutes and house moves included."""
    rules, seats = random_rules(chance)
    umpire = table(rules, seats, profile=chance.choice([DEV, RANKED]), seed=chance.random())
    umpire.start()
    while not umpire.closed:
        turn = asked(umpire)
        action = 99 if chance.random() < 0.1 else chance.choice(turn.legal)
        umpire.answer(turn.turn_id, action, 0)
    game = Game(rules, seats, 0)
    for log in umpire.deals:
        deal = Deal(rules, seats, game.dealer, log.pack, game.scores)
        for action in log.actions:
            deal.act(action)
        assert deal.outcome == log.outcome
        if deal.outcome is not None:
            game.close(deal.outcome)
    assert tuple(game.scores) == result_of(umpire).scores


def test_packs_are_asked_for_by_the_number_of_the_deal() -> None:
    numbers: list[int] = []
    rules = rules_of({"max_deals": 3})
    spec = GameSpec("test", rules, tuple(Chair(7, seat, 2, rules) for seat in range(2)))

    def packs(number: int) -> tuple[int, ...]:
        numbers.append(number)
        return PACK

    umpire = Table(spec, packs, itertools.count(1).__next__, highest)
    umpire.start()
    while not umpire.closed:
        answer(umpire, min(asked(umpire).legal))
    assert numbers == [0, 1, 2]
    assert [log.pack for log in umpire.deals] == [PACK] * 3
