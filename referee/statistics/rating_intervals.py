"""How sure the order-free ratings are: an interval for each, over sets.

The covariance of the fitted log strengths is the "sandwich" of the sets' pulls, each set one cluster, for the games of a set
share their packs (Huber 1967; White 1982). The prior's virtual ties are taken for random too, as in the weighted likelihood
bootstrap of Newton and Raftery (1994): the estimate of an entrant that won all its games rests on them alone. Sets that agree
to the last digit show no spread; as far as they do, that of independent games is added, with the weight that
:func:`referee.statistics.intervals.doubt` gives it.

From the covariance to an interval: near the edges (a bot that nearly always wins) the likelihood is far from normal; it falls
off slowly to the one side and steeply to the other. So each entrant's likelihood is matched, in its second and third
derivatives, by that of a share of trials, won or lost, whose logit is the rating; the interval is that of
:func:`referee.statistics.intervals.interval_of_trials`, carried over to logits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log, sqrt
from operator import mul

from referee.statistics.finishing_orders import Awards
from referee.statistics.intervals import FEWEST_SETS, agreement, doubt, interval_of_trials
from referee.statistics.linear_algebra import Matrix, cholesky, inverse, sum_of_squares
from referee.statistics.plackett_luce import ELO_SCALE, StrengthFit, score_prior, score_sets, side_logs, slope_at
from referee.statistics.results import GameSet


@dataclass(frozen=True, slots=True)
class RatingInterval:
    """A rating on the Elo-like scale of :class:`StrengthFit`, and its 95% interval.

    ``value`` is None without any set, ``low`` and ``high`` with fewer than ``FEWEST_SETS``.
    """

    value: float | None
    low: float | None
    high: float | None


def rating_intervals(sets: Sequence[GameSet], awards: Awards, fit: StrengthFit) -> dict[str, RatingInterval]:
    """The ratings of a fit to these same sets with their intervals, by entrant; the order of sets does not matter."""
    ratings = fit.ratings()
    scores = _scores(sets, awards, fit)
    pulls = _by_entrant(scores, len(ratings))
    if len(ratings) < 2 or max(map(len, pulls), default=0) < FEWEST_SETS:
        return {key: RatingInterval(value, None, None) for key, value in ratings.items()}
    shapes = _shapes(awards, fit.log_strengths)
    games = awards.games / len(scores)
    doubts = [sqrt(doubt(agreement(own), games, known)) for own, (known, _) in zip(pulls, shapes, strict=True)]
    variances = _variances(awards, fit, scores, doubts)
    return {
        key: _interval(rating, variance, share, len(own), len(ratings))
        for (key, rating), variance, (_, share), own in zip(ratings.items(), variances, shapes, pulls, strict=True)
    }


def standard_errors(sets: Sequence[GameSet], awards: Awards, fit: StrengthFit) -> dict[str, float]:
    """The plain standard error of each rating over sets, with nothing added where sets agree."""
    variances = _variances(awards, fit, _scores(sets, awards, fit), [0.0] * len(fit.entrants))
    return {key: ELO_SCALE * sqrt(variance) for key, variance in zip(fit.entrants, variances, strict=True)}


def _scores(sets: Sequence[GameSet], awards: Awards, fit: StrengthFit) -> list[dict[int, float]]:
    return score_sets(sorted(sets, key=lambda games: games[0].set_id), awards, fit.log_strengths)


def _by_entrant(scores: Sequence[Mapping[int, float]], entrants: int) -> list[list[float]]:
    pulls: list[list[float]] = [[] for _ in range(entrants)]
    for score in scores:
        for number, pull in score.items():
            pulls[number].append(pull)
    return pulls


def _variances(
    awards: Awards, fit: StrengthFit, scores: Sequence[Mapping[int, float]], doubts: Sequence[float]
) -> list[float]:
    """The variance of each log strength less the mean of all; ``doubts``: square roots of what is added for each."""
    curvature = slope_at(awards, fit.log_strengths).curvature
    bread = _centred(inverse(cholesky(curvature)))
    filling = _filling(curvature, scores, score_prior(fit.log_strengths), doubts)
    return [fsum(one * fsum(map(mul, row, column)) for one, column in zip(row, filling, strict=True)) for row in bread]


def _interval(rating: float, variance: float, share: float, sets: int, entrants: int) -> RatingInterval:
    """``variance``: of the log strength less the mean of all. ``share``: see ``_shapes``."""
    if sets < FEWEST_SETS:
        return RatingInterval(rating, None, None)
    beyond_others = entrants / (
        entrants - 1
    )  # a log strength less the mean of all, to that less the mean of the others
    variance *= beyond_others * beyond_others * sets / (sets - 1)
    low, high = interval_of_trials(share, 1.0 / (variance * share * (1.0 - share)), sets)
    scale = ELO_SCALE / beyond_others
    return RatingInterval(
        rating, rating - scale * (_logit(share) - _logit(low)), rating + scale * (_logit(high) - _logit(share))
    )


def _logit(share: float) -> float:
    return log(share) - log(1.0 - share)


def _centred(bread: Matrix) -> Matrix:
    """Rows for the log strengths less the mean of all."""
    count = len(bread)
    means = [fsum(column) / count for column in zip(*bread, strict=True)]
    return [[value - mean for value, mean in zip(row, means, strict=True)] for row in bread]


def _shapes(awards: Awards, logs: Sequence[float]) -> list[tuple[float, float]]:
    """For each entrant the information of its contests on its own log strength, and the share of trials of the same shape.

    With a share p the third derivative of a log likelihood is (1 - 2p) times the second.
    """
    strengths = [exp(value) for value in side_logs(awards, logs)]
    second, third = [0.0] * len(logs), [0.0] * len(logs)
    for members, weight in awards.contests:
        total = fsum(strengths[side] for side in members)
        chances: dict[int, float] = {}
        for side in members:
            for entrant, _ in awards.shares[side]:
                chances[entrant] = chances.get(entrant, 0.0) + strengths[side] / total
        for entrant, chance in chances.items():
            even = weight * chance * (1.0 - chance)
            second[entrant] += even
            third[entrant] += even * (1.0 - 2.0 * chance)
    for entrant, value in enumerate(logs):  # the virtual tie
        chance = 1.0 / (1.0 + exp(-value))
        second[entrant] += chance * (1.0 - chance)
        third[entrant] += chance * (1.0 - chance) * (1.0 - 2.0 * chance)
    return [(one, 0.5 - 0.5 * other / one) for one, other in zip(second, third, strict=True)]


def _filling(
    curvature: Matrix, scores: Sequence[Mapping[int, float]], prior: Sequence[float], doubts: Sequence[float]
) -> Matrix:
    """The middle of the sandwich: the sets' pulls, the virtual ties, and the doubt about sets that agree."""
    size = range(len(prior))
    filling = sum_of_squares(scores, len(prior))
    for i in size:
        filling[i][i] += prior[i] * prior[i]
        for j in size:
            filling[i][j] += doubts[i] * doubts[j] * (curvature[i][j] if j <= i else curvature[j][i])
    return filling
