"""The question on Effects: cause, outcome and two values. Owns the keys `effects_…`.

The address holds it, `?cause=x1&outcome=x2&from=3&to=6`, so a link asks the same; each run keeps its own question.
"""

import math
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from disco.words import number
from pages.effects import answering
from pages.shared import session
from pages.shared.frame import answers
from pages.shared.frame.names import distinct, shown
from pages.shared.graph import picked
from pages.shared.refined import modelled
from pages.shared.refined.refinement import Refinement

_KEPT = "effects_asked"


class Asked(NamedTuple):
    """A question; None stands for the usual values of the cause."""

    cause: str
    outcome: str
    before: float | None = None
    after: float | None = None


def now(found: Refinement) -> Asked:
    """The question in the address; without one, the run's last one, unless something else was picked since."""
    picks = _picks(found)
    kept, of_picks = st.session_state.get(_KEPT, {}).get(found.run.id, (None, None))
    asked = _of_address(found) or (kept if of_picks == picks else None) or _of_picks(found, picks)
    _keep(found, asked)
    return asked


def change(found: Refinement, **changes: Any) -> None:
    """Ask something else; another cause has other values, and a cause that becomes the outcome changes places."""
    before = st.session_state[_KEPT][found.run.id][0]
    asked = before._replace(**changes)
    if asked.cause == asked.outcome:
        asked = Asked(before.outcome, before.cause)
    elif asked.cause != before.cause:
        asked = asked._replace(before=None, after=None)
    _keep(found, asked)


def nodes(found: Refinement) -> tuple[Asked, DeltaGenerator]:
    """Draw the boxes for cause and outcome; return the question, and the place between them for the values."""
    asked = now(found)
    row = st.container(key="effects_question", horizontal=True, vertical_alignment="bottom")
    _node(row, found, "cause", "If this node is set", asked.cause, "The node that is set from outside.")
    between = row.container(horizontal=True, width="content")
    _node(row, found, "outcome", "What happens to", asked.outcome, "The node whose mean is computed.")
    swapped = {"cause": asked.outcome, "outcome": asked.cause, "before": None, "after": None}
    icon = ":material/swap_horiz:"
    row.button("Swap", icon=icon, key="effects_swap", on_click=change, args=(found,), kwargs=swapped)
    return asked, between


def values(found: Refinement, asked: Asked, row: DeltaGenerator) -> Asked:
    """Draw the boxes for the two values; return the question with both."""
    usual, unit = answering.usual(found.run, asked.cause), modelled.unit(found.run)
    asked = Asked(
        *asked[:2],
        usual.before if asked.before is None else asked.before,
        usual.after if asked.after is None else asked.after,
    )
    _keep(found, asked)
    is_rate = "With an exposure, values are rates at an average exposure. " if unit == "rate" else ""
    help = f"{is_rate}In this table from {number(usual.lowest)} to {number(usual.highest)}. At first the median."
    step = 1.0 if unit == "count" else 0.1
    for name, label in (("before", "From"), ("after", "To")):
        _value(row, found, name, f"{label} ({unit})", getattr(asked, name), help, step)
    return asked


def _node(row: DeltaGenerator, found: Refinement, name: str, label: str, value: str, help: str) -> None:
    live = answers.agreeing(f"effects_{name}", value)
    labels = dict(zip(found.order, distinct(map(shown, found.order)), strict=True))
    row.selectbox(
        label,
        found.order,
        key=live,
        format_func=lambda node: labels.get(node, ""),
        help=help,
        width=230,
        on_change=answers.heard(live, found.order, lambda node: change(found, **{name: node}), f"effects_{name}"),
    )


def _value(row: DeltaGenerator, found: Refinement, name: str, label: str, value: float, help: str, step: float) -> None:
    live = answers.agreeing(f"effects_{name}", value)

    def changed() -> None:
        if not answers.is_left(f"effects_{name}", live):
            change(found, **{name: st.session_state[live]})

    row.number_input(label, 0.0, step=step, format="%g", key=live, help=help, width=125, on_change=changed)


def _keep(found: Refinement, asked: Asked) -> None:
    st.session_state[_KEPT] = {**st.session_state.get(_KEPT, {}), found.run.id: (asked, _picks(found))}
    told = {"from": asked.before, "to": asked.after}
    written = {name: None if value is None else f"{value:.12g}" for name, value in told.items()}
    session.address.tell({"cause": asked.cause, "outcome": asked.outcome, **written})


def _of_address(found: Refinement) -> Asked | None:
    """The question of a link; None if it names no outcome of the graph."""
    cause, outcome = session.address.asked("cause"), session.address.asked("outcome")
    if outcome not in found.order:
        return None
    if cause not in found.order or cause == outcome:
        cause = _cause(found, outcome)
    return Asked(cause, outcome, *(_number(session.address.asked(name)) for name in ("from", "to")))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _picks(found: Refinement) -> tuple[str | None, tuple[str, str] | None]:
    """The node and the edge that are picked on Graph or Refine."""
    edges = {*zip(found.edges["parent"], found.edges["child"], strict=True)}
    return picked.picked(found.order), picked.picked_edge(edges)


def _of_picks(found: Refinement, picks: tuple[str | None, tuple[str, str] | None]) -> Asked:
    """The picked edge, or the picked node as the outcome; otherwise the last node of the order that has a cause."""
    node, edge = picks
    if edge is not None:
        return Asked(*edge)
    children = {*found.edges["child"]}
    outcome = node or next((one for one in reversed(found.order) if one in children), found.order[-1])
    return Asked(_cause(found, outcome), outcome)


def _cause(found: Refinement, outcome: str) -> str:
    """The node at the strongest edge that may lead to an outcome; without one, the node before it in the order."""
    for edge in found.edges.itertuples():
        if edge.child == outcome:
            return edge.parent
        if edge.parent == outcome and not edge.decided:
            return edge.child
    return found.order[found.order.index(outcome) - 1]  # of the first node, the last
