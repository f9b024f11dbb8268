"""Compare scored edges with true ones: precision and recall at every threshold, and calibration."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import require, whole_from
from disco.metrics.edges import EdgeCounts, Edges, Pairs, again, met, oriented, read, share, undirected
from disco.metrics.orders import order_errors


def precision_recall(truth: Edges, scores: pd.DataFrame) -> pd.DataFrame:
    """Precision and recall at every score as a threshold: columns threshold (falling), precision, recall.

    Scores have columns parent, child, score, one row per candidate; a higher score makes an edge more likely. A true
    edge without a score, such as one that runs against the order, is never found.

    InputError: names differ, a score is missing, or a candidate appears twice.
    """
    true, candidates, values = _scored(truth, scores, "score")
    falling = np.argsort(-values, kind="stable")
    values, hits = values[falling], np.cumsum([candidates[row] in true for row in falling])
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True)) if len(values) else np.zeros(0, dtype=int)
    hits = hits[last].astype(float)
    recalls = hits / len(true) if true else np.full(len(last), math.nan)
    return pd.DataFrame({"threshold": values[last], "precision": hits / (last + 1), "recall": recalls})


def average_precision(truth: Edges, scores: pd.DataFrame) -> float:
    """The area under the steps of `precision_recall`: the sum of precision times the rise of recall; errors as there.

    For uninformative scores it is the share of true edges among the candidates, not one half.
    """
    pairs, _ = read(truth)
    curve = precision_recall(truth, scores)
    rises = np.diff(curve["recall"].to_numpy(), prepend=0.0)
    return float((curve["precision"].to_numpy() * rises).sum()) if pairs else math.nan


def random_precision(order: Sequence[str], truth: Edges) -> float:
    """The share of true edges among all pairs along an order: the precision of a random choice of pairs.

    NaN for an order with one node; errors as for `order_errors`.
    """
    pairs, _ = read(truth := again(truth))
    return share(len(pairs) - len(order_errors(order, truth)), len(order) * (len(order) - 1) // 2)


def calibration(truth: Edges, confidences: pd.DataFrame, bins: int = 10) -> pd.DataFrame:
    """The share of true edges by confidence: of edges with a confidence of 0.8, 8 in 10 should be true.

    Args:
        confidences: columns parent, child, confidence, one row per candidate; confidences from 0 to 1.
        bins: number of equal parts of [0, 1]; parts without an edge are omitted.

    Returns:
        Columns confidence (mean in the bin), share_true, edges, by increasing confidence.

    InputError: as for `precision_recall`, a confidence is not between 0 and 1, or there are no bins.
    """
    require("bins", bins, whole_from(1))
    true, candidates, values = _scored(truth, confidences, "confidence")
    if len(values) and not (values.min() >= 0 and values.max() <= 1):
        raise InputError(f"A confidence must lie between 0 and 1; got {values[(values < 0) | (values > 1)][0]:g}.")
    frame = pd.DataFrame({"confidence": values, "true": [pair in true for pair in candidates]})
    bin_groups = frame.groupby(np.minimum((values * bins).astype(int), bins - 1))
    return bin_groups.agg(
        confidence=("confidence", "mean"), share_true=("true", "mean"), edges=("true", "size")
    ).reset_index(drop=True)


def _scored(truth: Edges, scores: pd.DataFrame, column: str) -> tuple[set[tuple[str, str]], Pairs, np.ndarray]:
    """The true edges, the candidates and their scores, (candidates,)."""
    missing = [name for name in ("parent", "child", column) if name not in scores]
    if missing:
        raise InputError(f"Scores of edges need columns parent, child and {column}; {missing[0]} is missing.")
    true, candidates = met(truth, scores[["parent", "child"]])
    if len(candidates) < len(scores):
        twice = scores[scores.duplicated(["parent", "child"])].iloc[0]
        raise InputError(
            f'The edge from "{twice["parent"]}" to "{twice["child"]}" has two scores; keep one per candidate.'
        )
    values = scores[column].to_numpy(dtype=float)
    if np.isnan(values).any():
        parent, child = candidates[int(np.isnan(values).argmax())]
        raise InputError(f'The edge from "{parent}" to "{child}" has no score; add one or leave its row out.')
    return set(true), candidates, values


def along_thresholds(ocs: pd.DataFrame, truth: Edges, taus: Sequence[float]) -> pd.DataFrame:
    """Accuracy of the selected edges at each threshold: columns tau_z, pi_min (1/B, …, 1), precision, recall, f1.

    Args:
        ocs: columns fold, parent, child, ocs, z; every candidate edge.
        truth: the true edges; one against the order is not a candidate and is never found.
        taus: the values of τ_Z, ascending.
    """
    z = ocs.pivot(index=["parent", "child"], columns="fold", values="z")
    pairs = set(oriented(read(truth)[0], undirected(truth), set(z.index).__contains__))
    is_true = np.array([pair in pairs for pair in z.index])
    # An edge passes in k folds while τ_Z is below its k-th largest Z.
    largest = np.sort(z.to_numpy(), axis=1)[:, ::-1]
    rows = []
    for needed in range(1, largest.shape[1] + 1):
        selected, hits = (
            len(values) - np.searchsorted(np.sort(values), taus, side="right")
            for values in (largest[:, needed - 1], largest[is_true, needed - 1])
        )
        for tau, all_found, hit in zip(taus, selected, hits, strict=True):
            met = EdgeCounts(int(hit), int(all_found - hit), len(pairs) - int(hit))
            rows.append((float(tau), needed / largest.shape[1], met.precision, met.recall, met.f1))
    return pd.DataFrame(rows, columns=["tau_z", "pi_min", "precision", "recall", "f1"])


def at_threshold(table: pd.DataFrame, tau_z: float, pi_min: float) -> pd.Series:
    """The row of `along_thresholds` nearest to the chosen thresholds."""
    return table.loc[((table["tau_z"] - tau_z).abs() + 1e3 * (table["pi_min"] - pi_min).abs()).idxmin()]
