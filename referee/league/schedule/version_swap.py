"""A comparison of versions: the same packs, seats and others; only the version of one bot is swapped.

The first entrant is the old version, the second the new one; the others fill the table. A set is two games with the
same packs: in the first the old version plays, in the second the new one sits down in its place. With ``duplicate`` the
pair is repeated in every seat with these packs; without, set s has the one seat s mod k. Measured, a pair in another
seat with the same packs tells about as much as a pair with new packs, so the latter is what ``referee compare`` plays:
it needs two legs where the other needs two for each seat.

The two games of a pair have rotations r and r + seats: the same chairs, and the same seeds for the bots, so that a bot that
draws chance draws the same. They are played in different legs, by processes that have never met the packs.
"""

from collections.abc import Mapping, Sequence

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
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.statistics.results import GameSet
from referee.statistics.version_comparison import ALPHA, MARGINS, VersionVerdict, judge_versions


class VersionSwap(AllAtOnce):
    """The first bot against the second, its new version. It stops by itself, at the first look that decides."""

    name = "compare"
    words = (
        "the first bot against the second, its new version, which sits down in its place with the same packs and the same "
        "others"
    )
    options = frozenset({"alpha", "margin"})
    instead = "delete it; a comparison stops by itself"
    takes_pairs = False
    no_remote = "no remote bots in a comparison, which plays each pack twice"

    def plan(self, shape: Shape, entrants: Sequence[ScheduledEntrant]) -> Schedule:
        """One table, all its sets; raises ``ScheduleError`` unless the entrants are two versions and one full table."""
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
        return Schedule(tuple(_planned(shape, s, (old, *others), new, set_id(entrants, s)) for s in range(shape.sets)))

    def fewest_sets(self, shape: Shape, entrants: int) -> int:
        """Those of its one table."""
        del entrants
        return shape.sets

    def certainty(self, shape: Shape) -> float:
        """One less ``alpha``."""
        return 1.0 - (ALPHA if shape.alpha is None else shape.alpha)

    def reason_to_stop(self, shape: Shape, bots: Mapping[str, str], sets: Sequence[GameSet]) -> str:
        """What the verdict is, if something is decided."""
        verdict = self.verdict(shape, list(bots), sets)
        found = {
            "better": "the new version is better",
            "worse": "the new version is worse",
            "same": f"no difference beyond {verdict.margin:g} a game is left",
        }
        return found.get(verdict.answer, "")

    def verdict(
        self,
        shape: Shape,
        entrants: Sequence[str],
        sets: Sequence[GameSet],
        deals: Mapping[str, Sequence[int]] | None = None,
    ) -> VersionVerdict:
        """The verdict of a comparison on these closed sets. ``deals``: how many each game had, by set id."""
        return judge_versions(
            sets,
            entrants[0],
            entrants[1],
            measure=shape.objective,
            margin=MARGINS[shape.objective] if shape.margin is None else shape.margin,
            alpha=ALPHA if shape.alpha is None else shape.alpha,
            deals=deals,
        )


def _planned(shape: Shape, s: int, seated: tuple[str, ...], new: str, name: str) -> PlannedSet:
    size = len(seated)
    turn = s if shape.duplicate else s // size
    orders = cyclic_orders(size, shape.sets)
    order = tuple(seated[place] for place in orders[turn % len(orders)])
    rotations = tuple(range(size)) if shape.duplicate else (s % size,)
    before = planned_set(name, order, rotations, shape.seats)
    swapped = tuple(new if key == seated[0] else key for key in order)
    after = planned_set(name, swapped, [rotation + shape.seats for rotation in rotations], shape.seats)
    table = tuple(sorted({*before.table, *after.table}))
    return PlannedSet(name, table, before.rotations + after.rotations, before.seatings + after.seatings)
