"""The interactive graph, a component of the page itself: SVG drawn by our own script, without network access.

Nodes are placed by the layout or the reader, and `graph.draw.routing` leads edges around them, as in every exported
picture. A click returns the picked node or, where edges can be picked, the picked edge; a drag returns the node's new
position. Ordering, Parents and Graph share the picked node; a second one is that on which its effect is asked.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path

import networkx as nx
import streamlit as st

from disco.graph.dag import CONTEXT, CONTEXTS, has_direction, joined
from disco.graph.draw import colours
from disco.graph.draw import picture as drawing
from disco.graph.draw.lines import BOTH_ENDS
from disco.graph.draw.placing import short
from disco.words import how_many, listed, shared_start
from pages.shared import session
from pages.shared.graph import layout
from pages.shared.graph.layout import Placed
from pages.shared.widgets.answers import agreeing, valid
from pages.shared.widgets.names import code, labels_of


def picked(nodes: Sequence[str]) -> str | None:
    """The picked node, if it is one of the nodes."""
    node = session.shown.node.current()
    return node if node in nodes else None


def pick(node: str | None) -> None:
    """Pick a node for every page, or none."""
    session.shown.node.keep(node)
    session.shown.edge.keep(None)


def picked_edge(edges: Container[tuple[str, str]]) -> tuple[str, str] | None:
    """The picked edge, if it is one of the edges (parent, child)."""
    edge = session.shown.edge.current()
    return edge if edge is not None and edge in edges else None


def pick_edge(edge: tuple[str, str] | None) -> None:
    """Pick an edge instead of a node; or neither."""
    pick(None)
    session.shown.edge.keep(edge)


def second_node(node: str, nodes: Container[str]) -> str | None:
    """The node that was picked in addition to a picked node, if it is one of the nodes."""
    first, second = session.shown.pair.current() or (None, None)
    return second if first == node and second in nodes else None


def pick_pair(node: str, second: str | None) -> None:
    """Pick a node and a second one."""
    pick(node)
    session.shown.pair.keep((node, second))


def node_box(
    label: str,
    nodes: Sequence[str],
    key: str,
    help: str,
    otherwise: str | None = None,
    then: Callable[[str | None], None] | None = None,
) -> str | None:
    """A searchable select box for the picked node.

    Args:
        otherwise: shown while no node is picked; None leaves the box empty.
        then: called with a node chosen here.
    """
    node = picked(nodes) or otherwise
    live = agreeing(key, node)

    def chosen(node: str | None) -> None:
        pick(node)
        if then:
            then(node)

    st.selectbox(
        label,
        list(nodes),
        index=None,
        key=live,
        format_func=labels_of(nodes),
        placeholder="Type a name",
        help=help,
        on_change=valid(live, [None, *nodes], chosen, key),
    )
    return node


_ASSETS = Path(__file__).resolve().parents[3] / "assets"
_FOCUS = "graph_focus"


def asset(name: str) -> str:
    """The text of a file in `assets/`."""
    return (_ASSETS / name).read_text(encoding="utf-8")


_graph = st.components.v2.component(
    "disco_graph",
    html=asset("graph_view.html"),
    css=asset("graph_view.css"),
    js=asset("graph_draw.js") + asset("graph_tools.js") + asset("graph_view.js"),
)
_picture = st.components.v2.component(
    "disco_picture",
    html="<button type='button'></button>",
    css=asset("picture_button.css"),
    js=asset("picture_button.js"),
)


def graph_view(
    result: Placed,
    graph: nx.DiGraph,
    key: str,
    height: int | None = None,
    *,
    strength: float | None = None,
    picks_edges: bool = False,
    picks_pairs: bool = False,
) -> None:
    """Draw a graph of some or all nodes of a result; a click picks a node.

    Args:
        graph: placed by `layout.positions`. A verdict or the finder (`found_by`) of an edge sets how it is drawn.
        height: pixels; by default it depends on the number of nodes.
        strength: of the widest line; by default that of the strongest candidate of a fit.
        picks_edges: whether a click on an edge picks it.
        picks_pairs: whether a click with Shift picks a second node.
    """
    edge = picked_edge(graph.edges) if picks_edges else None
    data = _data(result, graph, picked(result.order), edge, result.strongest if strength is None else strength)
    data |= {"picksEdges": picks_edges, "picksPairs": picks_pairs}
    data["height"] = height or (420 if len(result.order) <= 8 else 560 if len(result.order) <= 40 else 720)

    # The browser sends only positions in the order and pixels.
    def clicked() -> None:
        st.session_state[_FOCUS] = None
        pick(_node_of(st.session_state[key].get("picked"), result.order))

    def clicked_edge() -> None:
        chosen = edge_of(st.session_state[key].get("picked_edge"), result.order)
        if chosen is not None and chosen in graph.edges:
            pick_edge(chosen)

    def clicked_pair() -> None:
        chosen = edge_of(st.session_state[key].get("picked_pair"), result.order)
        if chosen is not None and picks_pairs:
            pick_pair(*chosen)

    def dragged() -> None:
        answer = st.session_state[key].get("moved")
        if answer == "none":
            layout.reset(result)
        elif position := position_of(answer, layout.names(result)):
            layout.move(result, *position)

    def alone() -> None:
        layout.show_alone(result, st.session_state[key].get("alone") == "shown")

    def changed() -> None:
        if layout.act_on(result, st.session_state[key].get("changed")):
            pick(None)  # the picked node is always drawn

    answers = {"picked": clicked, "picked_edge": clicked_edge, "picked_pair": clicked_pair}
    answers |= {"moved": dragged, "alone": alone, "changed": changed}
    _graph(key=key, data=data, **{f"on_{name}_change": callback for name, callback in answers.items()})


def with_heads(graph: nx.DiGraph, key: str) -> nx.DiGraph:
    """The graph to draw, with open heads at the likelier ends of its edges if the reader asks for them.

    The switch is there only if an edge's direction is not known and no verdict on it is shown.
    """
    if all(has_direction(values) or "verdict" in values for *_, values in graph.edges(data=True)):
        return graph
    help = "An edge whose direction is not known has no head. This adds an open head at its end if that fits better."
    if not st.toggle("Show the likelier direction", key=key, help=help):
        return graph
    marked = graph.copy()
    marked.graph[drawing.LIKELIER] = True
    return marked


def edge_words(graph: nx.DiGraph, parent: str, child: str) -> str:
    """An edge in Markdown: an arrow if its direction is known, otherwise a line."""
    values = graph.get_edge_data(parent, child, {})
    return f"{code(parent)} {'→' if has_direction(values) else '—'} {code(child)}"


def _node_of(answer: object, order: Sequence[str]) -> str | None:
    """The node that the browser names by its position in the order; None for anything else."""
    index = int(answer) if isinstance(answer, str) and re.fullmatch(r"\d{1,7}", answer, re.ASCII) else len(order)
    return order[index] if index < len(order) else None


def position_of(answer: object, order: Sequence[str]) -> tuple[str, float, float] | None:
    """The node and its new position in the browser's answer, such as "3:120:-40"; None for anything else."""
    match = re.fullmatch(r"(\d{1,7}):(-?\d{1,9}):(-?\d{1,9})", answer, re.ASCII) if isinstance(answer, str) else None
    node = _node_of(match[1], order) if match else None
    return None if node is None else (node, float(match[2]), float(match[3]))


def edge_of(answer: object, order: Sequence[str]) -> tuple[str, str] | None:
    """Two nodes that the browser names by their positions in the order, such as "3-7"; None for anything else."""
    match = re.fullmatch(r"(\d{1,7})-(\d{1,7})", answer, re.ASCII) if isinstance(answer, str) else None
    pair = [int(index) for index in match.groups()] if match else []
    return (order[pair[0]], order[pair[1]]) if pair and max(pair) < len(order) else None


def focus_on(node: str | None) -> None:
    """Centre a node at the next drawing, as a search does and a click does not."""
    st.session_state[_FOCUS] = node


def picture_button(kind: str, picture: Callable[[], str], file: str, key: str) -> None:
    """A button that saves a picture as PNG, or prints it on a page of its size (PDF), both in the browser.

    `picture` makes its SVG when the button is pressed, so redrawing the page does not wait for it.
    """
    press = st.session_state.get(key, {}).get("press")  # only in the script run that follows the press
    label, help = _PICTURES[kind]
    pressed = {"svg": picture() if press else "", "press": press, "file": file}
    data = {**pressed, "kind": kind, "label": label, "help": help}
    _picture(key=key, data=data, on_press_change=lambda: None, width=76)


_PICTURES = {  # label and help; the dots announce a dialog
    "PNG": ("PNG", "An image at twice the size shown."),
    "PDF": ("PDF …", "Print or save as PDF: opens the browser's print dialog, with a page of the size of the picture."),
}


def shown_data(
    order: Sequence[str],
    graph: nx.DiGraph,
    positions: Mapping[str, tuple[float, float]],
    widest: float,
    boxes: Sequence[str] = (),
) -> dict[str, object]:
    """What a browser needs to draw a graph, without the session.

    Args:
        order: all nodes; the graph may have only some of them.
        widest: the strength of the widest line.
        boxes: the names of all folded groups of nodes.
    """
    number = {name: str(index) for index, name in enumerate([*order, *boxes])}
    marks, start = drawing.picture(graph, positions, widest), shared_start(order)
    count = len(order) - graph.graph.get(CONTEXTS, 0)
    is_coloured = any(line["colour"] for line in marks["edges"])
    words = f"{how_many(len(graph), 'node')} and {how_many(graph.number_of_edges(), 'edge')}"
    if tied := sum(mark["end"] == BOTH_ENDS for mark in marks["edges"]):
        words += f", {how_many(tied, 'pair')} that a hidden cause may tie"
    return {
        "nodes": [
            _node(mark, number, graph, count) | {"label": short(mark["name"].removeprefix(start))}
            for mark in marks["nodes"]
        ],
        "edges": [_edge(mark, number, {*boxes}) for mark in marks["edges"]],
        "legend": marks["legend"],
        # Colours then show the truth or who found an edge, so parents and children are marked without colours.
        "roles": {} if is_coloured else {"parent": colours.PARENT, "child": colours.CHILD},
        "label": f"The causal graph: {words}.",
        **_UNTOUCHED,
    }


_UNTOUCHED = {  # what the reader did to a graph without a session: nothing
    **{"picked": None, "pickedEdge": None, "picksEdges": True, "focus": None, "hidden": [], "moved": False},
    **{"alone": {"count": 0, "shown": True}, "scope": "all", "away": 0, "groups": [], "folds": False},
    **{"undo": False, "redo": False},
}


def _data(
    result: Placed, graph: nx.DiGraph, node: str | None, edge: tuple[str, str] | None, widest: float
) -> dict[str, object]:
    """`shown_data` with what the reader did."""
    number = {name: str(index) for index, name in enumerate(result.order)}
    seen, shows_alone = layout.drawn(result, graph, [node]), layout.shows_alone(result)
    boxes = [*layout.arrangement(result).groups]
    return shown_data(result.order, seen, layout.positions(result, seen), widest, boxes) | {
        **layout.for_buttons(result, list(graph)),
        "hidden": [{"id": number[name], "name": name} for name in graph if name not in seen],
        "picked": number.get(node),
        "pickedEdge": None if edge is None else "-".join(number[end] for end in edge),
        "focus": number.get(node) if node is not None and node == st.session_state.get(_FOCUS) else None,
        "alone": {"count": layout.alone(graph), "shown": shows_alone},
        "moved": layout.is_moved(result),
        "scope": f"{len(graph)} {hash(tuple(graph))} {shows_alone}",
    }


def _node(mark: dict, number: dict[str, str], graph: nx.DiGraph, count: int) -> dict:
    name = mark["name"]
    members = graph.nodes[name].get(drawing.MEMBERS)
    if members:
        title = f"{how_many(len(members), 'node')} folded into one: {listed(members, _MOST_NAMED)}"
    elif CONTEXT in graph.nodes[name]:
        acts = how_many(graph.out_degree(name), "node") if graph.out_degree(name) else "no node"
        title = f"{name}: a context, acts on {acts}"
    else:
        title = _title(mark, graph, int(number[name]) + 1, count)
    return {**{key: mark[key] for key in _OF_NODE}, "id": number[name], "title": title, "folded": bool(members)}


def _title(mark: dict, graph: nx.DiGraph, position: int, count: int) -> str:
    name = mark["name"]
    parents, children = (
        sum(values.get("verdict") != "missing" and has_direction(values) for *_, values in lines)
        for lines in (graph.in_edges(name, data=True), graph.out_edges(name, data=True))
    )
    full = graph.nodes[name].get(drawing.FULL_NAME)
    title = f"{name}{f', {full}' if full else ''} (position {position:,} of {count:,})"
    title += f": {how_many(parents, 'parent')}, {how_many(children, 'child', 'children')}"
    if unknown := len(joined(graph, name)):
        title += f", {how_many(unknown, 'edge')} of unknown direction"
    return title + (f"; {drawing.node_words(graph, name)}" if mark["missed"] else "")


_MOST_NAMED = 8
_OF_NODE = ("name", "label", "x", "y", "width", "height", "missed", "context")
_OF_EDGE = ("path", "head", "tail", "end", "dot", "square", "diamond", "colour", "dash", "width", "firm")


def _edge(mark: dict, number: dict[str, str], boxes: set[str]) -> dict:
    nodes = {"from": number[mark["parent"]], "to": number[mark["child"]]}
    joined = {**nodes, "id": "-".join(nodes.values()), "title": mark["words"]}
    picks = not mark["absent"] and boxes.isdisjoint((mark["parent"], mark["child"]))
    return {**{name: mark[name] for name in _OF_EDGE}, **joined, "picks": picks}
