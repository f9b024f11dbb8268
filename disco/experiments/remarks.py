"""What a reader must know of an experiment before the ratios: units, chance, arms that differ in covariates."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from disco.experiments.contrasts import arms
from disco.table.adjustment import CATEGORICAL, Adjustment, Covariate
from disco.table.prepared import Prepared
from disco.words import how_many, number, series

_APART = 0.25  # standard deviations between the means of an arm and the controls (Stuart, Statistical Science 2010)
_SHARES = 0.2  # of the rows that would have to change their level
_CHANCE = 3.3  # standard errors, and the p-value that belongs to them, that chance explains
_P = 0.001


def remarks(prepared: Prepared, contrast_rows: pd.DataFrame) -> tuple[str, ...]:
    """Sentences on the units, on contexts not assigned by chance, and on arms that differ in a covariate."""
    adjustment = prepared.adjustment
    if adjustment is None or contrast_rows.empty:
        return ()
    return (*_units(contrast_rows, adjustment), *_not_by_chance(adjustment), *_uneven(contrast_rows, adjustment))


def _units(contrast_rows: pd.DataFrame, adjustment: Adjustment) -> Iterator[str]:
    """That groups are the units, if they are in any arm."""
    arms = contrast_rows.drop_duplicates(["of", "arm"])
    grouped = arms[(arms["units"] < arms["rows"]) & (arms["units"] > 0)]
    if adjustment.group is None or grouped.empty:
        return
    fewest = grouped.sort_values("units").iloc[0]
    alone = " What one group does cannot be told from what the arm does." if fewest["units"] == 1 else ""
    yield (
        f"Every group is in one arm as a whole, so groups are the units: {how_many(int(fewest['units']), 'group')} in "
        f'"{fewest["arm"]}", with {how_many(int(fewest["rows"]), "row")}. '
        f"More groups narrow the intervals; more rows barely do.{alone}"
    )


def _not_by_chance(adjustment: Adjustment) -> Iterator[str]:
    """That differences between the levels of some contexts may have other causes."""
    names = [f'"{context.name}"' for context in adjustment.contexts if context.levels and not context.is_random]
    if names:
        yield (
            f"The levels of {series(names)} were not assigned by chance: what differs between them may have other "
            "causes too."
        )


def _uneven(contrast_rows: pd.DataFrame, adjustment: Adjustment) -> Iterator[str]:
    rows = contrast_rows.groupby(["of", "arm"])["rows"].max()
    for arm in arms(adjustment):
        sides = arm.side == 1, arm.side == 0
        for covariate in adjustment.covariates:
            if words := _difference(covariate, *sides):
                yield (
                    f'The arm "{arm.label}" differs from the controls in "{covariate.name}" ({words}): only rows with '
                    f"like values are compared, {rows[arm.of, arm.label]:,} of {int(sides[0].sum()):,} of the arm."
                )


def _difference(covariate: Covariate, arm: np.ndarray, control: np.ndarray) -> str:
    """How an arm differs from the controls in a covariate; empty if hardly, or by chance."""
    from scipy.stats import chi2_contingency  # imported here because it takes a second

    treated, controls = covariate.values[arm], covariate.values[control]
    if covariate.kind == CATEGORICAL:
        counts = np.array([np.bincount(values, minlength=len(covariate.levels)) for values in (treated, controls)])
        shares = counts / counts.sum(1, keepdims=True)
        moved = np.abs(shares[0] - shares[1]).sum() / 2
        if moved < _SHARES or chi2_contingency(counts[:, counts.any(0)]).pvalue > _P:
            return ""
        level = int(np.abs(shares[0] - shares[1]).argmax())
        return f'"{covariate.levels[level]}" in {shares[0, level]:.0%} of its rows against {shares[1, level]:.0%}'
    spread = np.sqrt((treated.var() + controls.var()) / 2)
    gap = abs(treated.mean() - controls.mean())
    if gap <= max(_APART, _CHANCE * np.sqrt(1 / len(treated) + 1 / len(controls))) * spread:
        return ""
    return f"mean {number(treated.mean())} against {number(controls.mean())}"
