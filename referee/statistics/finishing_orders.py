"""Finishing orders, counted: all that the order-free fit needs to know of any number of games.

A finishing order is a row of awards: first place to one of all sides, second place to one of the rest, and so on. The
likelihood depends only on how often a place was awarded among exactly these sides (a *contest*), and on how many each
side was awarded. So equal contests of different games are one entry, and a million games are often a few hundred.

Of tied sides every order counts alike: the awards of a tie are the mean over all its orders. Which sides are left after
some of a tie have been placed is then any of its subsets with equal weight, so a tie of n needs 2^n contests, not n!.

Counts are integers in units of 1 / lcm(1..12), in which those weights are whole; sums do not depend on the order of
games, to the last digit. The very last place is never contested and is left out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, lcm
from typing import Final, TypeAlias

from referee.statistics.results import MAX_SEATS, GameSet, PlayedGame, RankedSides, Side, ranked_sides

UNIT: Final = lcm(*range(1, MAX_SEATS + 1))
"""One award, in integer units: each order's share of an award is a whole number of them."""

MOST_PENDING: Final = 50_000
"""Different finishing orders kept before they are added up: bounds memory, changes nothing else."""

Pattern: TypeAlias = tuple[tuple[str, ...], tuple[int, ...], int]
"""Entrants by seat, places by seat, sides: games with equal patterns are equal to the fit."""

Members: TypeAlias = tuple[int, ...]
"""Side numbers, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Awards:
    """The sufficient statistics of any number of games.

    ``entrants``: keys, sorted. ``numbers``: side to side number; an entrant alone has its own number. ``shares``: by
    side number, its entrants as (entrant number, share of the side). ``won``: places awarded, by side number.
    ``contests``: (side numbers, how often a place was awarded among exactly these), sorted. ``games``: games counted.
    """

    entrants: tuple[str, ...]
    numbers: Mapping[Side, int]
    shares: tuple[tuple[tuple[int, float], ...], ...]
    won: tuple[float, ...]
    contests: tuple[tuple[Members, float], ...]
    games: int


def count_awards(ranking: RankedSides, number: Callable[[Side], int]) -> tuple[dict[int, int], dict[int, int]]:
    """What one finishing order adds: units won by side number, units contested by mask of side numbers."""
    won: dict[int, int] = {}
    contests: dict[int, int] = {}
    below = 0
    for group in reversed(ranking):
        numbers = [number(side) for side in group]
        bits = [1 << side for side in numbers]
        size = len(bits)
        # The very last place is not contested: of a tie for it each side gets it in one order out of size.
        share = UNIT if below else UNIT - UNIT // size
        won.update((side, share) for side in numbers)
        for left in range(1 if below else 2, size + 1):
            units = UNIT // comb(size, left)
            for some in combinations(bits, left):
                contests[below | sum(some)] = units
        below |= sum(bits)
    return won, contests


class AwardCounter:
    """Adds games up to :class:`Awards`; memory grows with distinct contests, not with games."""

    def __init__(self) -> None:
        self.games = 0
        self._numbers: dict[Side, int] = {}
        self._won: dict[int, int] = {}
        self._contests: dict[int, int] = {}
        self._pending: dict[Pattern, int] = {}

    def add(self, game: PlayedGame) -> None:
        """Count one game."""
        key = (game.entrants, game.places, game.sides)
        self._pending[key] = self._pending.get(key, 0) + 1
        self.games += 1
        if len(self._pending) >= MOST_PENDING:
            self._flush()

    def add_sets(self, sets: Iterable[GameSet]) -> None:
        """Count the games of closed sets."""
        for games in sets:
            for game in games:
                self.add(game)

    def _number(self, side: Side) -> int:
        return self._numbers.setdefault(side, len(self._numbers))

    def _flush(self) -> None:
        for key, count in self._pending.items():
            won, contests = count_awards(ranked_sides(*key), self._number)
            for side, units in won.items():
                self._won[side] = self._won.get(side, 0) + count * units
            for mask, units in contests.items():
                self._contests[mask] = self._contests.get(mask, 0) + count * units
        self._pending.clear()

    def awards(self) -> Awards:
        """All games so far, numbered by sorted names."""
        self._flush()
        names = tuple(sorted({name for side in self._numbers for name in side}))
        index = {name: number for number, name in enumerate(names)}
        alone: list[Side] = [(name,) for name in names]
        sides = alone + sorted(side for side in self._numbers if len(side) > 1)
        final = {side: number for number, side in enumerate(sides)}
        renumber = {old: final[side] for side, old in self._numbers.items()}
        won = [0] * len(sides)
        for old, units in self._won.items():
            won[renumber[old]] = units
        contests = sorted(
            (tuple(sorted(renumber[old] for old in side_numbers(mask))), units)
            for mask, units in self._contests.items()
        )
        return Awards(
            entrants=names,
            numbers=final,
            shares=tuple(
                tuple((index[name], count / len(side)) for name, count in sorted(Counter(side).items()))
                for side in sides
            ),
            won=tuple(units / UNIT for units in won),
            contests=tuple((members, units / UNIT) for members, units in contests),
            games=self.games,
        )


def side_numbers(mask: int) -> Members:
    """The side numbers of a mask, ascending."""
    bits = []
    while mask:
        low = mask & -mask
        bits.append(low.bit_length() - 1)
        mask ^= low
    return tuple(bits)


def gather(sets: Iterable[GameSet]) -> Awards:
    """The statistics of all games of closed sets."""
    counter = AwardCounter()
    counter.add_sets(sets)
    return counter.awards()
