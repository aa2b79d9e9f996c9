"""Which sets are played next, and by which bot processes at once: blocks of sets with few bots, one after another.

A league whose bots may all live at once is played in schedule order. Where they are more processes than may, the tables are put
into groups that share bots, and all sets of a group are played before those of the next: bots are started seldom, and few
live at once.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from referee.league.schedule.schedule import PlannedSet
from referee.league.store import Store

MOST_TABLES = 3000
"""Tables up to which groups are looked for; beyond, tables that follow one another by name are put together."""


def by_processes(sets: Sequence[PlannedSet], most: int) -> list[list[PlannedSet]]:
    """Sets in groups whose bots are at most that many processes; a table that needs more is a group by itself.

    Sets of one table stay together, in the order given. 0 = one group.
    """
    by_table: dict[tuple[str, ...], list[PlannedSet]] = {}
    for planned in sets:
        by_table.setdefault(planned.table, []).append(planned)
    bits: dict[tuple[str, int], int] = {}
    needs = {
        table: sum({1 << bits.setdefault(one, len(bits)) for game in own[0].fixtures for one in game.processes})
        for table, own in by_table.items()
    }
    if most <= 0 or len(bits) <= most:
        return [list(sets)] if sets else []
    place = {planned.id: number for number, planned in enumerate(sets)}
    groups = _groups(needs, most) if len(needs) <= MOST_TABLES else _in_order(needs, most)
    return [
        sorted((planned for table in group for planned in by_table[table]), key=lambda one: place[one.id])
        for group in groups
    ]


def _groups(needs: dict[tuple[str, ...], int], most: int) -> Iterator[list[tuple[str, ...]]]:
    """Groups of tables: to the first table that is left, always the one that needs the fewest bots more."""
    left = dict(needs)
    while left:
        first = next(iter(left))
        group, alive = [first], left.pop(first)
        while left:
            table = min(left, key=lambda one: (left[one] & ~alive).bit_count())
            if (left[table] | alive).bit_count() > most:
                break
            group.append(table)
            alive |= left.pop(table)
        yield group


def _in_order(needs: dict[tuple[str, ...], int], most: int) -> Iterator[list[tuple[str, ...]]]:
    group: list[tuple[str, ...]] = []
    alive = 0
    for table in sorted(needs):
        if group and (needs[table] | alive).bit_count() > most:
            yield group
            group, alive = [], 0
        group.append(table)
        alive |= needs[table]
    if group:
        yield group


class SetQueue:
    """The sets that are still to be played, group by group. Each is looked up in the store when its turn comes."""

    def __init__(self, store: Store, sets: Sequence[PlannedSet], most: int) -> None:
        """``most`` processes live in a group; 0 = any number."""
        self._store = store
        self._place = {planned.id: number for number, planned in enumerate(sets)}
        self._groups = [deque(group) for group in by_processes(sets, most)]
        self._group_of = {planned.id: number for number, group in enumerate(self._groups) for planned in group}

    def __len__(self) -> int:
        """Sets that wait, some of which may be over already."""
        return sum(map(len, self._groups))

    def take(self, size: int, most: int = 0) -> list[PlannedSet]:
        """Takes the next open sets of one group out, ``size`` at most; none if none are left.

        None either if the bots of the next group are more than ``most`` (0 = any number).
        """
        for group in self._groups:
            while group:
                if most and len(bots_of(group)) > most:
                    return []
                chosen = [group.popleft() for _ in range(min(size, len(group)))]
                rows = self._store.sets_of(planned.id for planned in chosen)
                if open_ := [planned for planned in chosen if rows[planned.id].state == "OPEN"]:
                    return open_
        return []

    def back(self, sets: Iterable[PlannedSet]) -> None:
        """Sets that were taken out; those that are still open come again, in their place."""
        those = list(sets)
        rows = self._store.sets_of(planned.id for planned in those)
        changed: dict[int, list[PlannedSet]] = {}
        for planned in those:
            if rows[planned.id].state == "OPEN":
                changed.setdefault(self._group_of[planned.id], []).append(planned)
        for number, more in changed.items():
            self._groups[number] = deque(sorted((*self._groups[number], *more), key=lambda one: self._place[one.id]))


def bots_of(sets: Iterable[PlannedSet]) -> set[tuple[str, int]]:
    """The bot processes (entrant, slot) that these sets need."""
    shapes = {(planned.rotations, planned.seatings): planned for planned in sets}
    return {one for planned in shapes.values() for game in planned.fixtures for one in game.processes}
