"""The picked node or edge, one at a time. Ordering, Parents, Refine and Graph share the node.

Beside the picked node there may be another, on which its effect is asked.
"""

from collections.abc import Callable, Container, Sequence

import streamlit as st

from pages.shared import session
from pages.shared.widgets.answers import agreeing, heard
from pages.shared.widgets.names import distinct, shown

_KEY, _EDGE, _OTHER = "shared_picked", "shared_picked_edge", "shared_picked_other"


def _slot() -> str:
    return session.address.kept("run") or ""


def picked(nodes: Sequence[str]) -> str | None:
    """The picked node, if it is one of the nodes."""
    node = st.session_state.get(_KEY, {}).get(_slot())
    return node if node in nodes else None


def pick(node: str | None) -> None:
    """Pick a node for every page, or none."""
    st.session_state[_KEY] = {**st.session_state.get(_KEY, {}), _slot(): node}
    st.session_state[_EDGE] = {**st.session_state.get(_EDGE, {}), _slot(): None}


def picked_edge(edges: Container[tuple[str, str]]) -> tuple[str, str] | None:
    """The picked edge, if it is one of the edges (parent, child)."""
    edge = st.session_state.get(_EDGE, {}).get(_slot())
    return edge if edge is not None and edge in edges else None


def pick_edge(edge: tuple[str, str] | None) -> None:
    """Pick an edge instead of a node; or neither."""
    pick(None)
    st.session_state[_EDGE][_slot()] = edge


def other(node: str, nodes: Container[str]) -> str | None:
    """The node that was picked beside a picked node, if it is one of the nodes."""
    of, second = st.session_state.get(_OTHER, {}).get(_slot(), (None, None))
    return second if of == node and second in nodes else None


def pick_pair(node: str, second: str | None) -> None:
    """Pick a node and another one beside it."""
    pick(node)
    st.session_state[_OTHER] = {**st.session_state.get(_OTHER, {}), _slot(): (node, second)}


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
    labels = dict(zip(nodes, distinct(map(shown, nodes)), strict=True))

    def chosen(node: str | None) -> None:
        pick(node)
        if then:
            then(node)

    st.selectbox(
        label,
        list(nodes),
        index=None,
        key=live,
        format_func=lambda node: labels.get(node, ""),
        placeholder="Type a name",
        help=help,
        on_change=heard(live, [None, *nodes], chosen, key),
    )
    return node
