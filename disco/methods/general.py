"""General methods of causal-learn on standardised log(1 + x): BOSS, GRaSP, PC, GES and DirectLiNGAM.

- BOSS (Andrews and others, 2023) and GRaSP (Lam, Andrews and Ramsey, 2022) search over orders, GES (Chickering, 2002)
  over classes of graphs, by a Gaussian BIC with a price of λ log n per coefficient; λ = ½ is the BIC itself.
- PC (Spirtes and Glymour, 1991) removes edges by tests of partial correlation, Fisher's z.
- DirectLiNGAM (Shimizu and others, 2011) assumes linear effects and non-normal errors.

Linear Gaussian models of the same equivalence class fit equally well. So all but DirectLiNGAM find a class of graphs:
directed edges, edges with an open direction, and no order.
"""

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import check, number, one_of, whole
from disco.graph.result import GraphResult
from disco.methods.registry import INSTALL
from disco.progress import Callback, Reporter
from disco.table.prepared import Table, prepare

_LABELS = {"boss": "BOSS", "grasp": "GRaSP", "pc": "PC", "ges": "GES", "lingam": "DirectLiNGAM"}
_SINGULAR = 1e-10  # the smallest eigenvalue of an invertible correlation matrix


@dataclass(frozen=True)
class Options:
    """The algorithm and its parameters."""

    algorithm: str = one_of("boss", _LABELS, help="Boss, grasp, pc, ges or lingam.")
    penalty: float = number(2, above=0, help="λ of BOSS, GRaSP and GES.")
    alpha: float = number(0.05, above=0, help="Significance level of PC's tests.")
    least: float = number(
        0.1, at_least=0, help="Smallest coefficient, in standard deviations, of an edge of DirectLiNGAM."
    )
    seed: int = whole(0, within=(0, 2**32 - 1), help="Seed of the orders in which BOSS and GRaSP visit nodes.")

    def __post_init__(self) -> None:
        check(self)
        if self.alpha >= 1:
            raise InputError(f"alpha must be less than 1; got {self.alpha}.")


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The algorithm's result. It cannot be stopped while it runs: the callback is called before and after.

    InputError: the table lacks counts, a column is constant, a package is missing, or the algorithm fails.
    """
    label, counts = _LABELS[options.algorithm], prepare(table).counts
    reporter = Reporter(callback, {"search": 1.0}, f"{label} was stopped.")
    values = standardised(counts, label)
    _check(values, counts, options.algorithm)
    reporter.step("search", 0, 1)
    with _repeatable(options.seed), calling(label):
        if options.algorithm == "lingam":
            result = _linear(values, counts, options)
        else:
            result = of_class(list(counts.columns), *read(_searched(values, options)))
    reporter.step("search", 1, 1)
    return result


def standardised(table: pd.DataFrame, label: str) -> np.ndarray:
    """log(1 + x) with mean 0 and variance 1, (rows, nodes). InputError, naming `label`: a column is constant."""
    logged = np.log1p(table.to_numpy(dtype=float))
    spread = logged.std(axis=0)
    if not spread.all():
        raise InputError(f'{label} needs columns that vary; "{table.columns[int(spread.argmin())]}" is constant.')
    return (logged - logged.mean(axis=0)) / spread


def _check(values: np.ndarray, table: pd.DataFrame, algorithm: str) -> None:
    """Refuse tables on which PC or DirectLiNGAM would fail midway; the others work on any table."""
    rows, nodes = values.shape
    if algorithm in ("pc", "lingam") and rows <= nodes:
        raise InputError(f"{_LABELS[algorithm]} needs more rows than columns; this table has {rows:,} and {nodes:,}.")
    if algorithm == "pc":
        sizes, vectors = np.linalg.eigh(values.T @ values / rows)
        if sizes[0] < _SINGULAR:
            name = table.columns[int(np.abs(vectors[:, 0]).argmax())]
            raise InputError(f'PC needs columns that are not determined by the others; leave "{name}" out.')


@contextmanager
def calling(label: str) -> Iterator[None]:
    """Turn a library's errors into an InputError that names the method, and suppress its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ModuleNotFoundError as error:
        raise InputError(f"{label} needs {error.name}, which is missing: {INSTALL}.") from error
    except (np.linalg.LinAlgError, ValueError, ZeroDivisionError) as error:
        raise InputError(f"{label} failed on this table: {str(error).rstrip('.')}.") from error


@contextmanager
def _repeatable(seed: int) -> Iterator[None]:
    """Seed both global generators and restore them afterwards."""
    plain, numpy = random.getstate(), np.random.get_state()
    try:
        random.seed(seed)
        np.random.seed(seed)
        yield
    finally:
        random.setstate(plain)
        np.random.set_state(numpy)


def of_class(names: list[str], directed: np.ndarray, undirected: np.ndarray) -> GraphResult:
    """A class of graphs from its edges, each as (edges, 2) node numbers."""
    notes = (f"Undirected edges: {len(undirected)} of {len(directed) + len(undirected)}.",) if len(undirected) else ()
    pairs, is_open = ([(names[i], names[j]) for i, j in edges] for edges in (directed, undirected))
    return GraphResult.of(names, pairs, undirected=is_open, notes=notes)


def _searched(values: np.ndarray, options: Options) -> np.ndarray:
    """causal-learn's matrix for a class of graphs, (nodes, nodes)."""
    score = {"score_func": "local_score_BIC_from_cov", "parameters": {"lambda_value": options.penalty}}
    if options.algorithm == "boss":
        from causallearn.search.PermutationBased.BOSS import boss

        return boss(values, **score, verbose=False).graph
    if options.algorithm == "grasp":
        from causallearn.search.PermutationBased.GRaSP import grasp

        return grasp(values, **score, verbose=False).graph
    if options.algorithm == "ges":
        from causallearn.search.ScoreBased.GES import ges

        return ges(values, **score)["G"].graph
    from causallearn.search.ConstraintBased.PC import pc

    return pc(values, options.alpha, "fisherz", verbose=False, show_progress=False).G.graph


def read(graph: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The directed and undirected edges of causal-learn's matrix, each as (edges, 2) node numbers.

    It has -1 at the tail of an edge and 1 at its head: graph[i, j] = -1 and graph[j, i] = 1 is i → j. Two tails are an
    undirected edge. Two heads come from conflicting rules and count as undirected too.
    """
    directed = (graph == -1) & (graph.T == 1)
    joined = (graph != 0) | (graph.T != 0)
    return np.argwhere(directed), np.argwhere(np.triu(joined & ~directed & ~directed.T))


def _linear(values: np.ndarray, table: pd.DataFrame, options: Options) -> GraphResult:
    """The order, and the edges with a large enough coefficient in the adaptive lasso; score: its size."""
    from causallearn.search.FCMBased.lingam import DirectLiNGAM

    model: Any = DirectLiNGAM()
    model.fit(values)
    names = list(table.columns)
    sizes = np.abs(np.nan_to_num(model.adjacency_matrix_))  # [child, parent]
    scored = [(names[j], names[i], sizes[i, j]) for i, j in np.argwhere(sizes > 0)]
    scores = pd.DataFrame(scored, columns=["parent", "child", "score"]).astype({"score": float})
    edges = [(parent, child) for parent, child, size in scored if size >= options.least]
    return GraphResult.of(names, edges, order=[names[node] for node in model.causal_order_], scores=scores)
