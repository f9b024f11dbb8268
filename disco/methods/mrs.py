"""MRS, moments ratio scoring (Park and Park, 2019, for generalised hypergeometric families; paper, *Baseline Methods*).

In these families the second factorial moment is a known function of the mean, E[X (X − 1)] = f(μ). With μ the
conditional mean of a node given those of its candidates that come before it, its score is

    S = E[X (X − 1)] / E[f(μ)],

which is 1 if they include all its parents and no descendant, and above 1 if a parent is missing. The node with the
smallest score is placed next.

    f(μ) = μ²  Poisson,  (M − 1) / M μ²  binomial,  (r + 1) / r μ²  negative binomial,  λ (μ + 1) − b μ  hyper-Poisson

where the hyper-Poisson P(x) ∝ λ^x / (b (b + 1) … (b + x − 1)) has μ = λ − (b − 1) (1 − P(0)); b = 1 is Poisson.

The *skeleton* has the candidate edges, which limit regressions and parents. `partial` keeps a pair if a Gaussian model
of logarithms of 1 + counts has a worse BIC without their partial correlation ρ given all other nodes,

    −n log(1 − ρ²) > log n.

It is fast, and complete where counts depend on each other about linearly on that scale. It also joins the parents of a
common child, which the tests of parents along the order must separate again. `boss` and `ges` use the edges of these
searches, whatever their direction.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.interpolate import PchipInterpolator
from scipy.special import hyp1f1

from disco.errors import InputError
from disco.fields import check, number, one_of, whole
from disco.graph.result import GraphResult
from disco.methods import dispatch
from disco.methods.likelihoods import (
    BINOMIAL,
    FAMILIES,
    NEGATIVE_BINOMIAL,
    POISSON,
    GLMFamily,
    assigned,
    features,
    usable,
)
from disco.methods.moments import STOPPED, Deflated, Regressed, least_squares, likeliest, order
from disco.methods.sorting import check_rows, of_tests
from disco.progress import Callback, Reporter
from disco.selectors import cam
from disco.table.prepared import Prepared, Table

HYPER_POISSON = "hyper-poisson"
SKELETONS = ("partial", "boss", "ges", "none")
_RIDGE = 1e-8  # added to the correlations, so that duplicate columns stay invertible


@dataclass(frozen=True)
class Options:
    """Assumptions and estimators of MRS."""

    family: str = one_of(POISSON, (*FAMILIES, HYPER_POISSON), help="Family of every node.")
    size: float = number(6.0, above=0, help="r of a negative binomial.")
    trials: int | None = whole(
        None, at_least=1, optional=True, help="M of a binomial; none is each column's largest count."
    )
    b: float = number(
        2.0,
        within=(0.01, 100),
        help="b of the hyper-Poisson. Above 1 the variance exceeds the mean, below 1 the mean exceeds the variance.",
    )
    skeleton: str = one_of(
        "partial",
        SKELETONS,
        help="The candidate edges: partial, partial correlations of log counts; boss or ges; none, all pairs.",
    )
    means: str = one_of(
        "linear", ("linear", "glm"), help="linear, by least squares; or glm, by regressions with the family's link."
    )
    features: str = one_of(
        "log1p", ("log1p", "raw"), help="Features of regressions with a link: log1p, logarithms of 1 + counts, or raw."
    )
    parents: str = one_of(
        "cam",
        ("cam", "skeleton"),
        help="cam, the candidates that are significant along the order; or skeleton, all of them, as in the paper.",
    )
    cutoff: float = number(0.001, within=(0, 1), help="The p-value below which cam keeps an edge.")

    def __post_init__(self) -> None:
        check(self)


def ratio(moment: np.ndarray, expected: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The ratio of the second factorial moment to the family's.

    Args:
        moment: X (X − 1) in every row, or its expectation, (rows,).
        expected: f(μ) in every row, (rows,).
        weights: of the rows, (rows,); equal by default.
    """
    return float(np.average(moment, weights=weights) / np.average(expected, weights=weights))


def second_moment(family: str, parameter: float, largest: float) -> Callable[[np.ndarray], np.ndarray]:
    """f: the second factorial moment as a function of the mean.

    Args:
        family: poisson, nb, binomial or hyper-poisson.
        parameter: r, M or b; unused for Poisson.
        largest: largest tabulated mean of the hyper-Poisson.
    """
    if family == HYPER_POISSON:
        rate = _rates(parameter, largest)
        return lambda mean: rate(mean) * (mean + 1) - parameter * mean
    factor = {POISSON: 1.0, NEGATIVE_BINOMIAL: 1 + 1 / parameter, BINOMIAL: 1 - 1 / parameter}[family]
    return lambda mean: factor * mean**2


def _rates(b: float, largest: float) -> Callable[[np.ndarray], np.ndarray]:
    """λ of a hyper-Poisson as a function of its mean, from a table in both logarithms."""
    rate = np.geomspace(1e-4, 2 * largest + 2 * b + 10, 4000)
    none = 1 / hyp1f1(1.0, b, np.minimum(rate, 500))  # P(0), below 1e-80 at 500
    mean = rate - (b - 1) * (1 - none)
    spline = PchipInterpolator(np.log(mean), np.log(rate))
    return lambda value: np.exp(spline(np.log(np.clip(value, mean[0], mean[-1]))))


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The order by moment ratios, and parents along it.

    InputError: the table does not contain counts that vary, the family does not fit a column, there are too few rows,
    or the package for the skeleton is not installed.
    """
    counts = usable(table, "MRS")
    check_rows(Prepared(counts))
    reporter = Reporter(callback, {"skeleton": 0.3, "order": 0.4, "parents": 0.3}, STOPPED)
    kinds = assigned(
        counts, POISSON if options.family == HYPER_POISSON else options.family, options.size, options.trials
    )
    _check_trials(counts, kinds)
    candidates = joined(counts, options.skeleton, reporter.part("skeleton", "node"))
    indices, ratios = _ordered(counts, kinds, candidates, options, reporter)
    names = [counts.columns[index] for index in indices]
    tests = cam.edges(Prepared(counts), names, cutoff=options.cutoff, callback=reporter.part("parents", "node"))
    index = {name: k for k, name in enumerate(counts.columns)}
    tests = tests[candidates[tests["parent"].map(index), tests["child"].map(index)]]
    if options.parents == "skeleton":
        tests = tests.assign(selected=True)
    return of_tests(counts, names, tests, _notes(options, ratios, int(candidates.sum()) // 2))


def _check_trials(counts: pd.DataFrame, kinds: list[GLMFamily]) -> None:
    """Refuse a binomial of one trial: its second factorial moment is always 0."""
    for name, kind in zip(counts.columns, kinds, strict=True):
        if kind.name == BINOMIAL and kind.parameter < 2:
            raise InputError(
                f'MRS compares X (X − 1), which is 0 in "{name}", a binomial of 1 trial: give more trials, or use ODS.'
            )


def _ordered(
    counts: pd.DataFrame, kinds: list[GLMFamily], candidates: np.ndarray, options: Options, reporter: Reporter
) -> tuple[list[int], list[float]]:
    values = counts.to_numpy(dtype=float)
    if options.skeleton == "none" and options.means == "linear":
        means: Deflated | Regressed = Deflated(values, kinds)
    else:
        linear = options.means == "linear"
        columns = features(values, "raw" if linear else options.features)
        means = Regressed(values, kinds, candidates, columns, least_squares if linear else likeliest)
    parameters = [options.b if options.family == HYPER_POISSON else kind.parameter for kind in kinds]
    functions = {value: second_moment(options.family, value, 10 * values.max()) for value in set(parameters)}

    def score(node: int, mean: np.ndarray) -> float:
        count = values[:, node]
        return ratio(count * (count - 1), functions[parameters[node]](mean))

    return order(means, score, candidates, reporter)


def _notes(options: Options, ratios: list[float], pairs: int) -> list[str]:
    parameter = {
        POISSON: "",
        NEGATIVE_BINOMIAL: f" of size {options.size:g}",
        BINOMIAL: " of each column's largest count" if options.trials is None else f" of {options.trials} trials",
        HYPER_POISSON: f" with b = {options.b:g}",
    }[options.family]
    skeleton = {
        "partial": f"partial correlations of logarithms of 1 + counts, {pairs} pairs",
        "none": "none, all pairs are candidates",
    }.get(options.skeleton, f"{options.skeleton}, {pairs} pairs")
    means = "least squares" if options.means == "linear" else f"regressions with a link on {options.features} counts"
    return [
        f"Every node is assumed to be {options.family}{parameter}; means by {means}; skeleton: {skeleton}.",
        "The theory needs the right family. Given the nodes before it, a node then has a moment ratio of 1. Here it "
        f"is {min(ratios):.2f} to {max(ratios):.2f}.",
    ]


def joined(counts: pd.DataFrame, how: str, callback: Callback | None = None) -> np.ndarray:
    """Whether each pair is a candidate, symmetric, (nodes, nodes).

    Args:
        counts: (rows, nodes), no column constant.
        how: partial, boss or ges; none joins all pairs.
        callback: receives the events of boss and ges.

    InputError: the package that boss and ges need is not installed.
    """
    if how == "none":
        return ~np.eye(counts.shape[1], dtype=bool)
    if how == "partial":
        return _partial(counts.to_numpy(dtype=float))
    matrix = dispatch.find(how, counts, callback=callback).adjacency(counts.columns).to_numpy() == 1
    return matrix | matrix.T


def _partial(counts: np.ndarray) -> np.ndarray:
    rows, nodes = counts.shape
    inverse = np.linalg.inv(np.corrcoef(features(counts, "log1p").T) + _RIDGE * np.eye(nodes))
    scale = np.sqrt(inverse.diagonal())
    squared = np.clip((inverse / np.outer(scale, scale)) ** 2, 0.0, 1 - 1e-12)
    return (-rows * np.log1p(-squared) > np.log(rows)) & ~np.eye(nodes, dtype=bool)
