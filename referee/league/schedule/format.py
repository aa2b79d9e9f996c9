"""What a schedule format is: the one interface behind which each of them stands, and what several of them share.

A format says who meets whom, set by set. It is asked for sets when a league begins, and again whenever all that it gave are
over; then it sees their results, and those alone. Pure: the same arguments give the same sets, on every machine. So a
league that was interrupted goes on as if it had not been, and a verification finds every set again.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise, permutations
from math import factorial
from typing import ClassVar, Final, Protocol

from referee.league.schedule.schedule import PlannedSet, Schedule, Seating
from referee.statistics.comparison import compare
from referee.statistics.intervals import FEWEST_SETS
from referee.statistics.ranks import separated
from referee.statistics.results import GameSet, MeasureName

MAX_SETS: Final = 1_000_000
"""The most sets of one schedule: it is held in memory."""


class ScheduleError(ValueError):
    """A schedule that cannot be made; the text says why, and what to do."""


class ScheduledEntrant(Protocol):
    """What a format may know of an entrant."""

    @property
    def key(self) -> str:
        """Name of the entrant, unique in the tournament."""

    @property
    def version(self) -> str:
        """Version of the bot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The part of a definition that decides the schedule, and when it may end early.

    ``sides`` is 0 where each plays for self. ``sets`` is the number of sets for each table, or what the format makes of it.
    ``format`` is the name of one of ``formats.FORMATS``. ``until_resolved``, ``alpha``, ``margin`` and ``extra`` are for the
    formats that know them (``Format.options``).
    """

    seats: int
    sides: int = 0
    format: str = "round-robin"
    duplicate: bool = True
    sets: int = 6
    max_tables: int = 2000
    pairs: bool = False
    objective: MeasureName = "place"
    until_resolved: float | None = None
    alpha: float | None = None
    margin: float | None = None
    extra: int | None = None

    @property
    def rotations(self) -> int:
        """Games of a duplicate set: after so many, each bot has held each seat once."""
        return self.seats if self.pairs else self.table_size

    @property
    def table_size(self) -> int:
        """Entrants at a table: one a seat, or one a side."""
        return self.sides or self.seats


@dataclass(frozen=True, slots=True)
class SetResult:
    """What has become of a set: its games by rotation; none if one of them never came to a result.

    A set whose games were all played shows them, even where it does not count in the standings because a bot was withdrawn.
    """

    planned: PlannedSet
    games: GameSet


class Format(ABC):
    """A schedule format. A subclass with a name, in ``formats.FORMATS``, is all that a new one needs.

    ``name``: as ``[schedule] format`` has it. ``words``: who meets whom, as part of a sentence. ``options``: the fields of
    ``[schedule]`` that only some formats know, and this one does; ``instead``: what to do about those that it does not
    know, if nothing but deleting them. ``takes_pairs``: whether ``[[pairs]]`` can play. ``no_remote``: why remote bots
    cannot; empty if they can. ``by_rounds``: whether it may give more sets once it has seen results. ``endless``: its rounds are
    begun one at a time, as somebody asks for them, and only then is known who plays.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    options: ClassVar[frozenset[str]] = frozenset()
    instead: ClassVar[str] = ""
    takes_pairs: ClassVar[bool] = True
    no_remote: ClassVar[str] = ""
    by_rounds: ClassVar[bool] = True
    endless: ClassVar[bool] = False

    @abstractmethod
    def next_sets(self, shape: Shape, entrants: Sequence[ScheduledEntrant], results: Sequence[SetResult]) -> Schedule:
        """The sets that come next; none if the schedule is at its end.

        ``entrants``: who is in the league, in the order of entry, but for those that were withdrawn. ``results``: every
        set so far in schedule order, all of them over; none before the first. Every set needs an id of its own: ``set_id``
        with a number that the same table has not had. The notes of the first sets are stored with the league.

        Raises ``ScheduleError`` if there can be no schedule for these entrants.
        """

    @abstractmethod
    def fewest_sets(self, shape: Shape, entrants: int) -> int:
        """How many sets a schedule of so many entrants begins with at least; known at once, however many they are."""

    def certainty(self, shape: Shape) -> float | None:
        """With what certainty, 0..1, a league that may stop early must be right; None for one that does not look."""
        del shape
        return None

    def reason_to_stop(self, shape: Shape, bots: Mapping[str, str], sets: Sequence[GameSet]) -> str:
        """Why a league that looks need not go on after these closed sets; empty if it should.

        ``bots``: every entrant, in the order of entry, with the bot that it is a copy of.
        """
        del shape, bots, sets
        return ""

    def yardstick(self, entrants: Sequence[str]) -> str | None:
        """The entrant that all others meet, and are measured by in the standings, if there is one."""
        del entrants
        return None


class AllAtOnce(Format):
    """A format that gives all sets before the first game, ``Shape.sets`` for each table: a subclass has ``plan``.

    With ``until_resolved`` the league stops as soon as all neighbours in the table are told apart.
    """

    options: ClassVar[frozenset[str]] = frozenset({"until_resolved"})
    by_rounds: ClassVar[bool] = False

    @abstractmethod
    def plan(self, shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
        """The whole schedule; raises ``ScheduleError``."""

    def next_sets(self, shape: Shape, entrants: Sequence[ScheduledEntrant], results: Sequence[SetResult]) -> Schedule:
        """All sets the first time, none afterwards."""
        return Schedule(()) if results else self.plan(shape, entrants)

    def certainty(self, shape: Shape) -> float | None:
        """That of ``until_resolved``."""
        return shape.until_resolved

    def reason_to_stop(self, shape: Shape, bots: Mapping[str, str], sets: Sequence[GameSet]) -> str:
        """That all neighbours are told apart, if they are."""
        certainty = shape.until_resolved
        if certainty is None or not is_resolved(sets, shape.objective, bots, certainty):
            return ""
        return f"all neighbours are told apart, with certainty {certainty:g}"


def is_resolved(sets: Sequence[GameSet], measure: MeasureName, bots: Mapping[str, str], certainty: float) -> bool:
    """Whether all neighbours in the table are told apart, all at once with this certainty, whatever the looks so far.

    ``bots``: every entrant with the bot that it is a copy of; copies of one bot are not told apart.
    """
    comparison = compare(sets, measure)
    advantages = dict(zip(comparison.entrants, comparison.advantages, strict=True))
    if advantages.keys() != bots.keys() or min(comparison.sets, default=0) < FEWEST_SETS:
        return False
    order = sorted(bots, key=lambda key: (-round(advantages[key], 12), key))
    told_apart = set(separated(comparison, order, certainty, at_any_look=True))
    return all(bots[one] == bots[other] or (one, other) in told_apart for one, other in pairwise(order))


def planned_set(name: str, order: Seating, rotations: Sequence[int], seats: int) -> PlannedSet:
    """The set with this id in which the entrants of a table sit in a cyclic ``order``, turned by each of the rotations.

    In rotation r, seat i holds chair (i + r) mod ``seats``; chairs beyond the order begin it again, as partners sit.
    """
    return PlannedSet(name, *_seated(order, tuple(rotations), seats))


@lru_cache(maxsize=65_536)  # few tables sit in many sets: what is the same is held once
def _seated(
    order: Seating, rotations: tuple[int, ...], seats: int
) -> tuple[Seating, tuple[int, ...], tuple[Seating, ...]]:
    """Table, rotations, and who sits where in each."""
    size = len(order)
    seatings = (tuple(order[(seat + rotation) % seats % size] for seat in range(seats)) for rotation in rotations)
    return tuple(sorted(order)), rotations, tuple(seatings)


def set_id(table: Iterable[ScheduledEntrant], s: int) -> str:
    """The stable id of set ``s`` of a table: 20 hexadecimal digits from its entrants with versions, in any order.

    Adding a bot, or a new version of one, leaves the ids of all sets without it as they are.
    """
    players = sorted((entrant.key, entrant.version) for entrant in table)
    digest = hashlib.sha256()
    for part in ("allfours-set-v1", *(text for player in players for text in player), str(s)):
        raw = part.encode()
        digest.update(len(raw).to_bytes(4, "big") + raw)
    return digest.hexdigest()[:20]


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
