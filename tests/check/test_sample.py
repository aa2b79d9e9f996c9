"""Sampled positions: repeatable, varied, and enough for every rule of every game."""

from collections import Counter

import pytest

from referee.check.cases import cases_for
from referee.check.probes import probe_plan
from referee.check.requirements import LEAST, Selection, breakable, requirements
from referee.check.sampling import features, sample, seat_counts
from referee.rules import variant, variant_names
from referee.rules.rulebook import Level


def wanted(name: str) -> list[str]:
    rules = variant(name)
    return [one.id for one in requirements([rules], Selection()).binding() if one.variant]


@pytest.mark.parametrize("name", variant_names())
def test_every_must_of_every_game_gets_its_opportunities_before_anything_random(name: str) -> None:
    rules = variant(name)
    asked = requirements([rules], Selection())
    needed = probe_plan([rules], (), asked, "1").needed
    counts = Counter(rule for position in needed for rule in breakable(position.reached()))
    assert {rule: counts[rule] for rule in wanted(name) if counts[rule] < LEAST} == {}
    assert len(needed) <= LEAST * len(wanted(name)), "a slow bot must not be asked more than this takes"


@pytest.mark.parametrize("name", ["auction-pitch", "cinch"])
def test_positions_are_repeatable_and_differ_by_seed(name: str) -> None:
    rules = variant(name)
    first, again, other = (sample(rules, seat_counts(rules), wanted(name), seed=seed, looks=600) for seed in "112")
    assert first == again
    assert first != other


def test_positions_are_varied() -> None:
    rules = variant("auction-pitch")
    positions = sample(rules, seat_counts(rules), wanted("auction-pitch"), seed="1")
    seen = {feature for position in positions for feature in features(position.reached())}
    assert {seats for name, seats in seen if name == "seats"} == {2, 3, 4, 5, 6, 7}
    assert {seat for name, seat in seen if name == "seat"} == set(range(7))
    assert {place for name, place in seen if name == "place"} == set(range(7))
    assert {suit for name, suit in seen if name == "led"} == {None, 0, 1, 2, 3}
    assert {size for name, size in seen if name == "hand"} >= {1, 2, 3, 4, 5, 6}
    assert {score for name, score in seen if name == "score"} == {"some", "near", "hole"}


def test_only_the_seats_that_are_asked_for() -> None:
    rules = variant("auction-pitch")
    asked = requirements([rules], Selection())
    assert {position.seats for position in probe_plan([rules], (5,), asked, "1").all} == {5}


def test_a_rule_that_is_not_asked_for_brings_no_position() -> None:
    rules = variant("auction-pitch-forced")
    asked = requirements([rules], Selection(rules=("AF-BID-004",)))
    for position in probe_plan([rules], (), asked, "1").all:
        assert "AF-BID-004" in breakable(position.reached())


@pytest.mark.parametrize("name", variant_names())
def test_cases_come_under_the_rules_of_their_game(name: str) -> None:
    rules = variant(name)
    for position in cases_for(rules):
        assert position.rules is rules
        assert position.seats in seat_counts(rules)


def test_info_clauses_are_never_wanted() -> None:
    rules = variant("auction-pitch")
    assert all(one.clause.level is not Level.INFO for one in requirements([rules], Selection()).binding())
