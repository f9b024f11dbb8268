"""Parent selection by the off-diagonal curvature score (paper, *Parent Selection*).

Within a fold and a child i, the scores of the candidates j ∈ Pred(i) are standardised robustly,

    Z_{j→i} = (OCS_{j→i} − median_k OCS_{k→i}) / s_i,

with s_i their interquartile range, falling back to the scaled median absolute deviation, the standard
deviation and 1 where it is degenerate. A single candidate is not centred and takes the median scale of the
children with two or more candidates. An edge is kept when Z > τ_Z in a share π_min of the folds.

This is the rule `iqr`. The rule `jackknife` (`disco.paper.jackknife`) has another Z, with a threshold from a local
false discovery rate. All users of Z are the same for both.

With knowledge or experiments, a candidate has a `rule` (`disco.experiments.Learnt.marked`): forbidden ones are never
selected, required ones always, whatever their Z. All of them count among the candidates that scale Z.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
import pandas as pd

from disco.columns import FORBIDDEN, REQUIRED
from disco.errors import ScoreUnavailable
from disco.paper import jackknife
from disco.paper.settings import Settings

_DEGENERATE = 1e-12
_ROUNDING = 1e-9  # of a selection frequency
MARKS = ("rule", "source")  # of a candidate: its rule, and what gives it its direction whatever the counts say
_MAD_SCALE = 1.4826  # times the MAD of a normal distribution is its standard deviation

PairScores = dict[tuple[str, str], np.ndarray]  # by ("ocs" or "curvature", boundary)


def candidate_scores(
    evaluate: Callable[[int, Sequence[int], Sequence[int]], PairScores], order: Sequence[int]
) -> Iterator[tuple[int, PairScores]]:
    """OCS and mean curvature of all predecessors of a node, for every node but the source, from the last to the second.

    Yields the child and its scores, (folds, predecessors) each, predecessors in causal order.

    Args:
        evaluate: (child, R ascending, all other nodes, the last of the order first) → its scores, as from
            `disco.paper.curvature.off_diagonal_scores`.
        order: node numbers, source first.
    """
    for index in range(len(order) - 1, 0, -1):
        child, remaining = order[index], sorted(order[: index + 1])
        columns, removed = np.searchsorted(remaining, order[:index]), list(order[:index:-1])
        yield child, {which: values[:, columns] for which, values in evaluate(child, remaining, removed).items()}


def check_available(values: np.ndarray, child: str, predecessors: Sequence[str], boundary: str) -> None:
    """Refuse a candidate whose OCS is undefined for lack of held-out rows.

    ScoreUnavailable names the edge and the fold.
    """
    missing = np.argwhere(np.isnan(values))
    if len(missing):
        fold, index = missing[0]
        raise ScoreUnavailable(
            f"The OCS of {predecessors[index]!r} → {child!r} is unavailable in held-out fold {fold + 1}: "
            f"no row is {boundary}. Use the clipped boundary, fewer folds or more rows."
        )


def tidy(
    scores: dict[str, np.ndarray], curvature: dict[str, np.ndarray], order: Sequence[str], rule: str = "iqr"
) -> pd.DataFrame:
    """One frame of all candidates: fold (from 1), parent, child, ocs, curvature, z.

    Args:
        scores: the OCS, child → (folds, predecessors), predecessors in causal order.
        curvature: the mean curvature, in the same form.
        order: node names, source first.
        rule: definition of Z: iqr or jackknife.
    """
    folds = next(iter(scores.values())).shape[0]
    frames = [
        pd.DataFrame(
            {
                "fold": fold + 1,
                "parent": list(order[:index]),
                "child": child,
                "ocs": scores[child][fold],
                "curvature": curvature[child][fold],
            }
        )
        for fold in range(folds)
        for index, child in enumerate(order[1:], start=1)
    ]
    return with_z(pd.concat(frames, ignore_index=True), rule)


def with_z(ocs: pd.DataFrame, rule: str) -> pd.DataFrame:
    """The candidates with a column z, by the rule iqr or jackknife.

    `ocs` has the columns fold, parent, child, ocs, curvature; a fold's children in causal order.
    """
    if rule == "jackknife":
        return ocs.assign(z=jackknife.z_scores(ocs))
    z = []
    for _, fold in ocs.groupby("fold", sort=False):
        z += standardise([values["ocs"].to_numpy() for _, values in fold.groupby("child", sort=False)])
    return ocs.assign(z=np.concatenate(z))


def own_thresholds(
    ocs: pd.DataFrame, settings: Settings, groups: jackknife.TwoGroups | None = None
) -> tuple[float, float]:
    """(τ_Z, π_min) of a fit: from its settings; with the jackknife, τ_Z from its local false discovery rate.

    Args:
        ocs: every candidate: fold, parent, child, ocs, z.
        groups: with the jackknife, those of the candidates' Z, if already fitted.
    """
    if settings.parent_rule == "jackknife":
        return jackknife.threshold(ocs.loc[ocs["fold"] == 1, "z"].to_numpy(), settings.fdr, groups), settings.pi_min
    return settings.tau_z, settings.pi_min


def standardise(candidates: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Z of each child's candidates within one fold, from their OCS, one array per child."""
    several = [values for values in candidates if len(values) > 1]
    scales = [robust_scale(values) for values in several]
    # If no child has two candidates, the scale comes from all candidates of the fold together.
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
    """One row per candidate edge: means over folds, and the selection frequency Π(τ_Z).

    Columns parent, child, ocs, z, frequency, and `MARKS` if present, in the order of `ocs`.
    """
    means_of_folds = _over_folds(ocs, {"ocs": ocs["ocs"], "z": ocs["z"], "frequency": (ocs["z"] > tau_z).astype(float)})
    marks = [name for name in MARKS if name in ocs]
    first = ocs.drop_duplicates(["parent", "child"]) if marks else ocs
    return means_of_folds.assign(**{name: first[name].to_numpy() for name in marks})


def means(ocs: pd.DataFrame) -> pd.DataFrame:
    """The mean OCS over folds of every candidate: columns parent, child, score, in the order of `ocs`."""
    return _over_folds(ocs, {"score": ocs["ocs"]})


def _over_folds(ocs: pd.DataFrame, values: dict[str, pd.Series]) -> pd.DataFrame:
    """The mean over folds of every candidate: columns parent, child and those of `values`, in the order of `ocs`."""
    pairs, fold = ocs[["parent", "child"]], ocs["fold"].to_numpy()
    each = int((fold == fold[:1]).sum())
    first = pairs.iloc[:each]
    names = [pairs[end].array for end in pairs]
    is_by_fold = each > 0 and len(pairs) % each == 0 and all((name[each:] == name[:-each]).all() for name in names)
    if is_by_fold:  # as a fit writes them, so that no pair has to be looked for
        columns = {name: column.to_numpy().reshape(-1, each).mean(0) for name, column in values.items()}
        return first.reset_index(drop=True).assign(**columns)
    return pairs.assign(**values).groupby([*pairs], sort=False, observed=True).mean().reset_index()


@overload
def reaches(frequency: float, pi_min: float) -> bool: ...
@overload
def reaches(frequency: pd.Series, pi_min: float) -> pd.Series: ...
def reaches(frequency: float | pd.Series, pi_min: float) -> bool | pd.Series:
    """Whether a selection frequency is at least π_min; it is a mean of 0s and 1s, so rounding errors are tolerated."""
    return frequency >= pi_min - _ROUNDING


def passes(table: pd.DataFrame, pi_min: float) -> pd.Series:
    """Whether each candidate is an edge: its frequency reaches π_min and no rule forbids it, or a rule requires it."""
    return allowed(reaches(table["frequency"], pi_min), table)


def allowed(selected: pd.Series, table: pd.DataFrame) -> pd.Series:
    """A selection of rows without forbidden candidates and with required ones, by the column rule if present."""
    if "rule" not in table:
        return selected
    return (selected & (table["rule"] != FORBIDDEN)) | (table["rule"] == REQUIRED)


def select(ocs: pd.DataFrame, tau_z: float, pi_min: float) -> pd.DataFrame:
    """The edges that pass both thresholds, largest OCS first: the columns of `frequencies`."""
    edges = frequencies(ocs, tau_z)
    selected = edges[passes(edges, pi_min)]
    return selected.sort_values("ocs", ascending=False, kind="stable").reset_index(drop=True)


def sensitivity(ocs: pd.DataFrame, taus: Sequence[float]) -> pd.DataFrame:
    """The number of edges at each pair of thresholds: columns tau_z, pi_min (1/B, …, 1), edges."""
    if "rule" in ocs:
        ocs = ocs.assign(z=np.select([ocs["rule"] == FORBIDDEN, ocs["rule"] == REQUIRED], [-np.inf, np.inf], ocs["z"]))
    z = ocs.pivot(index=["parent", "child"], columns="fold", values="z").to_numpy()
    folds = z.shape[1]
    # An edge passes in k folds while τ_Z is below its k-th largest Z.
    ranked = np.sort(np.sort(z, axis=1)[:, ::-1], axis=0)
    rows = []
    for needed in range(1, folds + 1):
        above = len(ranked) - np.searchsorted(ranked[:, needed - 1], taus, side="right")
        rows += [(float(tau), needed / folds, int(edges)) for tau, edges in zip(taus, above, strict=True)]
    return pd.DataFrame(rows, columns=["tau_z", "pi_min", "edges"])
