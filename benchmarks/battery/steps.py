"""One table through the whole engine, step by step; each step ends with a result or with one sentence.

The numbers of a result are finite, or NaN, which means "missing".

The steps are independent: if no earlier step gave a graph, the later ones use the columns in their given order, each as
the parent of the next.
"""

import io
import json
import math
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

from disco import DISCO, files
from disco.columns import EDGES, ORDER
from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.graph import dag as graphs
from disco.graph.result import read as read_result
from disco.likelihood import count_shapes
from disco.likelihood.model import Model
from disco.likelihood.model_check import check
from disco.metrics import average_precision, evaluate, precision_recall
from disco.paper import ocs
from disco.paper.settings import Settings
from disco.progress import Event, Reporter
from disco.refine import Choice, Refined, refine
from disco.runs.counts import write_counts
from disco.selectors import pcm, selection
from disco.simulate.edge_files import read_edges
from disco.subjects.fit import results
from disco.subjects.refinement import refined as refined_files
from disco.table.counts import as_counts, describe

RESULT, SENTENCE, TRACEBACK, STOPPED = "result", "sentence", "traceback", "stopped"


@dataclass(frozen=True)
class Outcome:
    """How a step ended (with a result, a sentence, a traceback, or stopped by `alive`), and its words."""

    step: str
    outcome: str
    words: str = ""
    seconds: float = 0.0


class Wrong(AssertionError):
    """A result that is of no use to a reader."""


def is_sentence(text: str) -> bool:
    """Whether a text is fit for a reader: one line that ends like a sentence."""
    return bool(text.strip()) and "\n" not in text and text.rstrip().endswith((".", "?")) and len(text) < 600


def checked(frame: pd.DataFrame, *never_missing: str) -> pd.DataFrame:
    """The frame, checked to hold only finite numbers or NaN, and no NaN in the columns `never_missing`.

    Raises:
        Wrong: a number is infinite, or is missing where it must not be.
    """
    for name in frame:
        column = frame[name]
        if pd.api.types.is_float_dtype(column) and np.isinf(column.to_numpy()).any():
            raise Wrong(f"{name} holds an infinite number.")
    for name in never_missing:
        if frame[name].isna().any():
            raise Wrong(f"{name} has a gap.")
    return frame


def number(value: float, what: str) -> float:
    """The number, checked to be finite.

    Raises:
        Wrong: it is not.
    """
    if not math.isfinite(value):
        raise Wrong(f"{what} is {value}.")
    return value


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
        curves: most curves of edges.
    """

    settings: dict[str, object] = field(default_factory=SHORT.copy)
    choice: Choice = field(default_factory=lambda: Choice(starts=2, restarts=2, bootstrap=4, folds=2))
    longer: Choice | None = field(default_factory=Choice)
    trees: int = 50
    simulations: int = 9
    folds: int = 3
    curves: int = 60


@dataclass
class World:
    """A table and the results of the steps so far."""

    raw: pd.DataFrame
    size: Size
    alive: Alive
    table: pd.DataFrame = field(init=False)
    order: list[str] = field(init=False)
    edges: pd.DataFrame = field(init=False)
    model: DISCO | None = None
    refined: Refined | None = None
    candidates: dict[str, pd.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = self.raw
        self.order = [str(name) for name in self.raw.columns]
        self.edges = pd.DataFrame({"parent": self.order[:-1], "child": self.order[1:]})

    def parents(self) -> dict[str, list[str]]:
        """The parents of every node that has any, in the graph of the latest step that gave one."""
        return self.edges.groupby("child", sort=False)["parent"].agg(list).to_dict()

    def callback(self, event: Event) -> bool:
        """The callback of every kind of work."""
        return self.alive()


def through(
    table: pd.DataFrame,
    size: Size,
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
    world = World(table, size, alive)
    for name, step in STEPS.items():
        if name in skip or (name == "longer refinement" and size.longer is None):
            continue
        begins(name)
        start = time.perf_counter()
        outcome, words = RESULT, ""
        try:
            step(world)
        except (InputError, ScoreUnavailable) as error:
            outcome, words = (SENTENCE if is_sentence(str(error)) else TRACEBACK), str(error)
        except FitStopped as error:
            outcome, words = STOPPED, str(error)
        except Exception:
            outcome, words = TRACEBACK, traceback.format_exc()
        yield Outcome(name, outcome, words, round(time.perf_counter() - start, 2))
        if name == "counts" and outcome != RESULT:
            return


def _counts(world: World) -> None:
    world.table = as_counts(world.raw)
    checked(describe(world.table), "mean", "variance")


def _fit(world: World) -> None:
    model = DISCO(device="cpu", **world.size.settings).fit(world.table, callback=world.callback)
    world.model, world.order = model, model.order_
    _check_variant(model)
    checked(model.edges_, "parent", "child", "ocs", "z", "frequency")
    if len(model.edges_):
        world.edges = model.edges_[["parent", "child"]]


def _check_variant(result: object) -> None:
    suffix = "_" if isinstance(result, DISCO) else ""
    checked(getattr(result, f"ccs{suffix}"), "score")
    checked(getattr(result, f"criteria{suffix}"))
    checked(getattr(result, f"ocs{suffix}"), "ocs", "curvature", "z")


def _recover(criterion: str, boundary: str) -> Callable[[World], None]:
    def step(world: World) -> None:
        if world.model is not None:
            _check_variant(world.model.recover(boundary, criterion, callback=world.callback))

    return step


def _quantile_fit(world: World) -> None:
    """A fit with quantile levels, disjoint halves of the rows, and the paper's preset and rule."""
    changes = {"transform": "quantile", "disjoint_rows": True, "folds": 2}
    model = DISCO("paper", "cpu", **world.size.settings, **changes).fit(world.table, callback=world.callback)
    _check_variant(model)
    checked(model.edges_, "ocs", "z", "frequency")


def _thresholds(world: World) -> None:
    if world.model is None:
        return
    for rule in ("iqr", "jackknife"):
        settings = world.model.settings_.replace(parent_rule=rule)
        candidates = checked(ocs.with_z(world.model.ocs_, rule), "z")
        tau_z, pi_min = ocs.own_thresholds(candidates, settings)
        for at in (number(tau_z, f"the threshold of {rule}"), 0.0, 1.0):
            for share in (pi_min, 0.3):
                checked(ocs.select(candidates, at, share), "ocs", "z", "frequency")
        checked(ocs.sensitivity(candidates, np.linspace(0, 4, 9)), "edges")


def _ocs(world: World) -> None:
    if world.model is not None:
        settings = world.model.settings_
        thresholds = ocs.own_thresholds(world.model.ocs_, settings)
        world.candidates["ocs"] = checked(selection.of_ocs(world.model.ocs_, *thresholds), "score")


def _selector(name: str) -> Callable[[World], None]:
    def step(world: World) -> None:
        settings = Settings()
        selection.check(name, world.table, settings)
        if name == "pcm":
            candidates = pcm.edges(world.table, world.order, trees=world.size.trees, callback=world.callback)
        else:
            candidates = selection.candidates(name, world.table, world.order, settings, callback=world.callback)
        if name == "evidence":  # NaN means that the screen left the pair out
            checked(candidates)
        else:
            checked(candidates, "score", "p_value")
            if not candidates["p_value"].between(0, 1).all():
                raise Wrong("A p-value lies outside 0 to 1.")
        world.candidates[name] = candidates
        selection.recut(candidates, name, 1.0)
        if "ocs" in world.candidates:
            selection.compared(candidates, world.candidates["ocs"])

    return step


def _refine(world: World) -> None:
    _store(world, refine(world.table, world.size.choice, callback=world.callback))


def _refine_longer(world: World) -> None:
    edges = world.model.edges_ if world.model is not None else None
    _store(world, refine(world.table, world.size.longer, order=world.order, edges=edges, callback=world.callback))


def _store(world: World, result: Refined) -> None:
    checked(result.edges, "parent", "child", "decided")
    number(result.score, "the score")
    checked(result.starts, "score")
    checked(result.nodes, "node")
    if result.moves is not None:
        checked(result.moves)
    if sorted(result.order) != sorted(world.table.columns):
        raise Wrong("The refined order has other names than the table.")
    result.graph()
    world.refined = result
    if len(result.edges):
        world.edges = result.edges[["parent", "child"]]


def _check(world: World) -> None:
    candidates = {"empty": {}, "refined": world.parents()}
    size = world.size
    result = check(world.table, candidates, simulations=size.simulations, folds=size.folds, callback=world.callback)
    for frame in (result.columns, result.pairs, result.margins):
        checked(frame, "observed", "low", "middle", "high")
    checked(result.scores, *(["mean"] if not result.note else []))
    checked(result.differences)
    number(result.unseen, "the share of unseen counts")


def _model(world: World) -> None:
    reporter = Reporter(world.callback, {"fit": 1.0}, "the fit of the graph was stopped.")
    model = Model.of(world.table, world.parents(), reporter=reporter)
    checked(model.log_likelihood.to_frame("nats"), "nats")
    number(model.bic, "the BIC")
    checked(model.held_out(world.table).to_frame("nats"), "nats")
    checked(model.sample(30))
    for parent, child in world.edges[["parent", "child"]].to_numpy()[: world.size.curves]:
        checked(model.curve(parent, child), "mean")
        world.alive()
    for node in model.names:
        checked(model.base_measure(node), "probability")
        kind = count_shapes.describe(model, node)
        checked(kind.table().drop(columns="parameter"), "distance", "cost")
        number(kind.ratio, "the ratio of variance to mean")
        if re.search(r"\b(nan|inf)\b", kind.sentence()):
            raise Wrong(f"{node}: {kind.sentence()}")
        world.alive()


def _graph(world: World) -> nx.DiGraph:
    if world.refined is not None:
        return world.refined.graph()
    return world.model.graph() if world.model is not None else graphs.build(world.order, world.edges)


def _exports(world: World) -> None:
    graph = _graph(world)
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


def _files(world: World) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_counts(folder / "table.parquet", world.table)
        if world.model is not None:
            results.save_fit(folder, world.model)
            stored = read_result(folder, list(world.table.columns), ORDER, EDGES)
            if stored.nodes != world.model.order_:
                raise Wrong("order.csv gives back another order.")
            pd.testing.assert_frame_equal(
                stored.edges[["ocs", "z", "frequency"]].astype(float),
                world.model.edges_[["ocs", "z", "frequency"]].reset_index(drop=True).astype(float),
            )
        if world.refined is not None:
            refined_files.save(folder, world.refined, world.size.choice)
        for path in [*folder.glob("*.csv"), *folder.glob("*.json")]:
            if re.search(r"(?<![\w\"])[-+]?(inf|nan|infinity)(?![\w\"])", path.read_text(), re.IGNORECASE):
                raise Wrong(f"{path.name} holds a number that is neither finite nor left blank.")
        for path in folder.glob("*.csv"):
            files.read_frame(path, ("node", "parent", "child", "start"))


def _evaluate(world: World) -> None:
    graph = _graph(world)
    truth = graphs.edges(graph)[["parent", "child"]]
    itself = evaluate(truth, list(graph), graph, world.table)
    if len(truth) and (itself["f1"], itself["shd"], itself["sid"]) != (1.0, 0, 0):
        raise Wrong(f"A graph compared with itself: {itself}.")
    empty = evaluate(truth, world.order, graphs.build(world.order, pd.DataFrame(columns=["parent", "child"])))
    json.dumps([itself, empty], allow_nan=False)
    for candidates in world.candidates.values() if len(truth) else ():
        scores = candidates[["parent", "child", "score"]].dropna()  # without a score an edge is never selected
        checked(precision_recall(truth, scores)[["precision", "recall"]])
        average_precision(truth, scores)


STEPS: dict[str, Callable[[World], None]] = {
    "counts": _counts,
    "fit": _fit,
    "recover admissible": _recover("ccs", "admissible"),
    "recover constant": _recover("constant", "clipped"),
    "quantile fit": _quantile_fit,
    "thresholds": _thresholds,
    "ocs": _ocs,
    "cam": _selector("cam"),
    "pcm": _selector("pcm"),
    "evidence": _selector("evidence"),
    "refinement": _refine,
    "longer refinement": _refine_longer,
    "check": _check,
    "model": _model,
    "exports": _exports,
    "files": _files,
    "evaluate": _evaluate,
}
