"""One game's update of TrueSkill (Herbrich, Minka and Graepel 2007), by message passing in its factor graph.

The graph of a game: a skill and a performance for each player, the performance of each side (a weighted sum), the difference of
each two neighbours in the finishing order, and of each difference that it was above the draw margin, or within it. Messages
run down to the differences, to and fro along them until they settle, and up again.

Beliefs and messages are normal distributions as pairs: the precision, and the precision times the mean. What is worked out, and
in which order, is as in the package ``trueskill`` 0.4.5 with its own approximation of the normal distribution, so that
ratings are the same to the last digit; tests compare. Without an object for each node and each message it takes an eighth of the
time.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, pi, sqrt
from typing import Final, TypeAlias

Normal: TypeAlias = tuple[float, float]
"""A normal distribution: its precision, which is one over the variance, and that times its mean."""

MU: Final = 25.0
SIGMA: Final = MU / 3
BETA: Final = SIGMA / 2
"""Standard deviation of a performance about the skill."""

_SETTLED: Final = 0.0001
_MOST_ROUNDS: Final = 10
_VARIANCE: Final = BETA**2
_ROOT_2: Final = sqrt(2)
_PEAK: Final = 1 / sqrt(2 * pi)
_QUANTILE_055: Final = 0.1256613108731477
"""Where the normal distribution reaches 0.55, as the package approximates it: ties have a probability of 0.10."""
_BEYOND_FLOATS: Final = (
    'Cannot calculate correctly, set backend to "mpmath"'  # the package's words stand in old leagues
)


def normal(mean: float, deviation: float) -> Normal:
    """The distribution of this mean and standard deviation, which is greater than 0."""
    precision = deviation**-2
    return precision, precision * mean


def mean_of(belief: Normal) -> float:
    """Its mean."""
    precision, product = belief
    return precision and product / precision


def deviation_of(belief: Normal) -> float:
    """Its standard deviation; infinite where nothing is known."""
    return sqrt(1 / belief[0]) if belief[0] else inf


START: Final = normal(MU, SIGMA)
"""The skill of a player who has not played."""


def updated(
    sides: Sequence[Sequence[Normal]], places: Sequence[int], weights: Sequence[Sequence[float]] | None = None
) -> list[list[Normal]]:
    """The skills of the players of each side after a game.

    ``sides``: their skills before. ``places``: of each side, the lowest is best, equal where tied; tied sides are compared in
    the order given. ``weights``: of each player in the performance of its side; 1 where not given.

    Raises ArithmeticError where floats do not hold so improbable a result.
    """
    order = sorted(range(len(sides)), key=places.__getitem__)
    priors = [[normal(mean_of(skill), deviation_of(skill)) for skill in sides[number]] for number in order]
    shown = [[_seen_through_chance(prior) for prior in side] for side in priors]
    shares = [[max(_SETTLED, one) for one in weights[number]] if weights else () for number in order]
    sums = [_sum(side, own) for side, own in zip(shown, shares, strict=True)]
    precisions, products = [one for one, _ in sums], [one for _, one in sums]
    margins = [_QUANTILE_055 * sqrt(len(one) + len(other)) * BETA for one, other in pairwise(priors)]
    tied = [places[one] == places[other] for one, other in pairwise(order)]
    _compare(precisions, products, margins, tied)
    after: list[list[Normal]] = [[]] * len(sides)
    for place, number in enumerate(order):
        precision, product = sums[place]
        told = precisions[place] - precision, products[place] - product
        after[number] = _learnt(priors[place], shown[place], shares[place], told)
    return after


def _seen_through_chance(belief: Normal) -> Normal:
    """A belief about a skill as one about the performance, or the other way round."""
    precision, product = belief
    part = 1.0 / (1.0 + _VARIANCE * precision)
    return part * precision, part * product


def _weighted(terms: Sequence[tuple[float, Normal]]) -> Normal:
    """The sum of independent parts, each times its factor."""
    mean: float = 0
    variance: float = 0
    for factor, (precision, product) in terms:
        mean += factor * (precision and product / precision)
        variance += factor**2 / precision if precision else inf
    precision = 1.0 / variance
    return precision, precision * mean


def _sum(performances: Sequence[Normal], shares: Sequence[float]) -> Normal:
    """The performance of a side."""
    return _weighted(list(zip(shares or [1.0] * len(performances), performances, strict=True)))


def _learnt(priors: Sequence[Normal], shown: Sequence[Normal], shares: Sequence[float], told: Normal) -> list[Normal]:
    """The skills of a side's players, from what the comparison has told of its performance."""
    own = shares or [1.0] * len(priors)
    performances, messages = list(shown), [(0.0, 0.0)] * len(priors)
    for place, share in enumerate(own):
        terms = [
            (1.0 / share, told) if other == place else (-factor / share, _without(performances[other], messages[other]))
            for other, factor in enumerate(own)
        ]
        messages[place] = precision, product = _weighted(terms)
        performances[place] = performances[place][0] + precision, performances[place][1] + product
    skills = []
    for prior, performance, before in zip(priors, performances, shown, strict=True):
        precision, product = _seen_through_chance(_without(performance, before))
        skill = prior[0] + precision, prior[1] + product
        skills.append(normal(mean_of(skill), deviation_of(skill)))
    return skills


def _without(belief: Normal, message: Normal) -> Normal:
    return belief[0] - message[0], belief[1] - message[1]


def _compare(precisions: list[float], products: list[float], margins: Sequence[float], tied: Sequence[bool]) -> None:
    """Passes messages along the differences of neighbours, best side first, until they settle; changes beliefs about the sides.

    One function, and figures in plain lists, for this takes most of the time.
    """
    last = len(margins) - 1
    # What each difference has told its better and its worse side; what is believed of it; what its sides, and what the
    # comparison, have told it. Each as precisions, then products.
    better_p, better_t, worse_p, worse_t, belief_p, belief_t, sum_p, sum_t, cut_p, cut_t = (
        [0.0] * (last + 1) for _ in range(10)
    )
    walk: list[tuple[int, bool | None]] = [(0, None)]
    if last:
        walk = [*((place, True) for place in range(last)), *((place, False) for place in range(last, 0, -1))]
    for _ in range(_MOST_ROUNDS):
        change = 0.0
        for place, onwards in walk:
            # Down: the difference of the two sides.
            one_p, one_t = precisions[place] - better_p[place], products[place] - better_t[place]
            two_p, two_t = precisions[place + 1] - worse_p[place], products[place + 1] - worse_t[place]
            one_mean, one_variance = (one_t / one_p, 1.0 / one_p) if one_p else (0.0, inf)
            two_mean, two_variance = (two_t / two_p, 1.0 / two_p) if two_p else (0.0, inf)
            new_p = 1.0 / (one_variance + two_variance)
            new_t = new_p * (one_mean - two_mean)
            here_p, here_t = belief_p[place] - sum_p[place] + new_p, belief_t[place] - sum_t[place] + new_t
            sum_p[place], sum_t[place] = new_p, new_t
            # It was above the margin, or within it.
            free_p, free_t = here_p - cut_p[place], here_t - cut_t[place]
            root = sqrt(free_p)
            if tied[place]:
                shift, shrink = _within(free_t / root, margins[place] * root)
            else:
                beyond = free_t / root - margins[place] * root
                chance = _below(beyond)
                shift = _PEAK * exp(-(beyond**2 / 2)) / chance if chance else -beyond
                shrink = shift * (shift + beyond)
                if not 0 < shrink < 1:
                    raise FloatingPointError(_BEYOND_FLOATS)
            rest = 1.0 - shrink
            next_p, next_t = free_p / rest, (free_t + root * shift) / rest
            cut_p[place], cut_t[place] = next_p + cut_p[place] - here_p, next_t + cut_t[place] - here_t
            belief_p[place], belief_t[place] = next_p, next_t
            moved = abs(here_p - next_p)
            if moved != inf:
                change = max(change, abs(here_t - next_t), sqrt(moved))
            # Up again, to the side that the walk goes on to.
            if onwards is None:
                continue
            free_p, free_t = next_p - new_p, next_t - new_t
            mean, variance = (free_t / free_p, 1.0 / free_p) if free_p else (0.0, inf)
            if onwards:
                new_p = 1.0 / (one_variance + variance)
                new_t = new_p * (one_mean - mean)
                precisions[place + 1], products[place + 1] = two_p + new_p, two_t + new_t
                worse_p[place], worse_t[place] = new_p, new_t
            else:
                new_p = 1.0 / (variance + two_variance)
                new_t = new_p * (mean + two_mean)
                precisions[place], products[place] = one_p + new_p, one_t + new_t
                better_p[place], better_t[place] = new_p, new_t
        if change <= _SETTLED:
            break
    # Both ends.
    own = precisions[0] - better_p[0], products[0] - better_t[0]
    other = precisions[1] - worse_p[0], products[1] - worse_t[0]
    told = _weighted([(1.0, (belief_p[0] - sum_p[0], belief_t[0] - sum_t[0])), (1.0, other)])
    precisions[0], products[0] = own[0] + told[0], own[1] + told[1]
    better_p[0], better_t[0] = told
    own = precisions[last + 1] - worse_p[last], products[last + 1] - worse_t[last]
    other = precisions[last] - better_p[last], products[last] - better_t[last]
    told = _weighted([(1.0, other), (-1.0, (belief_p[last] - sum_p[last], belief_t[last] - sum_t[last]))])
    precisions[last + 1], products[last + 1] = own[0] + told[0], own[1] + told[1]


# The normal distribution cut off: what a comparison shifts the mean by, and by how much it shrinks the variance.


def _within(at: float, margin: float) -> Normal:
    """Within the margin on both sides, and ``at`` is where it was expected. Raises FloatingPointError where that is too improbable."""
    distance = abs(at)
    upper, lower = margin - distance, -margin - distance
    chance = _below(upper) - _below(lower)
    if not chance:
        raise FloatingPointError(_BEYOND_FLOATS)
    of_upper, of_lower = _density(upper), _density(lower)
    shift = (of_lower - of_upper) / chance
    return (-shift if at < 0 else shift), shift**2 + (upper * of_upper - lower * of_lower) / chance


def _density(at: float) -> float:
    return _PEAK * exp(-(at**2 / 2))


def _below(at: float) -> float:
    """The chance to lie below, by the rational approximation of Numerical Recipes, which is right to seven digits."""
    at = -at / _ROOT_2
    distance = abs(at)
    t = 1.0 / (1.0 + distance / 2.0)
    series = 1.48851587 + t * (-0.82215223 + t * 0.17087277)
    series = 0.09678418 + t * (-0.18628806 + t * (0.27886807 + t * (-1.13520398 + t * series)))
    series = 1.00002368 + t * (0.37409196 + t * series)
    tail = t * exp(-distance * distance - 1.26551223 + t * series)
    return 0.5 * (2.0 - tail if at < 0 else tail)
