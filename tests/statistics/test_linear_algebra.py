"""The small linear algebra under the ratings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics.linear_algebra import SingularError, cholesky, inverse, solve


def positive(rows: list[list[float]]) -> list[list[float]]:
    """A matrix times its transpose, plus identity."""
    return [[sum(map(float.__mul__, a, b)) + (i == j) for j, b in enumerate(rows)] for i, a in enumerate(rows)]


SQUARES = st.integers(1, 6).flatmap(
    lambda n: st.lists(st.lists(st.floats(-3, 3), min_size=n, max_size=n), min_size=n, max_size=n)
)


@given(SQUARES)
def test_solutions_solve(rows: list[list[float]]) -> None:
    matrix = positive(rows)
    size = range(len(matrix))
    factor = cholesky(matrix)
    right = [float(i + 1) for i in size]
    answer = solve(factor, right)
    assert [sum(matrix[i][j] * answer[j] for j in size) for i in size] == pytest.approx(right, abs=1e-9)
    product = [[sum(matrix[i][k] * row[j] for k, row in enumerate(inverse(factor))) for j in size] for i in size]
    for i in size:
        assert product[i] == pytest.approx([float(i == j) for j in size], abs=1e-9)


@pytest.mark.parametrize("matrix", [[[0.0]], [[1.0], [2.0, 1.0]], [[1.0], [1.0, 1.0]], [[float("nan")]]])
def test_a_matrix_that_is_not_positive_definite_is_refused(matrix: list[list[float]]) -> None:
    with pytest.raises(SingularError):
        cholesky(matrix)


def test_nothing_has_an_empty_solution() -> None:
    assert cholesky([]) == []
    assert solve([], []) == []
