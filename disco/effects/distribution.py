"""The distribution of an outcome if nodes are set, with bands: how often it has at least a count."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from disco.effects import effect_question
from disco.effects.cases import by_case
from disco.effects.effect import mean_of
from disco.effects.graph_fits import FittedGraphs
from disco.progress import SILENT, Reporter

COLUMNS = (
    *("case", "when", "count", "at_least", "at_least_low", "at_least_high"),
    *("against", "against_low", "against_high"),
)
_MOST = 60  # counts; if there are more, some of them, evenly among the distinct ones
_DRAWS = 100


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
        Columns `COLUMNS`, ascending counts by case: case and when (`cases.by_case`), the count, then the probability
        with its 90 % interval if `do` is set, and if `against` is.
    """
    question = effect_question.checked_question(fitted, on, do, against)
    fitted = fitted.about(question.do)
    grid, set_nodes = fitted.nodes.grids[question.on], tuple(question.do)
    counts = grid[np.unique(np.linspace(0, len(grid) - 1, _MOST).round().astype(int))]
    settings, paths = [question.do, question.against], fitted.graphs.paths(set_nodes, question.on)
    reach = (grid[:, None] >= counts).astype(float)
    sampled = fitted.sampled(paths, settings, question.on, _DRAWS, reporter, reach)

    def of_case(among: np.ndarray) -> pd.DataFrame:
        columns = [mean_of(fitted, sampled, at, among) for at in range(2, sampled.points.shape[1])]  # after the means
        frame = pd.DataFrame(np.array(columns).reshape(len(counts), -1).clip(0, 1), columns=list(COLUMNS[3:]))
        frame.insert(0, "count", counts)
        return frame

    return by_case(fitted, paths, set_nodes, sampled, of_case)
