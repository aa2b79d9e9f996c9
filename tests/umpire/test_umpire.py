"""The umpire: a plain game, and answers that are illegal, malformed or late."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from referee.cards import PACK
from referee.rules import Deal, Game, Kind
from referee.rules.deal import substitute
from referee.umpire.events import (
    Ask,
    DealClosed,
    GameClosed,
    GameSpec,
    Output,
    Ruled,
    TableResult,
    TimeLimits,
    Voided,
)
from referee.umpire.faults import Consequence, Fault, Profile
from referee.umpire.umpire import Umpire
from referee.umpire.view import Chair
from tests.helpers import chances, random_rules, rules_of, seeded
from tests.umpired import (
    DEV,
    RANKED,
    SECOND,
    answer,
    asked,
    highest,
    illegal,
    new_umpire,
    only,
    result_of,
    ruling_of,
)

# A plain game


@pytest.mark.parametrize(("rules", "seats"), [("auction-pitch", 2), ("smudge", 3), ("partnership-pitch", 4), ({}, 7)])
def test_a_plain_game_to_its_end(rules: str | Mapping[str, Any], seats: int) -> None:
    umpire = new_umpire(rules, seats, first_dealer=1)
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


def replay(umpire: Umpire, closed: list[DealClosed], result: TableResult) -> None:
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
    umpire = new_umpire(seats=3, first_dealer=2)
    turn = only(umpire.start(), Ask).turn
    assert (turn.chair.seat, turn.kind, list(turn.legal)) == (0, Kind.BID, [0, 2, 3, 4])
    assert (turn.turn_id, turn.deal, turn.decision, turn.retry) == (1, 0, 0, 0)
    assert (turn.move_us, turn.bank_us) == (5 * SECOND, 30 * SECOND)


def test_decisions_are_counted_by_seat_and_deals_by_number() -> None:
    umpire = new_umpire({"max_deals": 3}, 2)
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
    umpire = new_umpire()
    assert umpire.answer(1, 0, 0) == umpire.late(1, 0) == umpire.malformed(1, "", "", b"", 0) == []
    with pytest.raises(RuntimeError, match="the game has not been started"):
        _ = umpire._deal


# Illegal, malformed and late answers


def test_ranked_an_illegal_answer_is_replaced_by_the_substitute() -> None:
    umpire = new_umpire()
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
    umpire = new_umpire("auction-pitch-forced")
    umpire.start()
    while asked(umpire).kind is not kind:
        answer(umpire)
    expected = substitute(umpire._deal.copy())
    assert ruling_of(illegal(umpire)).substitute == expected
    assert umpire.deals[0].actions[-1] == expected


def test_dev_an_illegal_answer_goes_back_once_on_the_same_clock() -> None:
    umpire = new_umpire(profile=DEV)
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
    umpire = new_umpire(profile=DEV)
    umpire.start()
    illegal(umpire)
    outputs = answer(umpire, 3)
    assert [type(output) for output in outputs] == [Ask]
    assert umpire.deals[0].actions == [3]
    assert umpire.violations == [0, 1, 0, 0]
    assert only(outputs, Ask).turn.retry == 0


def test_every_decision_has_its_own_retry() -> None:
    umpire = new_umpire(profile=DEV)
    umpire.start()
    for _ in range(4):
        assert ruling_of(illegal(umpire)).consequence is Consequence.RETRY
        answer(umpire, 0)
    assert umpire.violations == [1, 1, 1, 1]


@pytest.mark.parametrize("profile", [RANKED, DEV])
def test_a_malformed_answer_is_treated_as_an_illegal_one(profile: Profile) -> None:
    umpire = new_umpire(profile=profile)
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
    umpire = new_umpire(profile=profile)
    turn = only(umpire.start(), Ask).turn
    outputs = umpire.late(turn.turn_id, 35 * SECOND)
    ruling = ruling_of(outputs)
    assert (ruling.fault, ruling.rule) == (Fault.TIMEOUT_MOVE, "AF-CLOCK-001")
    assert (ruling.consequence, ruling.substitute) == (Consequence.SUBSTITUTED, 0)
    assert only(outputs, Ask).turn.chair.seat == 2
    assert umpire.bank[1] == 0
    assert umpire.answer(turn.turn_id, 2, 0) == []


def test_turns_that_are_not_open_have_no_effect() -> None:
    umpire = new_umpire()
    umpire.start()
    answer(umpire, 2)
    before = (umpire.steps, list(umpire.bank), list(umpire.violations), list(umpire.irregularities), umpire.open)
    for stale in (1, 99, 0, -1):
        assert umpire.answer(stale, 0, SECOND) == []
        assert umpire.malformed(stale, "AF-PROTO-001", "No.", b"", SECOND) == []
        assert umpire.late(stale, SECOND) == []
    after = (umpire.steps, list(umpire.bank), list(umpire.violations), list(umpire.irregularities), umpire.open)
    assert after == before


# Whatever is thrown at it


class TableMachine(RuleBasedStateMachine):
    """A table that is thrown anything, in any order."""

    @initialize(
        chance=chances(), profile=st.sampled_from([DEV, RANKED, Profile("harsh", 2, 1)]), game_s=st.integers(0, 60)
    )
    def sit_down(self, chance: Random, profile: Profile, game_s: int) -> None:
        self.chance = chance
        rules, self.seats = random_rules(chance)
        limits = TimeLimits(5 * SECOND, 30 * SECOND, game_s * SECOND)
        self.umpire = new_umpire(rules, self.seats, profile=profile, limits=limits, seed=chance.random())
        self.asks = 0
        self.started = False
        self.heard: list[Output] = []

    def hear(self, outputs: list[Output]) -> None:
        """Every input is answered by at most one question, and it is the open turn."""
        asks = [output for output in outputs if isinstance(output, Ask)]
        assert len(asks) <= 1
        if asks:
            assert asks[0] is outputs[-1]
            assert asks[0].turn is self.umpire.open
        self.heard += outputs

    def turn_id(self, right: bool) -> int:
        turn = self.umpire.open
        return turn.turn_id if turn is not None and right else self.chance.randrange(-1, 30)

    @rule()
    def start(self) -> None:
        self.started = True
        self.hear(self.umpire.start())

    @rule(right=st.booleans(), charged=st.integers(0, 20))
    def answer_well(self, right: bool, charged: int) -> None:
        turn = self.umpire.open
        action = self.chance.choice(turn.legal) if turn is not None else 0
        self.hear(self.umpire.answer(self.turn_id(right), action, charged * SECOND))

    @rule(times=st.integers(1, 40))
    def play_on(self, times: int) -> None:
        for _ in range(times):
            self.answer_well(True, 0)

    @rule(right=st.booleans(), action=st.integers(-5, 70), charged=st.integers(0, 20))
    def answer_anything(self, right: bool, action: int, charged: int) -> None:
        self.hear(self.umpire.answer(self.turn_id(right), action, charged * SECOND))

    @rule(right=st.booleans(), raw=st.binary(max_size=3000), charged=st.integers(0, 20))
    def answer_rubbish(self, right: bool, raw: bytes, charged: int) -> None:
        self.hear(self.umpire.malformed(self.turn_id(right), "AF-PROTO-001", "Rubbish.", raw, charged * SECOND))

    @rule(right=st.booleans(), charged=st.integers(0, 40))
    def be_late(self, right: bool, charged: int) -> None:
        self.hear(self.umpire.late(self.turn_id(right), charged * SECOND))

    @rule(seat=st.integers(0, 6), fault=st.sampled_from(Fault))
    def lose(self, seat: int, fault: Fault) -> None:
        if seat < self.seats:
            self.hear(self.umpire.lose(seat, fault, "It is gone."))

    @rule(really=st.integers(0, 9))
    def abandon(self, really: int) -> None:
        if not really:
            self.hear(self.umpire.abandon("The machine stopped."))

    @invariant()
    def it_is_over_or_waits_for_just_one(self) -> None:
        umpire = self.umpire
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
        assert len(ends) == self.umpire.closed
        assert (self.umpire.result is None) or (self.umpire.void is None)

    @invariant()
    def a_result_is_whole(self) -> None:
        result = self.umpire.result
        if result is None:
            return
        rules = self.umpire.spec.rules
        assert len(result.places) == len(result.stakes) == self.seats
        assert len(result.scores) == rules.side_count(self.seats)
        assert min(result.places) == 1
        assert max(result.places) <= self.seats
        assert list(result.forfeits) == self.umpire.forfeits
        if result.forfeits:
            assert set(result.stakes) == {0}
            out = {self.umpire._side(seat) for seat in result.forfeits}
            assert all(result.places[seat] > 1 for seat in range(self.seats) if self.umpire._side(seat) in out)
        if result.winner is not None:
            winners = [seat for seat in range(self.seats) if self.umpire._side(seat) == result.winner]
            assert all(result.places[seat] == 1 for seat in winners)
            assert result.places.count(1) == len(winners)

    @invariant()
    def every_ruling_is_in_the_notes(self) -> None:
        rulings = [output.ruling for output in self.heard if isinstance(output, Ruled)]
        noted = self.umpire.irregularities
        assert [(ruling.seat, ruling.fault, ruling.consequence) for ruling in rulings] == [
            (entry.seat, entry.fault, entry.consequence) for entry in noted
        ]
        assert all(len(entry.raw) <= 2048 for entry in noted)

    @invariant()
    def the_logs_hold_every_action(self) -> None:
        assert sum(len(log.actions) for log in self.umpire.deals) == self.umpire.steps == sum(self.umpire.decisions)
        for log in self.umpire.deals:
            assert log.outcome is not None or log is self.umpire.deals[-1]


TestTable = TableMachine.TestCase
TestTable.settings = settings(max_examples=80, stateful_step_count=40)


@settings(max_examples=30)
@given(chances())
def test_a_game_with_faults_can_be_played_again_from_its_logs(chance: Random) -> None:
    """Every action of the logs is legal where it stands: substitutes and house moves included."""
    rules, seats = random_rules(chance)
    umpire = new_umpire(rules, seats, profile=chance.choice([DEV, RANKED]), seed=chance.random())
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
    spec = GameSpec(
        key="test", rules=rules, chairs=tuple(Chair(game_id=7, seat=seat, seats=2, rules=rules) for seat in range(2))
    )

    def packs(number: int) -> tuple[int, ...]:
        numbers.append(number)
        return PACK

    umpire = Umpire(spec, packs, itertools.count(1).__next__, highest)
    umpire.start()
    while not umpire.closed:
        answer(umpire, min(asked(umpire).legal))
    assert numbers == [0, 1, 2]
    assert [log.pack for log in umpire.deals] == [PACK] * 3
