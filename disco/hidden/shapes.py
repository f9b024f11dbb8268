"""The shapes of what may be hidden: points at which a row may be, with functions of the point that columns follow.

With first guesses of every row's place, from normal columns that nothing else joins: the posterior of its points, (n,
G). There, `values` are standardised columns, (n, d).
"""

from typing import NamedTuple

import numpy as np

_LEAST_VARIANCE = 0.05  # of the variance that is left in a column
_STEPS = 60  # of factor analysis and of rotations
_ROUNDS = 40  # of expectation maximisation
_STARTS = 4  # of kinds of rows
_POSTERIOR_WIDTH = 0.2  # of the first posterior around a score
_RIDGE = 1e-6
_TINY = 1e-12


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
CURVED, PLANE, CIRCLE = _line(), _plane(), _circle()  # a factor with curved effects, two linear factors, a circle
STRAIGHT = HiddenShape(np.ascontiguousarray(CURVED.functions[:, :1]), CURVED.shares)  # a factor with linear effects


def on_line(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Places on a line from the score of one factor of some columns."""
    scores = _scores(values[:, columns], 1)
    return _near(scores, STRAIGHT.functions)


def on_plane(values: np.ndarray) -> np.ndarray:
    """Places on `PLANE` from the scores of two factors."""
    return _near(_scores(values, 2), PLANE.functions)


def on_circle(values: np.ndarray) -> np.ndarray:
    """Places on `CIRCLE` from the angle of the scores of two factors."""
    scores = _scores(values, 2)
    return _near(scores / np.maximum(np.linalg.norm(scores, axis=1, keepdims=True), _TINY), CIRCLE.functions[:, :2])


def of_kinds(values: np.ndarray, number: int, random: np.random.Generator) -> np.ndarray:
    """Kinds of rows: the best of a few mixtures, each begun with k-means++."""
    best, reached = np.full((len(values), number), 1 / number), -np.inf
    for _ in range(_STARTS):
        centres = _centres(values, number, random)
        nearest = np.argmin((centres**2).sum(1) - 2 * values @ centres.T, axis=1)
        posterior = along(values, np.eye(number)[nearest] * 0.8 + 0.2 / number, kinds(number))
        score = _expected(values, posterior, kinds(number))[1]
        if score > reached:
            best, reached = posterior, score
    return best


def along(values: np.ndarray, posterior: np.ndarray, shape: HiddenShape) -> np.ndarray:
    """The posterior after expectation maximisation in which nothing but the hidden shape joins the columns."""
    for _ in range(_ROUNDS):
        posterior = _expected(values, posterior, shape)[0]
    return posterior


def _expected(values: np.ndarray, posterior: np.ndarray, shape: HiddenShape) -> tuple[np.ndarray, float]:
    """One round: least squares given the posterior, then the new posterior and the log-likelihood."""
    shares = posterior.mean(0)
    centred = shape.functions - shares @ shape.functions
    spread = (centred.T * shares) @ centred
    slopes = np.linalg.solve(spread + _RIDGE * np.eye(len(spread)), centred.T @ (posterior.T @ values) / len(values))
    rest = np.maximum(1 - ((spread @ slopes) * slopes).sum(0), _LEAST_VARIANCE)
    effects, prior = centred @ slopes, shares if shape.shares is None else shape.shares
    logs = np.log(np.maximum(prior, _TINY)) + (values / rest) @ effects.T - (effects**2 / rest).sum(1) / 2
    largest = logs.max(1, keepdims=True)
    weights = np.exp(logs - largest)
    sums = weights.sum(1, keepdims=True)
    score = (largest + np.log(sums)).sum() - (values**2 / rest).sum() / 2 - len(values) / 2 * np.log(rest).sum()
    return weights / sums, float(score)


def _scores(values: np.ndarray, factors: int) -> np.ndarray:
    """Standardised scores of factors by expectation maximisation, rotated by varimax, (n, factors)."""
    correlations = values.T @ values / len(values)
    sizes, vectors = np.linalg.eigh(correlations)
    loadings = vectors[:, -factors:] * np.sqrt(np.maximum(sizes[-factors:] - np.median(sizes), 0.1) * 0.8)
    rest = np.maximum(1 - (loadings**2).sum(1), _LEAST_VARIANCE)
    weights = loadings
    for _ in range(_STEPS):
        weighted = loadings / rest[:, None]
        spread = np.linalg.inv(np.eye(factors) + loadings.T @ weighted)
        weights = weighted @ spread
        along_scores = correlations @ weights
        loadings = along_scores @ np.linalg.inv(weights.T @ along_scores + spread)
        rest = np.maximum(1 - (loadings * along_scores).sum(1), _LEAST_VARIANCE)
    scores = values @ weights
    scores /= np.maximum(scores.std(0), _TINY)
    scores = scores @ _varimax(values.T @ scores / len(values))
    return scores / np.maximum(scores.std(0), _TINY)


def _varimax(loadings: np.ndarray) -> np.ndarray:
    """The rotation after which every column follows few factors (Kaiser, 1958)."""
    turn = np.eye(loadings.shape[1])
    for _ in range(_STEPS):
        rotated = loadings @ turn
        left_vectors, _, right_vectors = np.linalg.svd(loadings.T @ (rotated**3 - rotated * (rotated**2).mean(0)))
        turn = left_vectors @ right_vectors
    return turn


def _near(scores: np.ndarray, points: np.ndarray) -> np.ndarray:
    distances = ((scores[:, None, :] - points) ** 2).sum(2)
    weights = np.exp((distances.min(1, keepdims=True) - distances) / _POSTERIOR_WIDTH)
    return weights / weights.sum(1, keepdims=True)


def _centres(values: np.ndarray, number: int, random: np.random.Generator) -> np.ndarray:
    """Centres far from each other, (number, d)."""
    centres = [values[random.integers(len(values))]]
    while len(centres) < number:
        away = np.min([((values - centre) ** 2).sum(1) for centre in centres], axis=0)
        chances = away / away.sum() if away.sum() > 0 else None
        centres.append(values[random.choice(len(values), p=chances)])
    return np.array(centres)
