"""What cannot arise is not asked for, and all else is: for every variant, every number of seats, any house rules."""

import random
from typing import Any

import pytest
from hypothesis import given, settings

from referee.check.probes import probe_plan
from referee.check.requirements import LEAST, Selection, breakable, cannot_arise, requirements
from referee.check.sampling import one_sided_pack, seat_counts
from referee.rules import Deal, RuleSet, RuleSetError, variant, variant_names
from referee.rules.ruleset import allowed_values, meanings
from tests.helpers import chances, seeded

TABLES = [(name, seats) for name in variant_names() for seats in seat_counts(variant(name))]
FAMILY_SIZES = (
    (6, 3),
    (6, 3),
    (6, 1),
    (1, 1),
    (2, 1),
    (2, 2),
    (3, 3),
    (7, 7),
    (9, 3),
    (13, 1),
    (13, 13),
    (16, 4),
    (25, 5),
)


def altered(chance: random.Random) -> tuple[RuleSet, int]:
    """A variant with some house rules changed at random, as far as they make sense together, and a number of seats."""
    rules = variant(chance.choice(variant_names()))
    for field in chance.sample(list(meanings()), chance.randrange(1, 12)):
        change = _change(field, rules, chance)
        if change:
            try:
                other = rules.with_rules(change)
            except RuleSetError:
                continue
            rules = other if seat_counts(other) else rules
    return rules, chance.choice(seat_counts(rules))


def _change(field: str, rules: RuleSet, chance: random.Random) -> dict[str, Any]:
    values = allowed_values(field)
    if values is not None:
        return {field: chance.choice(values)}
    match field:
        case "players":
            low = chance.randint(2, 7)
            return {"players": (low, chance.randint(low, 7))}
        case "hand_size" | "packet":
            size, packet = chance.choice(FAMILY_SIZES)
            return {"hand_size": size, "packet": packet}
        case "min_bid" | "max_bid" if rules.has_auction:
            low = chance.randint(1, 4)
            return {
                "min_bid": low,
                "max_bid": chance.randint(low, 14),
                "steal": (),
                "smudge": "none",
                "steal_by": "dealer",
            }
        case "steal" if rules.has_auction:
            bids = range(rules.min_bid, rules.max_bid + 1)
            return {"steal": tuple(bid for bid in bids if chance.random() < 0.3)}
        case "target":
            return {"target": chance.choice([1, 2, 7, 50])}
    return {}


def asked_of(rules: RuleSet) -> set[str]:
    return {one.id for one in requirements([rules], Selection()).binding() if one.variant}


def check_table(rules: RuleSet, seats: int) -> None:
    """Every clause is either put to a bot as often as counts, or cannot arise; never both."""
    ruled_out = cannot_arise(rules, [seats])
    counts = dict.fromkeys(asked_of(rules), 0)
    for position in probe_plan([rules], (seats,), requirements([rules], Selection()), "1").needed:
        for rule in breakable(position.reached()) & counts.keys():
            counts[rule] += 1
    assert {rule for rule, count in counts.items() if count < LEAST} == set(ruled_out), (rules.as_dict(), seats)
    assert not {rule for rule in ruled_out if counts[rule]}


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_every_clause_of_every_variant_can_be_put_with_every_number_of_seats_or_does_not_apply(
    name: str, seats: int
) -> None:
    check_table(variant(name), seats)


@settings(max_examples=20)
@given(chances())
def test_so_it_is_under_any_house_rules(chance: random.Random) -> None:
    check_table(*altered(chance))


def test_two_seats_leave_nobody_to_steal_but_the_dealer() -> None:
    rules = variant("auction-pitch")
    assert set(cannot_arise(rules, [2])) == {"AF-BID-003"}
    assert cannot_arise(rules, [2, 3]) == {}


def test_a_pack_is_stacked_of_all_cards() -> None:
    for name, seats in TABLES:
        for number in range(20):
            pack = one_sided_pack(variant(name), seats, seeded(f"{name} {seats} {number}"))
            assert sorted(pack) == sorted(set(pack))
            assert len(pack) == 52
            Deal(variant(name), seats, 0, pack)
