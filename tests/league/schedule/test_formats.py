"""Formats: what the store holds of a schedule is all of it, and a new format is one class."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count, product
from pathlib import Path

import pytest

from referee.league.definition import model_problems
from referee.league.definition.definition import DefinitionError, parse_definition
from referee.league.league import add_sets, read_league
from referee.league.schedule import formats
from referee.league.schedule.format import Format, ScheduledEntrant, SetResult, Shape, planned_set, set_id
from referee.league.schedule.formats import FORMATS, plan
from referee.league.schedule.schedule import Schedule, read_schedule
from referee.league.schedule.version_swap import VersionSwap
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.statistics.results import place_points
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import Player, at_random, found_league, go_on, league_text, reneges, roster

PLAYERS: dict[str, Player] = {"a": at_random, "b": fallback_move, "c": at_random, "d": fallback_move, "e": reneges}


def test_the_store_gives_back_what_the_formats_made(tmp_path: Path) -> None:
    made: list[Schedule] = []
    sizes = [(2, 0), (3, 0), (5, 0), (4, 2), (6, 2), (6, 3)]
    for name, (seats, sides), duplicate, sets in product(FORMATS, sizes, (True, False), (1, 5)):
        shape = Shape(seats=seats, sides=sides, format=name, duplicate=duplicate, sets=sets)
        entrants = seats if name == "one-table" else shape.table_size + 1
        bots = [f"{len(made)}-{number}" for number in range(entrants)]
        made.append(plan(shape, roster(bots).entrants))
    with Store.create(tmp_path / "league.sqlite", {"name": "all"}) as store:
        for schedule in made:
            add_sets(store, "all", schedule.sets)
        found = read_schedule(store).sets
    assert found == sum((schedule.sets for schedule in made), ())
    for schedule in made:
        again = Schedule(tuple(one for one in found if one in schedule.sets))
        assert (again.tables, again.counts, again.legs()) == (schedule.tables, schedule.counts, schedule.legs())


def test_once_a_league_has_begun_its_schedule_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "league.sqlite"
    found_league(path, parse_definition(league_text(["a", "b", "c"], sets=2)), ["a", "b", "c"])
    go_on(path, PLAYERS, most=1)

    def never(*_: object) -> Schedule:
        raise AssertionError("the schedule is made again")

    monkeypatch.setattr(FORMATS["round-robin"], "next_sets", never)
    formats._plan.cache_clear()
    assert go_on(path, PLAYERS).finished
    with Store.read(path) as store:
        assert len(standings_of(store, read_league(store)).rows) == 3


class Swiss(Format):
    """Who has won equally often plays each other, and nobody the same twice while that can be; ``sets`` rounds."""

    name = "swiss"
    words = "those who have won equally often"

    def next_sets(self, shape: Shape, entrants: Sequence[ScheduledEntrant], results: Sequence[SetResult]) -> Schedule:
        if len(results) >= shape.sets * self.fewest_sets(shape, len(entrants)):
            return Schedule(())
        points = Counter({entrant.key: 0.0 for entrant in entrants})
        met: Counter[tuple[str, ...]] = Counter(result.planned.table for result in results)
        sat_out = Counter(entrant.key for entrant in entrants)
        for result in results:
            sat_out.subtract(result.planned.table)
            for game in result.games:
                for key, won in zip(game.entrants, place_points(game.places, 0), strict=True):
                    points[key] += won
        waiting = sorted(entrants, key=lambda one: (-sat_out[one.key], -points[one.key], one.key))
        waiting = waiting[: len(waiting) // 2 * 2]
        waiting.sort(key=lambda one: (-points[one.key], one.key))
        sets = []
        while waiting:
            one = waiting.pop(0)
            other = min(waiting, key=lambda other: met[tuple(sorted((one.key, other.key)))])
            waiting.remove(other)
            number = met[tuple(sorted((one.key, other.key)))]
            sets.append(planned_set(set_id([one, other], number), (one.key, other.key), (0, 1), 2))
        return Schedule(tuple(sets))

    def fewest_sets(self, shape: Shape, entrants: int) -> int:
        return entrants // 2


@pytest.fixture
def swiss(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Three rounds of a Swiss of five players: two tables, and one sits out."""
    monkeypatch.setitem(FORMATS, Swiss.name, Swiss())
    model_problems._schema.cache_clear()  # it lists the formats
    text = league_text([*PLAYERS], seats=2, sets=3, length="deal")
    yield text.replace("[schedule]\n", '[schedule]\nformat = "swiss"\n')
    model_problems._schema.cache_clear()


def tables_of(path: Path) -> list[tuple[str, ...]]:
    with Store.read(path) as store:
        return [planned.table for planned in read_schedule(store).sets]


def test_a_format_by_rounds_is_one_class(tmp_path: Path, swiss: str) -> None:
    path = tmp_path / "swiss.sqlite"
    found_league(path, parse_definition(swiss), [*PLAYERS])
    assert len(tables_of(path)) == 2  # what comes next depends on results
    assert go_on(path, PLAYERS).finished
    tables = tables_of(path)
    assert len(tables) == len(set(tables)) == 6
    assert sorted(Counter(key for table in tables for key in table).values()) == [2, 2, 2, 3, 3]
    with Store.read(path) as store:
        league, games = read_league(store), store.games()
        points: Counter[str] = Counter()
        for game in games[:4]:
            for key, won in zip(game.summary["entrants"], place_points(game.summary["places"], 0), strict=True):
                points[key] += won
        (best, most), *_ = points.most_common()
        rivals = [key for key, won in points.items() if won == most and key != best]
        # Whoever leads after a round meets somebody who has won as often, if there is one that it has not met.
        if rivals and not set(rivals) & set(sum((one for one in tables[:2] if best in one), ())):
            assert any(best in one and set(one) & set(rivals) for one in tables[2:4])
        table = standings_of(store, league)
        assert {row.entrant: row.games for row in table.rows} == Counter(
            key for game in games for key in game.summary["entrants"]
        )
        found = verify(store, record_root=league.facts["record_root"])
    assert found.ok, str(found)


@pytest.mark.parametrize("most", [1, 3, 4])
def test_a_league_by_rounds_goes_on_in_the_middle_of_one_or_between_two(tmp_path: Path, swiss: str, most: int) -> None:
    whole, parts = tmp_path / "whole.sqlite", tmp_path / "parts.sqlite"
    for path in (whole, parts):
        found_league(path, parse_definition(swiss), [*PLAYERS])
    assert go_on(whole, PLAYERS).finished
    runs = next(number for number in count(1) if go_on(parts, PLAYERS, most=most).finished)
    assert runs >= 12 // most
    assert tables_of(parts) == tables_of(whole)
    with Store.read(whole) as one, Store.read(parts) as other:
        assert one.league()["result_root"] == other.league()["result_root"]
        assert one.league()["standings"] == other.league()["standings"]
        assert verify(other).ok


def test_who_is_withdrawn_is_in_no_later_round(tmp_path: Path, swiss: str) -> None:
    path = tmp_path / "swiss.sqlite"
    found_league(path, parse_definition(swiss), [*PLAYERS])
    go_on(path, PLAYERS, most=1)
    with Store.write(path) as store:
        gone = read_schedule(store).sets[1].table[0]
        store.add_fault(gone, "CRASH", "Its process ended with code 1.", "-")
        store.withdraw(gone, "it ended 10 times")
    assert go_on(path, PLAYERS).finished
    tables = tables_of(path)
    assert not [table for table in tables[2:] if gone in table]
    assert len(tables) == 6
    with Store.read(path) as store:
        assert [one.reason for one in standings_of(store, read_league(store)).void] == [
            f"{gone} was withdrawn: it ended 10 times"
        ]
        assert verify(store).ok


def test_a_round_that_does_not_follow_from_the_results_is_found(
    tmp_path: Path, swiss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "swiss.sqlite"
    found_league(path, parse_definition(swiss), [*PLAYERS])
    real = Swiss.next_sets

    def rigged(
        self: Swiss, shape: Shape, entrants: Sequence[ScheduledEntrant], results: Sequence[SetResult]
    ) -> Schedule:
        made = real(self, shape, entrants, results)
        return Schedule(made.sets[::-1]) if results else made

    monkeypatch.setattr(Swiss, "next_sets", rigged)
    assert go_on(path, PLAYERS).finished
    monkeypatch.setattr(Swiss, "next_sets", real)
    with Store.read(path) as store:
        found = verify(store)
    assert not found.ok
    assert found.findings[0].check == "schedule"


def test_what_a_format_does_not_know_is_refused_by_its_name(swiss: str) -> None:
    for option in ("until_resolved = 0.9", "alpha = 0.01"):
        with pytest.raises(DefinitionError, match='nothing here where format = "swiss"; remedy: delete it, or write'):
            parse_definition(swiss.replace("[schedule]", f"[schedule]\n{option}"))
    with pytest.raises(
        DefinitionError, match=r'allowed: "round-robin", "gauntlet", "compare", "ladder", "one-table" or "swiss"'
    ):
        parse_definition(swiss.replace('"swiss"', '"swis"'))


def test_every_format_has_a_name_of_its_own_and_says_who_meets_whom() -> None:
    assert {name: one.name for name, one in FORMATS.items()} == dict(zip(FORMATS, FORMATS, strict=True))
    assert all(one.words and one.words[0].islower() for one in FORMATS.values())
    assert isinstance(FORMATS["compare"], VersionSwap)
