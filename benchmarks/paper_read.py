"""How a row's figures are read from its fits: metrics, sink selection on nested sets, parents along a given order.

Sink selection (paper, *CCS comparison*) uses the prefixes of the true causal order with 2 to 9 nodes and at least one
edge. The node with the smallest score, averaged over folds, is selected; it is right if it has no child in the prefix.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.paper_data import CHANGES, INCREASING, Known
from benchmarks.paper_fits import Bench, networks, variant
from disco.cli.progress import Progress
from disco.errors import FitStopped, InputError
from disco.files import read_json, write_json
from disco.fit.fitted import Fitted
from disco.fit.stagewise import stagewise
from disco.metrics import Edges, a_top, edges, evaluate
from disco.parents import cam, evidence, ocs, pcm
from disco.progress import Event
from disco.refine import Choice, refine
from disco.runs import Run
from disco.studies.lahman import R7, R17
from disco.table.artefacts import ARTEFACTS
from disco.table.ranks import fold_of_rows, fold_ranks

if TYPE_CHECKING:
    from benchmarks.paper_rows import Row

Evaluate = Callable[[Sequence[str]], dict[tuple[str, str], np.ndarray]]
PREFIXES = range(2, 10)


def read_graph(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """Order and edges compared with the truth, for the row's criterion, boundary, parent rule and thresholds.

    Raises:
        InputError: the fit was made before fits kept the mean curvature, which the row's rule needs.
    """
    run = runs[0]
    chosen = variant(bench, run, row.variant(run.settings))
    table, settings = run.ocs(chosen), run.settings
    if row.parent_rule not in (None, settings.parent_rule):
        if "curvature" not in table:
            raise InputError(f"{run.path} has no mean curvature; fit it again.")
        settings = settings.replace(parent_rule=row.parent_rule)
        table = ocs.with_z(table, row.parent_rule)
    found = ocs.select(table, *(row.rule or ocs.own_thresholds(table, settings)))
    return evaluate(known.truth, order=run.order(chosen), edges=found, table=known.table)


def read_stagewise(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """As `read_graph`, with the order of a stagewise projection, which the row names last, from the fit's networks.

    The OCS is the fit's own, along that order. `stagewise` is the time of the further training, in seconds.
    """
    fitted, kind = networks(runs[0], bench.device), row.labels[-1].removeprefix("stagewise ")
    began = time.perf_counter()
    with Progress(row.key) as progress:

        def watch(event: Event) -> bool:
            progress(event)
            return bench.goes_on()

        order = stagewise(fitted, kind, callback=watch).order
    seconds = time.perf_counter() - began
    found = evaluate(known.truth, order=order, edges=edges_along(fitted, order, bench), table=known.table)
    return {**found, "stagewise": round(seconds, 1)}


def read_sinks(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """As `read_graph`, with sink_hits and sink_sets of the nested sets."""
    run, chosen = runs[0], row.variant(runs[0].settings)
    path = run.path / "sinks.json"
    if not path.exists():
        fitted = networks(run, bench.device)
        write_json(path, sink_choices(known.truth, known.order, _evaluated(fitted, bench)))
    hits = read_json(path)[chosen]
    return {**read_graph(row, known, runs, bench), "sink_hits": sum(hits), "sink_sets": len(hits)}


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
        if not bench.goes_on():
            raise FitStopped("Stopped while sinks were chosen.")
        return fitted.sink_scores([fitted.names.index(name) for name in remaining])

    return evaluate


def read_parents(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """Edges by OCS from the second half of the rows, along the true order or the order of the first half.

    The paper does not say which networks give the OCS of its parent-recovery rows; here they are fitted on these rows.
    """
    orders, parents = runs
    order = list(known.order) if row.order == "true" else orders.order()
    fitted = networks(parents, bench.device)
    return evaluate(known.truth, order=order, edges=edges_along(fitted, order, bench), table=known.table)


def edges_along(fitted: Fitted, order: Sequence[str], bench: Bench) -> pd.DataFrame:
    """The edges that OCS keeps along a given order, at the fit's own boundary and thresholds."""
    table = fitted.candidates(order, fitted.settings.boundary, bench.goes_on)
    return ocs.select(table, *ocs.own_thresholds(table, fitted.settings))


def read_cam(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """Edges by CAM from the second half of the rows, along the true order or the order of the first half."""
    return _selected(cam.edges, row, known, runs)


def read_pcm(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """The same by PCM."""
    return _selected(pcm.edges, row, known, runs)


def read_evidence(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """The same by the likelihood."""
    return _selected(evidence.edges, row, known, runs)


def _selected(select: Callable[..., pd.DataFrame], row: "Row", known: Known, runs: list[Run]) -> dict[str, Any]:
    order = list(known.order) if row.order == "true" else runs[0].order()
    found = select(CHANGES["second half"](known.table), order)
    return evaluate(known.truth, order=order, edges=found[found["selected"]], table=known.table)


def read_refined(known: Known, choice: Choice, bench: Bench, label: str, run: Run | None) -> dict[str, Any]:
    """Order and edges of a refinement from sorted and random orders, and first from the CCS order of a run if given.

    With a bootstrap, `sure` counts the edges in at least 90 % of its tables, and `sure_true` is the share of these that
    are true.

    Raises:
        InputError: the table cannot be refined.
        FitStopped: the user stopped it.
    """
    with Progress(label) as progress:

        def watch(event: Event) -> bool:
            progress(event)
            return bench.goes_on()

        own = {} if run is None else {"order": run.order(), "edges": run.edges()}
        found = refine(known.table, choice, callback=watch, dismissed=ARTEFACTS, **own)  # it has none by design
    own = {"score": found.score, "fits": found.fits, "undecided": int((~found.edges["decided"]).sum())}
    if choice.bootstrap:
        sure = found.edges[found.edges["bootstrap"] >= 0.9]
        own["sure"] = len(sure)
        own["sure_true"] = evaluate(known.truth, edges=sure)["precision"] if len(sure) else None
    return {**evaluate(known.truth, order=found.order, edges=found.edges, table=known.table), **own}


def read_transformed(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """As `read_graph` for a table changed by a strictly increasing function, from the fit of the raw counts.

    A fit sees only ranks; if all ranks in all folds are equal, it is the same fit.
    """
    changed, settings = INCREASING[row.seen](known.table), runs[0].settings
    fold = fold_of_rows(len(changed), settings.folds, settings.seed)
    pairs = zip(*(fold_ranks(table.to_numpy(), fold, settings) for table in (known.table, changed)), strict=True)
    for raw, other in pairs:
        if not (np.array_equal(raw.train, other.train) and np.array_equal(raw.held_out, other.held_out)):
            raise AssertionError(f"{row.key}: the ranks of the changed table are not those of the raw counts.")
    return read_graph(row, known._replace(table=changed), runs, bench)


def read_lahman(row: "Row", known: Known, runs: list[Run], bench: Bench) -> dict[str, Any]:
    """Agreement of the order with both references, the number of edges, and the controls' agreement with the seven.

    The controls sort what the fit sees: levels if its transform makes some.
    """
    run = runs[0]
    chosen = variant(bench, run, row.variant(run.settings))
    order = run.order(chosen)
    sorted_controls = evaluate(R7, table=row.seen_table(known))["controls"]
    counted = len(run.edges(variant=chosen))
    return {"r7": a_top(order, R7), "r17": a_top(order, R17), "edges": counted, "controls": sorted_controls}
