"""The outcome's mean over the range of one node, with bands; its distribution; the paths by which the node acts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

import networkx as nx
import numpy as np
import pandas as pd

from disco.effects import effect_question
from disco.effects.cases import by_case
from disco.effects.compatible import Dag
from disco.effects.effect import mean_of
from disco.effects.graph_fits import FittedGraphs
from disco.progress import SILENT, Reporter

DISTRIBUTION = (
    *("case", "when", "count", "at_least", "at_least_low", "at_least_high"),
    *("against", "against_low", "against_high"),
)
_POINTS, _LEVELS = 9, 5
_DRAWS = 100
_MOST_PATHS = 200  # of a graph
_MOST_COUNTS = 60  # of a distribution; if there are more, some of them, evenly among the distinct ones


def curve(
    fitted: FittedGraphs,
    on: str,
    node: str,
    reporter: Reporter = SILENT,
    also: Iterable[float] = (),
    is_direct: bool = False,
) -> pd.DataFrame:
    """The outcome's mean at values of a node spread evenly over its rows, and a few spread evenly over its levels.

    Args:
        on: the outcome.
        also: further values.
        is_direct: hold the nodes between at their values in the rows.

    Returns:
        Columns case and when (`cases.by_case`), value, mean, low and high. The cases are those of the node's whole
        range; those of `Effect.cases` are of two values.

    Raises:
        InputError: there is no such node.
        FitStopped: the reporter's callback stopped the work.
    """
    outcome, cause = effect_question.node(fitted, on), effect_question.node(fitted, node)
    fitted = fitted.about((cause,))
    grid = fitted.nodes.parent_grids[cause]
    few = grid[np.linspace(0, len(grid) - 1, _LEVELS).round().astype(int)]  # also where rows are few
    evenly = sorted(
        {*few.tolist(), *(effect_question.typical(fitted, cause, share) for share in np.linspace(0, 1, _POINTS))}
    )
    extremes = [evenly[-1], evenly[0]]  # the cases are those of these two
    values = sorted({*evenly, *also})
    settings = [{cause: value} for value in (*extremes, *(value for value in values if value not in extremes))]
    dags = fitted.graphs.dags
    paths = [dag.direct((cause,), outcome) for dag in dags] if is_direct else fitted.graphs.paths((cause,), outcome)
    sampled = fitted.sampled(paths, settings, outcome, _DRAWS, reporter)
    positions = [settings.index({cause: value}) for value in values]

    def of_case(among: np.ndarray) -> pd.DataFrame:
        means = pd.DataFrame([mean_of(fitted, sampled, at, among) for at in positions], columns=["mean", "low", "high"])
        means.insert(0, "value", values)
        return means

    return by_case(fitted, paths, (cause,), sampled, of_case)


def distribution(
    fitted: FittedGraphs,
    on: str,
    do: Mapping[str, float],
    against: Mapping[str, float] | None = None,
    reporter: Reporter = SILENT,
) -> pd.DataFrame:
    """The probability that the outcome has at least a count, at the values in question and those compared with.

    The probability of one count is the difference to the next. Arguments and errors are those of `effect.effect`.

    Returns:
        Columns `DISTRIBUTION`, ascending counts by case: case and when (`cases.by_case`), the count, then the
        probability with its 90% interval if `do` is set, and if `against` is.
    """
    question = effect_question.checked_question(fitted, on, do, against)
    fitted = fitted.about(question.do)
    grid, set_nodes = fitted.nodes.grids[question.on], tuple(question.do)
    counts = grid[np.unique(np.linspace(0, len(grid) - 1, _MOST_COUNTS).round().astype(int))]
    settings, paths = [question.do, question.against], fitted.graphs.paths(set_nodes, question.on)
    reach = (grid[:, None] >= counts).astype(float)
    sampled = fitted.sampled(paths, settings, question.on, _DRAWS, reporter, reach)

    def of_case(among: np.ndarray) -> pd.DataFrame:
        columns = [mean_of(fitted, sampled, at, among) for at in range(2, sampled.points.shape[1])]  # after the means
        frame = pd.DataFrame(np.array(columns).reshape(len(counts), -1).clip(0, 1), columns=list(DISTRIBUTION[3:]))
        frame.insert(0, "count", counts)
        return frame

    return by_case(fitted, paths, set_nodes, sampled, of_case)


def routes(fitted: FittedGraphs, on: str, node: str) -> list[tuple[tuple[str, ...], float]]:
    """The directed paths from a node to the outcome, each with the share of the graphs that have it, largest first.

    InputError: there is no such node.
    """
    outcome, cause = effect_question.node(fitted, on), effect_question.node(fitted, node)
    weight_of_path = Counter[tuple[int, ...]]()
    for dag in fitted.graphs.about((cause,)).dags:
        for path in _paths(dag, cause, outcome):
            weight_of_path[path] += dag.share  # type: ignore[assignment] # a weight
    ranked = sorted(weight_of_path.items(), key=lambda item: (-round(item[1], 12), len(item[0]), item[0]))
    return [(tuple(fitted.names[at] for at in path), float(share)) for path, share in ranked]


def _paths(dag: Dag, cause: int, outcome: int) -> list[tuple[int, ...]]:
    between = [cause, *dag.between((cause,), outcome)]
    graph = nx.DiGraph([(parent, node) for node in between for parent in dag.parents[node] if parent in between])
    if cause not in graph or outcome not in graph:
        return []
    return [tuple(path) for path in islice(nx.all_simple_paths(graph, cause, outcome), _MOST_PATHS)]
