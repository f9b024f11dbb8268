"""Questions to the graphs compatible with the rows of a run, each answered once: hidden causes of pairs and edges.

Asking never changes a run. The slow imports are left to the first question. Owns the keys `shared_ties` and `…_ties`.
"""

import math
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import networkx as nx
import streamlit as st

from disco.effects.effect_records import NO_SIGNS
from disco.graph.draw.lines import TIES
from disco.progress import Callback, Reporter
from disco.runs import Run
from disco.subjects import stamps
from disco.words import how_many, number
from pages.shared.compute import machine
from pages.shared.compute.background import Slow, Work
from pages.shared.result.refinement import Refinement
from pages.shared.widgets.names import define, plain

if TYPE_CHECKING:
    from disco.effects.graph_fits import FittedGraphs

    Graphs = tuple[FittedGraphs, threading.Lock]  # with the fits made so far, and the lock for whoever fits
    from disco.effects.hidden import Signs

STOPPED = "The effect was stopped."


def key(run: Run, *question: object) -> tuple:
    """What identifies a question; a run refined again has another stamp."""
    return str(run.path), stamps.refinement(run), *question


def question(name: str, run: Run, words: str, work: Work, *arguments: object, is_quiet: bool = False) -> Slow:
    """A question to the graphs.

    Args:
        name: begins the names of its elements.
        words: stand by the progress.
        work: takes the graphs with their lock, and a callback.
        arguments: what identifies the question in addition to its name and the run.
    """
    return Slow(
        (name, *key(run, *arguments)),
        work,
        words,
        "The answer could not be computed",
        lambda: (graphs(run).value(),),
        is_quiet=is_quiet,
    )


def graphs(run: Run) -> "Slow[Graphs]":
    """The graphs compatible with the rows of a run."""

    def work(callback: Callback) -> "Graphs":
        from disco.subjects.effects import run_graphs

        return run_graphs.fitted(run, callback), threading.Lock()

    words, failure = "Reading the graphs compatible with your data", "The answer could not be computed"
    return Slow(("effects_graphs", *key(run)), work, words, failure)


def once(run: Run, draw: Callable[[], None]) -> None:
    """Draw what asks the graphs, once they are read and a node can be fitted; until then, the progress of that.

    InputError if they cannot be read.
    """
    machine.once(machine.compiled, machine.PREPARING, partial(_once_read, run, draw))


def _once_read(run: Run, draw: Callable[[], None]) -> None:
    reading = graphs(run)
    if reading.begin().state in ("running", "stopped"):
        reading.panel(lambda _: draw())
    else:
        reading.value()
        draw()


_CHOICE = "shared_ties"
_MOST = 4  # signs said beside the graph
_HELP = (
    "Pairs of nodes without an edge that still vary together more than the graph explains, at a false "
    "discovery rate of 10%. Where an edge joins two nodes, a hidden cause of both leaves no trace."
)


def signs(run: Run) -> None:
    """The signs of hidden causes of a run in sentences, once they are looked for."""
    _signs(run).panel(lambda result: _write(result.sentences))


def with_ties(refinement: Refinement, graph: nx.DiGraph, key: str) -> nx.DiGraph:
    """Draw a switch for the pairs that a hidden cause may tie; return the graph, with them if the switch is on.

    It is on at first if such pairs are already known, as on Effects.
    """
    run = refinement.run
    switches = st.session_state.setdefault(_CHOICE, {})
    result = _signs(run).result
    st.session_state[key] = switches.get(run.id, result is not None and bool(result.ties["tied"].any()))
    st.toggle(
        "Show pairs that may share a hidden cause",
        key=key,
        help=_HELP,
        on_change=lambda: switches.update({run.id: st.session_state[key]}),
    )
    if not st.session_state[key]:
        return graph
    once(run, lambda: _signs(run).panel(_pairs))
    if (result := _signs(run).result) is None:
        return graph
    tied_graph = graph.copy()
    tied = result.ties[result.ties["tied"]]
    tied_graph.graph[TIES] = {(row.one, row.other): float(row.q_value) for row in tied.itertuples()}
    return tied_graph


def strength(run: Run, parent: str, child: str) -> None:
    """How strong a hidden cause of both nodes would have to be to make an edge, once it is computed."""

    def work(graphs: "Graphs", _: Callback) -> float:
        from disco.effects.strength import strength

        fitted, lock = graphs
        with lock:
            return strength(fitted, parent, child)

    words = "Computing how strong a hidden cause would have to be"
    computed = question("effects_strength", run, words, work, parent, child, is_quiet=True)
    computed.panel(partial(strength_told, parent, child))


def strength_told(parent: str, child: str, times: float) -> None:
    """The strength, once it is known; nothing if it is NaN."""
    if math.isnan(times):
        return
    factor = f"{number(times)} times" if math.isfinite(times) else "more than 8 times"
    st.caption(
        f":material/visibility_off: A hidden cause of {plain(parent)} and {plain(child)} would have to be {factor} as "
        "strong as the strongest measured cause of each to make the edge between them by itself.",
        help=define("strength of a hidden cause"),
    )


def _signs(run: Run) -> "Slow[Signs]":
    def work(graphs: "Graphs", callback: Callback) -> "Signs":
        from disco.effects.hidden import signs

        # Fits of its own: it need not wait for other questions.
        return signs(graphs[0].afresh(), Reporter(callback, {"hidden": 1.0}, STOPPED))

    return question("effects_hidden", run, "Looking for signs of hidden causes", work)


def _pairs(result: "Signs") -> None:
    """The sentences on pairs; a factor behind all columns is not a pair."""
    pairs = result.sentences[int(result.factor.is_there) :]
    _write(pairs[:_MOST])
    if len(pairs) > _MOST:
        st.caption(f"And {how_many(len(pairs) - _MOST, 'more pair')}, drawn as dotted lines.")


def _write(sentences: list[str]) -> None:
    for words in sentences or [NO_SIGNS]:
        st.caption(f":material/{'warning' if sentences else 'info'}: {plain(words)}")
