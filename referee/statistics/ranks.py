"""Ranks that the data support: a range of ranks for each entrant.

Every pair of entrants is compared by paired differences over sets: what one got more than the other at the same table
with the same packs. Where all sets hold the same entrants that is Student's t test of the differences; where tables
differ, pairs are compared through common opponents too (:mod:`referee.statistics.comparison`), with the sets of the
entrant that played less, less one, as degrees of freedom.

From pairs to ranks, after Mogstad, Romano, Shaikh and Wilhelm (2024): "i is not better than j" is tested for all ordered
pairs at once, by Holm's procedure, so that with 95% certainty *no* two equals are set apart anywhere in the table. An
entrant's best rank is one more than the number of entrants shown to be better; its worst rank leaves out the number
shown to be worse.

Student's t is too bold for a handful of sets with few different results (four equal bots, ten plain deals: some pair set
apart in 6.8% of leagues instead of 5). So up to ``EXACT_SETS`` sets the p-value is no less than that of the sign-flip
test, which is exact for bots that are alike; and never less than 2^-n for n sets, the least any such test can give.

A league that stops as soon as its ranks are resolved looks again and again. Its p-values come from evidence that holds at
every look instead (:mod:`referee.statistics.sequential_tests`); Holm's procedure works on them as on any others.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import fsum, inf, ldexp, sqrt
from typing import Final

from referee.statistics.comparison import Comparison
from referee.statistics.intervals import CONFIDENCE, ROUNDING
from referee.statistics.sequential_tests import p_above
from referee.statistics.student_t import upper_tail

EXACT_SETS: Final = 20
"""Most sets for which all sign patterns are counted; beyond, Student's t is close enough."""


def p_better(comparison: Comparison, i: int, j: int) -> float:
    """The p-value against "entrant number i is not better than j"; 1.0 for entrants of two groups."""
    if comparison.groups[i] != comparison.groups[j]:
        return 1.0
    t, sets = _statistic(comparison, i, j)
    if t == 0.0:
        return 1.0 if comparison.advantages[i] < comparison.advantages[j] else 0.5
    return max(upper_tail(t, sets - 1), ldexp(1.0, -sets), _sign_flip(comparison, i, j))


def p_better_at_any_look(comparison: Comparison, i: int, j: int) -> float:
    """The same p-value for a league that looks again and again, and may stop at any look; 0..1."""
    if comparison.groups[i] != comparison.groups[j]:
        return 1.0
    return p_above(*_statistic(comparison, i, j))


def _statistic(comparison: Comparison, i: int, j: int) -> tuple[float, int]:
    """Student's t of the difference of two entrants (0.0 where there is nothing to tell), and the sets it rests on."""
    sets = min(comparison.sets[i], comparison.sets[j])
    difference = comparison.advantages[i] - comparison.advantages[j]
    rounding = ROUNDING * max(map(abs, comparison.advantages))
    if sets < 2 or abs(difference) <= rounding:
        return 0.0, sets
    covariance = comparison.covariance
    variance = covariance[i][i] + covariance[j][j] - 2.0 * covariance[i][j]
    error = sqrt(max(variance, 0.0) * sets / (sets - 1))
    return (difference / error if error > rounding else (inf if difference > 0.0 else -inf)), sets


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


def rank_ranges(
    comparison: Comparison,
    among: Iterable[str],
    certainty: float = CONFIDENCE,
    *,
    at_any_look: bool = False,
    family: Iterable[str] = (),
) -> dict[str, tuple[int, int]]:
    """For each entrant of ``among`` its best and worst rank among them that the data support, 1 the best.

    ``certainty`` that no two equals are set apart. ``at_any_look``: it holds however often the ranks are looked at, and
    whenever the league stops. ``family``: entrants that are tested along, so that what is shown of them holds with the same
    certainty, but have no rank themselves. An entrant without any set has the whole range.
    """
    names = sorted(set(among))
    tested = sorted({*names, *family})
    return ranges_of_orders(separated(comparison, tested, certainty, at_any_look=at_any_look), names)


def ranges_of_orders(orders: Iterable[tuple[str, str]], names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """For each of the names its best and worst rank among them, where these orders (better, worse) are shown."""
    worse_than: dict[str, int] = dict.fromkeys(names, 0)
    better_than: dict[str, int] = dict.fromkeys(names, 0)
    for winner, loser in orders:
        if winner in better_than and loser in worse_than:
            better_than[winner] += 1
            worse_than[loser] += 1
    return {key: (1 + worse_than[key], len(names) - better_than[key]) for key in names}


def separated(
    comparison: Comparison, names: Sequence[str], certainty: float, *, at_any_look: bool
) -> list[tuple[str, str]]:
    """The ordered pairs (better, worse) that Holm's procedure accepts among all names x (names - 1)."""
    number = {key: place for place, key in enumerate(comparison.entrants) if key in names}
    p_value = p_better_at_any_look if at_any_look else p_better
    tests = []
    for i, j in combinations(number.values(), 2):
        tests.append((p_value(comparison, i, j), i, j))
        tests.append((p_value(comparison, j, i), j, i))
    accepted: list[tuple[str, str]] = []
    hypotheses = len(names) * (len(names) - 1)
    for p, i, j in sorted(tests):
        if p > (1.0 - certainty) / (hypotheses - len(accepted)):
            break
        accepted.append((comparison.entrants[i], comparison.entrants[j]))
    return accepted
