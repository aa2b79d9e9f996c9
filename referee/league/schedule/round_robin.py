"""Everybody with everybody: all tables that the entrants can make, or a balanced part of them.

Tables. All subsets of the entrants; where that are more than ``max_tables``, those of a cyclic design (``designs``), in which
every pair meets equally often, or once more. Who has which number in the design depends on the names alone, so a new
version of a bot changes only its own sets; a new bot makes other tables.

Seats. The bots of set s sit in one of the (k-1)! cyclic orders of the table, because a bot gains or loses by what its
neighbour is like; the orders come in pairs of mirror images, so that two sets already balance left against right. In
rotation r, seat i holds chair (i + r) mod n of that order.

* Each for self: k = n entrants, one chair each, n rotations: in every set each bot holds every seat once.
* Sides: k = sides entrants, each holding the n / sides chairs of its side (slots 0, 1 ...), so k rotations are enough:
  after them each bot has held every seat once. The other n - k rotations would repeat the same games with the slots,
  which run the same program, changed about.
* Pairs of two bots: as sides, but the slots run different programs, so all n rotations are played.
* Plain (no duplicate): set s has the one game with rotation s mod k, and the order changes every k sets. So each k sets
  in a row give each bot every seat equally often, and k! sets use every arrangement once.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, factorial
from typing import ClassVar

from referee.league.schedule.designs import cyclic_tables
from referee.league.schedule.format import (
    MAX_SETS,
    AllAtOnce,
    ScheduledEntrant,
    ScheduleError,
    Shape,
    cyclic_orders,
    planned_set,
    set_id,
)
from referee.league.schedule.schedule import PlannedSet, Schedule, Seating


class RoundRobin(AllAtOnce):
    """Everybody with everybody. ``fixed``: so many of the first entrants sit at every table (none)."""

    name = "round-robin"
    words = "everybody with everybody"
    fixed: ClassVar[int] = 0

    def plan(self, shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
        """First set 0 of all tables, then set 1 of all, and so on."""
        known = {entrant.key: entrant for entrant in entrants}
        if len(known) < len(entrants):
            raise ScheduleError("two entrants have the same key; give one of them another name")
        tables, designed = self._tables(shape, list(known))
        if len(tables) * shape.sets > MAX_SETS:
            raise ScheduleError(
                f"{len(tables):,} tables with {shape.sets:,} sets each are {len(tables) * shape.sets:,} sets, more than "
                f"{MAX_SETS:,}; write sets = {max(1, MAX_SETS // len(tables))} or less in [schedule], or enter fewer bots"
            )
        seated = [(table, [known[key] for key in table]) for table in tables]
        sets = tuple(_planned(shape, table, bots, s) for s in range(shape.sets) for table, bots in seated)
        notes = [*_notes(shape), *([self._of_a_design(shape, len(entrants), len(tables))] if designed else [])]
        return Schedule(sets, tuple(notes), designed)

    def fewest_sets(self, shape: Shape, entrants: int) -> int:
        """Those of all tables, or of the fewest that a design could have."""
        if entrants < shape.table_size:
            return shape.sets
        number = self._number_of_tables(shape, entrants)
        return shape.sets * (number if number <= shape.max_tables else max(1, entrants // shape.table_size))

    def _tables(self, shape: Shape, keys: Sequence[str]) -> tuple[tuple[Seating, ...], bool]:
        """Every table, its entrants sorted, and whether they are those of a design."""
        size = shape.table_size
        if len(keys) < size:
            raise ScheduleError(_too_few(shape, len(keys)))
        number = self._number_of_tables(shape, len(keys))
        if number > shape.max_tables:
            return self._designed(shape, keys, number), True
        first, others = tuple(keys[: self.fixed]), keys[self.fixed :]
        found = ((*first, *those) for those in combinations(others, size - self.fixed))
        return tuple(sorted(tuple(sorted(table)) for table in found)), False

    def _number_of_tables(self, shape: Shape, entrants: int) -> int:
        return comb(entrants - self.fixed, shape.table_size - self.fixed)

    def _designed(self, shape: Shape, keys: Sequence[str], all_tables: int) -> tuple[Seating, ...]:
        """The tables of a cyclic design in its order; the fixed entrants sit at each of them besides."""
        first, others = keys[: self.fixed], sorted(keys[self.fixed :])
        tables = cyclic_tables(len(others), shape.table_size - self.fixed)
        if not tables or len(tables) > shape.max_tables:
            raise ScheduleError(self._too_many(shape, len(keys), all_tables, len(tables)))
        return tuple(tuple(sorted((*first, *(others[place] for place in table)))) for table in tables)

    def _too_many(self, shape: Shape, number: int, tables: int, designed: int) -> str:
        """``tables``: how many there are; ``designed``: how many the design has, 0 without one."""
        size, fits = shape.table_size, shape.table_size
        while self._number_of_tables(shape, fits + 1) <= shape.max_tables:
            fits += 1
        text = f"{_bots(number)} make {tables:,} tables of {size}"
        text += f", and a balanced part of them {designed:,}" if 0 < designed < tables else ""
        text += f", more than max_tables = {shape.max_tables:,}; enter "
        text += "fewer bots" if 0 < designed < tables else f"at most {fits} bots"
        least = min(designed or tables, tables)
        if least <= MAX_SETS:
            text += f", or write max_tables = {least} in [schedule]"
        return text if self.fixed else text + f', or write format = "{Gauntlet.name}"'

    def _of_a_design(self, shape: Shape, number: int, tables: int) -> str:
        all_ = self._number_of_tables(shape, number)
        return (
            f"Of {all_:,} tables that {_bots(number)} can make, {tables:,} are played, chosen so that every pair meets at "
            "equally many, or at one more. Only the whole schedule is balanced, not its beginning."
        )


class Gauntlet(RoundRobin):
    """The first entrant against all others: it sits at every table, and all others are measured by it."""

    name = "gauntlet"
    words = "the first bot against all others"
    fixed = 1

    def yardstick(self, entrants: Sequence[str]) -> str | None:
        """The first entrant."""
        return entrants[0] if entrants else None


def _planned(shape: Shape, table: Seating, bots: Sequence[ScheduledEntrant], s: int) -> PlannedSet:
    size = len(table)
    same = 1 if shape.duplicate else shape.rotations  # sets in a row with one order
    orders = cyclic_orders(size, -(-shape.sets // same))
    turn = s // same
    order = tuple(table[place] for place in orders[turn % len(orders)])
    rotations = range(shape.rotations) if shape.duplicate else (s % shape.rotations,)
    return planned_set(set_id(bots, s), order, rotations, shape.seats)


def _too_few(shape: Shape, number: int) -> str:
    missing = shape.table_size - number
    what = f"{shape.sides} sides" if shape.sides else f"{shape.seats} seats"
    text = f"{_bots(number)} cannot fill a table of {what}; enter {missing} more, or seat a bot several times with "
    text += f"copies = {missing + 1} in its [[bots]] entry"
    if number >= 2 and not shape.sides:
        text += f", or play with fewer seats: seats = {number} in [tournament]"
    elif shape.sides:
        text += " (fewer seats do not help: each side needs an entrant)"
    else:
        text += " (the fewest seats are 2)"
    return text


def _bots(number: int) -> str:
    return f"{number} entrant{'' if number == 1 else 's'}"


def _notes(shape: Shape) -> Iterator[str]:
    turns = shape.rotations
    if not shape.duplicate and shape.sets % turns:
        yield (
            f"sets = {shape.sets} is no multiple of {turns}: some bots hold some seats one game more often than others."
        )
    orders = factorial(shape.table_size - 1) * (1 if shape.duplicate else turns)
    if shape.sets % orders:
        yield (
            f"sets = {shape.sets} is no multiple of {orders}: not every bot has every neighbour equally often at a table."
        )
