"""Two methods that use interventions, on log(1 + x): GIES and GnIES.

Both search greedily over classes of graphs by the BIC of linear Gaussian models, each arm with the controls as one more
environment.

- GIES (Hauser and Bühlmann, 2012) knows what an arm sets, and leaves its rows out of the score of that node.
- GnIES (Gamella, Taeb, Heinze-Deml and Bühlmann, 2022) looks for the nodes whose mean or variance differs between arms.

The class holds the graphs that no arm tells apart. Its other edges have an open direction.
"""

from dataclasses import dataclass

import numpy as np

from disco.errors import InputError
from disco.fields import check, one_of
from disco.graph.result import GraphResult
from disco.methods.general import calling, of_class, standardised
from disco.progress import Callback, Reporter
from disco.table.prepared import Table, prepare

_LABELS = {"gies": "GIES", "gnies": "GnIES"}


@dataclass(frozen=True)
class Options:
    """The algorithm: gies or gnies."""

    algorithm: str = one_of("gies", _LABELS, help="The algorithm: gies or gnies.")

    def __post_init__(self) -> None:
        check(self)


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The class of graphs. It cannot be stopped while it runs: the callback is called before and after.

    InputError: the table lacks counts or arms, a column is constant, a package is missing, or the algorithm fails.
    """
    label, prepared = _LABELS[options.algorithm], prepare(table)
    interventions = None if prepared.adjustment is None else prepared.adjustment.interventions
    if interventions is None:
        raise InputError(f"{label} compares arms of an experiment: give a column the role intervention.")
    names = list(prepared.counts.columns)
    reporter = Reporter(callback, {"search": 1.0}, f"{label} was stopped.")
    values = standardised(prepared.counts, label)
    arms = [values[interventions.arm == arm] for arm in range(len(interventions.arms) + 1)]
    reporter.step("search", 0, 1)
    targets = [[], *([names.index(node) for node in nodes] for nodes in interventions.targets)]
    with calling(label):
        graph = _searched(options.algorithm, arms, targets)
    reporter.step("search", 1, 1)
    there, both = graph != 0, (graph != 0) & (graph.T != 0)
    return of_class(names, np.argwhere(there & ~both), np.argwhere(np.triu(both)))


def _searched(algorithm: str, arms: list[np.ndarray], targets: list[list[int]]) -> np.ndarray:
    """The class, (nodes, nodes): [i, j] and not [j, i] is i → j, both are an open direction.

    `arms` are the rows of the controls, then of every arm, (rows, nodes); `targets` the nodes that each of them sets.
    """
    if algorithm == "gies":
        import gies

        return gies.fit_bic(arms, targets)[0]
    import gnies

    return gnies.fit(arms, approach="rank", center=False)[1]
