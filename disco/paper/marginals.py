"""Curvature of every marginal from the joint network alone, by part of the Schur complement.

The joint network gives every second difference of log p at a row, H_ij(x) = ℓ_j(x + e_i) − ℓ_j(x), in d + 1
evaluations. If log p were quadratic, the marginal without node k would have the Schur complement

    H − h hᵀ / H_kk,   h_i = (H_ik + H_ki) / 2.

Counts are not normal, and the estimates' noise would grow with every removal. So a removal subtracts only the share
`SHARE` of it, row by row, with H_kk cut at its upper fifth over the rows, where it is nearly 0, and |h_i| at most
√(H_kk H_ii), as for every concave function. Unlike the whole Schur complement, the result depends on the order in which
nodes leave. The share was chosen on seeds 20 to 23 of seven designs (benchmarks/log/2026-11-26-one-network.md).
"""

from collections.abc import Callable, Sequence
from threading import RLock

import torch
from torch import Tensor

from disco.paper.curvature import ConcreteScores, HeldOut, by_parts, full_float32

SHARE = 0.5  # λ
_UPPER = 0.8  # quantile of H_kk over the rows at which it is cut


class Marginals:
    """The second differences of log p at the held-out rows, without the nodes that have been removed.

    Args:
        scores: log concrete-score entries of the joint distribution.
        levels: number of noise levels, over which second differences are averaged.
    """

    def __init__(self, scores: ConcreteScores, held_out: HeldOut, levels: int) -> None:
        self._scores, self._held_out, self._levels = scores, held_out, levels
        self._removed: list[int] = []  # nodes, in the order of their removal
        self._node_at: list[int] = []  # nodes by position in `_second`; removed ones come last
        self._at: list[int] = []  # each node's position
        self._second = torch.empty(0)  # H_ij of the nodes at positions i, j, (d, d, F, n)
        self._lock = RLock()  # a served fit is read by several threads

    def diagonal(self, removed: Sequence[int], nodes: Sequence[int]) -> Tensor:
        """H_jj of some nodes, after the removal of `removed`, in order, (F, n, len(nodes))."""
        with self._lock:
            self._advance(removed)
            at = [self._at[node] for node in nodes]
            return self._second[at, at].movedim(0, -1).contiguous()

    def off_diagonal(self, removed: Sequence[int], remaining: Sequence[int], node: int) -> Tensor:
        """|H_ij| and H_ij for i = `node` and every remaining j, (2, F, n, |R|), `removed` as in `diagonal`."""
        with self._lock:
            self._advance(removed)
            row = self._second[self._at[node], [self._at[column] for column in remaining]]
        signed = row.movedim(0, -1)
        return torch.stack([signed.abs(), signed])

    def begin(self, check: Callable[[], None] = lambda: None) -> None:
        """Start anew with all nodes; `check` is called after each, and stops the work by an exception."""
        second = _second_differences(self._scores, self._held_out, self._levels, check)
        with self._lock:
            self._second, self._removed = second, []
            self._node_at, self._at = list(range(len(second))), list(range(len(second)))

    def _advance(self, removed: Sequence[int]) -> None:
        """Remove nodes until exactly these are removed, from the start if others were removed before."""
        if not self._node_at or list(removed[: len(self._removed)]) != self._removed:
            self.begin()
        for node in removed[len(self._removed) :]:
            self._leave(node)

    def _leave(self, node: int) -> None:
        """Subtract a share of the Schur complement of one node, in place."""
        second, node_at, last = self._second, self._node_at, len(self._node_at) - len(self._removed) - 1
        at = self._at[node]
        if at != last:  # the remaining nodes stay together, so that no block needs a copy
            for axis in (second, second.transpose(0, 1)):
                axis[[at, last]] = axis[[last, at]]
            node_at[at], node_at[last] = node_at[last], node_at[at]
            self._at[node_at[at]], self._at[node_at[last]] = at, last
        pivot, valid = second[last, last], self._held_out.valid
        bound = torch.where(valid, pivot, torch.nan).nanquantile(_UPPER, dim=1, keepdim=True)
        pivot = pivot.minimum(bound).clamp(max=0)
        share = torch.where(bound < 0, -SHARE / pivot, 0.0)  # without any curvature nothing is known
        bounds = (second[range(last), range(last)].clamp(max=0) * pivot).sqrt()
        both = ((second[:last, last] + second[last, :last]) / 2).clamp(-bounds, bounds)
        if second.is_cuda:
            second[:last, :last].addcmul_((both * share)[:, None], both)
        else:  # row by row, so that both factors stay in the processor's cache
            for row, factor in zip(second[:last, :last], both * share, strict=True):
                row.addcmul_(factor, both)
        self._removed.append(node)


@full_float32()
def _second_differences(scores: ConcreteScores, held_out: HeldOut, levels: int, check: Callable[[], None]) -> Tensor:
    """H_ij at every held-out row, averaged over the noise levels, (d, d, F, n)."""
    folds, rows, nodes = held_out.ranks.shape
    everything = range(nodes)
    second = held_out.ranks.new_empty((nodes, nodes, folds, rows))

    def evaluate(chunk: slice) -> None:
        at = held_out.at(chunk)
        unshifted = scores.entries(at, everything)
        for node in everything:
            change = (scores.entries_after(at, everything, node) - unshifted).mean(dim=1)
            second[node, :, :, chunk] = change.movedim(-1, 0)
            check()

    by_parts(held_out, levels, evaluate)
    return second
