"""The schedule: who plays whom, in which seats, in which order. Pure: the same input gives the same schedule.

Words. A *table* is the entrants that sit together; their order here is sorted, so it does not depend on the file. A
*set* is one game, repeated once per rotation of the seats with the same packs (``duplicate``), or one game with its own
packs. Its id is a digest of the table's entrants with their versions and of the set's number: adding a bot, or a new
version of one, leaves all other sets as they are.

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

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice, permutations
from math import comb, factorial
from typing import Literal, Protocol

from referee.league.schedule.designs import cyclic_tables

MAX_SETS = 1_000_000
"""The most sets of one schedule: it is held in memory."""


class ScheduleError(ValueError):
    """A schedule that cannot be made; the text says why, and what to do."""


class ScheduledEntrant(Protocol):
    """What the schedule needs to know of an entrant."""

    @property
    def key(self) -> str:
        """Name of the entrant, unique in the tournament."""

    @property
    def version(self) -> str:
        """Version of the bot."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The part of a definition that decides the schedule.

    ``sides`` is 0 where each plays for self. ``sets`` is the number of sets for each table.
    """

    seats: int
    sides: int = 0
    format: Literal["round-robin", "gauntlet", "compare"] = "round-robin"
    duplicate: bool = True
    sets: int = 6
    max_tables: int = 2000
    pairs: bool = False

    @property
    def rotations(self) -> int:
        """Games of a duplicate set: after so many, each bot has held each seat once."""
        return self.seats if self.pairs else self.table_size

    @property
    def table_size(self) -> int:
        """Entrants at a table: one a seat, or one a side."""
        return self.sides or self.seats


@dataclass(frozen=True, slots=True)
class Fixture:
    """One game to play: seat i is held by entrant ``seats[i]``, in its process number ``slots[i]``."""

    set_id: str
    table: tuple[str, ...]
    s: int
    rotation: int
    seats: tuple[str, ...]
    slots: tuple[int, ...]

    @property
    def id(self) -> str:
        """Stable name of the game: the set's id and the rotation."""
        return f"{self.set_id}-{self.rotation}"

    @property
    def processes(self) -> tuple[tuple[str, int], ...]:
        """The bot process (entrant, slot) at each seat."""
        return tuple(zip(self.seats, self.slots, strict=True))


@dataclass(frozen=True, slots=True)
class PlannedSet:
    """Set number ``s`` of a table: its cyclic order, and the rotations in which its games are played, leg by leg.

    ``swap``: an entrant of the order, and the one that sits in its place in rotations beyond the seats.
    """

    id: str
    table: tuple[str, ...]
    s: int
    order: tuple[str, ...]
    rotations: tuple[int, ...]
    seats: int
    swap: tuple[str, str] | None = None

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """The games of the set, one for each leg."""
        return tuple(self.fixture(leg) for leg in range(len(self.rotations)))

    def fixture(self, leg: int) -> Fixture:
        """The game of a leg. Chairs of one entrant are every ``len(order)``-th, as partners are."""
        rotation, size = self.rotations[leg], len(self.order)
        chairs = [(seat + rotation) % self.seats for seat in range(self.seats)]
        keys = tuple(self.order[chair % size] for chair in chairs)
        if self.swap is not None and rotation >= self.seats:
            keys = tuple(self.swap[1] if key == self.swap[0] else key for key in keys)
        return Fixture(self.id, self.table, self.s, rotation, keys, tuple(chair // size for chair in chairs))


@dataclass(frozen=True, slots=True)
class ScheduleSize:
    """The size of a schedule. ``processes`` is how many bot processes a leg of all its sets needs."""

    tables: int
    sets: int
    games: int
    legs: int
    processes: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """Every table and set, in schedule order: first set 0 of all tables, then set 1 of all, and so on.

    ``notes`` are sentences about what is not balanced. ``designed``: the tables are some of many, chosen by a design.
    """

    shape: Shape
    tables: tuple[tuple[str, ...], ...]
    sets: tuple[PlannedSet, ...]
    notes: tuple[str, ...]
    designed: bool = False

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """Every game, set by set in schedule order."""
        return tuple(fixture for planned in self.sets for fixture in planned.fixtures)

    @property
    def counts(self) -> ScheduleSize:
        """How large the schedule is."""
        games = [len(planned.rotations) for planned in self.sets]
        processes = len({key for table in self.tables for key in table}) * (self.shape.seats // self.shape.table_size)
        return ScheduleSize(len(self.tables), len(self.sets), sum(games), max(games, default=0), processes)

    def legs(self, sets: Iterable[PlannedSet] | None = None) -> tuple[tuple[Fixture, ...], ...]:
        """The games of a stage (all sets unless given) leg by leg.

        Lap r holds game r of every set, so that no process that lives for one leg sees a pack twice.
        """
        chosen = self.sets if sets is None else tuple(sets)
        longest = max((len(planned.rotations) for planned in chosen), default=0)
        return tuple(
            tuple(planned.fixture(leg) for planned in chosen if leg < len(planned.rotations)) for leg in range(longest)
        )

    def next_stage(self, closed: Iterable[str], size: int) -> tuple[PlannedSet, ...]:
        """The next sets to play, at most ``size`` (1 or more): the first in schedule order whose id is not closed."""
        if size < 1:
            raise ValueError(f"a stage has at least one set, not {size}")
        done = frozenset(closed)
        return tuple(islice((planned for planned in self.sets if planned.id not in done), size))


def plan(shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
    """The schedule of a tournament. The first entrant is the one that runs the gauntlet.

    Raises ``ScheduleError`` if the entrants cannot fill a table, or there are too many tables.
    """
    return _plan(shape, tuple(_Known(entrant.key, entrant.version) for entrant in entrants))


@dataclass(frozen=True, slots=True)
class _Known:
    """All that a schedule depends on of an entrant."""

    key: str
    version: str


@lru_cache(maxsize=1)  # a league asks for its own several times, and a large one takes seconds
def _plan(shape: Shape, entrants: tuple[_Known, ...]) -> Schedule:
    if shape.format == "compare":
        from referee.league.schedule.version_swap import plan_swaps

        return plan_swaps(shape, entrants)
    versions = {entrant.key: entrant.version for entrant in entrants}
    if len(versions) < len(entrants):
        raise ScheduleError("two entrants have the same key; give one of them another name")
    tables, designed = _tables(shape, [entrant.key for entrant in entrants])
    if len(tables) * shape.sets > MAX_SETS:
        raise ScheduleError(
            f"{len(tables):,} tables with {shape.sets:,} sets each are {len(tables) * shape.sets:,} sets, more than "
            f"{MAX_SETS:,}; write sets = {max(1, MAX_SETS // len(tables))} or less in [schedule], or enter fewer bots"
        )
    sets = tuple(_planned(shape, table, versions, s) for s in range(shape.sets) for table in tables)
    notes = [*_notes(shape), *([_of_a_design(shape, len(entrants), len(tables))] if designed else [])]
    return Schedule(shape, tables, sets, tuple(notes), designed)


def fewest_sets(shape: Shape, entrants: int) -> int:
    """How many sets a schedule of so many entrants has at least; known at once, however many they are."""
    if shape.format == "compare" or entrants < shape.table_size:
        return shape.sets
    number = _number_of_tables(shape, entrants)
    return shape.sets * (number if number <= shape.max_tables else max(1, entrants // shape.table_size))


def set_id(table: Iterable[ScheduledEntrant], s: int) -> str:
    """The stable id of set ``s`` of a table: 20 hexadecimal digits from its entrants with versions, in any order."""
    return _set_id(sorted((entrant.key, entrant.version) for entrant in table), s)


def cyclic_orders(size: int, count: int) -> tuple[tuple[int, ...], ...]:
    """The first ``count`` cyclic orders of 0 .. size-1 (all, if there are fewer), each begun with 0.

    Each order is followed by its mirror image. There are (size-1)! of them.

    >>> cyclic_orders(4, 4)
    ((0, 1, 2, 3), (0, 3, 2, 1), (0, 1, 3, 2), (0, 2, 3, 1))
    """
    return _cyclic_orders(size, min(count, factorial(size - 1)))


@lru_cache(maxsize=64)
def _cyclic_orders(size: int, count: int) -> tuple[tuple[int, ...], ...]:
    return tuple(islice(_all_cyclic_orders(size), count))


def _all_cyclic_orders(size: int) -> Iterator[tuple[int, ...]]:
    for tail in permutations(range(1, size)):
        if len(tail) < 2:
            yield (0, *tail)
        elif tail[0] < tail[-1]:
            yield (0, *tail)
            yield (0, *reversed(tail))


def _tables(shape: Shape, keys: Sequence[str]) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Every table, its entrants sorted, and whether they are those of a design."""
    size = shape.table_size
    if len(keys) < size:
        raise ScheduleError(_too_few(shape, len(keys)))
    number = _number_of_tables(shape, len(keys))
    if number > shape.max_tables:
        return _designed(shape, keys, number), True
    if shape.format == "gauntlet":
        found = ((keys[0], *others) for others in combinations(keys[1:], size - 1))
    else:
        found = combinations(keys, size)  # type: ignore[assignment]
    return tuple(sorted(tuple(sorted(table)) for table in found)), False


def _number_of_tables(shape: Shape, entrants: int) -> int:
    """How many tables can be made: all subsets of the entrants, or those with the first one (gauntlet)."""
    size = shape.table_size
    return comb(entrants - 1, size - 1) if shape.format == "gauntlet" else comb(entrants, size)


def _designed(shape: Shape, keys: Sequence[str], all_tables: int) -> tuple[tuple[str, ...], ...]:
    """The tables of a cyclic design in its order; in a gauntlet the first entrant sits at each of them besides."""
    fixed = keys[:1] if shape.format == "gauntlet" else ()
    others = sorted(keys[len(fixed) :])
    tables = cyclic_tables(len(others), shape.table_size - len(fixed))
    if not tables or len(tables) > shape.max_tables:
        raise ScheduleError(_too_many(shape, len(keys), all_tables, len(tables)))
    return tuple(tuple(sorted((*fixed, *(others[place] for place in table)))) for table in tables)


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


def _too_many(shape: Shape, number: int, tables: int, designed: int) -> str:
    """``tables``: how many there are; ``designed``: how many the design has, 0 without one."""
    size, fits = shape.table_size, shape.table_size
    while _number_of_tables(shape, fits + 1) <= shape.max_tables:
        fits += 1
    text = f"{_bots(number)} make {tables:,} tables of {size}"
    text += f", and a balanced part of them {designed:,}" if 0 < designed < tables else ""
    text += f", more than max_tables = {shape.max_tables:,}; enter "
    text += "fewer bots" if 0 < designed < tables else f"at most {fits} bots"
    least = min(designed or tables, tables)
    if least <= MAX_SETS:
        text += f", or write max_tables = {least} in [schedule]"
    return text if shape.format == "gauntlet" else text + ', or write format = "gauntlet"'


def _of_a_design(shape: Shape, number: int, tables: int) -> str:
    all_ = _number_of_tables(shape, number)
    return (
        f"Of {all_:,} tables that {_bots(number)} can make, {tables:,} are played, chosen so that every pair meets at "
        "equally many, or at one more. Only the whole schedule is balanced, not its beginning."
    )


def _bots(number: int) -> str:
    return f"{number} entrant{'' if number == 1 else 's'}"


def _planned(shape: Shape, table: tuple[str, ...], versions: dict[str, str], s: int) -> PlannedSet:
    size = len(table)
    same = 1 if shape.duplicate else shape.rotations  # sets in a row with one order
    orders = cyclic_orders(size, -(-shape.sets // same))
    turn = s // same
    order = tuple(table[place] for place in orders[turn % len(orders)])
    name = _set_id([(key, versions[key]) for key in table], s)
    rotations = tuple(range(shape.rotations)) if shape.duplicate else (s % shape.rotations,)
    return PlannedSet(name, table, s, order, rotations, shape.seats)


def _set_id(players: Sequence[tuple[str, str]], s: int) -> str:
    parts = ["allfours-set-v1", *(text for player in players for text in player), str(s)]
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode()
        digest.update(len(raw).to_bytes(4, "big") + raw)
    return digest.hexdigest()[:20]


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
