"""The selectors of parents by name, and the comparison of two of them.

`ocs` is the paper's own selector and uses the fitted networks. The paper compares it with `cam` and `pcm` (*Comparison
of parent recovery methods*), and `evidence` is ours. These three use the table and an order, and score every candidate
edge, by F, T and nats.
"""

import math
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.experiments import learnt_of
from disco.fields import require, require_types
from disco.knowledge import Knowledge
from disco.paper.ocs import MARKS, allowed, frequencies, passes
from disco.paper.plan import Plan
from disco.paper.ranks import split_rows
from disco.paper.settings import CHOICES, Settings
from disco.progress import Callback
from disco.selectors.smooths import adjustment_columns, check_rows, spanning
from disco.table.adjustment import Adjustment
from disco.table.prepared import Prepared, Table, prepare, without_interventions


class Words(NamedTuple):
    """A selector in words: its name, its score's name, and its rule for keeping an edge."""

    name: str
    score: str
    rule: str


SELECTORS = CHOICES["selector"]
_TREE_COST = 2  # of a tree besides its splits, in columns to split
CUTS = {"cam": 0.001, "pcm": 0.05, "evidence": 0.0}  # of p: the paper's; of nats: even odds
WORDS = {
    "ocs": Words("OCS", "OCS", ""),
    "cam": Words("CAM", "F", "p < {cut:g}"),
    "pcm": Words("PCM", "T", "p < {cut:g}"),
    "evidence": Words("Evidence", "nats", "nats > {cut:g}"),
}


def candidates(
    selector: str,
    table: Table,
    order: list[str],
    settings: Settings,
    *,
    knowledge: Knowledge | None = None,
    adjustment: Adjustment | None = None,
    callback: Callback | None = None,
) -> pd.DataFrame:
    """Every candidate edge along an order, scored by `cam`, `pcm` or `evidence`; children in causal order.

    CAM and PCM use the counts as they are, as in the paper, or rates if there is an exposure. `evidence` uses quantile
    levels if the settings ask for them, as the networks do. Columns parent, child, score, p_value (cam and pcm),
    selected, with knowledge or experiments rule, and with experiments source (`disco.experiments.Learnt.marked`).

    Args:
        table: counts, all rows of a fit's table; `adjustment` is theirs, used in every regression and likelihood.
        order: its columns, sources first.
        settings: the fit's; they determine the rows for the parents, the seed and the transform.
        knowledge: rules that the edges obey, as they obey those of experiments. `evidence` searches under these rules.
            CAM and PCM test every candidate given all predecessors, including forbidden ones, then drop forbidden edges
            and add required ones.
        callback: receives the events of the selector; returning False stops.

    Raises:
        InputError: the table does not contain counts, there are too few rows, a column is constant in them and the
            selector is `evidence`, or the knowledge cannot be used.
    """
    require("selector", selector, (lambda value: value in tuple(CUTS), f"be one of {', '.join(CUTS)}"))
    require_types(settings=(settings, Settings), knowledge=(knowledge, Knowledge | None))
    prepared = prepare(table, adjustment, folds=None)
    observational, _ = without_interventions(prepared)
    engine = _engine(selector)
    rows, adjustment = rows_of(selector, observational.counts, settings, observational.adjustment)
    names = list(rows.columns)
    learnt = learnt_of(prepared, names, None if knowledge is None else knowledge.resolve(names))
    arguments: dict[str, dict[str, Any]] = {
        "evidence": {"rules": learnt.rules},
        "cam": {"cutoff": CUTS["cam"]},
        "pcm": {"alpha": CUTS["pcm"], "seed": settings.seed},
    }
    tests = engine.edges(Prepared(rows), order, adjustment=adjustment, callback=callback, **arguments[selector])
    tests = learnt.marked(tests, names)
    return tests.assign(selected=allowed(tests["selected"], tests))


def _engine(selector: str) -> ModuleType:
    """The selector's module, imported only when needed: two of the three are slow to import."""
    return import_module(f"disco.selectors.{selector}")


def rows_of(
    selector: str, table: pd.DataFrame, settings: Settings, adjustment: Adjustment | None
) -> tuple[pd.DataFrame, Adjustment | None]:
    """The rows for the parents, in the form for a selector, and their adjustment."""
    parent_rows = split_rows(len(table), settings, None if adjustment is None else adjustment.group)[1]
    rows, adjustment = table.iloc[parent_rows], None if adjustment is None else adjustment.take(parent_rows)
    if selector != "evidence" or settings.transform != "quantile":
        return rows, adjustment
    from disco.likelihood.covariates import seen  # imports the compiler

    return seen(rows, adjustment, settings)


def check(selector: str, table: pd.DataFrame, settings: Settings, adjustment: Adjustment | None = None) -> None:
    """Refuse before a fit, as `candidates` does, any table that the selector would refuse after it, for some order."""
    rows, adjustment = rows_of(selector, table, settings, adjustment)
    if selector == "ocs":
        return
    distinct = rows.nunique().sort_values(ascending=False, kind="stable")
    if selector == "evidence" and distinct.iloc[-1] < 2:
        raise InputError(
            f'"{distinct.index[-1]}" is constant in the {len(rows)} rows used for the parents, which the selector '
            "evidence cannot use: leave it out, use more rows, or choose another selector."
        )
    if selector != "evidence":
        if adjustment is not None and adjustment.exposure is not None:
            distinct = distinct.where(distinct < 2, len(rows))  # rates are almost never equal
        # The worst order: the node with the fewest values comes last, after the most columns.
        columns = np.clip(distinct.to_numpy() - 1, 0, 3)
        fewest, splits, extra = len(rows), 1, spanning(adjustment_columns(adjustment, len(rows))).shape[1]
        if selector == "pcm":
            pcm = _engine("pcm")
            halves = pcm.halves(len(rows), np.random.default_rng(settings.seed), adjustment)
            fewest, splits = pcm.HALVES * min(map(len, halves)), pcm.HALVES
        check_rows(fewest, columns, list(distinct.index), splits, extra)


def forest_splits(plan: Plan, nodes: int) -> float:
    """Number of split evaluations in PCM's forests: rows tried, over all nodes, trees and depths; 0 without PCM."""
    if plan.settings.selector != "pcm":
        return 0.0
    half = plan.parent_rows // 2
    columns = sum(candidates + _TREE_COST for candidates in range(1, nodes))
    return float(_engine("pcm").TREES * columns * half * math.log2(max(half, 2)))


def recut(tests: pd.DataFrame, selector: str, cut: float | None = None) -> pd.DataFrame:
    """The candidates from `candidates` with `selected` at another cut-off, without refitting.

    `cut` is for cam and pcm the p-value below which an edge is selected; for evidence, the nats above which it is,
    where 0 or less selects all edges of the search. By default the selector's own.
    """
    if cut is None or cut == CUTS[selector]:
        return tests
    if selector == "evidence":
        selected = tests["selected"] & ((tests["score"] > cut) | (cut <= 0))
    else:
        selected = tests["p_value"] < cut
    return tests.assign(selected=allowed(selected, tests))


def edges(tests: pd.DataFrame, ocs: pd.DataFrame, tau_z: float) -> pd.DataFrame:
    """The selected candidates with their OCS, highest score first; their rules and sources come from `tests`.

    Columns parent, child, score, p_value (cam and pcm), rule and source (if present), ocs, z, frequency.

    Args:
        tests: from `candidates` or `recut`.
        ocs: columns fold, parent, child, ocs, z.
        tau_z: the threshold on z for `frequency`.
    """
    chosen = tests[tests["selected"]].drop(columns="selected")
    chosen = chosen.sort_values("score", ascending=False, kind="stable")
    ocs_means = frequencies(ocs.drop(columns=list(MARKS), errors="ignore"), tau_z)
    return chosen.merge(ocs_means, on=["parent", "child"], how="left")


def of_ocs(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    """The candidates of the OCS in the form of the other selectors, with ocs (also as score), z and frequency."""
    table = frequencies(ocs, tau_z)
    return table.assign(score=table["ocs"], selected=passes(table, pi_min))


AGREEMENT = ("both", "one", "other", "neither")


def compared(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """The candidates of two selectors along the same order, side by side; InputError if their pairs differ.

    Columns parent, child, score_one, score_other, selected_by (one of `AGREEMENT`); rows as in `first`.
    """
    names = ["parent", "child"]
    columns = [*names, "score", "selected"]
    merged = first[columns].merge(second[columns], on=names, suffixes=("_one", "_other"), validate="one_to_one")
    if len(merged) != len(first) or len(merged) != len(second):
        raise InputError("The two selectors were not computed along the same order.")
    in_first, in_second = (merged.pop(f"selected_{which}").astype(bool) for which in ("one", "other"))
    which = np.select([in_first & in_second, in_first, in_second], AGREEMENT[:3], AGREEMENT[3])
    return merged.assign(selected_by=which)
