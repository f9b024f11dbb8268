"""The graph that the arguments of a command choose; the parents of a selector are computed with progress."""

import argparse
import sys
import threading
from dataclasses import replace

import networkx as nx

from disco.cli.foreground import signals
from disco.cli.progress_bar import Progress
from disco.cli.saying import say
from disco.errors import FitStopped, InputError
from disco.progress import Event
from disco.refine.refinement_result import METHOD
from disco.runs import Run
from disco.subjects import stamps
from disco.subjects.fit import results
from disco.subjects.fit.advice import advice
from disco.subjects.fit.candidates import compute_candidates, read_candidates, selected_edges
from disco.subjects.fit.results import StoredFit


def chosen_graph(run: Run, arguments: argparse.Namespace) -> nx.DiGraph:
    """The DAG of a finished run, refined or at the arguments' thresholds and selector; its attributes say which.

    Without a choice it is the refined one if the run has it, as on the page Graph.

    Raises:
        InputError: it has no such result, or a threshold is out of range or not applicable.
        FitStopped: the computation of a selector was interrupted.
    """
    thresholds = {name: value for name in ("tau_z", "pi_min") if (value := getattr(arguments, name)) is not None}
    options = thresholds or arguments.rule or arguments.parents
    if arguments.graph == "refined" or (arguments.graph is None and not options and stamps.refinement(run)):
        from disco.subjects.refinement.refined import choice_from, choice_of, read_refined

        if thresholds or arguments.rule:
            raise InputError("thresholds and rules apply to the graph disco; the refined graph is chosen by its score.")
        if arguments.parents:
            raise InputError("--parents applies to the graph disco only; a refinement finds its own parents.")
        choice = choice_from(choice_of(run))
        return _described(read_refined(run).graph(), method=METHOD, seed=choice.seed, bound_nats=choice.bound)
    selector = arguments.parents or run.settings.selector
    if selector != "ocs" and (thresholds or arguments.rule):
        raise InputError(f"--rule, --tau-z and --pi-min apply to the selector ocs, not {selector}: add --parents ocs.")

    rule = arguments.rule or run.settings.parent_rule
    graph = _of_ocs(run, rule, thresholds) if selector == "ocs" else _parents(run, selector)
    if selector != "ocs":
        from disco.selectors.selection import CUTS, WORDS

        parents = f"{WORDS[selector].name}, {WORDS[selector].rule.format(cut=CUTS[selector])}"
        _described(graph, method="DISCO", order=results.own_variant(run), parents=parents)
    if words := advice(run, graph.number_of_edges(), selector, rule):
        say(words, to=sys.stderr)
    return graph


def _of_ocs(run: Run, rule: str, thresholds: dict[str, float]) -> nx.DiGraph:
    """The DAG of the OCS by a rule; a missing threshold is the run's own, or that of the jackknife."""
    from disco.paper.ocs import own_thresholds, select, with_z

    run.settings.replace(**thresholds)  # checks them
    result = StoredFit(run)
    ocs = result.ocs
    if rule != run.settings.parent_rule:
        if "curvature" not in ocs:
            raise InputError(f"The run {run.name} is from an older version, without the curvature for the jackknife.")
        ocs = with_z(ocs, rule)
    own = own_thresholds(ocs, run.settings.replace(parent_rule=rule))
    tau_z, pi_min = thresholds.get("tau_z", own[0]), thresholds.get("pi_min", own[1])
    is_own = rule == run.settings.parent_rule and not thresholds and run.settings.selector == "ocs"
    graph = result.graph_of(result.edges() if is_own else select(ocs, tau_z, pi_min))
    return _described(graph, method="DISCO", order=result.variant, parent_rule=rule, tau_z=tau_z, pi_min=pi_min)


def _described(graph: nx.DiGraph, **how: float | str) -> nx.DiGraph:
    graph.graph.update(how)
    return graph


def _parents(run: Run, selector: str) -> nx.DiGraph:
    """The DAG of cam, pcm or evidence along a finished run's order; a computed one is stored in the run.

    Raises:
        InputError: the run is not finished, or the selector cannot use its table.
        FitStopped: it was interrupted.
    """
    if read_candidates(run, selector) is None:
        _compute(run, selector)
    return StoredFit(run).graph_of(selected_edges(run, selector))


def _compute(run: Run, selector: str) -> None:
    stopping = threading.Event()
    with Progress(f"parents by {selector}") as progress, signals(stopping, progress):

        def watch(event: Event) -> bool:
            progress(replace(event, stage="node"))
            return not stopping.is_set()

        try:
            compute_candidates(run, selector, callback=watch)
        except (FitStopped, KeyboardInterrupt) as stop:
            raise FitStopped("stopped; nothing was saved.") from stop
