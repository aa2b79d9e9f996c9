"""Ranks that the data support: a range of ranks for each entrant.

Every pair of entrants is compared by paired differences over sets: what one got more than the other at the same table
with the same packs. Where all sets hold the same entrants that is Student's t test of the differences; where tables
differ, pairs are compared through common opponents too (:mod:`referee.tournament.comparison`), with the sets of the
entrant that played less, less one, as degrees of freedom.

From pairs to ranks, after Mogstad, Romano, Shaikh and Wilhelm (2024): "i is not better than j" is tested for all ordered
pairs at once, by Holm's procedure, so that with 95 % certainty *no* two equals are set apart anywhere in the table. An
entrant's best rank is one more than the number of entrants shown to be better; its worst rank leaves out the number
shown to be worse.

Student's t is too bold for a handful of sets with few different results (four equal bots, ten plain deals: some pair set
apart in 6.8 % of leagues instead of 5). So up to ``EXACT_SETS`` sets the p-value is no less than that of the sign-flip
test, which is exact for bots that are alike; and never less than 2^-n for n sets, the least any such test can give.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum, inf, ldexp, sqrt
from typing import Final

from referee.tournament.comparison import Comparison
from referee.tournament.paired import CONFIDENCE, ROUNDING
from referee.tournament.student import upper_tail

EXACT_SETS: Final = 20
"""Most sets for which all sign patterns are counted; beyond, Student's t is close enough."""


def p_better(comparison: Comparison, i: int, j: int) -> float:
    """The p-value against "entrant number i is not better than j"; 1.0 for entrants of two groups."""
    if comparison.groups[i] != comparison.groups[j]:
        return 1.0
    sets = min(comparison.sets[i], comparison.sets[j])
    difference = comparison.advantages[i] - comparison.advantages[j]
    rounding = ROUNDING * max(map(abs, comparison.advantages))
    if sets < 2 or abs(difference) <= rounding:
        return 1.0 if difference < 0.0 else 0.5
    covariance = comparison.covariance
    variance = covariance[i][i] + covariance[j][j] - 2.0 * covariance[i][j]
    error = sqrt(max(variance, 0.0) * sets / (sets - 1))
    t = difference / error if error > rounding else (inf if difference > 0.0 else -inf)
    return max(upper_tail(t, sets - 1), ldexp(1.0, -sets), _sign_flip(comparison, i, j))


def _sign_flip(comparison: Comparison, i: int, j: int) -> float:
    """The sign-flip test of a small league in which the two always met; 0.0 (no say) elsewhere."""
    tables = comparison.tables
    if len(tables) > EXACT_SETS or not all(i in table and j in table for table in tables):
        return 0.0
    return sign_flip_tail([table[i] - table[j] for table in tables])


def sign_flip_tail(differences: Sequence[float]) -> float:
    """The share of all ways to set the signs of the differences whose sum is no less than the sum seen.

    Sums are made of two halves, so that 20 differences need 2 x 2^10 steps, not 2^20.
    """
    observed = fsum(differences)
    slack = ROUNDING * fsum(map(abs, differences))
    middle = len(differences) // 2
    first = _signed_sums(differences[:middle])
    second = sorted(_signed_sums(differences[middle:]))
    reached = sum(len(second) - bisect_left(second, observed - slack - one) for one in first)
    return reached / (1 << len(differences))


def _signed_sums(values: Sequence[float]) -> list[float]:
    sums = [0.0]
    for value in values:
        sums = [total + signed for total in sums for signed in (value, -value)]
    return sums


def rank_ranges(comparison: Comparison, among: Iterable[str]) -> dict[str, tuple[int, int]]:
    """For each entrant of ``among`` its best and worst rank among them that the data support, 1 the best.

    An entrant without any set has the whole range.
    """
    names = sorted(set(among))
    number = {key: place for place, key in enumerate(comparison.entrants)}
    worse_than: dict[str, int] = dict.fromkeys(names, 0)
    better_than: dict[str, int] = dict.fromkeys(names, 0)
    for winner, loser in _separated(comparison, [number[key] for key in names if key in number], len(names)):
        better_than[comparison.entrants[winner]] += 1
        worse_than[comparison.entrants[loser]] += 1
    return {key: (1 + worse_than[key], len(names) - better_than[key]) for key in names}


def _separated(comparison: Comparison, numbers: Sequence[int], entrants: int) -> list[tuple[int, int]]:
    """The ordered pairs (better, worse) that Holm's procedure accepts among all entrants x (entrants - 1)."""
    tests = []
    for i, j in combinations(numbers, 2):
        tests.append((p_better(comparison, i, j), i, j))
        tests.append((p_better(comparison, j, i), j, i))
    accepted: list[tuple[int, int]] = []
    hypotheses = entrants * (entrants - 1)
    for p, i, j in sorted(tests):
        if p > (1.0 - CONFIDENCE) / (hypotheses - len(accepted)):
            break
        accepted.append((i, j))
    return accepted
