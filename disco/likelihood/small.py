"""Small symmetric systems, compiled: A = D + Λ with D ⪰ 0 summed from rows and Λ a diagonal prior.

In exact arithmetic every pivot of A's Cholesky factor is at least its entry of Λ, because a Schur complement of D ⪰ 0
is ⪰ 0 itself. Rounding can lower a pivot below that if columns are duplicates, a level has no rows, or a column is
constant in the used rows; then the pivot is raised to its entry of Λ. So coefficients with a prior stay bounded,
without a test for singular matrices, and no thread or library can change a digit.
"""

import math

import numpy as np

from disco.likelihood.cpu import arrays, compiled, side_by_side, within

LEAST_PIVOT = 1e-6  # of a coefficient without a prior; reached if its column is constant in the rows


@within
def dot(first, second):
    """Σ one · other, of vectors of equal length."""
    total = 0.0
    for i in range(len(first)):
        total += first[i] * second[i]
    return total


@within
def factorise(matrix, floors, factor):
    """Write the Cholesky factor into the lower triangle of `factor`, no pivot below `floors`.

    Returns log det of the factorised matrix, and whether a pivot was raised.
    """
    logarithm, raised = 0.0, False
    for i in range(len(matrix)):
        for j in range(i):
            factor[i, j] = (matrix[i, j] - dot(factor[i, :j], factor[j, :j])) / factor[j, j]
        pivot = matrix[i, i] - dot(factor[i, :i], factor[i, :i])
        floor = floors[i] if floors[i] > 0 else LEAST_PIVOT
        if pivot < floor:  # never true for NaN, which must remain visible
            pivot, raised = floor, True
        factor[i, i] = math.sqrt(pivot)
        logarithm += math.log(pivot)
    return logarithm, raised


@within
def forward(factor, right):
    """Multiply a vector by L⁻¹ in place."""
    for i in range(len(right)):
        right[i] = (right[i] - dot(factor[i, :i], right[:i])) / factor[i, i]


@within
def backward(factor, right):
    """Multiply a vector by L⁻ᵀ in place."""
    for i in range(len(right) - 1, -1, -1):
        right[i] /= factor[i, i]
        for j in range(i):
            right[j] -= factor[i, j] * right[i]


def solve(matrices: np.ndarray, floors: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A⁻¹ times a vector, (B, P), and log det A, (B,), for symmetric A, (B, P, P), with pivots ≥ `floors`, (B, P)."""
    solution, logarithm = np.array(right, order="C"), np.empty(len(right))
    inputs = (*arrays(matrices, floors), solution, logarithm)
    side_by_side(len(matrices), lambda problems: _solve(*(array[problems] for array in inputs)))
    return solution, logarithm


@compiled
def _solve(matrices, floors, solutions, logarithm):
    for b in range(len(matrices)):
        factor = np.empty(matrices[b].shape)
        logarithm[b], _ = factorise(matrices[b], floors[b], factor)
        forward(factor, solutions[b])
        backward(factor, solutions[b])


def inverse(matrices: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """The inverses of symmetric matrices, (B, P, P), whose pivots are at least `floors`, (B, P)."""
    inverses = np.empty(matrices.shape)
    inputs = (*arrays(matrices, floors), inverses)
    side_by_side(len(matrices), lambda problems: _inverse(*(array[problems] for array in inputs)))
    return inverses


@compiled
def _inverse(matrices, floors, inverses):
    for b in range(len(matrices)):
        size = len(floors[b])
        factor = np.empty((size, size))
        factorise(matrices[b], floors[b], factor)
        for i in range(size):
            column = np.zeros(size)
            column[i] = 1.0
            forward(factor, column)
            backward(factor, column)
            for j in range(size):
                inverses[b, i, j] = column[j]
