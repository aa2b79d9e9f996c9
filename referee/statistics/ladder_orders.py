"""Which bots of a ladder are told apart: an order that holds at every look, while tables are chosen by the results so far.

A ladder has no end and no fixed length, its board is public, and it plays more where the order is open. So each pair has
evidence of its own (:mod:`referee.statistics.sequential_tests`), and only sets in which both sat go into it:

* Of a table where somebody was put on purpose, a set speaks of a pair only if all whom it is *aimed* at belong to the pair;
  the other chairs were filled by lot. So the difference in a set has the mean of the pair against a random field, whatever the
  results before. Sets of the balanced part are aimed at nobody and speak of all pairs at the table.
* The k-th version to enter brings the error ``alpha`` x 6 / (pi^2 k^2), split over its pairs with those that were there.
  These errors add up to ``alpha`` however many enter, and nothing is freed when one retires: whoever fears for a rank gains
  nothing by entering the bot again.
* Two bots of one owner never sit together, and no order is claimed of them.

What an order means: ahead, on average, over the rosters that both have met.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import inf, pi, sqrt
from typing import Final

from referee.statistics.intervals import ROUNDING
from referee.statistics.sequential_tests import p_value

ALPHA: Final = 0.05
"""In at most this share of ladders a false order of any pair is ever shown."""


def whose(owner: str, key: str) -> tuple[bool, str]:
    """What all bots of one owner have in common; a bot without an owner has it alone. Ann and ann are one owner.

    >>> whose("Ann", "x") == whose("ann", "y"), whose("", "ann") == whose("ann", "y")
    (True, False)
    """
    return bool(owner), (owner or key).casefold()


def error_of_pair(entered: int, alpha: float = ALPHA) -> float:
    """The error of each pair of the version that entered as that number (2, 3 ...) with one that was there before.

    Raises ValueError for a version that has nobody before it.

    >>> round(error_of_pair(2), 5), round(error_of_pair(8), 7)
    (0.0076, 6.78e-05)
    """
    if entered < 2:
        raise ValueError(f"entered: {entered} has nobody before it; the second is 2")
    return alpha * 6.0 / (pi * entered) ** 2 / (entered - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFinding:
    """What a ladder knows of two versions.

    ``mean``: what ``first`` got a game more than ``second``, over the ``sets`` that speak of them; None without any. ``p``: the
    p-value against "no difference" that holds at every look. ``error``: which p-value is small enough; 0.0 for two of one owner.
    """

    first: str
    second: str
    mean: float | None
    sets: int
    p: float
    error: float

    @property
    def is_shown(self) -> bool:
        """Whether the order of the two is shown."""
        return self.p <= self.error

    @property
    def ahead(self) -> str:
        """Who is shown to be ahead; empty while the order is open."""
        return "" if not self.is_shown or self.mean is None else self.first if self.mean > 0.0 else self.second


class _Differences:
    """Differences of one pair, one a set: their number, mean and spread, by Welford's recurrence; and the largest figure."""

    __slots__ = ("count", "largest", "mean", "squares")

    def __init__(self) -> None:
        self.count, self.mean, self.squares, self.largest = 0, 0.0, 0.0, 0.0

    def add(self, one: float, other: float) -> None:
        value = one - other
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self.squares += step * (value - self.mean)
        self.largest = max(self.largest, abs(one), abs(other))

    def p(self) -> float:
        """The p-value against a mean of 0; differences that agree but for rounding agree."""
        rounding = ROUNDING * self.largest
        if self.count < 2 or abs(self.mean) <= rounding:
            return 1.0
        error = sqrt(max(self.squares, 0.0) / (self.count - 1) / self.count)
        return p_value(abs(self.mean) / error if error > rounding else inf, self.count)


class LadderOrders:
    """The evidence of a ladder about every pair, set by set. Versions enter, in their order, before they play."""

    def __init__(self, alpha: float = ALPHA) -> None:
        self._alpha = alpha
        self._entered: dict[str, int] = {}
        self._owners: dict[str, tuple[bool, str]] = {}
        self._pairs: dict[tuple[str, str], _Differences] = {}
        self._sets: Counter[str] = Counter()
        self._figures: dict[bool, dict[str, list[float]]] = {True: {}, False: {}}

    def enter(self, key: str, owner: str = "") -> None:
        """A version enters; ``owner`` is empty for one without. Raises ValueError the second time."""
        if key in self._entered:
            raise ValueError(f"{key!r} has entered already; a new version needs a key of its own")
        self._entered[key] = len(self._entered) + 1
        self._owners[key] = whose(owner, key)

    def add(self, figures: Mapping[str, float], aimed: Collection[str] = ()) -> None:
        """A closed set: what each of its entrants got a game, and at whom its table was aimed.

        Raises KeyError for somebody who has not entered.
        """
        self._sets.update(figures.keys())
        for key, figure in figures.items():
            own = self._figures[not aimed].setdefault(key, [0, 0.0])
            own[0] += 1
            own[1] += figure
        for one, other in combinations(sorted(figures, key=self._entered.__getitem__), 2):
            if len(aimed) > (one in aimed) + (other in aimed) or self._same_owner(one, other):
                continue
            pair = self._pairs.get((one, other))
            if pair is None:
                pair = self._pairs[one, other] = _Differences()
            pair.add(figures[one], figures[other])

    def _same_owner(self, one: str, other: str) -> bool:
        return self._owners[one] == self._owners[other]

    def sets(self, key: str) -> int:
        """How many closed sets somebody has played."""
        return self._sets[key]

    def strength(self, key: str) -> float:
        """What somebody got a game in balanced parts (in all sets, before the first of these); 0.0 without any set."""
        for balanced in (True, False):
            if own := self._figures[balanced].get(key):
                return own[1] / own[0]
        return 0.0

    def finding(self, one: str, other: str) -> PairFinding:
        """What is known of two that have entered; ``first`` is the one that entered first. Raises KeyError for others."""
        first, second = sorted((one, other), key=self._entered.__getitem__)
        error = 0.0 if self._same_owner(one, other) else error_of_pair(self._entered[second], self._alpha)
        known = self._pairs.get((first, second))
        if known is None:
            return PairFinding(first=first, second=second, mean=None, sets=0, p=1.0, error=error)
        return PairFinding(first=first, second=second, mean=known.mean, sets=known.count, p=known.p(), error=error)

    def findings(self, among: Iterable[str]) -> Iterator[PairFinding]:
        """What is known of each pair of these."""
        return (self.finding(one, other) for one, other in combinations(among, 2))

    def orders(self, among: Iterable[str]) -> list[tuple[str, str]]:
        """The pairs of these whose order is shown, each as (ahead, behind)."""
        return [
            (one.ahead, one.second if one.ahead == one.first else one.first)
            for one in self.findings(among)
            if one.is_shown
        ]
