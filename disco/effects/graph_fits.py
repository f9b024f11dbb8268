"""Graphs fitted to a table, and an outcome's means over them at any setting of nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import networkx as nx
import numpy as np

from disco.effects.compatible import Graphs, Path
from disco.effects.means import OutcomeMeans, Over, Settings
from disco.effects.nodes import Nodes
from disco.fields import require, require_types, whole_from
from disco.graph.dag import require_dag
from disco.progress import SILENT, Reporter
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Given

DRAWS = 200  # of graph, coefficients and rows
_MOST_ROWS = 2000  # averaged over in each draw
_AT_FITS = 0.3  # rows averaged over for the estimates at the fits of all graphs, in those of all draws
_FEWEST_ROWS = 1000  # of them in one graph
_REACHED = 0.6, 0.9  # of the draws, bounds of those of graphs with a path to the outcome
_ONE = "One graph is taken as true: the intervals do not include uncertainty about it."


class Sampled(NamedTuple):
    """An outcome's means at k settings, of q numbers: of the first at all settings, then of the next."""

    points: np.ndarray  # at the fitted coefficients of each graph, (graphs, q · k)
    reached: np.ndarray  # whether a path leads to the outcome, (graphs,)
    drawn: np.ndarray  # each with a draw of graph, coefficients and rows, (draws, q · k)
    of: np.ndarray  # each draw's graph number, (draws,)
    weights: np.ndarray  # of the draws, with sum 1, (draws,)

    def of_graphs(self, among: np.ndarray) -> "Sampled":
        """The draws of some graphs only, (graphs,) bool; the points of all."""
        selected = among[self.of]
        return self._replace(drawn=self.drawn[selected], of=self.of[selected], weights=self.weights[selected])


@dataclass(frozen=True, eq=False)
class FittedGraphs:
    """Graphs fitted to a table."""

    names: tuple[str, ...]
    graphs: Graphs
    nodes: Nodes  # the table and its fits
    notes: tuple[str, ...] = ()  # caveats of every effect, as sentences
    seed: int = 0

    @classmethod
    def of(cls, graphs: Graphs, prepared: Prepared, notes: tuple[str, ...] = (), seed: int = 0) -> "FittedGraphs":
        """Graphs over the columns of a table, with the table."""
        return cls(tuple(prepared.counts.columns), graphs, Nodes(prepared, seed), notes, seed)

    @classmethod
    def of_dag(cls, graph: nx.DiGraph, table: Table, *, roles: Given | None = None, seed: int = 0) -> "FittedGraphs":
        """One DAG, taken for granted.

        InputError: the table or the roles cannot be used, or the graph is not a DAG of the table's columns.
        """
        require_types(graph=(graph, nx.DiGraph))
        require("seed", seed, whole_from(0))
        prepared = prepare(table, roles)
        names = list(prepared.counts.columns)
        require_dag(graph, names)
        return cls.of(Graphs.single(graph, names), prepared, (_ONE,), seed)

    def afresh(self) -> "FittedGraphs":
        """A copy without fits, for concurrent callers."""
        return FittedGraphs.of(self.graphs, self.nodes.given, self.notes, self.seed)

    def about(self, nodes: Iterable[int]) -> "FittedGraphs":
        """The same fits, with the graphs to say what holds of setting some nodes (`Graphs.about`)."""
        return replace(self, graphs=self.graphs.about(nodes))

    def over(self, rows: np.ndarray, note: str) -> "FittedGraphs":
        """The same graphs and fits, with means over some rows only, by their numbers."""
        return replace(self, nodes=self.nodes.over(rows), notes=(note, *self.notes))

    def sampled(
        self,
        paths: Sequence[Path],
        settings: Settings,
        outcome: int,
        draws: int = DRAWS,
        reporter: Reporter = SILENT,
        also: np.ndarray | None = None,
    ) -> Sampled:
        """The outcome's means at settings: of its counts, and of further numbers of its levels, (levels, q − 1).

        Paths are by graph (`Graphs.paths`).
        """
        self.nodes.fit((key for path in paths for key in path), reporter)
        of = self.nodes.grids[outcome].astype(float)[:, None]
        of = of if also is None else np.column_stack([of, also])
        seen = of[np.searchsorted(self.nodes.grids[outcome], self.nodes.given.counts.iloc[:, outcome])]

        def unchanged(rows: np.ndarray) -> np.ndarray:
            return np.repeat(seen[rows].mean(axis=0), len(settings))

        distinct = dict.fromkeys(paths)
        means = OutcomeMeans(self.nodes, settings, of, self._often(len(distinct), draws), -1)
        at_fit = {path: means.along(path) if path else unchanged(self.nodes.rows) for path in distinct}
        points = np.array([at_fit[path] for path in paths])
        reached = np.array([bool(path) for path in paths])
        number_of_path = {path: at for at, path in enumerate(distinct)}
        chosen, weights = self._of_draws(np.array([number_of_path[path] for path in paths]), reached, draws)
        drawn = np.empty((draws, points.shape[1]))
        for number, graph in enumerate(chosen):
            reporter.check()
            random = np.random.default_rng([self.seed, 29, number])
            over, path = Over(self._rows(random), random), paths[graph]
            drawn[number] = (
                OutcomeMeans(self.nodes, settings, of, over, number).along(path) if path else unchanged(over.rows)
            )
        return Sampled(points, reached, drawn, chosen, weights)

    def _of_draws(self, path_numbers: np.ndarray, reached: np.ndarray, draws: int) -> tuple[np.ndarray, np.ndarray]:
        """The graph of every draw, in proportion to their shares, and the weights of the draws.

        Most are of graphs in which a path leads to the outcome, however few these are. `path_numbers`, (graphs,), are
        equal for graphs with the same path.
        """
        shares, graphs, weights = self.graphs.shares, [], []
        share = float(shares @ reached)
        with_path = draws if reached.all() else int(np.clip(share, *_REACHED) * draws) if reached.any() else 0
        for among, count in ((reached, with_path), (~reached, draws - with_path)):
            if not count:
                continue
            order = np.flatnonzero(among)[np.argsort(path_numbers[among], kind="stable")]
            cumulative = np.cumsum(shares[order])
            at = np.searchsorted(cumulative, (np.arange(count) + 0.5) / count * cumulative[-1])
            graphs.append(order[at.clip(max=len(order) - 1)])
            weights.append(np.full(count, cumulative[-1] / count))
        return np.concatenate(graphs), np.concatenate(weights)

    def _often(self, graphs: int, draws: int) -> Over:
        """The rows for the means at the fits: all equally often, or a sample of them if there are many graphs."""
        rows, random = self.nodes.rows, np.random.default_rng([self.seed, 31])
        total = max(int(_AT_FITS * draws * len(rows) / graphs), _FEWEST_ROWS)
        rows = np.repeat(rows, max(1, min(total, 4 * _MOST_ROWS) // len(rows)))
        return Over(random.permutation(rows)[:total], random)

    def _rows(self, random: np.random.Generator) -> np.ndarray:
        """Rows drawn with replacement, whole groups where there are groups."""
        rows, group = self.nodes.rows, self.nodes.group
        if group is None:
            return random.choice(rows, min(len(rows), _MOST_ROWS))
        members = [rows[group[rows] == number] for number in np.unique(group[rows])]
        return np.concatenate([members[number] for number in random.integers(0, len(members), len(members))])
