"""The picked node or edge, one at a time. Ordering, Parents, Refine and Graph share the node.

A second node may be picked, on which the effect of the first is asked.
"""

from collections.abc import Callable, Container, Sequence

import streamlit as st

from pages.shared import session
from pages.shared.widgets.answers import agreeing, valid
from pages.shared.widgets.names import labels_of


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
