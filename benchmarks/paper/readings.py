"""How a row's figures are read from its fits, a refinement or another method.

Sink selection (paper, *CCS comparison*) uses the prefixes of the true causal order with 2 to 9 nodes and at least one
edge. The node with the smallest score, averaged over folds, is selected; it is right if it has no child in the prefix.

An undirected edge of another method counts as an edge in both directions. If it joins a true pair, that is one true and
one false positive, so SHD counts one error and F1 half a hit.
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.paper import continuous
from benchmarks.paper.data import CHANGES, INCREASING, Cohort, Known
from benchmarks.paper.fits import Bench, networks, variant
from benchmarks.paper.rows import Method, Row
from benchmarks.study import timed
from disco.cli.progress_bar import Progress
from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.files import read_json, write_json
from disco.graph.result import GraphResult
from disco.methods import METHODS, find, options_of
from disco.metrics import Edges, a_top, edge_jaccard, edges, evaluate, order_agreement, shd
from disco.paper import ocs
from disco.paper.fitted_networks import Fitted
from disco.paper.ranks import fold_of_rows, fold_ranks
from disco.paper.stagewise import stagewise
from disco.refine import Choice, refine
from disco.runs import Run
from disco.selectors import cam, evidence, pcm
from disco.simulate import Design, Simulated, simulate
from disco.subjects.fit.results import StoredFit
from disco.subjects.studies.lahman import R7, R17
from disco.table.artefacts import ARTEFACTS
from disco.words import duration

Figures = dict[str, Any]
Evaluate = Callable[[Sequence[str]], dict[tuple[str, str], np.ndarray]]
Reading = Callable[[Row, Known, list[Run], Bench], Figures]
PREFIXES = range(2, 10)
LIMIT = 4 * 3600  # seconds of a method, the paper's


def read_graph(row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """Order and edges compared with the truth, for the row's criterion, boundary, parent rule and thresholds.

    Raises:
        InputError: the fit was made before fits kept the mean curvature, which the row's rule needs.
    """
    run = runs[0]
    chosen = variant(bench, run, row.variant(run.settings))
    table, settings = StoredFit(run, chosen).ocs, run.settings
    if row.parent_rule not in (None, settings.parent_rule):
        if "curvature" not in table:
            raise InputError(f"{run.path} has no mean curvature; fit it again.")
        settings = settings.replace(parent_rule=row.parent_rule)
        table = ocs.with_z(table, row.parent_rule)
    selected = ocs.select(table, *(row.rule or ocs.own_thresholds(table, settings)))
    return evaluate(data.truth, order=StoredFit(run, chosen).order, edges=selected, table=data.table)


def read_stagewise(row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """As `read_graph`, with the order of a stagewise projection, which the row names last, from the fit's networks.

    The OCS is the fit's own, along that order. `stagewise` is the time of the further training, in seconds.
    """
    fitted, kind = networks(runs[0], bench.device), row.labels[-1].removeprefix("stagewise ")
    with Progress(row.key) as progress:
        order, seconds = timed(lambda: stagewise(fitted, kind, callback=bench.callback(progress)).order)
    figures = evaluate(data.truth, order=order, edges=edges_along(fitted, order, bench), table=data.table)
    return {**figures, "stagewise": round(seconds, 1)}


def read_sinks(row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """As `read_graph`, with sink_hits and sink_sets of the nested sets."""
    run, chosen = runs[0], row.variant(runs[0].settings)
    path = run.path / "sinks.json"
    if not path.exists():
        fitted = networks(run, bench.device)
        write_json(path, sink_choices(data.truth, data.order, _evaluated(fitted, bench)))
    hits = read_json(path)[chosen]
    return {**read_graph(row, data, runs, bench), "sink_hits": sum(hits), "sink_sets": len(hits)}


def sink_choices(truth: Edges, order: Sequence[str], evaluate: Evaluate) -> dict[str, list[bool]]:
    """Whether each nested set's selected node is a sink, by criterion and boundary ("ccs-clipped").

    Args:
        order: the true causal order.
        evaluate: a remaining set, in the order of the names → (criterion, boundary) → scores, (folds, |R|).
    """
    choices: dict[str, list[bool]] = {}
    for remaining, sinks in nested_sets(truth, order):
        for (criterion, boundary), scores in evaluate(remaining).items():
            chosen = remaining[int(np.argmin(scores.mean(axis=0)))]
            choices.setdefault(f"{criterion}-{boundary}", []).append(chosen in sinks)
    return choices


def nested_sets(truth: Edges, order: Sequence[str]) -> Iterator[tuple[list[str], set[str]]]:
    """Prefixes of the true order that contain an edge, with names ascending, and the sinks of each."""
    pairs = edges.read(truth)[0]
    for size in PREFIXES:
        inside = set(order[:size])
        with_child = {parent for parent, child in pairs if parent in inside and child in inside}
        if with_child and size <= len(order):
            yield sorted(inside), inside - with_child


def _evaluated(fitted: Fitted, bench: Bench) -> Evaluate:
    """Scores of a remaining set from fitted networks."""

    def evaluate(remaining: Sequence[str]) -> dict[tuple[str, str], np.ndarray]:
        if bench.stopped():
            raise FitStopped("Stopped while sinks were chosen.")
        return fitted.sink_scores([fitted.names.index(name) for name in remaining])

    return evaluate


def read_parents(row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """Edges by OCS from the second half of the rows, along the true order or the order of the first half.

    The paper does not say which networks give the OCS of its parent-recovery rows; here they are fitted on these rows.
    """
    orders, parents = runs
    order = list(data.order) if row.order == "true" else StoredFit(orders).order
    fitted = networks(parents, bench.device)
    return evaluate(data.truth, order=order, edges=edges_along(fitted, order, bench), table=data.table)


def edges_along(fitted: Fitted, order: Sequence[str], bench: Bench) -> pd.DataFrame:
    """The edges that OCS keeps along a given order, at the fit's own boundary and thresholds."""
    table = fitted.candidates(order, fitted.settings.boundary, bench.callback())
    return ocs.select(table, *ocs.own_thresholds(table, fitted.settings))


def read_selected(select: Callable[..., pd.DataFrame], row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """Edges by a selector from the second half of the rows, along the true order or the order of the first half."""
    order = list(data.order) if row.order == "true" else StoredFit(runs[0]).order
    candidates = select(CHANGES["second half"](data.table), order)
    return evaluate(data.truth, order=order, edges=candidates[candidates["selected"]], table=data.table)


def read_refined(data: Known, choice: Choice, bench: Bench, label: str, run: Run | None) -> Figures:
    """Order and edges of a refinement from sorted and random orders, and first from the CCS order of a run if given.

    With a bootstrap, `sure` counts the edges in at least 90 % of its tables, and `sure_true` is the share of these that
    are true.

    Raises:
        InputError: the table cannot be refined.
        FitStopped: the user stopped it.
    """
    start = {} if run is None else {"order": StoredFit(run).order, "edges": StoredFit(run).edges()}
    with Progress(label) as progress:  # the tables have no artefacts by design
        callback = bench.callback(progress)
        result = refine(data.table, choice, callback=callback, dismissed=ARTEFACTS, **start)
    counts = {"score": result.score, "fits": result.fits, "undecided": int((~result.edges["decided"]).sum())}
    if choice.bootstrap:
        sure = result.edges[result.edges["bootstrap"] >= 0.9]
        counts["sure"] = len(sure)
        counts["sure_true"] = evaluate(data.truth, edges=sure)["precision"] if len(sure) else None
    return {**evaluate(data.truth, order=result.order, edges=result.edges, table=data.table), **counts}


def read_transformed(row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """As `read_graph` for a table changed by a strictly increasing function, from the fit of the raw counts.

    A fit sees only ranks; if all ranks in all folds are equal, it is the same fit.
    """
    changed, settings = INCREASING[row.seen](data.table), runs[0].settings
    fold = fold_of_rows(len(changed), settings.folds, settings.seed)
    pairs = zip(*(fold_ranks(table.to_numpy(), fold, settings) for table in (data.table, changed)), strict=True)
    for raw, ranks in pairs:
        if not (np.array_equal(raw.train, ranks.train) and np.array_equal(raw.held_out, ranks.held_out)):
            raise AssertionError(f"{row.key}: the ranks of the changed table are not those of the raw counts.")
    return read_graph(row, data._replace(table=changed), runs, bench)


def read_lahman(row: Row, data: Known, runs: list[Run], bench: Bench) -> Figures:
    """Agreement of the order with both references, the number of edges, and the controls' agreement with the seven.

    The controls sort what the fit sees: levels if its transform makes some.
    """
    run = runs[0]
    chosen = variant(bench, run, row.variant(run.settings))
    order = StoredFit(run, chosen).order
    controls = evaluate(R7, table=row.seen_table(data))["controls"]
    count = len(StoredFit(run, chosen).edges())
    return {"r7": a_top(order, R7), "r17": a_top(order, R17), "edges": count, "controls": controls}


READINGS: dict[str, Reading] = {
    "graph": read_graph,
    "stagewise": read_stagewise,
    "sinks": read_sinks,
    "parents": read_parents,
    "cam": partial(read_selected, cam.edges),
    "pcm": partial(read_selected, pcm.edges),
    "evidence": partial(read_selected, evidence.edges),
    "transformed": read_transformed,
    "lahman": read_lahman,
}


# Other methods: pip install -r benchmarks/requirements.txt


def read_rival(row: Row, method: Method, data: Known, seed: int) -> Figures:
    """A row by another method: its metrics, or the comparison of two if the row is of two.

    Raises:
        InputError: a package is not installed, the method was dropped, or the table cannot be used.
        ScoreUnavailable: a method would take longer than `LIMIT`.
    """
    if method.rival == "continuous":
        return continuous.read(row, method, seed)
    table = row.seen_table(data)
    names = row.rivals if method.is_named else (method.rival,)
    if absent := set(names) - set(METHODS):
        raise InputError(
            f"{', '.join(absent)}: no longer a method; benchmarks/README.md names the last commit with it."
        )
    if (seconds := max(METHODS[name].seconds(*table.shape) for name in names)) > LIMIT:
        raise ScoreUnavailable(f"about {duration(seconds)} on one core by its estimate, above the limit of 4 h")
    results = [find(name, table, options_for(name, row, seed), dismissed=ARTEFACTS) for name in names]
    if len(results) == 2:
        return {**compared(*results), "controls": None}
    if isinstance(row.source, Cohort):
        return _agreement(results[0], table)
    return measured(results[0], data.truth, data.table)


def options_for(name: str, row: Row, seed: int) -> dict[str, Any]:
    """The options with which a method runs on a row, where they differ from its own.

    Raises:
        InputError: ODS is to be given a family that it does not know.
    """
    options = dict(row.options)
    if "seed" in {item.name for item in dataclasses.fields(options_of(name))}:
        options["seed"] = seed
    if name == "ods-oracle" and isinstance(row.source, Design):
        options |= true_families(simulate(row.source.replace(seed=seed)))
    return options


def true_families(drawn: Simulated) -> dict[str, Any]:
    """The options of ODS with the true family of every node, and its parameter.

    Raises:
        InputError: a node is of another family than Poisson, negative binomial and binomial.
    """
    parameters = drawn.design.parameters
    families = {
        "poisson": ["poisson"],
        "nb": ["nb", parameters.get("size", 6)],
        "binomial": ["binomial", parameters.get("trials", 50)],
    }
    if strange := sorted({family for family in drawn.families.values() if family.split("-")[0] not in families}):
        raise InputError(f"ODS cannot be told the family {strange[0]}.")
    return {"families": {name: families[family.split("-")[0]] for name, family in drawn.families.items()}}


def measured(result: GraphResult, truth: Edges, table: pd.DataFrame) -> Figures:
    """A result compared with the truth; `undirected` is the number of edges without direction."""
    values = evaluate(truth, order=result.order, edges=result.likelier, table=table)
    return {**values, "undirected": len(result.undirected)}


def _agreement(result: GraphResult, table: pd.DataFrame) -> Figures:
    """Agreement of an order with both references of Lahman, its edges, and the controls' agreement with the seven."""
    agreed = {"r7": a_top(result.order, R7), "r17": a_top(result.order, R17)} if result.order else {}
    return {**agreed, "edges": len(result.edges), "controls": evaluate(R7, table=table)["controls"]}


def compared(first: GraphResult, second: GraphResult) -> Figures:
    """Agreement of two orders, Jaccard index and SHD of two graphs."""
    return {
        "agreement": order_agreement(first.order or (), second.order or ()),
        "jaccard": edge_jaccard(first.edges, second.edges),
        "shd": shd(first.edges, second.edges),
    }
