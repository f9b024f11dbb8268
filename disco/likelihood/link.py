"""The link of a node: the possibly curved function of the sum s of its parents' effects that sets its parameter.

    g(s) = h(κ s) / κ,    h(t) = exp t − 1 between the bounds `BENT` of t, and a straight line beyond them,

with one parameter per node, its bend κ; κ = 0 is the straight line g(s) = s. With t = κ s, g = s φ(t), ∂g/∂s = h′(t)
and ∂g/∂κ = s² ψ(t), where φ(t) = (exp t − 1) / t and ψ = φ′ within the bounds. For small t, φ, ψ and ψ′ are computed
from their series, so that no digits are lost near a straight line.
"""

import math

import numpy as np

BENT = (-20.0, 4.0)  # bounds of κ s within which the link bends: no table distinguishes slopes above e⁴ or below e⁻²⁰
SMALL = 0.25  # |κ s| below which the link is computed from its series
# Coefficients of φ, ψ and ψ′, by powers of t.
SERIES = np.array(
    [[math.prod(range(k + 1, k + 1 + order)) / math.factorial(k + order + 1) for k in range(9)] for order in range(3)]
)


def bent(index: np.ndarray, bend: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bent index g = (exp(κ s) − 1) / κ and its derivatives ∂g/∂s and ∂g/∂κ, at s = `index` and κ = `bend`."""
    t = bend * index
    bends, near = t.clip(*BENT), np.abs(t) < SMALL
    risen, divisor = np.expm1(bends), np.where(near, t.dtype.type(1), t)
    slope = risen + 1
    first = np.where(near, _series(0, t), (risen + slope * (t - bends)) / divisor)
    second = np.where(near, _series(1, t), (slope - first) / divisor)
    return index * first, slope, index**2 * second


def _series(order: int, t: np.ndarray) -> np.ndarray:
    """φ, ψ or ψ′ at small t."""
    total = np.zeros_like(t)
    for coefficient in SERIES[order][::-1].tolist():
        total = total * t + coefficient
    return total
