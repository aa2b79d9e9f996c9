"""Cyclic designs: every pair meets equally often or once more, everybody sits equally often, and it takes no time."""

from collections import Counter
from itertools import combinations

import pytest

from referee.league.schedule.designs import MOST_ENTRANTS, base_blocks, cyclic_tables

SIZES = range(3, 8)


def counts(entrants: int, size: int) -> tuple[Counter[tuple[int, int]], Counter[int]]:
    """How often each pair meets, and each entrant sits."""
    tables = cyclic_tables(entrants, size)
    pairs = Counter(pair for table in tables for pair in combinations(table, 2))
    return pairs, Counter(one for table in tables for one in table)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("start", range(3))
def test_every_pair_meets_equally_often_or_once_more_and_everybody_sits_equally_often(size: int, start: int) -> None:
    """A third of 4 to 60 entrants each."""
    for entrants in range(size + 1 + start, 61, 3):
        pairs, sat = counts(entrants, size)
        assert len(pairs) == entrants * (entrants - 1) // 2
        assert max(pairs.values()) - min(pairs.values()) <= 1, (entrants, size)
        assert len(sat) == entrants
        assert len(set(sat.values())) == 1


@pytest.mark.parametrize("size", SIZES)
def test_there_are_as_few_base_blocks_as_can_be_or_one_more(size: int) -> None:
    for entrants in range(size + 1, 61):
        fewest = -(-(entrants - 1) // (size * (size - 1)))
        more = 2 if (entrants, size) == (43, 7) else 1  # no two blocks are known that would be exact
        assert fewest <= len(base_blocks(entrants, size)) <= fewest + more


@pytest.mark.parametrize(("entrants", "size"), [(7, 3), (13, 4), (21, 5), (31, 6), (60, 7), (43, 7), (8, 7)])
def test_no_table_comes_twice_and_none_has_an_entrant_twice(entrants: int, size: int) -> None:
    tables = cyclic_tables(entrants, size)
    assert len(set(tables)) == len(tables) == entrants * len(base_blocks(entrants, size))
    assert all(table == tuple(sorted(set(table))) and len(table) == size for table in tables)


def test_exact_balance_is_found_where_a_projective_plane_has_it() -> None:
    for entrants, size in ((7, 3), (13, 4), (21, 5)):
        assert len(cyclic_tables(entrants, size)) == entrants
        assert set(counts(entrants, size)[0].values()) == {1}


def test_a_design_stays_what_it_is_or_leagues_that_have_begun_with_it_could_not_go_on() -> None:
    assert base_blocks(13, 4) == ((1, 7, 9, 10),)
    assert base_blocks(40, 4) == ((0, 9, 16, 37), (7, 11, 22, 24), (10, 20, 30, 38), (17, 22, 23, 31))


def test_there_is_no_design_of_too_few_or_too_many() -> None:
    assert cyclic_tables(4, 4) == ()
    assert cyclic_tables(3, 4) == ()
    assert cyclic_tables(MOST_ENTRANTS + 1, 4) == ()
    assert cyclic_tables(10, 1) == ()


@pytest.mark.parametrize(("entrants", "size"), [(61, 4), (100, 4), (100, 7)])
def test_larger_classes_find_one_too(entrants: int, size: int) -> None:
    pairs, _ = counts(entrants, size)
    assert len(pairs) == entrants * (entrants - 1) // 2
    assert max(pairs.values()) - min(pairs.values()) <= 1
