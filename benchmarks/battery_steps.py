"""One table through the whole engine, step by step; each step ends with a result or with one sentence.

The steps are independent: if no earlier step gave a graph, the later ones use the columns in their given order, each as
the parent of the next.
"""

import io
import json
import re
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.battery_outcomes import (
    RESULT,
    SENTENCE,
    STOPPED,
    TRACEBACK,
    Outcome,
    Wrong,
    is_sentence,
    number,
    stated,
)
from disco import DISCO, files
from disco import graph as graphs
from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.figures import effects, ordering, refined
from disco.figures import parents as parent_figures
from disco.figures import selectors as selector_figures
from disco.likelihood import kinds
from disco.likelihood.check import STATISTICS, check
from disco.likelihood.model import Model
from disco.metrics import average_precision, evaluate, precision_recall
from disco.parents import ocs, pcm, selectors
from disco.progress import Event, Reporter
from disco.refine import Choice, Refined, refine
from disco.runs import refined as refined_files
from disco.runs import results
from disco.runs.counts import write_counts
from disco.settings import Settings
from disco.simulate.edge_files import read_edges
from disco.table.counts import as_counts, describe

SHORT = {"joint_epochs": 3, "joint_steps": 0, "projection_epochs": 3, "projection_steps": 0, "width": 16}
Alive = Callable[[], bool]


@dataclass(frozen=True)
class Size:
    """How much work each step does.

    Attributes:
        settings: settings of the fit.
        choice: choice of the first refinement.
        longer: choice of a second refinement, from the order and edges of the fit; None for no second one.
        trees: number of PCM's trees.
        simulations, folds: numbers of the model check.
        drawn: most figures of edges, and of nodes.
    """

    settings: dict[str, object] = field(default_factory=SHORT.copy)
    choice: Choice = field(default_factory=lambda: Choice(starts=2, restarts=2, bootstrap=4, folds=2))
    longer: Choice | None = field(default_factory=Choice)
    trees: int = 50
    simulations: int = 9
    folds: int = 3
    drawn: int = 60


FAST = Size(
    SHORT | {"joint_epochs": 1, "projection_epochs": 1, "width": 4, "hidden_layers": 1},
    Choice(starts=1, restarts=0, bootstrap=2, folds=2),
    None,
    trees=3,
    simulations=2,
    folds=2,
    drawn=1,
)


@dataclass
class Bench:
    """A table and what the steps have found so far."""

    given: pd.DataFrame
    size: Size
    alive: Alive
    table: pd.DataFrame = field(init=False)
    order: list[str] = field(init=False)
    edges: pd.DataFrame = field(init=False)
    model: DISCO | None = None
    refined: Refined | None = None
    found: dict[str, pd.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = self.given
        self.order = [str(name) for name in self.given.columns]
        self.edges = pd.DataFrame({"parent": self.order[:-1], "child": self.order[1:]})

    def parents(self) -> dict[str, list[str]]:
        """The parents of every node that has any, in the graph of the latest step that gave one."""
        return self.edges.groupby("child", sort=False)["parent"].agg(list).to_dict()

    def told(self, event: Event) -> bool:
        """The callback of every kind of work."""
        return self.alive()


def through(
    table: pd.DataFrame,
    size: Size = FAST,
    *,
    alive: Alive = lambda: True,
    skip: tuple[str, ...] = (),
    begins: Callable[[str], None] = lambda step: None,
) -> Iterator[Outcome]:
    """The outcome of every step.

    Args:
        table: whole numbers.
        size: how much work each step does.
        alive: called repeatedly during a step; False stops it.
        skip: steps to leave out.
        begins: called with the name of each step before it starts.
    """
    bench = Bench(table, size, alive)
    for name, step in STEPS.items():
        if name in skip or (name == "longer refinement" and size.longer is None):
            continue
        begins(name)
        start = time.perf_counter()
        outcome, said = RESULT, ""
        try:
            step(bench)
        except (InputError, ScoreUnavailable) as error:
            outcome, said = (SENTENCE if is_sentence(str(error)) else TRACEBACK), str(error)
        except FitStopped as error:
            outcome, said = STOPPED, str(error)
        except Exception:
            outcome, said = TRACEBACK, traceback.format_exc()
        yield Outcome(name, outcome, said, round(time.perf_counter() - start, 2))
        if name == "counts" and outcome != RESULT:
            return


def _counts(bench: Bench) -> None:
    bench.table = as_counts(bench.given)
    stated(describe(bench.table), "mean", "variance")


def _fit(bench: Bench) -> None:
    model = DISCO(device="cpu", **bench.size.settings).fit(bench.table, callback=bench.told)
    bench.model, bench.order = model, model.order_
    _check_variant(model)
    stated(model.edges_, "parent", "child", "ocs", "z", "frequency")
    if len(model.edges_):
        bench.edges = model.edges_[["parent", "child"]]


def _check_variant(found: object) -> None:
    ends = "_" if isinstance(found, DISCO) else ""
    stated(getattr(found, f"ccs{ends}"), "score")
    stated(getattr(found, f"criteria{ends}"))
    stated(getattr(found, f"ocs{ends}"), "ocs", "curvature", "z")


def _recover(criterion: str, boundary: str) -> Callable[[Bench], None]:
    def step(bench: Bench) -> None:
        if bench.model is not None:
            _check_variant(bench.model.recover(boundary, criterion, callback=bench.told))

    return step


def _other_fit(bench: Bench) -> None:
    """A fit with quantile levels, disjoint halves of the rows, and the paper's preset and rule."""
    changes = {"transform": "quantile", "disjoint_rows": True, "folds": 2}
    model = DISCO("paper", "cpu", **bench.size.settings, **changes).fit(bench.table, callback=bench.told)
    _check_variant(model)
    stated(model.edges_, "ocs", "z", "frequency")


def _thresholds(bench: Bench) -> None:
    if bench.model is None:
        return
    for rule in ("iqr", "jackknife"):
        settings = bench.model.settings_.replace(parent_rule=rule)
        candidates = stated(ocs.with_z(bench.model.ocs_, rule), "z")
        tau_z, pi_min = ocs.own_thresholds(candidates, settings)
        for at in (number(tau_z, f"the threshold of {rule}"), 0.0, 1.0):
            for share in (pi_min, 0.3):
                stated(ocs.select(candidates, at, share), "ocs", "z", "frequency")
        stated(ocs.sensitivity(candidates, np.linspace(0, 4, 9)), "edges")


def _ocs(bench: Bench) -> None:
    if bench.model is not None:
        settings = bench.model.settings_
        thresholds = ocs.own_thresholds(bench.model.ocs_, settings)
        bench.found["ocs"] = stated(selectors.of_ocs(bench.model.ocs_, *thresholds), "score")


def _selector(name: str) -> Callable[[Bench], None]:
    def step(bench: Bench) -> None:
        settings = Settings()
        selectors.check(name, bench.table, settings)
        if name == "pcm":
            found = pcm.edges(bench.table, bench.order, trees=bench.size.trees, callback=bench.told)
        else:
            found = selectors.candidates(name, bench.table, bench.order, settings, callback=bench.told)
        if name == "evidence":  # NaN means that the screen left the pair out
            stated(found)
        else:
            stated(found, "score", "p_value")
            if not found["p_value"].between(0, 1).all():
                raise Wrong("A p-value lies outside 0 to 1.")
        bench.found[name] = found
        selectors.kept(found, name, 1.0)
        if "ocs" in bench.found:
            selectors.compared(found, bench.found["ocs"])

    return step


def _refine(bench: Bench) -> None:
    _take(bench, refine(bench.table, bench.size.choice, callback=bench.told))


def _refine_longer(bench: Bench) -> None:
    edges = bench.model.edges_ if bench.model is not None else None
    _take(bench, refine(bench.table, bench.size.longer, order=bench.order, edges=edges, callback=bench.told))


def _take(bench: Bench, found: Refined) -> None:
    stated(found.edges, "parent", "child", "decided")
    number(found.score, "the score")
    stated(found.starts, "score")
    stated(found.nodes, "node")
    if found.moves is not None:
        stated(found.moves)
    if sorted(found.order) != sorted(bench.table.columns):
        raise Wrong("The refined order has other names than the table.")
    found.graph()
    bench.refined = found
    if len(found.edges):
        bench.edges = found.edges[["parent", "child"]]


def _check(bench: Bench) -> None:
    candidates = {"empty": {}, "found": bench.parents()}
    size = bench.size
    found = check(bench.table, candidates, simulations=size.simulations, folds=size.folds, callback=bench.told)
    for frame in (found.columns, found.pairs, found.margins):
        stated(frame, "observed", "low", "middle", "high")
    stated(found.scores, *(["mean"] if not found.note else []))
    stated(found.differences)
    number(found.unseen, "the share of unseen counts")
    for statistic in STATISTICS:
        effects.columns(found, statistic).to_json()
    effects.pairs(found).to_json()
    effects.margin(found, bench.order[0]).to_json()
    if not found.note:
        effects.held_out(found).to_json()


def _model(bench: Bench) -> None:
    reporter = Reporter(bench.told, {"fit": 1.0}, "the fit of the graph was stopped.")
    model = Model.of(bench.table, bench.parents(), reporter=reporter)
    stated(model.log_likelihood.to_frame("nats"), "nats")
    number(model.bic, "the BIC")
    stated(model.held_out(bench.table).to_frame("nats"), "nats")
    stated(model.sample(30))
    for parent, child in bench.edges[["parent", "child"]].to_numpy()[: bench.size.drawn]:
        curve = stated(model.curve(parent, child), "mean")
        observed = stated(effects.binned(bench.table[parent], bench.table[child]))
        effects.response(curve, observed, parent, child).to_json()
        bench.alive()
    for place, node in enumerate(model.names):
        stated(model.base_measure(node), "probability")
        kind = kinds.describe(model, node)
        stated(kind.table().drop(columns="parameter"), "distance", "cost")
        number(kind.ratio, "the ratio of variance to mean")
        if re.search(r"\b(nan|inf)\b", kind.sentence()):
            raise Wrong(f"{node}: {kind.sentence()}")
        if place < bench.size.drawn:
            effects.kind(kind).to_json()
        bench.alive()


def _graph(bench: Bench) -> nx.DiGraph:
    if bench.refined is not None:
        return bench.refined.graph()
    return bench.model.graph() if bench.model is not None else graphs.build(bench.order, bench.edges)


def _exports(bench: Bench) -> None:
    graph = _graph(bench)
    texts = {form: graphs.export(graph, form) for form in graphs.FORMATS}
    json.loads(texts["json"], parse_constant=lambda word: _refuse(f"JSON holds {word}."))
    nx.parse_graphml(texts["graphml"])
    back = pd.read_csv(io.StringIO(texts["csv"]), dtype={"parent": str, "child": str}, keep_default_na=False)
    if len(back) != graph.number_of_edges():
        raise Wrong("The CSV has another number of edges than the graph.")
    if len(back) and set(read_edges(texts["csv"])[0]) != set(graph.edges):
        raise Wrong("The CSV has other edges than the graph.")


def _refuse(words: str) -> None:
    raise Wrong(words)


def _files(bench: Bench) -> None:
    """The files of a run, written and read back."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_counts(folder / "table.parquet", bench.table)
        if bench.model is not None:
            results.save_fit(folder, bench.model)
            if results.order(folder, list(bench.table.columns)) != bench.model.order_:
                raise Wrong("order.csv gives back another order.")
            pd.testing.assert_frame_equal(
                results.stored(folder, bench.model.order_).edges[["ocs", "z", "frequency"]].astype(float),
                bench.model.edges_[["ocs", "z", "frequency"]].reset_index(drop=True).astype(float),
            )
        if bench.refined is not None:
            refined_files.save(folder, bench.refined, bench.size.choice)
        for path in [*folder.glob("*.csv"), *folder.glob("*.json")]:
            if re.search(r"(?<![\w\"])[-+]?(inf|nan|infinity)(?![\w\"])", path.read_text(), re.IGNORECASE):
                raise Wrong(f"{path.name} holds a number that is neither finite nor left blank.")
        for path in folder.glob("*.csv"):
            files.read_frame(path, ("node", "parent", "child", "start"))


def _figures(bench: Bench) -> None:
    if bench.model is not None:
        model, thresholds = bench.model, ocs.own_thresholds(bench.model.ocs_, bench.model.settings_)
        drawn = [
            ordering.scores(model.ccs_, 1, model.order_),
            ordering.criteria(model.criteria_, 1, model.order_),
            parent_figures.matrix(ocs.frequencies(model.ocs_, thresholds[0]), model.order_, thresholds[1]),
            parent_figures.sensitivity(model.ocs_, *thresholds),
            parent_figures.candidates(model.ocs_, model.order_[-1], *thresholds),
        ]
        drawn += [
            selector_figures.cuts(found, name, selectors.CUTS[name], [0.0, selectors.CUTS[name], 1.0])
            for name, found in bench.found.items()
            if name != "ocs"
        ]
        for figure in drawn:
            figure.to_json()
    if bench.refined is not None:
        refined.searches(bench.refined.starts).to_json()
        refined.ends(bench.refined.starts, 5.0).to_json()
        refined.positions(bench.refined.order, bench.refined.edges)
        if bench.refined.moves is not None:
            refined.slope(bench.refined.moves, 5.0).to_json()


def _evaluate(bench: Bench) -> None:
    graph = _graph(bench)
    truth = graphs.edges(graph)[["parent", "child"]]
    own = evaluate(truth, list(graph), graph, bench.table)
    if len(truth) and (own["f1"], own["shd"], own["sid"]) != (1.0, 0, 0):
        raise Wrong(f"A graph compared with itself: {own}.")
    other = evaluate(truth, bench.order, graphs.build(bench.order, pd.DataFrame(columns=["parent", "child"])))
    json.dumps([own, other], allow_nan=False)
    for found in bench.found.values() if len(truth) else ():
        scores = found[["parent", "child", "score"]].dropna()  # without a score an edge is never found
        stated(precision_recall(truth, scores)[["precision", "recall"]])
        average_precision(truth, scores)


STEPS: dict[str, Callable[[Bench], None]] = {
    "counts": _counts,
    "fit": _fit,
    "recover admissible": _recover("ccs", "admissible"),
    "recover constant": _recover("constant", "clipped"),
    "quantile fit": _other_fit,
    "thresholds": _thresholds,
    "ocs": _ocs,
    "cam": _selector("cam"),
    "pcm": _selector("pcm"),
    "evidence": _selector("evidence"),
    "refinement": _refine,
    "longer refinement": _refine_longer,
    "check": _check,
    "model": _model,
    "figures": _figures,
    "exports": _exports,
    "files": _files,
    "evaluate": _evaluate,
}
