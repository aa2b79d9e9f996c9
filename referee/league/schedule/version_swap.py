"""The schedule of a comparison: the same packs, seats and others; only the version of one bot is swapped. Pure.

The first entrant is the old version, the second the new one; the others fill the table. A set is two games with the
same packs: in the first the old version plays, in the second the new one sits down in its place. With ``duplicate`` the
pair is repeated in every seat with these packs; without, set s has the one seat s mod k. Measured, a pair in another
seat with the same packs tells about as much as a pair with new packs, so the latter is what ``referee compare`` plays:
it needs two legs where the other needs two for each seat.

The two games of a pair have rotations r and r + seats: the same chairs, and the same seeds for the bots, so that a bot that
draws chance draws the same. They are played in different legs, by processes that have never met the packs.
"""

from collections.abc import Sequence

from referee.league.schedule.schedule import (
    MAX_SETS,
    PlannedSet,
    Schedule,
    ScheduledEntrant,
    ScheduleError,
    Shape,
    cyclic_orders,
    set_id,
)


def plan_swaps(shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
    """The schedule of a comparison; raises ``ScheduleError`` unless the entrants are two versions and one full table."""
    size = shape.table_size
    if len(entrants) != size + 1:
        what = f"{size - 1} others" if size > 2 else "one other"
        raise ScheduleError(
            f"a comparison at tables of {size} needs the old version, the new one and {what}, in this order, "
            f"not {len(entrants)} entrants; seat a bot several times with copies"
        )
    if shape.sets > MAX_SETS:
        raise ScheduleError(f"sets = {shape.sets:,} are more than {MAX_SETS:,}; write sets = {MAX_SETS} or less")
    old, new, *others = [entrant.key for entrant in entrants]
    table = tuple(sorted((old, new, *others)))
    sets = tuple(_planned(shape, s, (old, *others), new, table, set_id(entrants, s)) for s in range(shape.sets))
    return Schedule(shape, (table,), sets, ())


def _planned(shape: Shape, s: int, seated: tuple[str, ...], new: str, table: tuple[str, ...], name: str) -> PlannedSet:
    size = len(seated)
    turn = s if shape.duplicate else s // size
    orders = cyclic_orders(size, shape.sets)
    order = tuple(seated[place] for place in orders[turn % len(orders)])
    own = tuple(range(size)) if shape.duplicate else (s % size,)
    rotations = (*own, *(rotation + shape.seats for rotation in own))
    return PlannedSet(name, table, s, order, rotations, shape.seats, swap=(seated[0], new))
