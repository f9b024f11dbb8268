"""The panel of the graph: a search, how much of the graph to show, and the picked node or edge with scores and
evidence.
"""

from functools import partial

import networkx as nx
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from disco.graph import dag as graphs
from disco.graph.dag import BOTH, CONTEXT, DISCO
from disco.graph.draw import picture as drawing
from disco.runs import Run
from disco.subjects import FIT, REFINE, stamps
from disco.words import how_many, number, series, share
from pages.graph import edge_table
from pages.graph.view import View, with_contexts
from pages.shared import session
from pages.shared.evidence import evidence_panel, next_steps, questions, so_far
from pages.shared.frame import intro
from pages.shared.graph import canvas, contexts, layout
from pages.shared.result import truth
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import answers, figure
from pages.shared.widgets.names import bullets, code, define, labels_of, plain
from pages.shared.work import find_graph

REACH = {"All": None, "1 step": 1, "2 steps": 2}
_NUMBERS = {BOTH: ("gain_nats", "ocs", "found_by"), DISCO: ("ocs", "z", "frequency")}  # of the picked node's edges
CANVAS, HEIGHT = 560, 690  # pixels of the canvas, and of the panel beside the canvas and its key


def has_graph(run: Run) -> bool:
    """Whether a run has a graph to show."""
    return run.status(FIT).state == "done" or bool(stamps.refinement(run))


def nothing_yet(run: Run) -> None:
    """The graph so far next to the progress, as a finished one, or the message in place of a graph."""
    if run.status(REFINE).active:
        left, right = columns()
        with right:
            find_graph.progress(run)
        with left:
            so_far.section(run, CANVAS)
    elif find_graph.progress(run):
        if run.status(FIT).active:
            st.caption("The graph appears here once it is found.")
    else:
        intro.not_done(run)


def columns() -> list[DeltaGenerator]:
    """The graph's column, and that of the panel to its right."""
    return st.container(key="beside_graph").columns([5, 3], gap="medium")


def panel(view: View, comparison: TruthComparison | None, slot: DeltaGenerator) -> tuple[pd.DataFrame, nx.DiGraph]:
    """Draw the filters, the search, the reach and, in `slot` above them, the picked node or edge.

    Returns:
        The edges that pass the filters, as in `View.edges`, and the graph to draw.
    """
    listed = edge_table.filtered(view)
    boxes = st.columns(2, gap="small", vertical_alignment="bottom")
    with boxes[0]:
        nodes, help = view.placed.order, "Type part of its name."
        node = canvas.node_box("Node", nodes, "graph_search", help, then=canvas.focus_on)
    with boxes[1]:
        edge_table.box(view, listed)
    shows_truth, missing = truth.lines_choice()
    judged = view.subgraph(listed)
    if comparison is not None and shows_truth:
        judged = view.judged(judged, comparison, missing)
    if view.refinement is not None:
        judged = evidence_panel.marked(judged, view.refinement.refined)
    pairs = edge_table.pairs_of(listed)
    near = with_contexts(view, _neighbourhood(judged, node))
    visible = layout.strongest(view.placed.run, near, [canvas.picked_edge(pairs)])
    edge = canvas.picked_edge({*pairs, *(edge for edge in visible.edges if CONTEXT not in visible.nodes[edge[0]])})
    if edge is not None:
        with slot:
            _edge(view, edge)
    elif node is not None:
        with slot:
            _node(view, judged, visible, node)
    else:
        with slot:
            is_context = view.name != DISCO and contexts.details(view.refinement)
        if not is_context:
            st.caption("Click a node or an edge, or choose a node above.")
            if summary := _summary(view.graph, with_contexts(view, view.graph), visible):
                st.caption(summary)
    next_steps.next_rules(view.placed.run, view.placed.order, edge)
    drawn = canvas.with_heads(visible, "graph_heads")
    return listed, drawn if view.name == DISCO else questions.with_ties(view.refinement, drawn, "graph_ties")


def _summary(graph: nx.DiGraph, every: nx.DiGraph, visible: nx.DiGraph) -> str:
    """How many nodes have no edge or no line, and, if all directions are known, the sources and sinks; or empty."""
    alone, bare = (sum(1 for node in graph if node in of and of.degree(node) == 0) for of in (every, visible))
    facts = [f"{how_many(alone, 'node')} without edges"] if alone else []
    facts += [f"{how_many(bare, 'node')} without a drawn edge"] if bare > alone else []
    if (edges := graph.number_of_edges()) and graphs.directed(graph).number_of_edges() == edges:
        sources, sinks = (
            sum(1 for node in group if graph.degree(node)) for group in (graphs.sources(graph), graphs.sinks(graph))
        )
        facts = [how_many(sources, "source"), how_many(sinks, "sink"), *facts]
    return f"{', '.join(facts)}." if facts else ""


def _neighbourhood(graph: nx.DiGraph, node: str | None) -> nx.DiGraph:
    """All of the graph, or the surroundings of the picked node, as the reader chose."""
    reach = st.segmented_control(
        "Show",
        list(REACH),
        default="All",
        key="graph_reach",
        required=True,
        disabled=node is None,
        help="All nodes, or those within one or two edges of the picked node." if node else "Pick a node first.",
    )
    steps = REACH[reach or "All"]
    return graph if node is None or steps is None else drawing.around(graph, node, steps)


def _to_effects(view: View, label: str, **question: str) -> None:
    if view.refinement is not None:
        there = {**session.address.parameters(), **question}
        st.page_link("pages/effects/page.py", label=label, icon=":material/trending_up:", query_params=there)


def _effect_on(view: View, node: str) -> None:
    if view.refinement is None:
        return
    candidates = [candidate for candidate in view.refinement.order if candidate != node]
    target = canvas.second_node(node, candidates)
    key = answers.agreeing("graph_effect_on", target)
    st.selectbox(
        f"Effect of {plain(node)} on",
        candidates,
        index=None,
        key=key,
        format_func=labels_of(candidates),
        placeholder="Choose a node",
        help="Or Shift + click it in the graph.",
        on_change=answers.valid(key, [None, *candidates], partial(canvas.pick_pair, node), "graph_effect_on"),
    )
    if target is not None:
        _to_effects(view, f"Effect of {code(node)} on {code(target)}", cause=node, outcome=target)


def _edge(view: View, edge: tuple[str, str]) -> None:
    parent, child = edge
    if view.name != DISCO and edge not in view.graph.edges and (lagged := _lagged(view, edge)):
        mark = "→" if view.refinement.refined.directs_by_time else "—"
        st.markdown(f"##### {code(parent)} {mark} {code(child)}")
        st.markdown(bullets(lagged))
        st.caption(
            "What comes later is no cause of what came before. A common cause of both that no column measures is still "
            "possible, such as a season."
        )
        return
    st.markdown(f"##### {canvas.edge_words(view.graph, parent, child)}")
    _to_effects(view, f"What if {code(parent)} is set?", cause=parent, outcome=child)
    if view.name != DISCO and edge in view.refinement.graph.edges:
        if view.graph.edges[edge].get("reversed"):
            st.markdown(f"DISCO has this edge reversed, {code(child)} → {code(parent)}: its direction is not known.")
        evidence_panel.edge_details(view.placed.run, view.refinement.refined, *edge)
        return
    if view.name == BOTH and edge in view.graph.edges:
        st.markdown("Only DISCO found this edge. The likelihood search found no evidence for one here.")
    values = view.candidates.set_index(["parent", "child"])
    if edge not in values.index:
        st.caption("The order puts the child first, so this edge has no score.")
        return
    row, folds = values.loc[edge], view.result.folds
    slot = figure.numbers()
    slot.metric("OCS", number(row["ocs"]), width=110, help=define("OCS"))
    slot.metric("Z", number(row["z"]), width=90, help=define("Z"))
    passed = share(round(row["frequency"] * folds), folds)
    slot.metric("Folds above τ_Z", passed, width=140, help=define("π_min"))


def _lagged(view: View, edge: tuple[str, str]) -> list[str]:
    """How many rows later a node acts on another, with the evidence of each."""
    lagged = view.refinement.refined.lagged
    if lagged is None:
        return []
    rows = lagged[(lagged["parent"] == edge[0]) & (lagged["child"] == edge[1])].sort_values("lag")
    return [f"{how_many(row.lag, 'row')} later: evidence {number(row.gain_nats)} nats" for row in rows.itertuples()]


def _node(view: View, judged: nx.DiGraph, visible: nx.DiGraph, node: str) -> None:
    """The picked node: position, causes and effects, their numbers, and how well the model fits it.

    `judged` has a truth's verdicts, if they are shown.
    """
    st.markdown(f"##### {code(node)}")
    graph = view.graph
    directed = graphs.directed(graph)
    above, below = len(graphs.ancestors(directed, node)), len(graphs.descendants(directed, node))
    _to_effects(view, f"What would change {code(node)}?", outcome=node)
    _effect_on(view, node)
    kin = f"{how_many(above, 'ancestor')}, {how_many(below, 'descendant')}"
    if graph.degree(node) and not directed.degree(node):
        kin = "none of its edges has a known direction"
    search = None if view.refinement is None or view.refinement.refined.is_open else view.refinement
    orders = (("the likelihood search", search), ("the DISCO fit", view.result))
    places = [f"{found.order.index(node) + 1:,} in the order of {name}" for name, found in orders if found is not None]
    st.caption(f"Position {series(places)}, of {len(graph):,}; {kin}." if places else f"{kin[0].upper()}{kin[1:]}.")
    drawn = sum(edge in judged.edges for edge in (*visible.in_edges(node), *visible.out_edges(node)))
    if drawn < judged.degree(node):
        st.caption(f"Only the strongest {drawn} of its {how_many(judged.degree(node), 'edge')} are drawn.")
    run, refined = view.placed.run, view.refinement.refined if view.refinement is not None else None
    evidence_panel.neighbours(graph, node, run, None if view.name == DISCO else refined)
    evidence_panel.neighbour_numbers(judged, node, _NUMBERS.get(view.name, evidence_panel.OF_REFINED))
    if view.name != DISCO:
        contexts.on_node(view.refinement, node)
        evidence_panel.kind_details(run, refined, node)
    elif refined is not None:
        evidence_panel.of_node(refined, node, of_refined=True)
