"""Covariates, contexts, exposure, groups and interventions of the rows of a table.

A covariate is always allowed as a cause of every node and never a node itself. A context is a treatment, arm, site or
season whose effects are to be found: a node of the graph that nothing acts on. An exposure is how long, how deeply or
how widely a row was sampled: a node's counts grow with it, and as parents counts enter as rates (count / exposure).
Rows of one group belong together: folds and resampled tables keep them together. The past of a row in a series is what
the rows before it counted: causes of any node, never nodes themselves.
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.linalg import eigh

from disco.table.interventions import LIKE_CONTROLS, Interventions
from disco.table.past import Past, column_name

CONTINUOUS, ORDINAL, CATEGORICAL, COUNT = "continuous", "ordinal", "categorical", "count"
KINDS = (CONTINUOUS, ORDINAL, CATEGORICAL, COUNT)  # of covariates
RANDOMISED = "randomised"
CONTEXT_KINDS = (CATEGORICAL, CONTINUOUS, RANDOMISED)  # the last one is categorical, and was assigned by chance
ONLY_CAUSES = "Adjusting is right for a cause. For an effect of the counts it creates edges between its causes."
_WAVES = 4  # of a number among the inputs of the networks
_NOTHING = 1e-9  # of the largest eigenvalue
_LEAST_EXPECTED = 0.1  # of the mean of a column, that is expected of any row
_ROUNDS = 3  # through several covariates
MOST_LEVELS = 60  # of a categorical covariate: every node gets a coefficient for each


@dataclass(frozen=True, eq=False)
class Covariate:
    """The values of one covariate."""

    name: str  # of its column
    kind: str  # one of `KINDS`
    values: np.ndarray  # numbers, (n,); level codes from 0 if it is categorical or ordinal
    levels: tuple[str, ...] = ()  # the names of the levels, in the order of their codes

    @cached_property
    def scale(self) -> np.ndarray:
        """The values on the scale on which effects are smooth, (n,): the square root of a count."""
        return np.sqrt(self.values) if self.kind == COUNT else self.values.astype(float)


@dataclass(frozen=True, eq=False)
class Context(Covariate):
    """The values of one context, categorical or continuous."""

    # whether its levels were assigned by chance, so that what it changes it causes, whatever is hidden
    is_random: bool = False

    @cached_property
    def compared_with(self) -> int:
        """The code of the reference level: that of controls, or the most frequent one."""
        named = [code for code, level in enumerate(self.levels) if level.strip().lower() in LIKE_CONTROLS]
        return named[0] if named else int(np.bincount(self.values).argmax())


@dataclass(frozen=True, eq=False)
class Adjustment:
    """Covariates, contexts, exposure, groups and interventions of n rows."""

    rows: int  # n
    covariates: tuple[Covariate, ...] = ()  # in the order of their columns
    exposure: np.ndarray | None = None  # of every row, above 0, (n,), or None
    group: np.ndarray | None = None  # the number of every row's group, from 0, (n,), or None
    interventions: Interventions | None = None  # which nodes were set in which rows, or None
    contexts: tuple[Context, ...] = ()  # in the order of their columns
    past: Past | None = None  # the rows before, of rows in the order of time, or None

    @property
    def is_only_arms(self) -> bool:
        """Whether there are no covariates, exposure, groups, contexts or past."""
        beside = self.covariates or self.contexts or self.past
        return not beside and self.exposure is None and self.group is None

    @property
    def log_exposure(self) -> np.ndarray | None:
        """log(exposure / its geometric mean), (n,), or None: the offset of a node."""
        return self.log_exposure_like(self)

    def log_exposure_like(self, reference: "Adjustment") -> np.ndarray | None:
        """log exposure, (n,), 0 at the geometric mean of the reference's exposures; None if one of the two has none."""
        if self.exposure is None or reference.exposure is None:
            return None
        return np.log(self.exposure) - np.log(reference.exposure).mean()

    def take(self, rows: np.ndarray) -> "Adjustment":
        """The adjustment of some rows, by number or by mask; levels keep their codes."""
        covariates = tuple(replace(covariate, values=covariate.values[rows]) for covariate in self.covariates)
        contexts = tuple(replace(covariate, values=covariate.values[rows]) for covariate in self.contexts)
        exposure, group = (None if values is None else values[rows] for values in (self.exposure, self.group))
        interventions = None if self.interventions is None else self.interventions.take(rows)
        past = None if self.past is None else self.past.take(rows)
        return Adjustment(len(np.arange(self.rows)[rows]), covariates, exposure, group, interventions, contexts, past)

    def equals(self, adjustment: "Adjustment | None") -> bool:
        """Whether another adjustment is equal."""
        return adjustment is not None and self.digest() == adjustment.digest()

    def exposure_as_covariate(self) -> "Adjustment":
        """The adjustment with log exposure as a continuous covariate instead, for nodes that are not counts."""
        if self.log_exposure is None:
            return self
        covariate = Covariate("exposure", CONTINUOUS, self.log_exposure)
        return replace(self, covariates=(*self.covariates, covariate), exposure=None)

    def as_covariates(self) -> "Adjustment":
        """The adjustment with contexts and the past as covariates, for methods that cannot search for their effects."""
        past = [] if self.past is None else [Covariate(name, COUNT, at) for name, at in self.past.columns().items()]
        return replace(self, covariates=(*self.covariates, *self.contexts, *past), contexts=(), past=None)

    def with_past_of(self, lagged: pd.DataFrame | None) -> "Adjustment":
        """The adjustment for the edges of a result from rows before: their columns as covariates, and no other past."""
        if self.past is None or lagged is None:
            return self
        pairs = dict.fromkeys(zip(lagged["parent"], lagged["lag"], strict=True))
        columns = self.past.columns()
        past = [Covariate(name, COUNT, columns[name]) for name in (column_name(*pair) for pair in pairs)]
        return replace(self, covariates=(*self.covariates, *past), past=None)

    def digest(self) -> str:
        """A digest of all fields, which distinguishes results made with different adjustments."""
        digest = hashlib.sha256(f"{self.rows}".encode())
        for covariate in (*self.covariates, *self.contexts):
            random = [covariate.is_random] if isinstance(covariate, Context) else []
            facts = (covariate.name, covariate.kind, covariate.levels, *random)
            digest.update(repr(facts).encode() + covariate.values.astype("<f8").tobytes())
        for values in (self.exposure, self.group):
            digest.update(b"-" if values is None else b"+" + values.astype("<f8").tobytes())
        if self.interventions is not None:
            self.interventions.update(digest)
        if self.past is not None:
            self.past.update(digest)
        return digest.hexdigest()

    def inputs(self) -> np.ndarray:
        """Network inputs, (n, columns) float32: a number with waves, a column per level, log exposure, the past."""
        columns = [
            np.eye(len(covariate.levels))[covariate.values]
            if covariate.kind == CATEGORICAL
            else _curves(covariate.scale)
            for covariate in self.covariates
        ]
        if self.log_exposure is not None:
            columns.append(_curves(self.log_exposure))
        if self.past is not None:
            columns += [_curves(values, self.past.waves) for values in self.past.scaled.T]
        return np.column_stack([*columns, np.empty((self.rows, 0))]).astype(np.float32)


def _curves(values: np.ndarray, most: int = _WAVES) -> np.ndarray:
    """The values and cos(π k u) of their mid-ranks u in (0, 1), k = 1, 2, …, all standardised, (n, columns).

    A sum of these can follow a curved effect for any distribution of the values; m distinct values have m − 1 columns,
    `most` waves at most.
    """
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = ((counts.cumsum() - counts / 2) / len(values))[index]
    waves = [np.cos(np.pi * k * ranks) for k in range(1, min(most, len(counts) - 2) + 1)]
    return np.column_stack([_standard(curve) for curve in (values, *waves)])


def _standard(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / max(float(values.std()), 1e-12)


def declared(adjustment: Adjustment | None, rows: int) -> np.ndarray:
    """An orthonormal basis of everything declared, without the constant, (rows, columns).

    Numbers and the logarithm of the exposure enter with four waves each, so that curved effects are followed.
    """
    if adjustment is None:
        return np.zeros((rows, 0))
    inputs = _complete(adjustment).inputs().astype(float)
    inputs -= inputs.mean(axis=0) if rows else 0.0
    if not inputs.size:
        return np.zeros((rows, 0))
    values, vectors = eigh(inputs.T @ inputs)
    is_large = values > max(_NOTHING * values[-1], _NOTHING)
    return inputs @ (vectors[:, is_large] / np.sqrt(values[is_large]))


def freed(values: np.ndarray, adjustment: Adjustment | None) -> np.ndarray:
    """The counts, (rows, columns), without the effects of the declared columns of these rows, with the same means."""
    if adjustment is None or not len(values):
        return values
    if adjustment.exposure is not None:
        values = values * (np.exp(np.log(adjustment.exposure).mean()) / adjustment.exposure)[:, None]
    covariates = _complete(adjustment).covariates
    bases = [declared(Adjustment(len(values), (covariate,)), len(values)) for covariate in covariates]
    for basis in bases * (_ROUNDS if len(bases) > 1 else 1):  # one after the other, since their effects multiply
        means = values.mean(axis=0)
        fitted = means + basis @ (basis.T @ values)
        values = values * (means / np.maximum(fitted, np.maximum(_LEAST_EXPECTED * means, _NOTHING)))
    return values


def _complete(adjustment: Adjustment) -> Adjustment:
    """The adjustment with contexts and arms among its covariates."""
    complete = replace(adjustment, covariates=(*adjustment.covariates, *adjustment.contexts), contexts=())
    interventions = complete.interventions
    if interventions is None:
        return complete
    arms = Covariate(interventions.name, CATEGORICAL, interventions.arm, ("control", *interventions.arms))
    return replace(complete, covariates=(*complete.covariates, arms))
