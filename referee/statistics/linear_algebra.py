"""Linear algebra of the ratings: symmetric positive definite systems, in plain Python.

The number of entrants is small (tens, seldom hundreds), so a dense Cholesky factor is fast enough and keeps numpy,
which costs ten times the start-up of everything else here, out of the dependencies.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from operator import mul
from typing import TypeAlias

Matrix: TypeAlias = list[list[float]]


class SingularError(ArithmeticError):
    """The matrix is not positive definite."""


def cholesky(matrix: Sequence[Sequence[float]]) -> Matrix:
    """The lower triangle L with L L' = matrix, as ragged rows; only the lower triangle of the matrix is read.

    Raises SingularError unless the matrix is positive definite.
    """
    lower: Matrix = []
    for i, source in enumerate(matrix):
        row: list[float] = []
        for j in range(i):
            above = lower[j]
            row.append((source[j] - sum(map(mul, row, above))) / above[j])
        pivot = source[i] - sum(map(mul, row, row))
        if not pivot > 0.0:
            raise SingularError(f"pivot {i} is {pivot}")
        row.append(sqrt(pivot))
        lower.append(row)
    return lower


def solve(lower: Matrix, right: Sequence[float]) -> list[float]:
    """The x with L L' x = right, for a factor from :func:`cholesky`."""
    forward: list[float] = []
    for row, value in zip(lower, right, strict=True):
        forward.append((value - sum(map(mul, row, forward))) / row[-1])
    back = [0.0] * len(forward)
    for i in reversed(range(len(forward))):
        back[i] = forward[i] / lower[i][i]
        for j in range(i):
            forward[j] -= lower[i][j] * back[i]
    return back


def inverse(lower: Matrix) -> Matrix:
    """The inverse of L L', for a factor from :func:`cholesky`."""
    size = range(len(lower))
    return [solve(lower, [1.0 if i == j else 0.0 for j in size]) for i in size]


def sum_of_squares(scores: Iterable[Mapping[int, float]], size: int) -> Matrix:
    """The sum of each score times its transpose, as a full matrix; a score holds its entries that are not 0 by index."""
    total = [[0.0] * size for _ in range(size)]
    for score in scores:
        for i, one in score.items():
            row = total[i]
            for j, other in score.items():
                row[j] += one * other
    return total
