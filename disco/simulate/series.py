"""Series of counts with a known graph: edges within a step and from earlier steps, and a past of each node's own.

Node j of a unit at step t has the mean μ of its family at

    b_j + o_j r(x_j,t-1) + Σ w_ij r(x_i,t) + Σ v_ijl r(x_i,t-l) + what is common,    r(x) = √(x + 1/2) − √(m + 1/2)

with m the usual mean of a node. Edges within a step follow an order; those from earlier steps join any two nodes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import require, whole_from

FAMILIES = ("poisson", "nb", "binomial")
_WARM_UP = 60  # steps before the first
_MEAN, _TRIALS, _SIZE = 4.0, 50, 4.0  # of a node, of a binomial count, of a negative binomial one
_STRENGTH = (0.45, 0.9)  # of an effect, in means of a softplus or logits times ten
_SHIFTED = 0.3  # share of effects that are negative
_CLIP = 40.0  # largest mean


@dataclass(frozen=True)
class SeriesDesign:
    """A description of simulated series."""

    nodes: int = 8
    steps: int = 300
    units: int = 1
    lags: int = 1
    edges: float = 1.0  # within a step, per node
    lag_edges: float = 1.0  # from earlier steps, per node
    own_past: tuple[float, float] = (0.2, 0.6)  # the effect of a node's own past, between these
    family: str = "poisson"
    unit_effect: float = 0.0  # standard deviation between units
    season: int = 0  # steps of a period that all nodes share, each in its phase; 0 without
    trend: float = 0.0  # standard deviation of a slow trend of each node
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("nodes", "steps", "units", "lags"):
            require(name, getattr(self, name), whole_from(1))
        if self.family not in FAMILIES:
            raise InputError(f"family must be one of {', '.join(FAMILIES)}; got {self.family!r:.40}.")


class Series(NamedTuple):
    """Simulated series with their truth."""

    table: pd.DataFrame  # unit (with several), step, then the nodes
    truth: pd.DataFrame  # columns parent, child: within a step
    lagged: pd.DataFrame  # columns parent, child, lag: from earlier steps, without a node's own past
    order: list[str]  # of the edges within a step


def series(design: SeriesDesign) -> Series:
    """Draw the series of a design; the same design always gives the same table."""
    graph, effects, draws = (np.random.default_rng([design.seed, stream]) for stream in range(3))
    d, names = design.nodes, [f"x{node + 1}" for node in range(design.nodes)]
    order = graph.permutation(d)
    within, across = _graph(design, order, graph)
    sizes = [effects.uniform(*_STRENGTH, shape) for shape in (within.shape, across.shape)]
    signs = [np.where(effects.random(size.shape) < _SHIFTED, -1.0, 1.0) for size in sizes]
    same, lagged = (mask * size * sign for mask, size, sign in zip((within, across), sizes, signs, strict=True))
    lagged[0][np.diag_indices(d)] = effects.uniform(*design.own_past, d)
    base = effects.uniform(-1.0, 1.0, d)
    values = _drawn(design, order, same, lagged, _common(design, base, effects), draws)
    parent, child = np.nonzero(within)
    lag, source, target = np.nonzero(across)
    label = np.array(names)
    return Series(
        _table(design, values, names),
        pd.DataFrame({"parent": label[parent], "child": label[child]}),
        pd.DataFrame({"parent": label[source], "child": label[target], "lag": lag + 1}),
        [names[node] for node in order],
    )


def _graph(design: SeriesDesign, order: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The edges within a step, (nodes, nodes), and those from earlier steps, (lags, nodes, nodes)."""
    d = design.nodes
    within, across = np.zeros((d, d), bool), np.zeros((design.lags, d, d), bool)
    upward = [(order[a], order[b]) for a in range(d) for b in range(a + 1, d)]
    chosen = random.choice(len(upward), min(round(design.edges * d), len(upward)), replace=False)
    within[tuple(np.array([upward[at] for at in chosen], int).reshape(-1, 2).T)] = True
    lagged = np.flatnonzero(np.broadcast_to(~np.eye(d, dtype=bool), across.shape))
    across.flat[random.choice(lagged, min(round(design.lag_edges * d), len(lagged)), replace=False)] = True
    return within, across


def _common(design: SeriesDesign, base: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """What a node's location has besides its parents, (steps, units, nodes)."""
    steps, d = design.steps + _WARM_UP, design.nodes
    time = np.arange(steps)[:, None, None]
    common = np.broadcast_to(base, (steps, design.units, d)).copy()
    common += design.unit_effect * random.standard_normal((design.units, d))
    if design.season:
        common += 1.5 * np.cos(2 * np.pi * time / design.season + random.uniform(0, 0.8, d))
    if design.trend:
        walk = np.cumsum(random.standard_normal((steps, d)), axis=0)
        common += (design.trend * (walk - walk.mean(axis=0)) / walk.std(axis=0))[:, None]
    return common


def _drawn(
    design: SeriesDesign,
    order: np.ndarray,
    same: np.ndarray,
    lagged: np.ndarray,
    common: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """The counts, (steps, units, nodes)."""
    mean = _TRIALS / 2 if design.family == "binomial" else _MEAN
    values = np.zeros(common.shape)
    roots = np.zeros(common.shape)
    parents = [np.flatnonzero(same[:, node]) for node in range(design.nodes)]
    for step in range(len(common)):
        location = common[step] + sum(roots[step - lag - 1] @ lagged[lag] for lag in range(min(design.lags, step)))
        for node in order:
            drift = location[:, node] + roots[step][:, parents[node]] @ same[parents[node], node]
            values[step, :, node] = _counts(design.family, drift, mean, random)
            roots[step, :, node] = np.sqrt(values[step, :, node] + 0.5) - np.sqrt(mean + 0.5)
    return values[_WARM_UP:].astype(np.int64)


def _counts(family: str, drift: np.ndarray, mean: float, random: np.random.Generator) -> np.ndarray:
    if family == "binomial":
        return random.binomial(_TRIALS, 1 / (1 + np.exp(-drift / 2.5)))
    location = np.minimum(np.logaddexp(0.0, mean + 1.6 * drift), _CLIP)
    return random.poisson(location if family == "poisson" else random.gamma(_SIZE, location / _SIZE))


def _table(design: SeriesDesign, values: np.ndarray, names: list[str]) -> pd.DataFrame:
    steps, units, d = values.shape
    table = pd.DataFrame(values.transpose(1, 0, 2).reshape(-1, d), columns=names)
    table.insert(0, "step", np.tile(np.arange(1, steps + 1), units))
    if units > 1:
        table.insert(0, "unit", np.repeat([f"unit {unit + 1}" for unit in range(units)], steps))
    return table
