"""Orders near another one, from which a search restarts."""

from collections.abc import Sequence

import numpy as np

_STRETCH = (5, 20)  # smallest and largest length of a reversed stretch
_MOVED = 5  # number of nodes moved anywhere
_SHAKEN = 4.0  # standard deviation of every node's shift, in positions


def near(order: Sequence[int], number: int, seed: int) -> list[int]:
    """An order near another one, to leave a local optimum.

    In turn, a stretch of the order is reversed, some nodes are moved anywhere, or every node moves by a few positions.
    `number` is that of the restart.
    """
    random = np.random.default_rng([seed, 19, number])
    return (_shaken, _reversed_stretch, _moved)[number % 3](list(order), random)


def _reversed_stretch(order: list[int], random: np.random.Generator) -> list[int]:
    length = min(int(random.integers(_STRETCH[0], _STRETCH[1] + 1)), len(order))
    at = int(random.integers(0, len(order) - length + 1))
    return [*order[:at], *order[at : at + length][::-1], *order[at + length :]]


def _moved(order: list[int], random: np.random.Generator) -> list[int]:
    chosen = set(random.permutation(len(order))[:_MOVED].tolist())
    remaining = [node for position, node in enumerate(order) if position not in chosen]
    for position in sorted(chosen):
        remaining.insert(int(random.integers(0, len(remaining) + 1)), order[position])
    return remaining


def _shaken(order: list[int], random: np.random.Generator) -> list[int]:
    positions = np.arange(len(order)) + random.normal(0.0, _SHAKEN, len(order))
    return [order[position] for position in np.argsort(positions, kind="stable")]
