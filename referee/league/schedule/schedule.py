"""A schedule: sets of games, each with the entrant at every seat. Made by a format, stored, and read back from there.

Words. A *table* is the entrants that sit together, sorted, so that it does not depend on the order of the file. A *set* is what
counts as one: one or more games with the same packs, each in another *rotation* of the seats. What a store holds of a
schedule is all that there is to know of it: ``read_schedule`` gives back what the format made.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from referee.league.store import Source, StoreError

Seating = tuple[str, ...]
"""The entrant at each seat."""


@dataclass(frozen=True, slots=True)
class Fixture:
    """One game to play: seat i is held by entrant ``seats[i]``, in its process number ``slots[i]``."""

    set_id: str
    rotation: int
    seats: Seating

    @property
    def id(self) -> str:
        """Stable name of the game: the set's id and the rotation."""
        return f"{self.set_id}-{self.rotation}"

    @property
    def slots(self) -> tuple[int, ...]:
        """Which process of its entrant holds each seat: all 0, unless an entrant holds several seats.

        Chairs turn with the rotation, and the chairs of one entrant are every n-th, as partners are: so each process of an
        entrant holds every seat once while the rotations go round.
        """
        chairs, entrants = len(self.seats), len(set(self.seats))
        return tuple((seat + self.rotation) % chairs // entrants for seat in range(chairs))

    @property
    def processes(self) -> tuple[tuple[str, int], ...]:
        """The bot process (entrant, slot) at each seat."""
        return tuple(zip(self.seats, self.slots, strict=True))


@dataclass(frozen=True, slots=True)
class PlannedSet:
    """A set of the schedule: the rotations in which its games are played, leg by leg, and who sits where in each.

    ``table``: everybody who sits in one of its games, sorted.
    """

    id: str
    table: Seating
    rotations: tuple[int, ...]
    seatings: tuple[Seating, ...]

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """The games of the set, one for each leg."""
        return tuple(map(self.fixture, range(len(self.rotations))))

    def fixture(self, leg: int) -> Fixture:
        """The game of a leg."""
        return Fixture(self.id, self.rotations[leg], self.seatings[leg])


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
    """Sets in the order in which they are played.

    ``notes`` are sentences about what is not balanced. ``designed``: the tables are some of many, chosen by a design.
    A schedule that was read back from a store has neither.
    """

    sets: tuple[PlannedSet, ...]
    notes: tuple[str, ...] = ()
    designed: bool = False

    @property
    def tables(self) -> tuple[Seating, ...]:
        """Every table once, in the order in which they come."""
        return tuple(dict.fromkeys(planned.table for planned in self.sets))

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """Every game, set by set in schedule order."""
        return tuple(fixture for planned in self.sets for fixture in planned.fixtures)

    @property
    def counts(self) -> ScheduleSize:
        """How large the schedule is."""
        tables, games = self.tables, [len(planned.rotations) for planned in self.sets]
        seated = {planned.table: planned.seatings[0] for planned in self.sets}
        slots = {key: len(seats) // len(set(seats)) for table, seats in seated.items() for key in table}
        return ScheduleSize(len(tables), len(games), sum(games), max(games, default=0), sum(slots.values()))

    def legs(self, sets: Iterable[PlannedSet] | None = None) -> tuple[tuple[Fixture, ...], ...]:
        """The games of a stage (all sets unless given) leg by leg.

        Leg r holds game r of every set, so that no process that lives for one leg sees a pack twice.
        """
        chosen = self.sets if sets is None else tuple(sets)
        longest = max((len(planned.rotations) for planned in chosen), default=0)
        return tuple(
            tuple(planned.fixture(leg) for planned in chosen if leg < len(planned.rotations)) for leg in range(longest)
        )


def read_schedule(source: Source) -> Schedule:
    """The schedule as it is stored: the only one that is read once a league has begun.

    Raises ``StoreError`` for a set without games.
    """
    return Schedule(tuple(_stored_sets(source)))


def _stored_sets(source: Source) -> Iterator[PlannedSet]:
    games: dict[str, tuple[list[int], list[Seating]]] = {}
    for fixture in source.fixtures():
        rotations, seatings = games.setdefault(fixture.set_id, ([], []))
        rotations.append(fixture.rotation)
        seatings.append(fixture.seats)
    # Few tables sit in many sets: what is the same is held once.
    alike: dict[object, tuple[Seating, tuple[int, ...], tuple[Seating, ...]]] = {}
    for row in source.sets():
        if row.id not in games:
            raise StoreError(f"{source.path} is damaged: its set {row.id} has no games; put a copy of it in its place")
        rotations, seatings = games.pop(row.id)
        turns, seats = tuple(rotations), tuple(seatings)
        known = alike.get((turns, seats))
        if known is None:
            known = tuple(sorted({key for seating in seats for key in seating})), turns, seats
            alike[turns, seats] = known
        yield PlannedSet(row.id, *known)
