"""The shapes of what may be hidden: points at which a row may be, with functions of the point that columns follow."""

from typing import NamedTuple

import numpy as np


class HiddenShape(NamedTuple):
    """What may be hidden: every row is at one of G points, and columns follow functions of the point."""

    functions: np.ndarray  # of the points, (G, q)
    shares: np.ndarray | None = None  # prior of the points, (G,); None if it is free, for kinds of rows

    @property
    def free_shares(self) -> int:
        """The number of free shares."""
        return len(self.functions) - 1 if self.shares is None else 0


def kinds(number: int) -> HiddenShape:
    """Some kinds of rows, each with a mean of its own in some columns."""
    return HiddenShape(np.eye(number)[:, 1:])


def _line() -> HiddenShape:
    at = np.linspace(-3.0, 3.0, 31)
    return HiddenShape(np.column_stack([at, at**2 - 1, at**3 - 3 * at]), _normal(at**2))


def _plane() -> HiddenShape:
    grid = np.array(np.meshgrid(*[np.arange(-5, 6) / 2] * 2)).reshape(2, -1)
    squares = (grid**2).sum(0)
    inside = squares < 2.75**2
    return HiddenShape(np.ascontiguousarray(grid.T[inside]), _normal(squares[inside]))


def _circle() -> HiddenShape:
    at = np.arange(20) * np.pi / 10
    return HiddenShape(np.column_stack([np.cos(at), np.sin(at), np.cos(2 * at), np.sin(2 * at)]), np.full(20, 1 / 20))


def _normal(squares: np.ndarray) -> np.ndarray:
    density = np.exp(-squares / 2)
    return density / density.sum()


NOTHING = HiddenShape(np.zeros((1, 0)), np.ones(1))
CURVED, PLANE, CIRCLE = _line(), _plane(), _circle()  # a factor with curved effects, two linear factors, a cycle
STRAIGHT = HiddenShape(np.ascontiguousarray(CURVED.functions[:, :1]), CURVED.shares)  # a factor with linear effects
