"""Small symmetric systems of equations over all worlds, solved number by number."""

from .scalars import Scalar, minus, over, times

Rows = list[list[Scalar]]


class Factors:
    """A positive definite matrix as L D Lᵀ."""

    def __init__(self, matrix: Rows) -> None:
        size = len(matrix)
        self._lower: Rows = [[0.0] * size for _ in range(size)]
        self._diagonal: list[Scalar] = []
        for i in range(size):
            for j in range(i):
                value = matrix[i][j]
                for k in range(j):
                    value = minus(value, times(times(self._lower[i][k], self._lower[j][k]), self._diagonal[k]))
                self._lower[i][j] = over(value, self._diagonal[j])
            left = matrix[i][i]
            for k in range(i):
                left = minus(left, times(times(self._lower[i][k], self._lower[i][k]), self._diagonal[k]))
            self._diagonal.append(left)

    def solve(self, right: list[Scalar]) -> list[Scalar]:
        """The vector that the matrix takes to this one."""
        size, found = len(right), list(right)
        for i in range(size):
            for k in range(i):
                found[i] = minus(found[i], times(self._lower[i][k], found[k]))
        found = [over(value, d) for value, d in zip(found, self._diagonal, strict=True)]
        for i in reversed(range(size)):
            for k in range(i + 1, size):
                found[i] = minus(found[i], times(self._lower[k][i], found[k]))
        return found

    def inverse(self, rows: list[int]) -> dict[tuple[int, int], Scalar]:
        """The entries of the inverse in which these rows meet."""
        size = len(self._diagonal)
        columns = {j: self.solve([float(i == j) for i in range(size)]) for j in rows}
        return {(i, j): columns[j][i] for i in rows for j in rows}
