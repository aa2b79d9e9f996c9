"""A schedule is counted, not believed: designs of every size, and what a check finds where something is wrong."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest

from referee.league.balance import Balance, check_schedule, meetings, told_early
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import plan
from referee.league.schedule.schedule import Schedule


@dataclass(frozen=True)
class Bot:
    key: str
    version: str = "1"


def bots(number: int) -> list[Bot]:
    return [Bot(f"bot{place:02}") for place in range(number)]


def balance(schedule: Schedule, number: int, name: str = "round-robin") -> Balance:
    shape = Shape(seats=len(schedule.fixtures[0].seats), format=name)
    return check_schedule(schedule, shape, [bot.key for bot in bots(number)])


def failed(found: Balance) -> list[str]:
    return [finding.name for finding in found.findings if not finding.ok]


@pytest.mark.parametrize("seats", range(3, 8))
def test_a_schedule_of_any_size_is_balanced_and_a_new_version_changes_only_its_own_sets(seats: int) -> None:
    for number in range(seats, 61):
        shape = Shape(seats=seats, sets=1, max_tables=700)
        schedule = plan(shape, bots(number))
        found = balance(schedule, number)
        assert found.ok, (number, found.findings)
        assert max(found.pairs.values()) - min(found.pairs.values()) <= 1
        assert len({share.seats for share in found.shares}) == 1
        assert len(set(found.shares[0].seats)) == 1
        assert sum(share.games for share in found.shares) == schedule.counts.games * seats
        newer = plan(shape, [Bot("bot00", "2"), *bots(number)[1:]])
        for old, new in zip(schedule.sets, newer.sets, strict=True):
            assert old.table == new.table
            assert (old.id == new.id) == ("bot00" not in old.table)


def test_in_a_design_each_set_plays_every_table_again() -> None:
    schedule = plan(Shape(seats=4, sets=3, max_tables=200), bots(40))
    assert schedule.counts.sets == 3 * 160
    assert balance(schedule, 40).ok
    assert [one.table for one in schedule.sets] == 3 * list(schedule.tables)


def test_a_new_bot_makes_other_tables_but_a_table_keeps_its_ids() -> None:
    shape = Shape(seats=4, sets=1, max_tables=200)
    before, after = plan(shape, bots(16)), plan(shape, [*bots(16), Bot("new")])
    ids = {one.table: one.id for one in plan(replace(shape, max_tables=10_000), [*bots(16), Bot("new")]).sets}
    for planned in (*before.sets, *after.sets):
        assert planned.id == ids[planned.table]


def test_a_designed_gauntlet_has_the_first_bot_at_every_table_and_the_others_equally_often() -> None:
    schedule = plan(Shape(seats=5, format="gauntlet", sets=1, max_tables=300), bots(40))
    assert schedule.designed
    assert all("bot00" in table for table in schedule.tables)
    found = balance(schedule, 40, "gauntlet")
    assert found.ok
    assert len({share.tables for share in found.shares[1:]}) == 1


def test_pairs_that_meet_unequally_are_found() -> None:
    schedule = plan(Shape(seats=3, sets=1), bots(6))
    lopsided = replace(schedule, sets=schedule.sets[:7])
    assert failed(balance(lopsided, 6)) == ["pairs"]
    in_a_gauntlet = plan(Shape(seats=3, format="gauntlet", sets=1), bots(6))
    assert balance(in_a_gauntlet, 6, "gauntlet").ok
    assert failed(balance(replace(in_a_gauntlet, sets=in_a_gauntlet.sets[:-3]), 6, "gauntlet")) == ["pairs"]


def test_seats_that_are_held_unequally_are_found() -> None:
    plain = plan(Shape(seats=3, duplicate=False, sets=4), bots(3))
    found = balance(plain, 3)
    assert failed(found) == ["seats"]
    assert "2, 1, 1" in next(one.sentence for one in found.findings if one.name == "seats")
    assert balance(plan(Shape(seats=3, duplicate=False, sets=6), bots(3)), 3).ok


def test_a_pack_that_a_process_would_meet_twice_and_an_id_twice_are_found() -> None:
    schedule = plan(Shape(seats=3, sets=2), bots(3))
    one, other = schedule.sets
    doubled = replace(schedule, sets=(one, replace(other, id=one.id)))
    assert failed(balance(doubled, 3)) == ["packs", "ids"]


def test_json_has_every_pair_once() -> None:
    data = balance(plan(Shape(seats=3, sets=1), bots(5)), 5).to_json()
    assert data["ok"] is True
    assert len(data["pairs"]) == 10
    assert {count for *_, count in data["pairs"]} == {3}


def test_a_run_that_ends_early_says_how_unequally_pairs_have_met() -> None:
    names = [bot.key for bot in bots(5)]
    schedule = plan(Shape(seats=3, sets=2), bots(5))
    ids = [planned.id for planned in schedule.sets]
    assert meetings(schedule.sets[:1], names) == (0, 1)
    assert "met in 0 to 1 closed sets" in told_early(schedule, ids[:1], names)
    assert told_early(schedule, ids, names) == told_early(schedule, [], names) == ""
    assert told_early(plan(Shape(seats=3, sets=5), bots(3)), ids[:2], names[:3]) == ""


def test_counting_agrees_with_the_fixtures_of_a_design() -> None:
    schedule = plan(Shape(seats=4, sets=1, max_tables=200), bots(40))
    assert schedule.designed
    played = Counter(key for game in schedule.fixtures for key in game.seats)
    assert {share.entrant: share.games for share in balance(schedule, 40).shares} == played
