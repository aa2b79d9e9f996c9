"""The schedule formats that there are: the one place where they are registered."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from referee.league.schedule.format import Format, ScheduledEntrant, Shape
from referee.league.schedule.ladder import Ladder
from referee.league.schedule.one_table import OneTable
from referee.league.schedule.round_robin import Gauntlet, RoundRobin
from referee.league.schedule.schedule import Schedule
from referee.league.schedule.version_swap import VersionSwap

FORMATS: Final[dict[str, Format]] = {
    one.name: one for one in (RoundRobin(), Gauntlet(), VersionSwap(), Ladder(), OneTable())
}
"""Every format by its name, the usual one first. Definition, schema, errors and documentation read this."""


def format_of(shape: Shape) -> Format:
    """The format that makes the sets of this shape."""
    return FORMATS[shape.format]


def plan(shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
    """The schedule with which a league of these entrants begins: all of it, or the first round.

    Raises ``ScheduleError`` if the entrants cannot fill a table, or there are too many tables.
    """
    return _plan(shape, tuple(_Known(entrant.key, entrant.version) for entrant in entrants))


@dataclass(frozen=True, slots=True)
class _Known:
    """All that a schedule depends on of an entrant."""

    key: str
    version: str


@lru_cache(maxsize=1)  # a new league asks for its own several times, and a large one takes seconds
def _plan(shape: Shape, entrants: tuple[_Known, ...]) -> Schedule:
    return format_of(shape).next_sets(shape, entrants, ())
