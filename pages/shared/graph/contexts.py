"""Contexts in the graph of a refinement: nodes above all others, and what a picked one acts on."""

import networkx as nx
import streamlit as st

from disco.graph.dag import with_contexts, with_past
from disco.graph.draw.placing import above
from disco.runs import Run
from disco.table.adjustment import RANDOMISED
from disco.words import how_many, number, plural, series
from pages.shared.graph import canvas
from pages.shared.graph.layout import Placed, Places
from pages.shared.result import contrasted
from pages.shared.result.refinement import Refinement
from pages.shared.widgets.names import bullets, code

_NONE = "No node that it acts on was found."


def names(run: Run) -> list[str]:
    """The contexts of a run."""
    return [] if run.roles is None else run.roles.named("context")


def placed(refinement: Refinement) -> Placed:
    """The nodes and contexts with their positions; the refinement itself if it has no contexts."""
    contexts = names(refinement.run)
    if not contexts:
        return refinement
    acts = _acts(refinement)
    children = {name: [child for child, _ in acts if child in refinement.positions] for name, acts in acts.items()}
    positions = refinement.positions | above(refinement.positions, contexts, children)
    return Places(refinement.run, [*refinement.order, *contexts], positions)


def joined(refinement: Refinement, graph: nx.DiGraph) -> nx.DiGraph:
    """A graph with the edges from rows before, and with the contexts that act on any of its nodes.

    If it has all nodes, with all contexts.
    """
    graph = with_past(graph, refinement.refined.lagged, refinement.refined.directs_by_time)
    contexts, acts = names(refinement.run), _acts(refinement)
    if len(graph) < len(refinement.order):
        contexts = [name for name in contexts if any(child in graph for child, _ in acts[name])]
    return with_contexts(graph, contexts, refinement.refined.contexts) if contexts else graph


def details(refinement: Refinement) -> bool:
    """What the picked context, or that of the picked edge, acts on, strongest first; return whether there is one."""
    contexts, acts = names(refinement.run), _acts(refinement)
    edges = {(name, child): name for name in contexts for child, _ in acts[name]}
    name = canvas.picked(contexts) or edges.get(canvas.picked_edge(edges))
    if name is None:
        return False
    st.markdown(f"##### {code(name)}")
    is_random = refinement.run.roles.columns[name] == ("context", RANDOMISED)
    by_chance = " Its levels were assigned by chance, so it causes what it changes." if is_random else ""
    st.caption(f"A context: no node acts on it.{by_chance}")
    effects = acts[name]
    st.markdown(f"**Acts on** ({how_many(len({child for child, _ in effects}), 'node')})" if effects else _NONE)
    st.markdown(bullets([words for _, words in effects]))
    if lacking := contrasted.lacking(refinement, context=name):
        st.caption(lacking)
    return True


def on_node(refinement: Refinement, node: str) -> None:
    """The contexts that act on a node, and those that changed it without an edge; nothing without any."""
    acting = [code(name) for name, acts in _acts(refinement).items() if node in dict(acts)]
    if acting:
        st.caption(f"{series(acting)} {plural(len(acting), 'is a context that acts', 'are contexts that act')} on it.")
    if lacking := contrasted.lacking(refinement, node=node):
        st.caption(lacking)


def _acts(refinement: Refinement) -> dict[str, list[tuple[str, str]]]:
    acts: dict[str, list[tuple[str, str]]] = {name: [] for name in names(refinement.run)}
    effects = refinement.refined.contexts
    if effects is None:
        return acts
    for row in effects.sort_values("gain_nats", ascending=False, kind="stable").itertuples():
        level = f" at the level {code(row.level)}" if row.level else ""
        words = f"{code(row.node)}{level}: evidence {number(row.gain_nats)} nats"
        acts.setdefault(row.context, []).append((row.node, words))
    return acts
