"""How the reader arranged a graph: nodes dragged, hidden or folded into one box, and the edges drawn.

Owns the keys `graph_arranged`, `graph_alone`, `graph_strongest_…` and `graph_wanted_…`. An arrangement belongs to a
layout, which is identified by its positions, or by its order if it has too many nodes to be laid out: pages that draw
the same result share it, and another order or run starts with its own.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Protocol

import networkx as nx
import numpy as np
import pandas as pd
import streamlit as st

from disco.graph.dag import CONTEXT
from disco.graph.draw import folding, placing
from disco.graph.draw import picture as drawing
from disco.graph.draw.folding import folded
from disco.graph.draw.lines import TIES
from disco.runs import Run
from disco.words import number

_ARRANGED, _ALONE = "graph_arranged", "graph_alone"
MANY_NODES = 64  # from here on nodes without edges are hidden at first
_FARTHEST = 100_000.0  # pixels from the middle that a node can be dragged
_STEPS = 100  # that can be undone
_MOST_LAID_OUT = 200  # nodes; of more, only the drawn ones are laid out


class Placed(Protocol):
    """The result that a graph belongs to: its nodes in causal order, and their layout in pixels, if `is_laid_out`."""

    order: list[str]
    positions: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Places:
    """The same for nodes that are not a complete result of a run."""

    run: Run
    order: list[str]
    positions: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Arrangement:
    """The reader's changes: moved nodes and boxes with their positions, hidden nodes, and nodes by box."""

    moved: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def is_laid_out(order: Sequence[str]) -> bool:
    """Whether all nodes are laid out together; of very many, those drawn are laid out alone."""
    return len(order) <= _MOST_LAID_OUT


def arrangement(result: Placed) -> Arrangement:
    """The present arrangement."""
    return _steps(result)[-1]


def can_undo(result: Placed) -> bool:
    """Whether there is a step to take back."""
    return len(_steps(result)) > 1


def undo(result: Placed) -> None:
    """Take the last step back; `redo` makes it again."""
    if can_undo(result):
        *steps, last = _steps(result)
        _keep(result, steps, (*_undone(result), last))


def redo(result: Placed) -> None:
    """Make the step again that was taken back last."""
    if undone := _undone(result):
        _keep(result, [*_steps(result), undone[-1]], undone[:-1])


def names(result: Placed) -> list[str]:
    """The nodes in causal order, then the folded boxes."""
    return [*result.order, *arrangement(result).groups]


def positions(result: Placed, seen: nx.DiGraph) -> dict[str, tuple[float, float]]:
    """The positions of the nodes and boxes drawn, dragged or as laid out.

    A box has the position of the node nearest to the middle of its nodes, where it covers no other node. Of very many
    nodes, those drawn are laid out alone: a section of a large layout would be thin and full of gaps.
    """
    arranged = arrangement(result)
    if not is_laid_out(result.order):
        first = {name: result.order.index(members[0]) for name, members in arranged.groups.items()}
        first |= {name: number for number, name in enumerate(result.order)}
        contexts = tuple(name for name in seen if CONTEXT in seen.nodes[name])
        nodes = tuple(sorted((name for name in seen if name not in contexts), key=first.__getitem__))
        return _layout_of(nodes, contexts, tuple(seen.edges)) | dict(arranged.moved)
    placed = result.positions | dict(arranged.moved)
    for name, members in arranged.groups.items():
        points = np.array([placed[node] for node in members])
        nearest = int(((points - points.mean(axis=0)) ** 2).sum(axis=1).argmin())
        placed.setdefault(name, placed[members[nearest]])
    return placed


@lru_cache(maxsize=8)
def _layout_of(
    nodes: tuple[str, ...], contexts: tuple[str, ...], edges: tuple[tuple[str, str], ...]
) -> dict[str, tuple[float, float]]:
    """The layout of some nodes and boxes, in causal order, with contexts above them."""
    within = [edge for edge in edges if edge[0] not in contexts]
    ties = pd.DataFrame(within, columns=["parent", "child"]).assign(z=placing.STRONG)
    laid_out = placing.positions(nodes, ties)
    children = {name: [child for parent, child in edges if parent == name] for name in contexts}
    return laid_out | placing.above(laid_out, contexts, children) if contexts else laid_out


def is_moved(result: Placed) -> bool:
    """Whether a node was dragged."""
    return bool(arrangement(result).moved)


def move(result: Placed, node: str, x: float, y: float) -> None:
    """Set the position of a dragged node or box."""
    position = tuple(max(-_FARTHEST, min(_FARTHEST, value)) for value in (x, y))
    _step(result, replace(arrangement(result), moved={**arrangement(result).moved, node: position}))


def keep(result: Placed, earlier: Mapping[str, tuple[float, float]]) -> None:
    """Leave all nodes where they stood in an earlier drawing of the same nodes, unless a subset is laid out alone."""
    if is_laid_out(result.order):
        _step(
            result,
            replace(arrangement(result), moved={node: earlier[node] for node in result.order if node in earlier}),
        )


def reset(result: Placed) -> None:
    """Return every node to its position in the layout."""
    _step(result, replace(arrangement(result), moved={}))


def hide(result: Placed, chosen: Iterable[str]) -> None:
    """Hide nodes; of a box, all its nodes."""
    _step(result, replace(arrangement(result), hidden=arrangement(result).hidden | {*_nodes(result, chosen)}))


def fold(result: Placed, chosen: Iterable[str], label: str | None = None) -> None:
    """Fold nodes, and those in boxes among them, into one box; fewer than two make none.

    The label says what the nodes have in common; by default the box is called after its first node.
    """
    nodes = tuple(_nodes(result, chosen))
    if len(nodes) < 2:
        return
    reduced = {
        name: tuple(n for n in members if n not in nodes) for name, members in arrangement(result).groups.items()
    }
    groups = {name: members for name, members in reduced.items() if len(members) > 1}
    name = f"{label or nodes[0]} … ({len(nodes)})"
    while name in result.order or name in groups:  # a column may have this name
        name += "′"
    _step(result, replace(arrangement(result), groups={**groups, name: nodes}))


def unfold(result: Placed, name: str) -> None:
    """Draw the nodes of a box again."""
    arranged = arrangement(result)
    moved, groups = (
        {key: value for key, value in mapping.items() if key != name} for mapping in (arranged.moved, arranged.groups)
    )
    _step(result, replace(arranged, moved=moved, groups=groups))


def show_all(result: Placed) -> None:
    """Draw every hidden and folded node again."""
    moved = {name: position for name, position in arrangement(result).moved.items() if name in result.order}
    _step(result, Arrangement(moved))


def alone(graph: nx.DiGraph) -> int:
    """Number of nodes without a drawn edge, if there are enough nodes to hide them; else 0."""
    count = len(_bare(graph)) if len(graph) >= MANY_NODES else 0
    return 0 if count == len(graph) else count


def shows_alone(result: Placed) -> bool:
    """Whether the reader asked for nodes without edges."""
    return st.session_state.get(_ALONE, {}).get(_layout(result), False)


def show_alone(result: Placed, is_shown: bool) -> None:
    """Show nodes without edges, or hide them."""
    st.session_state.setdefault(_ALONE, {})[_layout(result)] = is_shown


def drawn(result: Placed, graph: nx.DiGraph, always: Iterable[str | None] = ()) -> nx.DiGraph:
    """The nodes and edges that are drawn, with folded nodes as boxes.

    Left out are hidden nodes and, if there are many nodes and the reader does not want all, those without edges.

    Args:
        always: nodes that are drawn in any case, even if hidden; their boxes are drawn unfolded.
    """
    always, arranged = {*always}, arrangement(result)
    is_bare = alone(graph) and not shows_alone(result)
    bare = _bare(graph) if is_bare else set()
    gone = [node for node in graph if node in arranged.hidden or node in bare]
    drawn_graph = graph
    if gone := [node for node in gone if node not in always]:
        drawn_graph = graph.copy()
        drawn_graph.remove_nodes_from(gone)
    groups = {name: members for name, members in arranged.groups.items() if always.isdisjoint(members)}
    return folded(drawn_graph, groups) if groups else drawn_graph


def _bare(graph: nx.DiGraph) -> set[str]:
    tied = {node for pair in graph.graph.get(TIES, ()) for node in pair}
    return {node for node, degree in graph.degree() if degree == 0} - tied


def _nodes(result: Placed, chosen: Iterable[str]) -> list[str]:
    groups = arrangement(result).groups
    nodes = {node for name in chosen for node in groups.get(name, (name,))}
    return [node for node in result.order if node in nodes]


def _steps(result: Placed) -> list[Arrangement]:
    return st.session_state.get(_ARRANGED, {}).get(_layout(result), ([Arrangement()], ()))[0]


def _undone(result: Placed) -> tuple[Arrangement, ...]:
    """The steps taken back, the last one first to be made again."""
    return st.session_state.get(_ARRANGED, {}).get(_layout(result), ([], ()))[1]


def _step(result: Placed, arranged: Arrangement) -> None:
    if arranged != arrangement(result):
        _keep(result, [*_steps(result), arranged][-_STEPS:])


def _keep(result: Placed, steps: list[Arrangement], undone: tuple[Arrangement, ...] = ()) -> None:
    st.session_state.setdefault(_ARRANGED, {})[_layout(result)] = steps, undone


def _layout(result: Placed) -> int:
    return hash(tuple(result.positions.items() if is_laid_out(result.order) else result.order))


_MOST_OFFERED = 30  # groups; a longer list is not read
_ASKED = re.compile(r"(hide|fold|unfold|group):(\d{1,7}(?:,\d{1,7})*)", re.ASCII)


def act_on(result: Placed, answer: object) -> bool:
    """Do what the browser asks; anything else is ignored. Return whether nodes were hidden or folded.

    Args:
        answer: "undo", "redo", "all", or an action with positions among the nodes and boxes: "hide:3", "fold:1,4,5",
            "unfold:20"; or with a position among the groups offered: "group:0".
    """
    if answer in ("undo", "redo"):
        {"undo": undo, "redo": redo}[answer](result)
    elif answer == "all":
        show_all(result)
    elif match := _ASKED.fullmatch(answer) if isinstance(answer, str) else None:
        return _do_action(result, match[1], [int(index) for index in match[2].split(",")])
    return False


def _do_action(result: Placed, action: str, numbers: list[int]) -> bool:
    if action == "group":
        groups = list(offered(result).items())
        if numbers[0] < len(groups):
            fold(result, groups[numbers[0]][1], groups[numbers[0]][0])
        return True
    nodes = names(result)
    chosen = [nodes[index] for index in numbers if index < len(nodes)]
    if action == "unfold":
        for name in chosen:
            unfold(result, name)
        return False
    (hide if action == "hide" else fold)(result, chosen)
    return True


def offered(result: Placed) -> dict[str, list[str]]:
    """The groups of columns with a common beginning of their names, largest first, without those that are folded."""
    groups = folding.prefixes(result.order)
    folded = {frozenset(members) for members in arrangement(result).groups.values()}
    new = [(start, members) for start, members in groups.items() if frozenset(members) not in folded]
    return dict(sorted(new, key=lambda group: -len(group[1]))[:_MOST_OFFERED])


def for_buttons(result: Placed, nodes: Sequence[str]) -> dict[str, object]:
    """For the buttons: whether a step can be undone or redone, the nodes hidden or folded, and the groups offered."""
    arranged = arrangement(result)
    away = len(arranged.hidden & {*nodes}) + sum(len({*members} & {*nodes}) for members in arranged.groups.values())
    groups = [f"{start} … ({len(members)})" for start, members in offered(result).items()]
    steps = {"undo": can_undo(result), "redo": bool(_undone(result))}
    return {**steps, "away": away, "groups": groups, "folds": True}


READABLE = 60  # edges; many more are a hairball
_ALL_DRAWN = 72  # up to so many, all are drawn: to leave out a few makes a graph no easier to read


def strongest(run: Run, graph: nx.DiGraph, always: Collection[tuple[str, str] | None] = ()) -> nx.DiGraph:
    """The strongest edges of a graph, as many as the reader wants (at first, as can be read), and those in `always`."""
    count = graph.number_of_edges()
    if count <= _ALL_DRAWN:
        return graph
    ranked = sorted(graph.edges(data=True), key=lambda edge: drawing.strength(edge[2]), reverse=True)
    wanted_key = f"graph_wanted_{run.id}"  # kept while the number of all edges changes, as during a search
    drawn_count = st.slider(
        f"Strongest edges drawn, of {count:,}",
        1,
        count,
        min(st.session_state.get(wanted_key, READABLE), count),
        key=f"graph_strongest_{run.id}_{count}",
        help=f"More than {READABLE} edges are hard to read. Downloads of the graph hold the edges drawn.",
    )
    st.session_state[wanted_key] = drawn_count
    weakest = ranked[drawn_count - 1][2]
    if drawn_count < count and "gain_nats" in weakest:
        evidence = "evidence, by a first estimate," if graph.graph.get(drawing.ESTIMATED) else "evidence"
        st.caption(f"Their {evidence} is at least {number(weakest['gain_nats'])} nats.")
    strongest = graph.copy()
    strongest.remove_edges_from([edge[:2] for edge in ranked[drawn_count:] if edge[:2] not in always])
    return strongest
