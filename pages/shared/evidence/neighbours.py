"""The columns joined to the picked node, in sentences: its causes, its effects, and those of unknown direction."""

from collections.abc import Callable, Sequence
from functools import partial

import networkx as nx
import pandas as pd
import streamlit as st

from disco.columns import OF_EDGES, VERDICT
from disco.figures import effects
from disco.figures import graph as drawing
from disco.graph import has_direction
from disco.refine import Refined
from disco.runs import Run
from disco.words import how_many
from pages.shared.compute import machine
from pages.shared.evidence import modelled
from pages.shared.widgets import errors, tables
from pages.shared.widgets.names import bullets, code

_MOST = 6  # columns in each group of sentences; each may need a fitted node
_NONE = "No column is joined to it in this graph."
_ONLY_DISCO = "only DISCO found this link."
_CAUSE, _EFFECT, _JOINED = "cause", "effect", "not known"
_TITLES = {_CAUSE: "Causes", _EFFECT: "Effects", _JOINED: "Joined to it, direction not known"}
OF_REFINED = ("gain_nats",)  # the numbers of a refined graph's edges


def section(graph: nx.DiGraph, node: str, run: Run, refined: Refined | None) -> None:
    """The node's causes, its effects and the columns joined to it, each group strongest first.

    Args:
        refined: the refinement whose model predicts the sizes of the effects; None if the graph is not its graph.
    """
    edges = _edges(graph, node)
    groups = {
        title: names for title in _TITLES if (names := [neighbour for neighbour, is_, _ in edges if is_ == title])
    }
    if not groups:
        st.caption(_NONE)
    elif refined is None:
        _write(groups, lambda _, neighbour: code(neighbour))
    else:
        words = partial(_words, run, refined, node)
        machine.once(machine.compiled, machine.PREPARING, partial(_write, groups, words))


def details(judged: nx.DiGraph, node: str, numbers: Sequence[str]) -> None:
    """The numbers of its edges, and their verdicts if the lines show a truth.

    Args:
        numbers: the names of the edges' values to show.
    """
    rows = [{"node": neighbour, "is": is_, **values} for neighbour, is_, values in _edges(judged, node)]
    if not rows:
        return
    names = ["node", "is", *numbers, *(["verdict"] if any("verdict" in row for row in rows) else [])]
    text = st.column_config.TextColumn
    values = [OF_EDGES[name] for name in numbers]
    config = {
        "node": text("Column", width=76),
        "is": text("Is its", width=72, help="Cause or effect, if the direction of the edge is known."),
        "verdict": text(VERDICT.label, width=74, help=VERDICT.help),
        **tables.config(values, is_narrow=True),
    }
    if missing := sum(row.get("verdict") == "missing" for row in rows):
        st.caption(f"{missing} missing: joined to it according to the truth, but not in this graph.")
    with st.expander("Details: the numbers"):
        frame = tables.rounded(pd.DataFrame(rows).reindex(columns=names), values)
        tables.show(frame, "The columns joined to the node", config, most=260, placeholder="–")


def _edges(graph: nx.DiGraph, node: str) -> list[tuple[str, str, dict]]:
    """The node's edges, strongest first: the column at the other end, what it is, and the values of the edge."""
    edges = [(parent, _CAUSE, values) for parent, _, values in graph.in_edges(node, data=True)]
    edges += [(child, _EFFECT, values) for _, child, values in graph.out_edges(node, data=True)]
    edges.sort(key=lambda edge: -drawing.strength(edge[2]))
    return [(neighbour, is_ if has_direction(values) else _JOINED, values) for neighbour, is_, values in edges]


def _write(groups: dict[str, list[str]], words: Callable[[str, str], str]) -> None:
    with errors.said():
        for is_, names in groups.items():
            count = how_many(len(names), "column")
            lines = [words(is_, neighbour) for neighbour in names[:_MOST]]
            lines += [f"and {len(names) - _MOST:,} more, under Details."] if len(names) > _MOST else []
            order = ", strongest first" if len(names) > 1 else ""
            st.markdown(f"**{_TITLES[is_]}** ({count}{order})\n\n{bullets(lines)}")


def _words(run: Run, refined: Refined, node: str, is_: str, neighbour: str) -> str:
    """What happens to one column where the other changes; of an unknown direction, only whether they rise together."""
    parents = modelled.parents_of(refined.edges)
    if neighbour in parents.get(node, []):
        parent, child = neighbour, node
    elif node in parents.get(neighbour, []):
        parent, child = node, neighbour
    else:
        return f"{code(neighbour)}: {_ONLY_DISCO}"
    curve, _ = modelled.curve(run, refined, parent, child)
    if is_ != _JOINED:
        return effects.response_words(curve, parent, child, code)
    rises = effects.middle(curve)["mean"].diff().iloc[-1]
    if rises == 0:
        return f"{code(neighbour)}: neither higher nor lower where {code(node)} is higher."
    return f"{code(neighbour)}: {'higher' if rises > 0 else 'lower'} where {code(node)} is higher."
