"""Contrasts: what setting some nodes did to all others, as ratios of rates, free of any model class.

Rows of an arm are compared with the controls in the same stratum, by the Mantel–Haenszel rate ratio

    R = Σ_s (T_s c_s / N_s) / Σ_s (C_s t_s / N_s),    N_s = t_s + c_s,

with T_s, C_s the counts and t_s, c_s the exposures (or numbers of rows) of arm and controls (Greenland and Robins,
Biometrics 1985). The interval is that of log R with the sandwich variance of its estimating equation, in which rows of
a group count together, and Student's t with as many degrees of freedom as there are units less two.

The p-value is that of permuting the arms among units within strata: exact moments and a normal tail if both sides have
many units, drawn permutations otherwise. A unit is a row, or a group if each group is in one arm; a group with rows in
several arms is a stratum. Over all contrasts of a table, q is the false discovery rate of Benjamini and Hochberg.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from disco.table.adjustment import CATEGORICAL, ORDINAL, Adjustment
from disco.table.prepared import Prepared

MARGIN = 0.1  # a change of the rate by less than this share, up or down, counts as none
RATE = 0.05  # false discovery rate of the contrasts that become rules
COLUMNS = (
    *("arm", "node", "targets", "rows", "units", "control", "treated"),
    *("ratio", "low", "high", "p_value", "q_value", "changed", "unchanged"),
)
_LEVEL = 0.95
_MANY = 100  # units on each side from which on the normal tail is used
_DRAWN = 9999  # permutations
_PARTS = 4  # of a numeric covariate


class _Units(NamedTuple):
    """The compared units of one arm: one row or group each.

    Attributes:
        counts: (units, d).
        exposure: (units,).
        treated: (units,) bool.
        stratum: from 0, (units,).
    """

    counts: np.ndarray
    exposure: np.ndarray
    treated: np.ndarray
    stratum: np.ndarray


def contrasts(given: Prepared, margin: float = MARGIN, seed: int = 0) -> pd.DataFrame:
    """Every arm against the controls, for every node that it does not set itself.

    Args:
        given: a table with interventions; covariates make strata.
        margin: a ratio counts as unchanged if its interval lies within 1 / (1 + margin) and 1 + margin.
        seed: of the drawn permutations.

    Returns:
        One row per arm and node, columns `COLUMNS`: targets, a tuple of nodes; the arm's rows and units that are
        compared; control and treated, the mean counts at an exposure of 1, and their ratio with its 95 % interval (NaN
        where a mean is 0 or no stratum has both); p and q; whether the node changed (q at most 5 %); whether it stayed
        the same as far as the margin. Empty without interventions.
    """
    adjustment = given.adjustment
    done = None if adjustment is None else adjustment.interventions
    if adjustment is None or done is None:
        return pd.DataFrame(columns=list(COLUMNS))
    names, random, rows = list(given.counts.columns), np.random.default_rng(seed), []
    strata = _strata(adjustment)
    for number, (label, targets) in enumerate(zip(done.arms, done.targets, strict=True), start=1):
        units, many = _compared(given, adjustment, strata, number)
        ratios, p_values = _ratios(units), _p_values(units, random)
        means = _means(units)
        for at, name in enumerate(names):
            if name not in targets:
                size = many, int(units.treated.sum())
                rows.append((label, name, targets, *size, *means[:, at], *ratios[:, at], p_values[at]))
    found = pd.DataFrame(rows, columns=list(COLUMNS[:11]))
    tested = found["p_value"].notna()
    found["q_value"] = np.nan
    if tested.any():
        found.loc[tested, "q_value"] = false_discovery_control(found.loc[tested, "p_value"])
    found["changed"] = found["q_value"] <= RATE
    found["unchanged"] = (found["low"] >= 1 / (1 + margin)) & (found["high"] <= 1 + margin)
    return found


def _strata(adjustment: Adjustment) -> np.ndarray:
    """The stratum of every row by its covariates, numbers in quarters, (n,)."""
    parts = [np.zeros(adjustment.rows, dtype=np.int64)]
    for one in adjustment.covariates:
        if one.kind in (CATEGORICAL, ORDINAL):
            parts.append(one.values.astype(np.int64))
        else:
            cuts = np.quantile(one.values, np.arange(1, _PARTS) / _PARTS)
            parts.append(np.searchsorted(cuts, one.values, side="right"))
    return np.unique(np.column_stack(parts), axis=0, return_inverse=True)[1].reshape(-1)


def _compared(given: Prepared, adjustment: Adjustment, strata: np.ndarray, number: int) -> tuple[_Units, int]:
    """The units of an arm and of the controls in strata that have both, and the number of the arm's rows in them."""
    arm, group = adjustment.interventions.arm, adjustment.group  # type: ignore[union-attr]  # the caller has them
    kept = (arm == number) | (arm == 0)
    treated, stratum, counts = arm[kept] == number, strata[kept], given.counts.to_numpy()[kept]
    exposure = np.ones(kept.sum()) if adjustment.log_exposure is None else np.exp(adjustment.log_exposure[kept])
    if group is not None:
        group = np.unique(group[kept], return_inverse=True)[1]
        sides = np.zeros((group.max() + 1, 2), dtype=bool)
        sides[group, treated.astype(int)] = True
        if sides.all(1).any():  # groups with both sides are strata, and so are the others, which drop out
            stratum = np.unique(np.column_stack([stratum, group]), axis=0, return_inverse=True)[1].reshape(-1)
        else:  # a group is a unit; its parts in several strata stay apart
            unit = np.unique(np.column_stack([stratum, group]), axis=0, return_inverse=True)[1].reshape(-1)
            size = unit.max() + 1
            counts, first = _summed(counts, unit, size), np.unique(unit, return_index=True)[1]
            exposure, treated, stratum = np.bincount(unit, exposure, size), treated[first], stratum[first]
    both = np.zeros((stratum.max() + 1, 2), dtype=bool)
    both[stratum, treated.astype(int)] = True
    used = np.asarray(both.all(1))[stratum]
    units = _Units(counts[used], exposure[used], treated[used], np.unique(stratum[used], return_inverse=True)[1])
    rows = arm[kept] == number
    return units, int(rows.sum()) if used.all() else int(used[treated].sum())


def _summed(values: np.ndarray, by: np.ndarray, size: int) -> np.ndarray:
    """Sums of the rows with the same number, (size, d)."""
    found = np.zeros((size, values.shape[1]))
    np.add.at(found, by, values)
    return found


def _means(units: _Units) -> np.ndarray:
    """Mean counts at an exposure of 1, of controls and of treated, (2, d)."""
    sides = [
        units.counts[side].sum(0) / max(units.exposure[side].sum(), 1e-300) for side in (~units.treated, units.treated)
    ]
    return np.array(sides) if len(units.counts) else np.full((2, units.counts.shape[1]), np.nan)


def _ratios(units: _Units) -> np.ndarray:
    """The Mantel–Haenszel rate ratio with its interval, (3, d)."""
    nodes = units.counts.shape[1]
    if len(units.counts) < 3:
        return np.full((3, nodes), np.nan)
    size, treated = units.stratum.max() + 1, units.treated
    t, c = (np.bincount(units.stratum, units.exposure * side, size) for side in (treated, ~treated))
    counts_t, counts_c = (_summed(units.counts * side[:, None], units.stratum, size) for side in (treated, ~treated))
    up, down = (c / (t + c)) @ counts_t, (t / (t + c)) @ counts_c
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = up / down
        # Each unit's part in Σ (T c − R C t) / N, about its side's rate in the stratum.
        side, at = np.where(treated[:, None], counts_t[units.stratum], counts_c[units.stratum]), units.stratum
        rate = side / np.where(treated, t[at], c[at])[:, None]
        weight = np.where(treated, c[at], -t[at])[:, None] / (t + c)[at][:, None]
        parts = (units.counts - rate * units.exposure[:, None]) * weight * np.where(treated[:, None], 1.0, ratio)
        many = len(units.counts)
        spread = np.sqrt((parts**2).sum(0) * many / (many - 1)) / up
        half = student.ppf((1 + _LEVEL) / 2, max(many - size - 1, 1)) * spread
        found = np.array([ratio, ratio * np.exp(-half), ratio * np.exp(half)])
    found[:, ~((up > 0) & (down > 0))] = np.nan
    return found


def _p_values(units: _Units, random: np.random.Generator) -> np.ndarray:
    """Two-sided p-values of the treated units' sum about the strata's rates, by permutations within strata, (d,)."""
    nodes, size = units.counts.shape[1], int(units.stratum.max(initial=-1)) + 1
    if not size:
        return np.full(nodes, np.nan)
    total = _summed(units.counts, units.stratum, size) / np.bincount(units.stratum, units.exposure, size)[:, None]
    scores = units.counts - total[units.stratum] * units.exposure[:, None]
    many = np.bincount(units.stratum, minlength=size)
    share = np.bincount(units.stratum, units.treated, size)
    mean = _summed(scores, units.stratum, size) / many[:, None]
    squares = _summed((scores - mean[units.stratum]) ** 2, units.stratum, size)
    expected = share @ mean
    variance = (share * (many - share) / (many * np.maximum(many - 1, 1))) @ squares
    seen = scores[units.treated].sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(seen - expected) / np.sqrt(variance)
    p_values = 2 * ndtr(-z)
    if min(units.treated.sum(), (~units.treated).sum()) < _MANY:
        p_values = np.where(np.isfinite(z), _drawn(units, scores, np.abs(seen - expected), expected, random), np.nan)
    return np.where(variance > 0, p_values, np.nan)


def _drawn(
    units: _Units, scores: np.ndarray, apart: np.ndarray, expected: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """The share of drawn permutations at least as far apart, (d,)."""
    order = np.argsort(units.stratum, kind="stable")
    stratum, treated, scores = units.stratum[order], units.treated[order], scores[order]
    beyond, left = np.zeros(scores.shape[1]), _DRAWN
    while left:
        part = min(left, 500)
        keys = stratum + random.random((part, len(stratum)))  # sorting keeps strata together
        moved = treated[np.argsort(keys, axis=1)]
        beyond += (np.abs(moved @ scores - expected) >= apart * (1 - 1e-9)).sum(0)
        left -= part
    return (1 + beyond) / (1 + _DRAWN)
