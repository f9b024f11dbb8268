"""Contrasts: effects of setting nodes, or of a context's level, on all others, as ratios of rates without a model.

Rows of an arm are compared with the controls in the same stratum, by the Mantel–Haenszel rate ratio

    R = Σ_s (T_s c_s / N_s) / Σ_s (C_s t_s / N_s),    N_s = t_s + c_s,

with T_s, C_s the counts and t_s, c_s the exposures (or numbers of rows) of arm and controls (Greenland and Robins,
Biometrics 1985). A unit is a row, or a group if each group is in one arm; groups with rows in several arms are strata
instead. The interval is that of log R with the sandwich variance of its estimating equation, summed by units, and
Student's t.

The p-value is that of permuting the arms among units, within strata if these are rows: exact moments and a normal tail
if both sides have many units, drawn permutations otherwise. q is the false discovery rate of Benjamini and Hochberg, in
three families: contexts; nodes correlated with a target among the controls; and the others. A target's effects are
correlated with it, and the controls contain no information about the arm, so the second family keeps its power in a
wide table (stratified control; Sun and others, Genetic Epidemiology 2006).

An arm that sets one node has an expected ratio R₁ for every other node, predicted by its regression on that node among
the controls. That is the ratio if the first acts on the second and nothing else joins them. The log likelihood ratio of
R₁ against no change,

    (log R · log R₁ − (log R₁)² / 2) / se²,

is the evidence that it acts, in nats.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr, stdtrit

from disco.table.adjustment import CATEGORICAL, ORDINAL, Adjustment
from disco.table.interventions import MARGIN
from disco.table.prepared import Prepared

RATE = 0.05  # false discovery rate of what counts as changed
SUPPORT = float(np.log(20))  # nats for or against the prediction from the controls
CHANGED, SEEMS, SAME, REFUTED, UNSURE = KINDS = (
    *("changed", "seems changed", "the same, within the margin", "not as predicted", "too unsure to tell"),
)
COLUMNS = (
    *("of", "arm", "node", "targets", "rows", "units", "control", "treated", "ratio", "low", "high"),
    *("p_value", "q_value", "expected", "acts_nats", "changed", "unchanged", "excluded", "moved", "kind"),
)
_LEVEL = 0.95
_LEAST_RATIO = 0.02  # of an expected mean
_LEAST_TIED = 2.6  # standard errors of a rank correlation
_TINY = 1e-12
_MANY_UNITS = 100  # units on each side from which on the normal tail is used
_DRAWN = 9999  # permutations
_PARTS = 4  # of a numeric covariate


class _ComparedRows(NamedTuple):
    """The compared rows of one arm and of the controls: counts, (n, d); strata and units are numbered from 0, (n,).

    `block` has the stratum of every unit, within which arms are permuted, (units,).
    """

    counts: np.ndarray
    exposure: np.ndarray
    treated: np.ndarray
    stratum: np.ndarray
    unit: np.ndarray
    block: np.ndarray

    @property
    def quantile(self) -> float:
        """Student's t at the end of an interval."""
        return float(stdtrit(max(len(self.block) - self.block.max() - 2, 1), (1 + _LEVEL) / 2))

    @property
    def treated_units(self) -> np.ndarray:
        """Whether a unit is in the arm, (units,) bool; never in part."""
        return np.bincount(self.unit, self.treated, len(self.block)) > 0


class _Arm(NamedTuple):
    """An arm, or a level of a context (without targets), compared with the controls.

    `of` is the column that names it; `side` is 1 for its rows, 0 for the controls, -1 for other rows, (n,).
    """

    of: str
    label: str
    targets: tuple[str, ...]
    side: np.ndarray


def contrasts(prepared: Prepared, margin: float = MARGIN, seed: int = 0) -> pd.DataFrame:
    """Every arm and level of a context against the controls, for every node that it does not set itself.

    Args:
        prepared: a table with interventions or categorical contexts; covariates make strata.
        margin: a ratio counts as unchanged if its interval lies within 1 / (1 + margin) and 1 + margin.
        seed: of the drawn permutations.

    Returns:
        One row per arm and node, columns `COLUMNS`: of, the column that names the arm; targets, a tuple of nodes, empty
        for a level of a context; the arm's rows and units that are compared; control and treated, the mean counts at an
        exposure of 1 in the arm's strata, and their ratio with its 95% interval (NaN where a mean is 0 or no stratum
        has both); p and q; the expected ratio, and the evidence for it against no change (NaN without exactly one
        target); whether the node changed (q at most 5%); whether it is unchanged within the margin, and whether it is
        although more was expected; whether the arm moved one of its targets by more than the margin; and the kind, one
        of `KINDS`.
    """
    adjustment, names = prepared.adjustment, list(prepared.counts.columns)
    compared = list(arms(adjustment))
    if adjustment is None or not compared:
        return pd.DataFrame(columns=list(COLUMNS))
    from scipy.stats import false_discovery_control  # imported here because it takes a second

    random, strata, tied = np.random.default_rng(seed), _strata(adjustment), _tied(prepared)
    frames = [_of_arm(prepared, arm, _compared(prepared, adjustment, strata, arm), margin, random) for arm in compared]
    result = pd.concat(frames, ignore_index=True)
    families = [_family(tied, [names.index(target) for target in arm.targets]) for arm in compared]
    family = pd.Series(
        [of[names.index(node)] for of, frame in zip(families, frames, strict=True) for node in frame["node"]]
    )
    result["q_value"] = np.nan
    for _, rows in result[result["p_value"].notna()].groupby(family):
        result.loc[rows.index, "q_value"] = false_discovery_control(rows["p_value"])
    result["changed"] = result["q_value"] <= RATE
    result["unchanged"] = (result["low"] >= 1 / (1 + margin)) & (result["high"] <= 1 + margin)
    result["excluded"] = result["unchanged"] & (np.abs(np.log(result["expected"])) > np.log(1 + margin))
    return result.assign(kind=kinds(result))[list(COLUMNS)]


def kinds(frame: pd.DataFrame) -> pd.Series:
    """The kind of every contrast, one of `KINDS`: it seems changed if only its interval excludes 1.

    It is not as predicted if its target moved, nothing else is clear, and no change at all is 20 times likelier than
    the expected ratio, which then is outside of the interval.
    """
    excludes = (frame["low"] > 1) | (frame["high"] < 1)
    refuted = frame["moved"] & (frame["acts_nats"] <= -SUPPORT)
    conditions = [frame["changed"], frame["unchanged"], excludes, refuted]
    return pd.Series(np.select(conditions, [CHANGED, SAME, SEEMS, REFUTED], UNSURE), frame.index)


def named(frame: pd.DataFrame) -> pd.Series:
    """The compared arms of `contrasts` in words: the label of an arm, or `context = level`."""
    return frame["arm"].where(frame["targets"].map(len) > 0, frame["of"] + " = " + frame["arm"])


def arms(adjustment: Adjustment | None) -> Iterator[_Arm]:
    """The arms of interventions, then the levels of contexts."""
    if adjustment is None:
        return
    if (interventions := adjustment.interventions) is not None:
        for targets in dict.fromkeys(interventions.targets):  # labels that set the same nodes are one arm
            numbers = [at for at, nodes in enumerate(interventions.targets, start=1) if nodes == targets]
            label = " or ".join(interventions.arms[at - 1] for at in numbers)
            side = np.where(interventions.arm == 0, 0, np.where(np.isin(interventions.arm, numbers), 1, -1))
            yield _Arm(interventions.name, label, targets, side)
    for context in adjustment.contexts:
        for code in np.unique(context.values) if context.levels else ():
            if code != context.compared_with:
                side = np.where(context.values == context.compared_with, 0, np.where(context.values == code, 1, -1))
                yield _Arm(context.name, context.levels[code], (), side)


def _of_arm(
    prepared: Prepared, arm: _Arm, compared: _ComparedRows, margin: float, random: np.random.Generator
) -> pd.DataFrame:
    """The contrasts of one arm, without q and the columns that depend on it."""
    names = list(prepared.counts.columns)
    targets = [names.index(target) for target in arm.targets]
    (control, treated), (ratio, low, high) = means, ratios = _means(compared), _ratios(compared)
    p_values = _p_values(compared, random)
    expected, acts = (
        _acts(compared, means, ratios, targets[0]) if len(targets) == 1 else np.full((2, len(names)), np.nan)
    )
    frame = pd.DataFrame({"of": arm.of, "arm": arm.label, "node": names, "targets": [arm.targets] * len(names)})
    frame = frame.assign(rows=int(compared.treated.sum()), units=int(compared.treated_units.sum()))
    frame = frame.assign(control=control, treated=treated, ratio=ratio, low=low, high=high, p_value=p_values)
    moved = any(
        p_values[at] <= RATE and not control[at] / (1 + margin) <= treated[at] <= control[at] * (1 + margin)
        for at in targets
    )
    return frame.assign(expected=expected, acts_nats=acts, moved=moved).drop(index=targets)


def _tied(prepared: Prepared) -> np.ndarray:
    """Whether two nodes are correlated by rank in the rows without an intervention, (d, d) bool."""
    interventions = None if prepared.adjustment is None else prepared.adjustment.interventions
    ranks = prepared.counts[slice(None) if interventions is None else interventions.arm == 0].rank().to_numpy()
    ranks = ranks - ranks.mean(0)
    ranks /= np.maximum(np.sqrt((ranks**2).sum(0)), _TINY)
    return np.abs(ranks.T @ ranks) * np.sqrt(len(ranks)) >= _LEAST_TIED


def _family(tied: np.ndarray, targets: list[int]) -> np.ndarray:
    """The family of every node's contrast with an arm, (d,): 0 of a context, 1 tied to a target, 2 apart."""
    if not targets:
        return np.zeros(len(tied), dtype=int)
    return np.where(tied[targets].any(0), 1, 2)


def _strata(adjustment: Adjustment) -> np.ndarray:
    """The stratum of every row by its covariates, numbers in quarters, (n,)."""
    columns = [np.zeros(adjustment.rows, dtype=np.int64)]
    for covariate in adjustment.covariates:
        if covariate.kind in (CATEGORICAL, ORDINAL):
            columns.append(covariate.values.astype(np.int64))
        else:
            cuts = np.quantile(covariate.values, np.arange(1, _PARTS) / _PARTS)
            columns.append(np.searchsorted(cuts, covariate.values, side="right"))
    return _joint(*columns)


def _compared(prepared: Prepared, adjustment: Adjustment, strata: np.ndarray, arm: _Arm) -> _ComparedRows:
    """The rows of an arm and of the controls, in strata that have both; those of a context also by intervention."""
    if not arm.targets and adjustment.interventions is not None:
        strata = _joint(strata, adjustment.interventions.arm)
    rows, group = np.flatnonzero(arm.side >= 0), adjustment.group
    treated, stratum, unit = arm.side[rows] == 1, strata[rows], np.arange(len(rows))
    of_groups = False
    if group is not None:
        group = group[rows]
        of_groups = not (_sides(group, treated).all(1)).any()
        if of_groups:
            unit = group
        else:
            stratum = _joint(stratum, group)
    used = np.asarray(_sides(stratum, treated).all(1))[stratum]
    rows, treated, stratum, unit = rows[used], treated[used], _joint(stratum[used]), _joint(unit[used])
    exposure = np.ones(len(rows)) if adjustment.log_exposure is None else np.exp(adjustment.log_exposure[rows])
    counts = prepared.counts.to_numpy()[rows]
    return _ComparedRows(
        counts, exposure, treated, stratum, unit, np.zeros(unit.max(initial=-1) + 1, int) if of_groups else stratum
    )


def _sides(stratum: np.ndarray, treated: np.ndarray) -> np.ndarray:
    """Whether a stratum has controls and treated rows, (strata, 2) bool."""
    present = np.zeros((stratum.max(initial=-1) + 1, 2), dtype=bool)
    present[stratum, treated.astype(int)] = True
    return present


def _joint(*numbers: np.ndarray) -> np.ndarray:
    """One number from 0 for every combination, (n,)."""
    return np.unique(np.column_stack(numbers), axis=0, return_inverse=True)[1].reshape(-1)


def _summed(values: np.ndarray, by: np.ndarray, size: int) -> np.ndarray:
    """Sums of the rows with the same number, (size, d)."""
    sums = np.zeros((size, values.shape[1]))
    np.add.at(sums, by, values)
    return sums


def _means(compared: _ComparedRows) -> np.ndarray:
    """Mean counts at an exposure of 1 of controls and treated, (2, d); controls weigh in a stratum as the arm does."""
    size = compared.stratum.max(initial=-1) + 1
    t, c = (
        np.bincount(compared.stratum, compared.exposure * side, size) for side in (compared.treated, ~compared.treated)
    )
    with np.errstate(invalid="ignore"):
        rates = _summed(compared.counts[~compared.treated], compared.stratum[~compared.treated], size) / c[:, None]
        return np.array([t @ rates, compared.counts[compared.treated].sum(0)]) / t.sum()


def _ratios(compared: _ComparedRows) -> np.ndarray:
    """The Mantel–Haenszel rate ratio with its interval, (3, d)."""
    units, treated, at = len(compared.block), compared.treated, compared.stratum
    if units < 3:
        return np.full((3, compared.counts.shape[1]), np.nan)
    size = at.max() + 1
    t, c = (np.bincount(at, compared.exposure * side, size) for side in (treated, ~treated))
    counts_t, counts_c = (_summed(compared.counts * side[:, None], at, size) for side in (treated, ~treated))
    up, down = (c / (t + c)) @ counts_t, (t / (t + c)) @ counts_c
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = up / down
        # Each row's part in Σ (T c − R C t) / N, about its side's rate in the stratum.
        rate = np.where(treated[:, None], counts_t[at], counts_c[at]) / np.where(treated, t[at], c[at])[:, None]
        weight = (np.where(treated, c[at], -t[at]) / (t + c)[at])[:, None] * np.where(treated[:, None], 1.0, ratio)
        contributions = _summed((compared.counts - rate * compared.exposure[:, None]) * weight, compared.unit, units)
        spread = np.sqrt((contributions**2).sum(0) * units / (units - 1)) / up
        half = compared.quantile * spread
        intervals = np.array([ratio, ratio * np.exp(-half), ratio * np.exp(half)])
    intervals[:, ~((up > 0) & (down > 0))] = np.nan
    return intervals


def _acts(compared: _ComparedRows, means: np.ndarray, ratios: np.ndarray, target: int) -> np.ndarray:
    """The expected ratios if a target acts on the other nodes, and the evidence for them in nats, (2, d)."""
    if not len(compared.block):
        return np.full((2, means.shape[1]), np.nan)
    rates, at = (compared.counts / compared.exposure[:, None])[~compared.treated], compared.stratum[~compared.treated]
    size = at.max() + 1
    rates = rates - (_summed(rates, at, size) / np.bincount(at, minlength=size).clip(1)[:, None])[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = rates.T @ rates[:, target] / (rates[:, target] ** 2).sum()
        step = means[1, target] - means[0, target]
        expected = np.log(np.maximum(1 + slope * step / means[0], _LEAST_RATIO))
        log, low, high = np.log(ratios)
        spread = (high - low) / (2 * compared.quantile)
        return np.array([np.exp(expected), (log * expected - expected**2 / 2) / spread**2])


def _p_values(compared: _ComparedRows, random: np.random.Generator) -> np.ndarray:
    """Two-sided p-values of the treated units' sum about the strata's rates, by permutations within blocks, (d,)."""
    if not len(compared.block):
        return np.full(compared.counts.shape[1], np.nan)
    at, size = compared.stratum, compared.stratum.max() + 1
    rate = _summed(compared.counts, at, size) / np.bincount(at, compared.exposure, size)[:, None]
    scores = _summed(compared.counts - rate[at] * compared.exposure[:, None], compared.unit, len(compared.block))
    treated, block = compared.treated_units, compared.block
    sizes, share = np.bincount(block), np.bincount(block, treated)
    mean = _summed(scores, block, len(sizes)) / sizes[:, None]
    squares = _summed((scores - mean[block]) ** 2, block, len(sizes))
    expected = share @ mean
    variance = (share * (sizes - share) / (sizes * np.maximum(sizes - 1, 1))) @ squares
    deviation = np.abs(scores[treated].sum(0) - expected)
    if min(treated.sum(), (~treated).sum()) < _MANY_UNITS:
        p_values = _drawn(scores, treated, block, deviation, expected, random)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            p_values = 2 * ndtr(-deviation / np.sqrt(variance))
    return np.where(variance > 0, p_values, np.nan)


def _drawn(
    scores: np.ndarray,
    treated: np.ndarray,
    block: np.ndarray,
    deviation: np.ndarray,
    expected: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """The share of drawn permutations with at least that deviation, (d,)."""
    order = np.argsort(block, kind="stable")
    block, treated, scores = block[order], treated[order], scores[order]
    beyond, remaining = np.zeros(scores.shape[1]), _DRAWN
    while remaining:
        batch = min(remaining, 500)
        keys = block + random.random((batch, len(block)))  # sorting keeps blocks together
        moved = treated[np.argsort(keys, axis=1)]
        beyond += (np.abs(moved @ scores - expected) >= deviation * (1 - 1e-9)).sum(0)
        remaining -= batch
    return (1 + beyond) / (1 + _DRAWN)
