"""The curvature of a log density from a noise prediction, by automatic differentiation.

With noise of standard deviation σ the score is s = −ε_θ / σ, so the diagonal of its Jacobian is that of the Hessian,

    ∂²log p / ∂x_j² = −(∂ε_j / ∂x_j) / σ.

Removing a leaf l corrects the others (DiffAN's residue): s_j − (∂s_l/∂x_j) / (∂s_l/∂x_l) · s_l is the score of the
others' marginal if l has additive Gaussian noise. σ cancels. Several leaves L are removed at once by

    s_j − Σ_{l,m ∈ L} (∂s_l/∂x_j) (J⁻¹)_lm s_m,   J = (∂s_l/∂x_m)_{l,m ∈ L},

which is the same for linear Gaussian tables, and needs no derivatives of derivatives for each leaf.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.func import jvp, vjp, vmap

from disco.errors import InputError

_AT_ONCE = 8192  # rows × columns differentiated together, to limit memory

Noise = Callable[[Tensor], Tensor]  # the noise predicted in rows, (rows, nodes) → (rows, nodes), each row by itself


@torch.no_grad()
def diagonal(
    noise: Noise, values: Tensor, columns: Sequence[int], check: Callable[[], None] = lambda: None, *, weight: int = 1
) -> Tensor:
    """∂ε_j / ∂x_j at every row of `values`, (rows, nodes), for the columns j, (rows, columns).

    Args:
        check: called between chunks of rows; it may raise.
        weight: approximate memory of `noise`, in multiples of one prediction.
    """
    indices = torch.tensor(list(columns), device=values.device)
    units = torch.eye(values.shape[1], dtype=values.dtype, device=values.device)[indices]
    derivatives = []
    for rows in values.split(max(_AT_ONCE // (weight * len(indices)), 1)):
        check()
        derivatives.append(_diagonal(noise, rows, units, indices))
    return torch.cat(derivatives)


def _diagonal(noise: Noise, rows: Tensor, units: Tensor, indices: Tensor) -> Tensor:
    def along(unit: Tensor, index: Tensor) -> Tensor:
        slopes: Tensor = jvp(noise, (rows,), (unit.expand_as(rows),))[1]
        return slopes.gather(1, index.expand(len(rows), 1))[:, 0]

    return vmap(along)(units, indices).T


def without(noise: Noise, leaves: Sequence[int]) -> Noise:
    """The noise prediction corrected for removed leaves; the leaves' own columns become 0."""
    if not leaves:
        return noise

    def corrected(rows: Tensor) -> Tensor:
        value, pull, *_ = vjp(noise, rows)
        units = torch.eye(rows.shape[1], dtype=rows.dtype, device=rows.device)[list(leaves)]
        slopes = vmap(lambda unit: pull(unit.expand_as(rows))[0])(units).movedim(0, 1)  # (rows, leaves, nodes)
        block = slopes[:, :, list(leaves)]
        weights = torch.linalg.solve_ex(block, value[:, list(leaves), None])[0]  # singular: infinite, and so no leaf
        return value - (slopes * weights).sum(dim=1)

    return corrected


def lowest(scores: np.ndarray) -> int:
    """The position of the smallest finite score, (columns,). InputError: none is finite."""
    if not np.isfinite(scores).any():
        raise InputError("No remaining column has a finite curvature: the networks did not converge. Lower the rate.")
    return int(np.where(np.isfinite(scores), scores, np.inf).argmin())
