"""All entrants of a league compared with one another on the league's measure.

Ordinary least squares of the measure on entrant and set: the intra-block analysis of an incomplete block design (Yates
1936), each set a block. What the packs of a set gave to everybody cancels, and two entrants are compared through common
opponents too, not only where they met. Where all sets hold the same entrants, the difference of two advantages is
exactly the paired difference of :mod:`referee.statistics.paired`.

The covariance takes each set as one cluster (the "sandwich" estimator), so it knows that games of a set share packs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from operator import mul

from referee.statistics.linear_algebra import Matrix, cholesky, inverse, sum_of_squares
from referee.statistics.results import GameSet, MeasureName, set_means


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All entrants compared with one another on one measure.

    ``entrants``: those that played, sorted. ``advantages``: measure per game more than the average entrant of the same
    group, at the same table. ``sets``: sets each played. ``groups``: group number; entrants of two groups never met, not
    even through others. ``bread``: inverse of the normal equations. ``tables``: for each set, in order of set id, what each
    of its entrants got (entrant number to figure); ``scores``: the same beyond the fit. ``covariance``: of the advantages.
    """

    entrants: tuple[str, ...]
    advantages: tuple[float, ...]
    sets: tuple[int, ...]
    groups: tuple[int, ...]
    bread: Matrix
    tables: tuple[Mapping[int, float], ...]
    scores: tuple[Mapping[int, float], ...]
    covariance: Matrix


def compare(sets: Iterable[GameSet], measure: MeasureName = "place") -> Comparison:
    """Least squares of the measure on entrant and set; the order of sets does not matter."""
    ordered = sorted(sets, key=lambda games: games[0].set_id)
    entrants = tuple(sorted({key for games in ordered for game in games for key in game.entrants}))
    index = {key: number for number, key in enumerate(entrants)}
    tables = tuple(
        {index[key]: figure for key, figure in sorted(set_means(games, measure).items())} for games in ordered
    )
    groups = _groups(len(entrants), tables)
    bread = inverse(cholesky(_normal_equations(tables, groups)))
    beyond: list[list[float]] = [[] for _ in entrants]
    for table in tables:
        for number, figure in _centred(table).items():
            beyond[number].append(figure)
    totals = [fsum(figures) for figures in beyond]
    advantages = [fsum(map(mul, row, totals)) for row in bread]
    scores = tuple(
        _centred({number: figure - advantages[number] for number, figure in table.items()}) for table in tables
    )
    return Comparison(
        entrants=entrants,
        advantages=tuple(advantages),
        sets=tuple(len(figures) for figures in beyond),
        groups=groups,
        bread=bread,
        tables=tables,
        scores=scores,
        covariance=_sandwich(bread, scores),
    )


def _centred(table: Mapping[int, float]) -> dict[int, float]:
    mean = fsum(table.values()) / len(table)
    return {number: figure - mean for number, figure in table.items()}


def _groups(entrants: int, tables: Sequence[Mapping[int, float]]) -> tuple[int, ...]:
    """Connected components of "sat at one table", named by their lowest entrant number."""
    parent = list(range(entrants))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for table in tables:
        first = min(table)
        for number in table:
            one, other = sorted((root(first), root(number)))
            parent[other] = one
    return tuple(root(number) for number in range(entrants))


def _normal_equations(tables: Sequence[Mapping[int, float]], groups: Sequence[int]) -> Matrix:
    """Their matrix, sum over sets of (identity - mean), plus 1 inside each group, which pins its mean advantage at 0."""
    size = range(len(groups))
    shared: dict[tuple[int, int, int], int] = {}
    for table in tables:
        for i in table:
            for j in table:
                shared[i, j, len(table)] = shared.get((i, j, len(table)), 0) + 1
    matrix = [[1.0 if groups[i] == groups[j] else 0.0 for j in size] for i in size]
    for (i, j, seats), count in sorted(shared.items()):
        matrix[i][j] += count * ((i == j) - 1.0 / seats)
    return matrix


def _sandwich(bread: Matrix, scores: Sequence[Mapping[int, float]]) -> Matrix:
    """The covariance: bread x (sum over sets of score x score') x bread."""
    return _product(_product(bread, sum_of_squares(scores, len(bread))), bread)


def _product(left: Matrix, right: Matrix) -> Matrix:
    columns = list(zip(*right, strict=True))
    return [[fsum(map(mul, row, column)) for column in columns] for row in left]
