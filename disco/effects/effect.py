"""The effect of setting nodes on an outcome, with what is unsure of rows, coefficients and graph in its intervals."""

from collections.abc import Callable, Mapping

import numpy as np

from disco.bitsets import bits
from disco.effects import effect_question, sentences
from disco.effects.cases import OpenCase, open_cases
from disco.effects.compatible import Dag, Path
from disco.effects.effect_records import Answer, Case, Effect, Interval, Shares
from disco.effects.graph_fits import DRAWS, FittedGraphs, Sampled
from disco.fields import require, require_types, whole_from
from disco.progress import SILENT, Reporter

LEVEL = 0.9  # of every interval
TAILS = (1 - LEVEL) / 2, (1 + LEVEL) / 2
_NONE = 1e-9  # relative; a smaller difference of two means is none


def effect(
    fitted: FittedGraphs,
    on: str,
    do: Mapping[str, float],
    against: Mapping[str, float] | None = None,
    *,
    draws: int = DRAWS,
    reporter: Reporter = SILENT,
) -> Effect:
    """What happens to an outcome if nodes are set.

    Args:
        do: the value of every set node: a count, or with an exposure the rate at an average exposure.
        against: the values compared with; by default the medians.
        draws: number of draws of graph, coefficients and rows.

    Raises:
        InputError: a node is unknown, is the outcome or comes after it, or no row is near a value.
        FitStopped: the reporter's callback stopped the work.
    """
    require_types(fitted=(fitted, FittedGraphs))
    require("draws", draws, whole_from(20))
    question = effect_question.checked_question(fitted, on, do, against)
    outcome, set_nodes, fitted = question.on, tuple(question.do), fitted.about(question.do)
    dags = fitted.graphs.dags

    def sampled(paths: list[Path]) -> Sampled:
        return fitted.sampled(paths, [question.do, question.against], outcome, draws, reporter)

    paths = fitted.graphs.paths(set_nodes, outcome)
    total = sampled(paths)
    direct = sampled([dag.direct(set_nodes, outcome) for dag in dags])
    adjusted = [_adjusted(dag, set_nodes, path) if path else () for dag, path in zip(dags, paths, strict=True)]
    total_answer, by_adjustment = answer(fitted, total), None
    if None not in adjusted and any(adjusted):
        by_adjustment = answer(fitted, sampled([path or () for path in adjusted]))
    cases = open_cases(fitted.graphs, paths, set_nodes, total)
    is_reversed = [bool(dag.descendants([outcome]) & bits(set_nodes)) for dag in dags]
    return Effect(
        on,
        {fitted.names[node]: value for node, value in question.do.items()},
        {fitted.names[node]: value for node, value in question.against.items()},
        total_answer,
        answer(fitted, direct),
        by_adjustment,
        tuple(_case(fitted, total, case) for case in cases) if len(cases) > 1 else (),
        float(fitted.graphs.shares @ is_reversed),
        (*question.notes, *sentences.disagreement(total_answer, by_adjustment), *fitted.notes),
    )


def _adjusted(dag: Dag, set_nodes: tuple[int, ...], path: Path) -> Path | None:
    """The outcome with the set nodes and the adjustment set as parents; None if no set is valid."""
    adjustment = dag.adjusting(set_nodes, [node for node, _ in path])
    return None if adjustment is None else ((path[-1][0], tuple(sorted({*adjustment, *set_nodes}))),)


def answer(fitted: FittedGraphs, sampled: Sampled, among: np.ndarray | None = None) -> Answer:
    """The answer of sampled means at two settings, over all graphs or those of a case, (graphs,) bool.

    The intervals hold the effect in every one of these graphs that is of the whole table.
    """
    shares = _shares(fitted, among)
    change = sampled.points[:, 0] - sampled.points[:, 1]
    is_some = np.abs(change) > _NONE * np.abs(sampled.points).max(axis=1)
    of_graphs = Shares(*(float(shares @ which) for which in (is_some & (change > 0), is_some & (change < 0), ~is_some)))
    mean, against = shares @ sampled.points[:, :2]
    return Answer(
        mean_of(fitted, sampled, 0, among),
        mean_of(fitted, sampled, 1, among),
        _interval(fitted, sampled, mean - against, lambda means: means[:, 0] - means[:, 1], among, is_difference=True),
        _interval(fitted, sampled, float(_ratio(mean, against)), lambda means: _ratio(means[:, 0], means[:, 1]), among),
        of_graphs,
    )


def _ratio(mean: np.ndarray, against: np.ndarray) -> np.ndarray:
    """The ratio of means; 1 if they are equal, also if both are 0: a covariate's level may exclude the outcome."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(mean == against, 1.0, mean / against)


def mean_of(fitted: FittedGraphs, sampled: Sampled, column: int, among: np.ndarray | None = None) -> Interval:
    """A mean, by the number of its column in `Sampled`; the other arguments are those of `answer`."""
    estimate = float(_shares(fitted, among) @ sampled.points[:, column])
    return _interval(fitted, sampled, estimate, lambda means: means[:, column], among)


def _shares(fitted: FittedGraphs, among: np.ndarray | None) -> np.ndarray:
    """The weights of some graphs, (graphs,), normalised."""
    shares = fitted.graphs.shares if among is None else fitted.graphs.shares * among
    return shares / shares.sum()


def _interval(
    fitted: FittedGraphs,
    sampled: Sampled,
    estimate: float,
    number: Callable[[np.ndarray], np.ndarray],
    among: np.ndarray | None,
    *,
    is_difference: bool = False,
) -> Interval:
    """The interval of a number computed from means, (…, settings); that of a mean or a ratio is never below 0."""
    selected = sampled if among is None else sampled.of_graphs(among)
    drawn, points = number(selected.drawn), number(sampled.points)
    near = fitted.graphs.near if among is None else fitted.graphs.near & among
    bounds = [estimate, *points[near]]
    if len(selected.weights):
        bounds += _quantiles(drawn, selected.weights).tolist()
    # Draws from all graphs together would differ by more than their uncertainty.
    if among is not None and near.any() and len(selected.weights):
        centre, lowest, highest = points[selected.of], points[near].min(), points[near].max()
        around = _quantiles(drawn - centre if is_difference else _ratio(drawn, centre), selected.weights)
        with np.errstate(invalid="ignore"):  # 0 times a ratio to 0
            bounds += [*(np.array([lowest, highest]) + around if is_difference else [lowest, highest] * around)]
    return Interval(float(estimate), float(np.nanmin(bounds)), float(np.nanmax(bounds)))


def _quantiles(drawn: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.quantile(drawn, TAILS, weights=weights, method="inverted_cdf")


def _case(fitted: FittedGraphs, total: Sampled, case: OpenCase) -> Case:
    edges = tuple((fitted.names[parent], fitted.names[child]) for parent, child in case.edges)
    return Case(edges, float(fitted.graphs.shares @ case.graphs), answer(fitted, total, case.graphs))
