"""ODS, overdispersion scoring (Park and Raskutti, JMLR 2018; paper, *Baseline Methods*), for known families of counts.

With μ the conditional mean of a node given the nodes C before it, and ω = 1 / (1 + β μ), its score is

    S = E[ω² (X − μ)² − ω μ],

which is 0 if C includes all its parents and no descendant, and positive if a parent is missing. (A descendant in C
makes it negative, but an order from the sources places none before.) The node with the smallest score is placed next.
`ratio` compares E (X − μ)² with E (μ + β μ²) instead. The theory holds for families whose variance is μ + β μ² with a
known β; with a wrong β the order may be reversed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import anything, check, number, one_of, whole
from disco.graph.result import GraphResult
from disco.methods import lasso
from disco.methods.likelihoods import FAMILIES, GLMFamily, assigned, features, usable
from disco.methods.moments import STOPPED, Deflated, Regressed, likeliest, order
from disco.methods.sorting import check_rows, of_tests
from disco.progress import Callback, Reporter
from disco.selectors import cam
from disco.table.prepared import Prepared, Table

_TIMES = {"linear": 1.0, "glm": 5.0, "lasso": 500.0}  # time of the order, relative to 1 for cam


@dataclass(frozen=True)
class Options:
    """Assumptions and estimators of ODS."""

    family: str = one_of("poisson", FAMILIES, help="Family of every node that `families` does not name.")
    size: float = number(6.0, above=0, help="r of a negative binomial.")
    trials: int | None = whole(
        None, at_least=1, optional=True, help="M of a binomial; none is each column's largest count."
    )
    families: Mapping[str, Any] | None = anything(None, help='Column → "poisson", ["nb", r] or ["binomial", M].')
    means: str = one_of(
        "linear",
        ("linear", "glm", "lasso"),
        help="linear, by least squares on all previous nodes; glm, by regressions with the family's link; or "
        "lasso, by cross-validated L1 regressions with the link, which is slow.",
    )
    features: str = one_of(
        "log1p", ("log1p", "raw"), help="Features of regressions with a link: log1p, logarithms of 1 + counts, or raw."
    )
    criterion: str = one_of(
        "difference",
        ("difference", "ratio"),
        help="How a variance and its family's are compared: by their difference or ratio.",
    )
    parents: str = one_of(
        "cam",
        ("cam", "lasso"),
        help="cam, by significance along the order; or lasso, by cross-validated L1 regressions with the link.",
    )
    cutoff: float = number(0.001, within=(0, 1), help="The p-value below which cam keeps an edge.")
    rule: str = one_of(
        "1se",
        lasso.RULES,
        help="Choice of the lasso's penalty: min, the smallest held-out loss, or 1se, within a standard error of it.",
    )
    folds: int = whole(5, within=(2, 20), help="Number of folds of the lasso's cross-validation.")
    seed: int = whole(0, at_least=0, help="Seed of the division into folds.")

    def __post_init__(self) -> None:
        check(self)
        if self.families is not None and not isinstance(self.families, Mapping):
            raise InputError(f"families must map columns to families; got {self.families!r}.")


def overdispersion(
    mean: np.ndarray, square: np.ndarray, beta: float, *, criterion: str, weights: np.ndarray | None = None
) -> float:
    """A node's excess of conditional variance over its family's: a difference (0 if none) or a ratio (1 if none).

    Args:
        mean: μ in every row, (rows,).
        square: (X − μ)² in every row, or its expectation, (rows,).
        beta: the family's β.
        criterion: difference or ratio.
        weights: of the rows, (rows,); equal by default.
    """
    spread = 1 + beta * mean
    if criterion == "ratio":
        return float(np.average(square, weights=weights) / np.average(mean * spread, weights=weights))
    return float(np.average(square / spread**2 - mean / spread, weights=weights))


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The order by overdispersion scores, and parents along it.

    InputError: the table lacks counts that vary, a family does not fit a column, or there are too few rows.
    """
    counts = usable(table, "ODS")
    kinds = assigned(counts, options.family, options.size, options.trials, options.families)
    if options.parents == "cam":
        check_rows(Prepared(counts))
    weights = {"order": _TIMES[options.means], "parents": 50.0 if options.parents == "lasso" else 1.0}
    reporter = Reporter(callback, weights, STOPPED)
    indices, ratios = ordered(counts, kinds, options, reporter)
    names = [counts.columns[index] for index in indices]
    if options.parents == "cam":
        tests = cam.edges(Prepared(counts), names, cutoff=options.cutoff, callback=reporter.part("parents", "node"))
    else:
        tests = lasso.edges(counts, names, kinds, options.features, _penalty(options), reporter)
    return of_tests(counts, names, tests, _notes(kinds, options, ratios))


def ordered(
    counts: pd.DataFrame, kinds: list[GLMFamily], options: Options, reporter: Reporter
) -> tuple[list[int], list[float]]:
    """The columns' indices, sources first, and each one's ratio of variance to its family's, given those before."""
    values = counts.to_numpy(dtype=float)
    every = ~np.eye(len(kinds), dtype=bool)
    if options.means == "linear":
        means: Deflated | Regressed = Deflated(values, kinds)
    else:
        columns = features(values, options.features)
        l1 = lasso.regression(len(counts), _penalty(options), reporter.check)
        means = Regressed(values, kinds, every, columns, likeliest if options.means == "glm" else l1)
    ratios = np.zeros(len(kinds))

    def score(node: int, mean: np.ndarray) -> float:
        square, beta = (values[:, node] - mean) ** 2, kinds[node].beta
        ratios[node] = overdispersion(mean, square, beta, criterion="ratio")
        if options.criterion == "ratio":
            return float(ratios[node])
        return overdispersion(mean, square, beta, criterion="difference")

    positions, _ = order(means, score, every, reporter)
    return positions, [float(ratios[node]) for node in positions]


def _penalty(options: Options) -> lasso.Penalty:
    return lasso.Penalty(options.rule, options.folds, options.seed)


def _notes(kinds: list[GLMFamily], options: Options, ratios: list[float]) -> list[str]:
    means = {"linear": "least squares", "glm": "regressions", "lasso": "cross-validated L1 regressions"}[options.means]
    if options.means != "linear":
        means = f"{means} with a link on {options.features} counts"
    parents = f"CAM at p < {options.cutoff:g}"
    if options.parents == "lasso":
        parents = f"L1 regressions on {options.features} counts, by the rule {options.rule} of {options.folds} folds"
    return [
        f"Assumed families: {_in_words(kinds)}; means by {means}; parents by {parents}.",
        "The theory needs the right family. Given the nodes before it, a node then has 1 times the variance of its "
        f"family. Here it has {min(ratios):.2f} to {max(ratios):.2f} times as much.",
    ]


def _in_words(kinds: list[GLMFamily]) -> str:
    """The families with their parameters and numbers of nodes: "poisson for 2 nodes, nb of size 6 for 3"."""
    words: list[str] = []
    for name in dict.fromkeys(kind.name for kind in kinds):
        parameters = [kind.parameter for kind in kinds if kind.name == name]
        low, high = f"{min(parameters):g}", f"{max(parameters):g}"
        span = low if low == high else f"{low} to {high}"
        of = {"poisson": "", "nb": f" of size {span}", "binomial": f" of {span} trials"}[name]
        words.append(f"{name}{of} for {len(parameters)} nodes" if not words else f"{name}{of} for {len(parameters)}")
    return ", ".join(words).replace(" for 1 nodes", " for 1 node")
