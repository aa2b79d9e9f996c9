"""An order-free strength of every entrant: Plackett-Luce fitted to all finishing orders at once.

Model (Plackett 1975, Luce 1959): the winner of a game is drawn with odds equal to strengths, then the second from the
rest, and so on. The strength of a *side* is the geometric mean of its seats' strengths (the mean of log strengths), so
a bot that holds both seats has the strength it has alone, and a pair's rating does not grow with its size.

Ties: the log likelihood of a tie is the mean over all orders of the tied sides. Each tied side then counts as half a
win over each of the others, as in place points; equal bots come out equal; the function stays concave, so the fit is
unique; and there is no nuisance parameter. The alternative, tie parameters in the manner of Davidson (1970) and the R
package PlackettLuce (Turner, van Etten, Firth and Kosmidis 2020), also models how often ties happen; that frequency
belongs to the scoring of the game, not to the bots, and differs between length = deal and length = target.

Prior: one virtual tie of each entrant against the field, a virtual entrant of log strength 0 (the default of that R
package: half a win and half a loss against a hypothetical item). So an entrant that never wins has a finite estimate.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log, log1p
from typing import Final

from referee.statistics.finishing_orders import (
    MOST_PENDING,
    UNIT,
    Awards,
    Members,
    Pattern,
    count_awards,
    gather,
    side_numbers,
)
from referee.statistics.linear_algebra import Matrix, cholesky, solve
from referee.statistics.results import GameSet, RankedSides, ranked_sides

ELO_SCALE: Final = 400.0 / log(10.0)
"""Rating points per unit of log strength: 400 points are odds of 10 to 1, as in Elo's scale."""

TOLERANCE: Final = 1e-10
"""The fit ends with the first Newton step that moves no log strength by more than this (and is still taken)."""

MAX_STEPS: Final = 200
_LONGEST_STEP: Final = 2.0


class FitError(ArithmeticError):
    """The fit did not converge (the likelihood is concave, so this means broken numbers, not unlucky data)."""


@dataclass(frozen=True, slots=True)
class StrengthFit:
    """The fitted strengths.

    ``entrants``: keys, sorted. ``log_strengths``: natural logarithms, the field (prior) at 0, one an entrant.
    ``games``: games used. ``steps``: Newton steps taken.
    """

    entrants: tuple[str, ...]
    log_strengths: tuple[float, ...]
    games: int
    steps: int

    def ratings(self) -> dict[str, float]:
        """Ratings on an Elo-like scale, mean 0: 400 points more are odds of 10 to 1 to finish ahead."""
        if not self.entrants:
            return {}
        centre = fsum(self.log_strengths) / len(self.log_strengths)
        return {key: ELO_SCALE * (value - centre) for key, value in zip(self.entrants, self.log_strengths, strict=True)}


@dataclass(frozen=True, slots=True)
class Slope:
    """The log posterior at one point: its value, its gradient and minus its second derivatives (lower triangle)."""

    value: float
    gradient: list[float]
    curvature: Matrix


def side_logs(awards: Awards, logs: Sequence[float]) -> list[float]:
    """The log strength of each side: the mean over its seats."""
    return [fsum(logs[entrant] * share for entrant, share in side) for side in awards.shares]


def slope_at(awards: Awards, logs: Sequence[float]) -> Slope:
    """The log posterior and its first two derivatives in the entrants' log strengths."""
    entrants = len(logs)
    of_sides = side_logs(awards, logs)
    strengths = [exp(value) for value in of_sides]
    curvature = [[0.0] * (row + 1) for row in range(entrants)]
    expected = [0.0] * len(strengths)
    values = [won * value for won, value in zip(awards.won, of_sides, strict=True)]
    for members, weight in awards.contests:
        parts = [strengths[side] for side in members]
        total = fsum(parts)
        values.append(-weight * log(total))
        chances = [part / total for part in parts]
        for side, chance in zip(members, chances, strict=True):
            expected[side] += weight * chance
        if members[-1] < entrants:
            _subtract_square(curvature, members, chances, weight)
        else:
            _subtract_square(curvature, *_by_entrant(awards, members, chances), weight)
    gradient = [0.0] * entrants
    for shares, won, lost in zip(awards.shares, awards.won, expected, strict=True):
        for place, (entrant, share) in enumerate(shares):
            gradient[entrant] += share * (won - lost)
            for other, other_share in shares[: place + 1]:
                curvature[entrant][other] += lost * share * other_share
    _add_prior(logs, values, gradient, curvature)
    return Slope(fsum(values), gradient, curvature)


def _subtract_square(curvature: Matrix, members: Sequence[int], chances: Sequence[float], weight: float) -> None:
    for place, member in enumerate(members):
        row = curvature[member]
        scaled = weight * chances[place]
        for other in range(place + 1):
            row[members[other]] -= scaled * chances[other]


def _by_entrant(awards: Awards, members: Members, chances: Sequence[float]) -> tuple[list[int], list[float]]:
    """Chances of sides carried over to their entrants, in ascending order of entrants."""
    totals: dict[int, float] = {}
    for side, chance in zip(members, chances, strict=True):
        for entrant, share in awards.shares[side]:
            totals[entrant] = totals.get(entrant, 0.0) + share * chance
    ordered = sorted(totals)
    return ordered, [totals[entrant] for entrant in ordered]


def _add_prior(logs: Sequence[float], values: list[float], gradient: list[float], curvature: Matrix) -> None:
    for entrant, (value, pull) in enumerate(zip(logs, score_prior(logs), strict=True)):
        chance = 1.0 / (1.0 + exp(-value))
        values.append(value / 2.0 - log1p(exp(value)))
        gradient[entrant] += pull
        curvature[entrant][entrant] += chance * (1.0 - chance)


def maximise(awards: Awards) -> tuple[list[float], int]:
    """The log strengths of highest posterior, and the Newton steps taken.

    A step is cut short where it is long, and halved while it leads downhill. Raises FitError if it never ends.
    """
    logs = [0.0] * len(awards.entrants)
    here = slope_at(awards, logs)
    for step_number in range(1, MAX_STEPS + 1):
        step = solve(cholesky(here.curvature), here.gradient)
        longest = max(map(abs, step), default=0.0)
        if longest <= TOLERANCE:
            return [value + change for value, change in zip(logs, step, strict=True)], step_number
        scale = min(1.0, _LONGEST_STEP / longest)
        slack = 1e-12 * (1.0 + abs(here.value))
        while True:
            trial = [value + scale * change for value, change in zip(logs, step, strict=True)]
            there = slope_at(awards, trial)
            if there.value >= here.value - slack or scale < 1e-6:
                break
            scale /= 2.0
        logs, here = trial, there
    raise FitError(f"order-free fit: no convergence in {MAX_STEPS} steps")


def fit_strengths(sets: Iterable[GameSet]) -> StrengthFit:
    """The fit to all games of closed sets; the order of sets and games does not matter, to the last digit."""
    return fit_awards(gather(sets))


def fit_awards(awards: Awards) -> StrengthFit:
    """The fit to counted games."""
    logs, steps = maximise(awards)
    return StrengthFit(awards.entrants, tuple(logs), awards.games, steps)


def score_sets(sets: Iterable[GameSet], awards: Awards, logs: Sequence[float]) -> list[dict[int, float]]:
    """What each set pulls each entrant's log strength by at the fit: entrant number to slope of the set's likelihood.

    Over all sets, prior included, the pulls add up to nothing.
    """
    strengths = [exp(value) for value in side_logs(awards, logs)]
    known: dict[Pattern, dict[int, float]] = {}
    scores = []
    for games in sets:
        score: dict[int, float] = {}
        for game in games:
            key = (game.entrants, game.places, game.sides)
            if key not in known:
                if len(known) >= MOST_PENDING:
                    known.clear()
                known[key] = _score_order(ranked_sides(*key), awards, strengths)
            for entrant, pull in known[key].items():
                score[entrant] = score.get(entrant, 0.0) + pull
        scores.append(score)
    return scores


def _score_order(ranking: RankedSides, awards: Awards, strengths: Sequence[float]) -> dict[int, float]:
    won, contests = count_awards(ranking, awards.numbers.__getitem__)
    beyond = {side: units / UNIT for side, units in won.items()}
    for mask, units in contests.items():
        members = side_numbers(mask)
        total = fsum(strengths[side] for side in members)
        for side in members:
            beyond[side] -= units / UNIT * strengths[side] / total
    score: dict[int, float] = {}
    for side, pull in beyond.items():
        for entrant, share in awards.shares[side]:
            score[entrant] = score.get(entrant, 0.0) + share * pull
    return score


def score_prior(logs: Sequence[float]) -> list[float]:
    """What each entrant's virtual tie pulls its log strength by."""
    return [0.5 - 1.0 / (1.0 + exp(-value)) for value in logs]
