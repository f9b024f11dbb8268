"""A node's type of count distribution, in words, from its fitted model.

A *shape* is a log base measure c_s, up to a linear term absorbed by the canonical parameter:

    Poisson             −log x!
    negative binomial   log Γ(x + r) − log x!
    binomial            −log x! − log (N − x)!
    COM-Poisson         −ν log x!

each also with an extra weight at zero, z · 1[x = 0] with z > 0. The distance of the fitted model p from a shape is the
average over the rows of the smallest Kullback–Leibler divergence

    min over a of KL(p(· | pa) ‖ q),   q(x) ∝ exp(a x + c_s(x) + z 1[x = 0]) on the column's own counts,

with r, N or ν and z chosen once for all rows; at the minimum over a, q has the mean of p. On n rows a shape loses about
n times its distance in log-likelihood, so the nearest shape is the one with the smallest n · distance + ½ log n ·
(number of parameters). A COM-Poisson, an unusual choice, must be nearer than the others by 3 nats.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, log_softmax, logsumexp

from disco.likelihood.model import Model

POISSON, NB, BINOMIAL, COM = "Poisson", "negative binomial", "binomial", "COM-Poisson"
_MOST_DISTANCE = 0.01  # nats per row; a shape at a larger distance is not called close
_GROUPS = 16  # number of groups of rows with similar canonical parameters
_NEAR_NATS = 3.0  # nats over all rows within which two shapes count as equally near
_EQUAL = 0.05  # variance over mean this close to 1 counts as equal
_CUT = 0.05  # share of a shape's mass beyond the largest count above which it is called truncated
_ROUGH = 0.05  # share of rows beside gaps above which the gaps are mentioned
_STEPS = 40
_GAIN = 1e-10  # smallest gain of the next Newton step, nats per row
_LEAST_VARIANCE = 1e-12  # smallest variance as a divisor, in squared standard deviations of the node


@dataclass(frozen=True, eq=False)
class CountShape:
    """A shape's nearest distribution to a fitted node."""

    name: str  # Poisson, negative binomial, binomial or COM-Poisson
    parameter: float  # r, N or ν; NaN for Poisson
    zero_weight: float  # z; 0 if it has none
    distance: float  # nats per row
    cost: float  # n · distance + ½ log n · (number of parameters), nats
    cut: float  # the share of its mass beyond the column's largest count, where it is truncated
    base_zeros: float  # its expected share of zeros without the weight at zero, at the same means
    log_probability: np.ndarray  # log p in the node's groups of rows, (groups, levels)

    def words(self) -> str:
        """As a phrase: `a negative binomial of size 3.1 with extra zeros`."""
        size = {
            POISSON: "a Poisson",
            NB: f"a negative binomial of size {self.parameter:.3g}",
            BINOMIAL: f"a binomial of {self.parameter:.0f} trials",
            COM: f"a COM-Poisson with ν = {self.parameter:.3g}",
        }
        extra = " with extra zeros" if self.zero_weight else ""
        return size[self.name] + extra + (" truncated at its largest count" if self.cut > _CUT else "")


@dataclass(frozen=True)
class Kind:
    """A node's type of count distribution."""

    node: str
    counts: np.ndarray  # its distinct counts, ascending, (levels,)
    share: np.ndarray  # share of the rows in each group, (groups,)
    log_probability: np.ndarray  # the fitted log p in the groups, (groups, levels)
    shapes: tuple[CountShape, ...]  # nearest first
    ratio: float  # conditional variance over conditional mean, both averaged over the rows
    zeros: float  # the fitted model's expected share of zeros
    poisson_zeros: float  # that of a Poisson with the same means on the same counts
    gaps: int  # number of whole numbers between the smallest and the largest count that never occur
    beside: float  # the share of rows with a count next to such a gap
    rows: int
    is_level: bool = False  # whether the numbers are levels of a quantile transform instead of counts

    @property
    def nearest(self) -> CountShape:
        """The shape with the lowest cost, where COM-Poisson must be better by `_NEAR_NATS`."""
        return self.shapes[0]

    @property
    def fits(self) -> bool:
        """Whether the nearest shape is close enough to be named."""
        return self.nearest.distance < _MOST_DISTANCE

    def table(self) -> pd.DataFrame:
        """One row per shape, nearest first: shape, parameter, zero_weight, distance, cost."""
        names = ("name", "parameter", "zero_weight", "distance", "cost")
        table = pd.DataFrame([[getattr(shape, name) for name in names] for shape in self.shapes], columns=list(names))
        return table.rename(columns={"name": "shape"})

    def sentence(self) -> str:
        """A summary in one or two sentences."""
        if len(self.counts) < 3:
            return "Two values only: one parameter describes such a distribution, and every shape fits."
        if self.is_level:
            return "Quantile levels, not counts: shapes of count distributions do not apply."
        return f"{self._spread()}, {self._shape()}{self._zeros()}.{self._doubts()}"

    def _spread(self) -> str:
        times = f"variance {self.ratio:.2f} times the mean"
        if abs(self.ratio - 1) < _EQUAL:
            return "Neither over- nor under-dispersed (variance about the mean)"
        return f"{'Over' if self.ratio > 1 else 'Under'}-dispersed ({times})"

    def _shape(self) -> str:
        if not self.fits:
            return f"not close to any of these shapes (the nearest is {self.nearest.words()})"
        near = [s for s in self.shapes[1:] if s.cost - self.nearest.cost < _NEAR_NATS and s.distance < _MOST_DISTANCE]
        also = [shape.words() for shape in near if shape.name != self.nearest.name]
        return f"close to {self.nearest.words()}" + (f" (or equally close to {also[0]})" if also else "")

    def _zeros(self) -> str:
        nearest = self.nearest
        base = nearest.base_zeros if nearest.zero_weight else self.poisson_zeros
        if self.counts[0] != 0 or (nearest.name == POISSON and not nearest.zero_weight) or self.zeros < 0.005:
            return ""
        than = "without them" if nearest.zero_weight else "a Poisson with the same means"
        if base < self.zeros / 20:
            return f"; {self.zeros:.0%} zeros, almost none {'' if nearest.zero_weight else 'in '}{than}"
        change = self.zeros / base - 1
        if change >= 1:
            return f"; {change + 1:.1f} times as many zeros as {than}"
        return (
            f"; {abs(change):.0%} {'more' if change > 0 else 'fewer'} zeros than {than}" if abs(change) > 0.01 else ""
        )

    def _doubts(self) -> str:
        if self.beside < _ROUGH:
            return ""
        return (
            f" {self.gaps:,} numbers between its smallest and largest count never occur, and {self.beside:.0%} of the "
            "rows are next to such gaps. There the model uses levels, so a shape is only a rough guide."
        )


def describe(model: Model, node: str, *, is_level: bool = False) -> Kind:
    """Compare a node's fitted conditional distribution with the shapes. InputError: there is no such node."""
    share, log_probability = model.conditionals(node, _GROUPS)
    counts, rows = model.grids[model.names.index(node)], model.design.rows
    fitted = _Fitted(counts.astype(float), share, log_probability)
    shapes = sorted(_shapes(fitted, rows), key=lambda shape: shape.cost + _NEAR_NATS * (shape.name == COM))
    poisson = next(shape for shape in shapes if shape.name == POISSON and not shape.zero_weight)
    p = np.exp(log_probability)
    above, variance = _moments(p, fitted.above)
    mean = above + fitted.counts[0]
    wide = np.diff(counts) > 1
    is_beside = np.append(wide, False) | np.insert(wide, 0, False)
    return Kind(
        node,
        counts,
        share,
        log_probability,
        tuple(shapes),
        ratio=float(share @ variance / (share @ mean)),
        zeros=fitted.zeros,
        poisson_zeros=poisson.base_zeros,
        gaps=int(counts[-1] - counts[0] + 1 - len(counts)),
        beside=float(share @ p[:, is_beside].sum(1)),
        rows=rows,
        is_level=is_level,
    )


@dataclass(frozen=True)
class _Fitted:
    """Counts, (levels,), share of rows, (groups,), and log p, (groups, levels)."""

    counts: np.ndarray
    share: np.ndarray
    log_probability: np.ndarray

    @property
    def above(self) -> np.ndarray:
        """Counts minus the smallest, (levels,): so that moments of large counts keep their digits."""
        return self.counts - self.counts[0]

    @property
    def zeros(self) -> float:
        return float(self.share @ np.exp(self.log_probability[:, 0])) if self.counts[0] == 0 else 0.0


def _log_measure(name: str, parameter: float, counts: np.ndarray) -> np.ndarray:
    """c_s at counts; −∞ beyond a binomial's trials."""
    poisson = -gammaln(counts + 1)
    if name == NB:
        return gammaln(counts + parameter) + poisson
    if name == BINOMIAL:
        return np.where(counts > parameter, -np.inf, poisson - gammaln(np.maximum(parameter - counts, 0) + 1))
    return parameter * poisson if name == COM else poisson


def _bounds(name: str, top: float) -> tuple[float, float] | None:
    """Bounds of the logarithm of a parameter; for a binomial, of N + 1 minus the largest count."""
    binomial = (0.0, np.log(20 * top + 1))
    return {NB: (np.log(0.05), np.log(200.0)), BINOMIAL: binomial, COM: (np.log(0.1), np.log(10.0))}.get(name)


def _shapes(fitted: _Fitted, rows: int) -> Iterator[CountShape]:
    has_zero = fitted.counts[0] == 0 and len(fitted.counts) > 2
    for name in (POISSON, NB, BINOMIAL, COM):
        bounds = _bounds(name, fitted.counts[-1])
        for weighted in (False, True)[: 1 + has_zero]:
            parameter = np.nan if bounds is None else _best(fitted, name, bounds, weighted)
            log_measure = _log_measure(name, parameter, fitted.counts)
            q, slope, weight, distance = _project(fitted, log_measure, weighted)
            if weighted and weight <= 0:
                continue
            plain = _project(fitted, log_measure, False)[0] if weighted else q
            base = float(fitted.share @ np.exp(plain[:, 0])) if fitted.counts[0] == 0 else 0.0
            cut = _cut(fitted, q, slope, name, parameter)
            chosen = (bounds is not None) + weighted
            yield CountShape(
                name, parameter, weight, distance, rows * distance + chosen * np.log(rows) / 2, cut, base, q
            )


def _cut(fitted: _Fitted, q: np.ndarray, slope: np.ndarray, name: str, parameter: float) -> float:
    """The share of a shape's mass beyond the largest count, up to about three times that count."""
    top = fitted.counts[-1]
    outside = top + np.arange(1.0, min(2 * top + 20, 4000))
    at_top = _log_measure(name, parameter, fitted.counts[-1:])
    log_ratio = slope[:, None] * (outside - top) + _log_measure(name, parameter, outside) - at_top
    mass = np.exp(np.minimum(logsumexp(log_ratio, axis=1) + q[:, -1], 700.0))  # in units of the mass inside
    return float(fitted.share @ (mass / (1 + mass)))


def _best(fitted: _Fitted, name: str, bounds: tuple[float, float], weighted: bool) -> float:
    """The parameter of the nearest distribution of the shape; a whole number for a binomial."""

    def value(at: float) -> float:
        return fitted.counts[-1] - 1 + np.exp(at) if name == BINOMIAL else float(np.exp(at))

    def distance(at: float) -> float:
        return _project(fitted, _log_measure(name, value(at), fitted.counts), weighted)[3]

    minimum = minimize_scalar(distance, bounds=bounds, method="bounded", options={"xatol": 0.01})
    return float(np.round(value(minimum.x))) if name == BINOMIAL else value(minimum.x)


def _project(fitted: _Fitted, log_measure: np.ndarray, weighted: bool) -> tuple[np.ndarray, np.ndarray, float, float]:
    """The shape nearest to the fitted model: log q, (groups, levels), a, (groups,), the weight at zero, the distance.

    Newton's method on the convex sum over the groups, jointly in every a and z.
    """
    p, share = np.exp(fitted.log_probability), fitted.share
    unit = max(float(np.sqrt(_moments((share @ p)[None], fitted.above)[1][0])), 1e-9)
    x = fitted.above / unit
    mean, variance = _moments(p, x)
    start = fitted.log_probability - log_measure
    # Exact if the fitted model has this shape; a group with a single count has no slope.
    a = (p * (x - mean[:, None]) * start).sum(1) / np.maximum(variance, _LEAST_VARIANCE)
    z, zero = 0.0, np.where(fitted.counts == 0, 1.0, 0.0)

    def evaluate(a: np.ndarray, z: float) -> tuple[np.ndarray, float]:
        q = log_softmax(a[:, None] * x + log_measure + z * zero, axis=1)
        return q, float(share @ (p * (fitted.log_probability - q)).sum(1))

    q, distance = evaluate(a, z)
    for _ in range(_STEPS):
        step_a, step_z, predicted = _newton(np.exp(q), p, x, share, zero, weighted)
        if predicted < _GAIN:
            break
        size = 1.0
        while size > 1e-4:
            ahead, new = evaluate(a + size * step_a, z + size * step_z)
            if new < distance:
                break
            size /= 2
        else:
            break
        a, z, q, distance = a + size * step_a, z + size * step_z, ahead, new
    return q, a / unit, z, max(distance, 0.0)


def _moments(p: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of values, (levels,), under distributions, (groups, levels): (groups,) each."""
    mean = p @ x
    return mean, (p * (x - mean[:, None]) ** 2).sum(1)


def _newton(
    q: np.ndarray, p: np.ndarray, x: np.ndarray, share: np.ndarray, zero: np.ndarray, weighted: bool
) -> tuple[np.ndarray, float, float]:
    mean, variance = _moments(q, x)
    centred, variance = x - mean[:, None], np.maximum(variance, _LEAST_VARIANCE)
    slope = p @ x - mean
    if not weighted:
        return slope / variance, 0.0, float(share @ (slope**2 / variance)) / 2
    shift = (q * centred) @ zero
    slope_z = (p - q) @ zero
    zero_variance = q @ zero * (1 - q @ zero)
    pull = float(share @ (slope_z - shift / variance * slope))
    step_z = pull / max(float(share @ (zero_variance - shift**2 / variance)), _LEAST_VARIANCE)
    step_a = (slope - shift * step_z) / variance
    return step_a, step_z, float(share @ (slope * step_a + slope_z * step_z)) / 2
