"""The selectors of parents by name, and two of them side by side.

`ocs` is the paper's own and reads the fitted networks. `cam` and `pcm` are those that the paper compares it with
(*Comparison of parent recovery methods*), and `evidence` is ours; the three read the table along an order and give
every candidate edge a score: F, T, and nats.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.parents.ocs import frequencies
from disco.ranks import split_rows, transform_table
from disco.settings import CHOICES, Settings


class Words(NamedTuple):
    """A selector as it is written: its name, that of its score, and how an edge is kept at a cut-off."""

    name: str
    score: str
    rule: str


SELECTORS = CHOICES["selector"]
CUTS = {"cam": 0.001, "pcm": 0.05, "evidence": 0.0}  # the paper's, and where the odds turn
WORDS = {
    "ocs": Words("OCS", "OCS", ""),
    "cam": Words("CAM", "F", "p < {cut:g}"),
    "pcm": Words("PCM", "T", "p < {cut:g}"),
    "evidence": Words("Evidence", "nats", "nats > {cut:g}"),
}


def candidates(
    selector: str,
    table: pd.DataFrame,
    order: list[str],
    settings: Settings,
    *,
    device: str = "cpu",
    goes_on: Callable[[int, int], bool] = lambda done, total: True,
) -> pd.DataFrame:
    """Every candidate edge along an order, tested or weighed by `cam`, `pcm` or `evidence`.

    CAM and PCM receive the counts as they are, as in the paper; the evidence receives quantile levels where the
    settings ask for them, as the networks do.

    Args:
        selector: one of `CUTS`.
        table: counts, all rows of a fit's table.
        order: its columns, sources first.
        settings: of the fit: which rows give the parents, the seed, the transform.
        device: cpu or cuda, of the evidence.
        goes_on: told how much is done, and of how much; False stops.

    Returns:
        Columns parent, child, score, p_value (cam and pcm), selected, children in causal order.

    Raises:
        InputError: the rows are too few, or a column is constant among them and the evidence is asked for.
        FitStopped: `goes_on` asked for it.
    """
    engine, rows = _engine(selector), rows_of(selector, table, settings)
    if selector == "cam":
        return engine.edges(rows, order, cutoff=CUTS["cam"], goes_on=goes_on)
    if selector == "pcm":
        return engine.edges(rows, order, alpha=CUTS["pcm"], seed=settings.seed, goes_on=goes_on)
    return engine.edges(rows, order, device=device, goes_on=goes_on)


def _engine(selector: str) -> ModuleType:
    """Its module, imported when it is needed: two of the three are slow to import."""
    return import_module(f"disco.parents.{selector}")


def rows_of(selector: str, table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The rows that give the parents, as a selector receives them."""
    rows = table.iloc[split_rows(len(table), settings)[1]]
    return transform_table(rows, settings) if selector == "evidence" and settings.transform == "quantile" else rows


def check(selector: str, table: pd.DataFrame, settings: Settings) -> None:
    """Refuse before a fit what a selector would refuse after it, whatever the order.

    Raises:
        InputError: as `candidates`.
    """
    rows = rows_of(selector, table, settings)
    if selector == "ocs":
        return
    distinct = rows.nunique().sort_values(ascending=False, kind="stable")
    if selector == "evidence" and distinct.iloc[-1] < 2:
        raise InputError(
            f'"{distinct.index[-1]}" is constant among the {len(rows)} rows that give the parents, which the selector '
            "evidence cannot use: leave it out, use more rows, or choose another selector."
        )
    if selector != "evidence":
        # The node of the fewest values last leaves the most columns before it.
        columns = np.clip(distinct.to_numpy() - 1, 0, 3)
        _engine(selector).check_rows(len(rows), columns, list(distinct.index))


def kept(found: pd.DataFrame, selector: str, cut: float | None = None) -> pd.DataFrame:
    """The candidates of `candidates`, with `selected` at another cut-off; nothing is fitted anew.

    Args:
        cut: a p-value for cam and pcm; nats that a selected edge must be worth more than, for the evidence, where 0 and
            less keep all edges of the search. The selector's own unless given.
    """
    if cut is None or cut == CUTS[selector]:
        return found
    if selector == "evidence":
        return found.assign(selected=found["selected"] & ((found["score"] > cut) | (cut <= 0)))
    return found.assign(selected=found["p_value"] < cut)


def edges(found: pd.DataFrame, ocs: pd.DataFrame, tau_z: float) -> pd.DataFrame:
    """The selected candidates, highest score first, with the OCS beside.

    Args:
        found: what `candidates` or `kept` gives.
        ocs: columns fold, parent, child, ocs, z.
        tau_z: that `frequency` counts the folds above.

    Returns:
        Columns parent, child, score, p_value (cam and pcm), ocs, z, frequency.
    """
    chosen = found[found["selected"]].drop(columns="selected")
    chosen = chosen.sort_values("score", ascending=False, kind="stable")
    return chosen.merge(frequencies(ocs, tau_z), on=["parent", "child"], how="left")


def of_ocs(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    """The candidates of the OCS in the form of the others: parent, child, score (mean OCS), selected."""
    table = frequencies(ocs, tau_z)
    table = table.assign(score=table["ocs"], selected=table["frequency"] >= pi_min - 1e-9)
    return table[["parent", "child", "score", "selected"]]


AGREEMENT = ("both", "one", "other", "neither")


def compared(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Two selectors' candidates along the same order, edge by edge.

    Args:
        one, other: columns parent, child, score, selected; the same pairs.

    Returns:
        Columns parent, child, score_one, score_other, selected_by (one of `AGREEMENT`), in the order of `one`.
    """
    names = ["parent", "child"]
    columns = [*names, "score", "selected"]
    found = one[columns].merge(other[columns], on=names, suffixes=("_one", "_other"), validate="one_to_one")
    if len(found) != len(one) or len(found) != len(other):
        raise InputError("The two selectors were not computed along the same order.")
    first, second = (found.pop(f"selected_{which}").astype(bool) for which in ("one", "other"))
    which = np.select([first & second, first, second], AGREEMENT[:3], AGREEMENT[3])
    return found.assign(selected_by=which)
