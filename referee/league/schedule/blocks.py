"""Which sets are played next, and by which bot processes at once: blocks of sets with few bots, one after another.

A league in which all bots may live at once is played in schedule order. Where that are more processes than allowed, the
tables are put into groups that share bots, and all sets of a group are played before those of the next: bots are started
seldom, and few live at once.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from referee.league.schedule.schedule import PlannedSet
from referee.league.store import Store

MOST_TABLES = 3000
"""Tables up to which groups are looked for; beyond, tables that follow one another by name are put together."""

FEWEST = 64
"""Sets that a stage of a grouped league has at the least, if its group has: to start bots for less is a waste."""


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
    """The sets that are still to be played, stage by stage. Each is looked up in the store once, when its turn comes."""

    def __init__(self, store: Store, sets: Sequence[PlannedSet], most: int, at_once: int) -> None:
        """``most`` processes live in a group; a stage has sets of ``at_once`` groups."""
        self._store, self._at_once = store, at_once
        self._groups = deque(deque(group) for group in by_processes(sets, most))
        self._fewest = FEWEST if len(self._groups) > 1 else 1

    def stage(self, size: int) -> list[PlannedSet]:
        """The next open sets, about ``size``; none if there are none left."""
        while self._groups:
            chosen = self._pick(max(size, self._fewest))
            rows = self._store.sets_of(planned.id for planned in chosen)
            if open_ := [planned for planned in chosen if rows[planned.id].state == "OPEN"]:
                return open_
        return []

    def _pick(self, size: int) -> list[PlannedSet]:
        chosen: list[PlannedSet] = []
        for _ in range(self._at_once):
            if not self._groups or len(chosen) >= size:
                break
            group = self._groups.popleft()
            chosen += [group.popleft() for _ in range(min(size - len(chosen), len(group)))]
            if group:
                self._groups.appendleft(group)
        return chosen

    def back(self, sets: Iterable[PlannedSet]) -> None:
        """Sets whose stage is over: those that are still open come again."""
        those = list(sets)
        rows = self._store.sets_of(planned.id for planned in those)
        if still := [planned for planned in those if rows[planned.id].state == "OPEN"]:
            self._groups.appendleft(deque(still))
