"""Exact concrete scores of an enumerated joint table, in place of networks."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from disco.paper.curvature import States
from disco.paper.ranks import FoldRanks, RowInputs


def generator_matrix(top: int) -> np.ndarray:
    """The reflecting birth–death rate matrix on {0, …, top}."""
    rates = np.diag(np.ones(top), 1) + np.diag(np.ones(top), -1)
    return rates - np.diag(rates.sum(axis=1))


def fold_of(train: np.ndarray, held_out: np.ndarray, top: int, beside: np.ndarray | None = None) -> FoldRanks:
    """A fold of ranks; with what the held-out rows are given, (held-out rows, c), the first of them in training too."""
    given = np.zeros((len(held_out), 0), np.float32) if beside is None else beside.astype(np.float32)
    rows, trained = np.arange(len(held_out)), np.resize(given, (len(train), given.shape[1]))
    return FoldRanks(train, held_out, rows, top, RowInputs(trained, None), RowInputs(given, None))


class ExactScores:
    """Log concrete-score entries of p_{R,σ} for joint tables p on {0, …, K}^d, one per fold.

    At x_j = K the entry of the replacement outside the grid is `beyond`, since a network would also return a number.
    """

    beyond = 0.25

    def __init__(self, tables: Sequence[np.ndarray], sigmas: Sequence[float]) -> None:
        from scipy.linalg import expm

        self.top = torch.tensor([table.shape[0] - 1.0 for table in tables])
        self.corrupted = []
        for table in tables:
            levels = []
            for sigma in sigmas:
                kernel = expm(sigma * generator_matrix(table.shape[0] - 1))
                noisy = table
                for axis in range(table.ndim):
                    noisy = np.moveaxis(np.tensordot(kernel, noisy, axes=(0, axis)), 0, axis)
                levels.append(noisy)
            self.corrupted.append(levels)

    def entry(self, fold: int, level: int, state: np.ndarray, remaining: Sequence[int], node: int) -> float:
        """ℓ_{node,R} at one state."""
        table = self.corrupted[fold][level]
        gone = tuple(axis for axis in range(table.ndim) if axis not in remaining)
        marginal = table.sum(axis=gone)
        here = [int(state[axis]) for axis in remaining]
        place = list(remaining).index(node)
        if here[place] + 1 >= table.shape[0]:
            return self.beyond * (1 + sum(here))
        up = here.copy()
        up[place] += 1
        return float(np.log(marginal[tuple(up)] / marginal[tuple(here)]))

    def _all(
        self, ranks: Tensor, remaining: Sequence[int], nodes: Sequence[int], shift: Sequence[int | None]
    ) -> Tensor:
        folds, rows, _ = ranks.shape
        out = np.zeros((folds, len(self.corrupted[0]), rows, len(nodes)))
        for fold in range(folds):
            for level in range(out.shape[1]):
                for row in range(rows):
                    for place, (node, moved) in enumerate(zip(nodes, shift, strict=True)):
                        state = ranks[fold, row].numpy().copy()
                        if moved is not None:
                            state[moved] = min(state[moved] + 1, self.top[fold].item())
                        out[fold, level, row, place] = self.entry(fold, level, state, remaining, node)
        return torch.tensor(out)

    def entries(self, rows: States, remaining: Sequence[int]) -> Tensor:
        return self._all(rows.ranks, remaining, list(remaining), [None] * len(remaining))

    def entries_after(self, rows: States, remaining: Sequence[int], node: int) -> Tensor:
        return self._all(rows.ranks, remaining, list(remaining), [node] * len(remaining))

    def own_entries_after(self, rows: States, remaining: Sequence[int], nodes: Sequence[int]) -> Tensor:
        return self._all(rows.ranks, remaining, list(nodes), list(nodes))
