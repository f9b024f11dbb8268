"""What happens h steps after nodes of a series are set, once or from then on, by simulation along the fitted laws.

From rows of the table with their past, the same random numbers are drawn with and without the setting, one step after
the other, so that only what the setting reaches differs. Every draw of coefficients gives a ratio of means at every
step; the interval holds the middle 90% of them. The graph, with the likelier end of every edge, is taken as true; what
the rows are adjusted for stays as it is in the row of the start, and a memory forgets as in a long series.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np
import pandas as pd

from disco.effects.nodes import NodeAtRows, Nodes
from disco.errors import InputError
from disco.fields import require, whole_from
from disco.paper.ranks import rank_on_grid
from disco.progress import Callback, Reporter
from disco.refine.leading import memory_cuts, past_as_columns
from disco.refine.refinement_result import Refined
from disco.refine.response import MOST_STEPS, Response
from disco.table.past import KEEP, Past, column_name
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Given

_DRAWS, _ROWS = 100, 200  # of coefficients; rows at which the simulations start
_BAND = (0.05, 0.95)
_TINY = 1e-9


def over_time(
    refined: Refined,
    table: Table,
    on: str,
    do: Mapping[str, float],
    *,
    roles: Given | None = None,
    steps: int = 12,
    is_steady: bool = False,
    seed: int = 0,
    callback: Callback | None = None,
) -> Response:
    """The response of a node to setting others in one row (at step 0), or from then on (`is_steady`).

    Args:
        table, roles: those of the refinement; a column is the time.
        steps: how far to look, at most `MOST_STEPS`.

    Raises:
        InputError: the table has no time or has an exposure, a name is no node, a value is not in a node's range, or
            there are too many steps.
    """
    prepared = prepare(table, roles)
    past = _checked(refined, prepared, on, do, steps)
    course = _Course.of(refined, prepared, past, seed)
    reporter = Reporter(callback, {"draws": 1.0}, "stopped while simulating.")
    means = np.empty((_DRAWS, 2, steps + 1))
    for number in range(_DRAWS):
        reporter.step("draws", number, _DRAWS)
        means[number] = course.means(on, do, steps, is_steady, number)
    low, high = np.quantile(means[:, 0] / np.maximum(means[:, 1], _TINY), _BAND, axis=0)
    mean, against = means.mean(axis=0)
    fields = {"mean": mean, "against": against, "ratio": mean / np.maximum(against, _TINY), "low": low, "high": high}
    points = pd.DataFrame({"step": np.arange(steps + 1), **fields})
    return Response(on, dict(do), is_steady, points, past.unit, _open_edges(refined, on, do))


def _open_edges(refined: Refined, on: str, do: Mapping[str, float]) -> tuple[tuple[str, str], ...]:
    """The edges of unknown direction on paths from what is set to a node."""
    edges, lagged = refined.edges, refined.lagged
    assert lagged is not None
    graph = nx.DiGraph([*refined.found.likelier, *zip(lagged["parent"], lagged["child"], strict=True)])
    graph.add_nodes_from([on, *do])
    between = set().union(*(nx.descendants(graph, name) | {name} for name in do)) & (nx.ancestors(graph, on) | {on})
    unknown = edges[~edges["decided"].astype(bool)]
    pairs = zip(unknown["parent"], unknown["child"], strict=True)
    return tuple(pair for pair in pairs if {*pair} <= between)


def _checked(refined: Refined, prepared: Prepared, on: str, do: Mapping[str, float], steps: int) -> Past:
    """The past of a table; InputError if the question cannot be answered with it."""
    require("steps", steps, whole_from(1))
    if steps > MOST_STEPS:
        raise InputError(f"A response is simulated for at most {MOST_STEPS} steps; {steps} were asked for.")
    if prepared.past is None or refined.lagged is None or prepared.adjustment is None:
        raise InputError("The table has no time, so nothing comes later: give a column the role time and search anew.")
    if prepared.adjustment.exposure is not None:
        raise InputError("A response over time is not computed with an exposure, whose later values are unknown.")
    for name in (on, *do):
        if name not in prepared.counts:
            raise InputError(f'There is no node "{name}".')
    for name, value in do.items():
        low, high = prepared.counts[name].min(), prepared.counts[name].max()
        if not low <= value <= high:
            raise InputError(f'"{name}" was {low:,} to {high:,} in the table, so what {value:g} does is not known.')
    return prepared.past


@dataclass(frozen=True, eq=False)
class _Course:
    """The fitted laws of a series, with the rows at which simulations start."""

    nodes: Nodes
    past: Past  # of all rows
    order: tuple[int, ...]  # of the nodes within a step, by their columns
    parents: Mapping[int, tuple[int, ...]]
    starts: np.ndarray  # the numbers of the rows, (rows,)
    seed: int

    @classmethod
    def of(cls, refined: Refined, prepared: Prepared, past: Past, seed: int) -> "_Course":
        extended, _ = past_as_columns(prepared)
        assert prepared.adjustment is not None
        adjustment = replace(prepared.adjustment, past=None)
        index = {name: at for at, name in enumerate(extended.counts)}
        graph, lagged = nx.DiGraph(), refined.lagged
        assert lagged is not None
        graph.add_nodes_from(index[name] for name in past.names)
        graph.add_edges_from((index[parent], index[child]) for parent, child in refined.found.likelier)
        order = tuple(nx.lexicographical_topological_sort(graph))
        sets = {node: [*graph.predecessors(node)] for node in order}
        for parent, child, lag in zip(lagged["parent"], lagged["child"], lagged["lag"], strict=True):
            sets[index[child]].append(index[column_name(parent, lag)])
        nodes = Nodes(Prepared(extended.counts, adjustment), seed)
        parents = {node: tuple(sorted(columns)) for node, columns in sets.items()}
        nodes.fit(parents.items())
        random = np.random.default_rng([seed, 41])
        starts = np.sort(random.permutation(len(prepared.counts))[:_ROWS])
        return cls(nodes, past, order, parents, starts, seed)

    def means(self, on: str, do: Mapping[str, float], steps: int, is_steady: bool, number: int) -> np.ndarray:
        """The mean of a node at every step with and without a setting, by a draw of coefficients, (2, steps + 1)."""
        laws = {node: self.nodes.conditional((node, self.parents[node]), number) for node in self.order}
        random = np.random.default_rng([self.seed, 43, max(number, 0)])
        first = len(self.nodes.grids) - len(self.past.names)
        settings = {first + self.past.names.index(name): value for name, value in do.items()}
        states = [_RecentRows.of(self.past, self.starts, self.nodes.grids) for _ in range(2)]
        result, outcome = np.empty((2, steps + 1)), self.past.names.index(on)
        for step in range(steps + 1):
            uniform = random.random((len(self.order), len(self.starts), 1))
            set_now = settings if is_steady or not step else {}
            for arm, state in enumerate(states):
                levels = state.levels()
                for node, chance in zip(self.order, uniform, strict=True):
                    level = self._drawn(laws[node], node, levels, chance)
                    if arm == 0 and node in set_now:
                        level = np.full(len(level), rank_on_grid(np.array([set_now[node]]), self.nodes.grids[node])[0])
                    levels[:, node] = level
                counts = np.column_stack(
                    [self.nodes.grids[node][levels[:, node]] for node in range(first, levels.shape[1])]
                )
                state.add(counts)
                result[arm, step] = counts[:, outcome].mean()
        return result

    def _drawn(self, law: NodeAtRows, node: int, levels: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """The levels of a node in this step, (rows,)."""
        bent = law.bent(law.index_of(levels))[0]
        logits = law.logits(law.shift[self.starts] + bent)
        cumulative = np.cumsum(np.exp(logits - logits.max(axis=1, keepdims=True)), axis=1)
        drawn = np.count_nonzero(uniform * cumulative[:, -1:] > cumulative, axis=1)
        return drawn.clip(max=len(self.nodes.grids[node]) - 1)


class _RecentRows:
    """The counts so far of simulated rows."""

    def __init__(self, recent: list[np.ndarray], memory: np.ndarray, cuts: list[np.ndarray], grids: tuple) -> None:
        self.recent, self.memory, self._cuts, self._grids = recent, memory, cuts, grids

    @classmethod
    def of(cls, past: Past, rows: np.ndarray, grids: tuple[np.ndarray, ...]) -> "_RecentRows":
        """The state before some rows of a past; `grids` are those of its columns, then of the nodes."""
        cuts = [memory_cuts(column) for column in past.memory.T]
        return cls([past.counts[rows, lag] for lag in range(past.lags)], past.memory[rows], cuts, grids)

    def levels(self) -> np.ndarray:
        """The levels of all columns as parents, (rows, columns); those of the nodes of this step are to be set."""
        memory = [np.searchsorted(cuts, column) for cuts, column in zip(self._cuts, self.memory.T, strict=True)]
        values = [*memory, *(column for counts in self.recent[::-1] for column in counts.T)]
        levels = np.zeros((len(self.memory), len(self._grids)), np.int64)
        for at, (column, grid) in enumerate(zip(values, self._grids, strict=False)):
            levels[:, at] = rank_on_grid(column, grid)
        return levels

    def add(self, counts: np.ndarray) -> None:
        """Go one step on."""
        self.recent = [counts, *self.recent[:-1]]
        self.memory = KEEP * self.memory + (1 - KEEP) * counts
