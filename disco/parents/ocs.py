"""Parent selection by the off-diagonal curvature score (paper, *Parent Selection*).

Within a fold and a child i, the scores of the candidates j ∈ Pred(i) are standardised robustly,

    Z_{j→i} = (OCS_{j→i} − median_k OCS_{k→i}) / s_i,

with s_i their interquartile range, falling back to the scaled median absolute deviation, the standard
deviation and 1 where it is degenerate. A single candidate is not centred and takes the median scale of the
children with two or more candidates. An edge is kept when Z > τ_Z in a share π_min of the folds.

This is the rule `iqr`. The rule `jackknife` (`disco.parents.jackknife`) takes another Z, with a threshold found from a
false discovery rate; what reads Z is the same for both.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from disco.curvature import HeldOut, Scores, off_diagonal_scores
from disco.errors import ScoreUnavailable
from disco.parents import jackknife
from disco.settings import Settings

_DEGENERATE = 1e-12
_MAD_SCALE = 1.4826  # the MAD of a normal distribution estimates its standard deviation with it


def candidate_scores(
    scores: Scores,
    held_out: HeldOut,
    order: Sequence[int],
    settings: Settings,
    known: dict[tuple[int, ...], dict[tuple[str, str], np.ndarray]] | None = None,
) -> Iterator[tuple[int, dict[tuple[str, str], np.ndarray]]]:
    """OCS and mean curvature of every predecessor of every node but the source, node by node along the order.

    Args:
        known: scores already evaluated, by (child, *R ascending); new ones are added.

    Yields:
        (child, ("ocs" or "curvature", boundary) → (folds, predecessors)), predecessors in causal order.
    """
    for place in range(1, len(order)):
        child, predecessors = order[place], list(order[:place])
        remaining = sorted(order[: place + 1])
        columns = [remaining.index(node) for node in predecessors]
        known = {} if known is None else known
        key = (child, *remaining)
        if key not in known:
            known[key] = off_diagonal_scores(scores, held_out, remaining, child, settings)
        yield child, {which: values[:, columns] for which, values in known[key].items()}


def check_available(values: np.ndarray, child: str, predecessors: Sequence[str], boundary: str) -> None:
    """Refuse an edge that no evaluation row counts for.

    Raises:
        ScoreUnavailable: naming the edge and the fold.
    """
    missing = np.argwhere(np.isnan(values))
    if len(missing):
        fold, place = missing[0]
        raise ScoreUnavailable(
            f"The OCS of {predecessors[place]!r} → {child!r} is unavailable in held-out fold {fold + 1}: "
            f"no row is {boundary}. Use the clipped boundary, fewer folds or more rows."
        )


def tidy(
    found: dict[str, np.ndarray], curvature: dict[str, np.ndarray], order: Sequence[str], rule: str = "iqr"
) -> pd.DataFrame:
    """The scores of all candidates with their Z as one frame.

    Args:
        found: the OCS, child → (folds, predecessors), predecessors in causal order.
        curvature: the mean curvature, the same.
        order: node names, source first.
        rule: which Z: iqr or jackknife.

    Returns:
        Columns fold (from 1), parent, child, ocs, curvature, z.
    """
    folds = next(iter(found.values())).shape[0]
    parts = [
        pd.DataFrame({
            "fold": fold + 1, "parent": list(order[:place]), "child": child,
            "ocs": found[child][fold], "curvature": curvature[child][fold],
        })
        for fold in range(folds)
        for place, child in enumerate(order[1:], start=1)
    ]  # fmt: skip
    return with_z(pd.concat(parts, ignore_index=True), rule)


def with_z(ocs: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The candidates with the Z of a rule.

    Args:
        ocs: columns fold, parent, child, ocs, curvature; a fold's children in causal order.
        rule: iqr or jackknife.
    """
    if rule == "jackknife":
        return ocs.assign(z=jackknife.z_scores(ocs))
    z = []
    for _, fold in ocs.groupby("fold", sort=False):
        z += standardise([values["ocs"].to_numpy() for _, values in fold.groupby("child", sort=False)])
    return ocs.assign(z=np.concatenate(z))


def own_thresholds(ocs: pd.DataFrame, settings: Settings) -> tuple[float, float]:
    """(τ_Z, π_min) of a fit: the settings', or for the jackknife the τ_Z of its false discovery rate."""
    if settings.parent_rule == "jackknife":
        return jackknife.threshold(ocs.loc[ocs["fold"] == 1, "z"].to_numpy(), settings.fdr), settings.pi_min
    return settings.tau_z, settings.pi_min


def standardise(candidates: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Z of each child's candidates within one fold.

    Args:
        candidates: the OCS of every child's candidates, one array a child.
    """
    several = [values for values in candidates if len(values) > 1]
    scales = [robust_scale(values) for values in several]
    # With no child of two candidates, all candidate scores of the fold stand in for one set.
    lone_scale = float(np.median(scales)) if scales else robust_scale(np.concatenate(list(candidates)))
    result, scale = [], iter(scales)
    for values in candidates:
        if len(values) > 1:
            result.append((values - np.median(values)) / next(scale))
        else:
            result.append(values / lone_scale)
    return result


def robust_scale(values: np.ndarray) -> float:
    """Interquartile range, else the scaled MAD, else the standard deviation, else 1."""
    low, high = np.percentile(values, [25, 75])
    deviation = _MAD_SCALE * np.median(np.abs(values - np.median(values)))
    for scale in (high - low, deviation, np.std(values)):
        if scale > _DEGENERATE:
            return float(scale)
    return 1.0


def frequencies(ocs: pd.DataFrame, tau_z: float) -> pd.DataFrame:
    """Every candidate edge with its means over folds and its selection frequency Π(τ_Z).

    Args:
        ocs: columns fold, parent, child, ocs, z.

    Returns:
        Columns parent, child, ocs, z, frequency, in the order of `ocs`.
    """
    marked = ocs.assign(frequency=(ocs["z"] > tau_z).astype(float))
    means = marked.groupby(["parent", "child"], sort=False, observed=True)[["ocs", "z", "frequency"]].mean()
    return means.reset_index()


def select(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    """The edges kept at (τ_Z, π_min), strongest OCS first; columns parent, child, ocs, z, frequency."""
    edges = frequencies(ocs, tau_z)
    kept = edges[edges["frequency"] >= pi_min - 1e-9]
    return kept.sort_values("ocs", ascending=False, kind="stable").reset_index(drop=True)


def sensitivity(ocs: pd.DataFrame, taus: Sequence[float]) -> pd.DataFrame:
    """How many edges each threshold keeps: columns tau_z, pi_min (1/B, …, 1), edges."""
    z = ocs.pivot(index=["parent", "child"], columns="fold", values="z").to_numpy()
    folds = z.shape[1]
    # An edge passes in k folds while τ_Z is below its k-th largest Z.
    ranked = np.sort(np.sort(z, axis=1)[:, ::-1], axis=0)
    rows = []
    for needed in range(1, folds + 1):
        above = len(ranked) - np.searchsorted(ranked[:, needed - 1], taus, side="right")
        rows += [(float(tau), needed / folds, int(edges)) for tau, edges in zip(taus, above, strict=True)]
    return pd.DataFrame(rows, columns=["tau_z", "pi_min", "edges"])
