"""Cyclic designs: few tables, chosen so that every pair of entrants meets equally often, or once more.

*Base blocks* are sets of k numbers modulo n. Shifted by 0, 1 .. n - 1, each of them gives n tables, in which every entrant sits
k times. How often two entrants meet depends only on how often their difference occurs inside the base blocks; so the
tables are balanced when every difference occurs equally often, or once more than another. (R. C. Bose, "On the
construction of balanced incomplete block designs", 1939, has the idea for exact balance.)

The blocks are found by a local search from fixed beginnings: the same on every machine, and in well under a second.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

Blocks = tuple[tuple[int, ...], ...]

MOST_ENTRANTS: Final = 200
"""The search is too slow for more."""

_ROUNDS: Final = ((2, 1), (4, 1), (8, 1), (16, 1), (16, 4))
"""Beginnings of each round of the search, and how many more base blocks than the fewest it tries."""

_STEPS_A_PLACE: Final = 10

_FOUND: Final[dict[tuple[int, int], Blocks]] = {
    (42, 7): ((3, 12, 17, 20, 24, 30, 40), (0, 1, 8, 24, 30, 39, 41)),
    (43, 7): ((1, 4, 11, 16, 21, 35, 41), (9, 13, 14, 15, 17, 25, 36), (6, 10, 23, 24, 31, 38, 40)),
    (44, 7): ((0, 4, 6, 13, 25, 40, 43), (0, 12, 23, 26, 28, 34, 43)),
}
"""What takes longer than a second. 43 by 7 are three cosets of the seventh parts of unity modulo 43 (R. M. Wilson,
"Cyclotomy and difference families", 1972); the others are what this search finds with a hundred times the patience."""


def cyclic_tables(entrants: int, size: int) -> tuple[tuple[int, ...], ...]:
    """Tables of ``size`` of the entrants 0 .. ``entrants`` - 1, each ascending; empty if no design was found.

    Each pair meets at least once and as often as any other, or once more; each entrant sits at equally many tables; no
    table comes twice.

    >>> len(cyclic_tables(40, 4))
    160
    """
    return _shifted(base_blocks(entrants, size), entrants)


def base_blocks(entrants: int, size: int) -> Blocks:
    """The base blocks of the tables: the fewest that were found, or none.

    Fewer than ceil((n - 1) / (k (k - 1))) cannot be enough for every pair to meet.
    """
    if not 2 <= size < entrants <= MOST_ENTRANTS:
        return ()
    return _base_blocks(entrants, size)


@lru_cache(maxsize=64)
def _base_blocks(entrants: int, size: int) -> Blocks:
    if (entrants, size) in _FOUND:
        return _FOUND[entrants, size]
    fewest = -(-(entrants - 1) // (size * (size - 1)))
    fewest += max(entrants - 60, 0) // 50  # with blocks to spare, large designs are found sooner
    for beginnings, more in _ROUNDS:
        for number in range(fewest, fewest + more + 1):
            found = _searched(entrants, size, number, beginnings)
            if found:
                return found
    return ()


def _shifted(blocks: Blocks, entrants: int) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(sorted((one + shift) % entrants for one in block)) for block in blocks for shift in range(entrants)
    )


def _searched(entrants: int, size: int, number: int, beginnings: int) -> Blocks:
    """That many base blocks, from one beginning after another; none if no beginning leads to balance."""
    chance = _numbers(entrants << 24 | size << 16 | number << 8 | beginnings)
    for _ in range(beginnings):
        search = _Search(entrants, size, number, chance)
        for _ in range(_STEPS_A_PLACE * number * size):
            if not search.cost:
                break
            search.step()
        found = tuple(tuple(sorted(block)) for block in search.blocks)
        if not search.cost and len(set(_shifted(found, entrants))) == entrants * number:
            return tuple(sorted(found))
    return ()


def _numbers(seed: int) -> Iterator[int]:
    """Numbers without pattern, the same for the same seed everywhere (a linear congruence; D. Knuth, MMIX)."""
    state = seed
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        yield state >> 33


class _Search:
    """Blocks that are improved place by place. ``cost`` is 0 when every difference occurs equally often, or once more."""

    def __init__(self, entrants: int, size: int, number: int, chance: Iterator[int]) -> None:
        self._n, self._chance = entrants, chance
        total = number * size * (size - 1)
        low, high = total // (entrants - 1), -(-total // (entrants - 1))
        self._fine = [max(low - count, 0, count - high) ** 2 for count in range(total + 3)]
        # A difference and its opposite occur together: they are counted as one. n / 2 is its own opposite.
        self._folded = [min(one, entrants - one) for one in range(entrants)]
        self._weight = [1 + (2 * one == entrants) for one in range(entrants)]
        self._counts = [0] * (entrants // 2 + 1)
        self.cost = len(self._counts[1:]) * self._fine[0]
        self.blocks: list[list[int]] = []
        for _ in range(number):
            block: list[int] = []
            while len(block) < size:
                one = next(chance) % entrants
                if one not in block:
                    self.cost += self._add(one, block)
                    block.append(one)
            self.blocks.append(block)

    def step(self) -> None:
        """Puts the best number in one place of one block; among equals any, but not the old one."""
        block = self.blocks[next(self._chance) % len(self.blocks)]
        place = next(self._chance) % len(block)
        old, others = block[place], block[:place] + block[place + 1 :]
        without = self.cost - self._take(old, others)
        best, least, equals = old, 0, 0
        for one in range(self._n):
            if one in block:
                continue
            cost = self._add(one, others)
            self._take(one, others)
            if not equals or cost < least:
                best, least, equals = one, cost, 1
            elif cost == least:
                equals += 1
                best = one if next(self._chance) % equals == 0 else best
        self.cost = without + self._add(best, others)
        block[place] = best

    def _add(self, one: int, others: list[int]) -> int:
        """Counts the differences of a number to the others; returns what they add to the cost."""
        counts, fine, cost = self._counts, self._fine, 0
        for other in others:
            difference = self._folded[abs(one - other)]
            before = counts[difference]
            counts[difference] = now = before + self._weight[difference]
            cost += fine[now] - fine[before]
        return cost

    def _take(self, one: int, others: list[int]) -> int:
        """Takes them off again; returns what they had added to the cost."""
        counts, fine, cost = self._counts, self._fine, 0
        for other in others:
            difference = self._folded[abs(one - other)]
            before = counts[difference]
            counts[difference] = now = before - self._weight[difference]
            cost += fine[before] - fine[now]
        return cost
