"""One table, at which everybody keeps a seat: for people among themselves or among bots, not for comparing bots.

The entrants sit as they are written, one a seat, partners opposite one another; a set is one game. So packs are met once, and no
seat is held by two.
"""

from collections.abc import Sequence

from referee.league.schedule.format import MAX_SETS, AllAtOnce, ScheduledEntrant, ScheduleError, Shape, set_id
from referee.league.schedule.schedule import PlannedSet, Schedule

_NOTE = "Everybody keeps a seat: what the seats are worth is not balanced."


class OneTable(AllAtOnce):
    """Everybody keeps a seat."""

    name = "one-table"
    words = "one table at which everybody keeps a seat, in the order in which they are written"
    takes_pairs = False

    def plan(self, shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
        """One game a set; raises ``ScheduleError`` unless there is one entrant a seat."""
        if len(entrants) != shape.seats:
            raise ScheduleError(
                f"a table of {shape.seats} seats needs one entrant for each, not {len(entrants)}; enter as many, or change seats"
            )
        if shape.sets > MAX_SETS:
            raise ScheduleError(f"sets = {shape.sets:,} are more than {MAX_SETS:,}; write sets = {MAX_SETS} or less")
        seats = tuple(entrant.key for entrant in entrants)
        sets = tuple(PlannedSet(set_id(entrants, s), tuple(sorted(seats)), (0,), (seats,)) for s in range(shape.sets))
        return Schedule(sets, (_NOTE,))

    def fewest_sets(self, shape: Shape, entrants: int) -> int:
        """Those of its one table."""
        del entrants
        return shape.sets
