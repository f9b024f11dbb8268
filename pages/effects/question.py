"""The question on Effects: cause, outcome and two values. Owns the keys `effects_…`.

Once something was chosen, the address holds it, `?cause=x1&outcome=x2&from=3&to=6&also=x3:0:2&where=site:A`, so a link
asks the same, and the browser's Back returns to the question before; each run keeps its own question. `also` has a
further set node with its two values, and may be repeated; `where` has a level of a covariate or context.
"""

import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from disco.words import number
from pages.effects import answering
from pages.shared import session
from pages.shared.evidence import modelled
from pages.shared.graph import picked
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import answers
from pages.shared.widgets.names import distinct, labels_of, plain, shown

_KEPT = "effects_asked"


class Set(NamedTuple):
    """A set node and two values; None stands for its usual ones."""

    node: str
    before: float | None = None
    after: float | None = None


class QuestionForm(NamedTuple):
    """A question; None stands for the usual values of the cause.

    Attributes:
        also: the nodes that are set beside the cause.
        where: the level of a covariate or context that the rows have (`answering.levels`), or empty: all rows.
    """

    cause: str
    outcome: str
    before: float | None = None
    after: float | None = None
    also: tuple[Set, ...] = ()
    where: str = ""

    @property
    def sets(self) -> tuple[Set, ...]:
        """All nodes that are set, the cause first."""
        return Set(self.cause, self.before, self.after), *self.also

    @property
    def do(self) -> dict[str, float | None]:
        """The value of every set node."""
        return {one.node: one.after for one in self.sets}

    @property
    def against(self) -> dict[str, float | None]:
        """The values compared with."""
        return {one.node: one.before for one in self.sets}


class Places(NamedTuple):
    """Where the boxes for values stand: beside the cause, and below it for further set nodes."""

    between: DeltaGenerator
    below: DeltaGenerator


def now(found: Refinement) -> QuestionForm:
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
        asked = QuestionForm(before.outcome, before.cause, also=asked.also, where=asked.where)
    elif asked.cause != before.cause:
        asked = asked._replace(before=None, after=None)
    asked = asked._replace(also=tuple(one for one in asked.also if one.node not in asked[:2]))
    _keep(found, asked)
    _tell(_with_values(found, asked))


def nodes(found: Refinement) -> tuple[QuestionForm, Places]:
    """Draw the boxes for cause and outcome; return the question, and the places for the values."""
    asked = now(found)
    row = st.container(key="effects_question", horizontal=True, vertical_alignment="bottom")
    ask = {name: lambda node, name=name: change(found, **{name: node}) for name in ("cause", "outcome")}
    _node(row, "cause", "If this node is set", asked.cause, found.order, ask["cause"])
    between = row.container(horizontal=True, width="content")
    _node(row, "outcome", "What happens to", asked.outcome, found.order, ask["outcome"])
    swapped = {"cause": asked.outcome, "outcome": asked.cause, "before": None, "after": None}
    icon = ":material/swap_horiz:"
    row.button("Swap", icon=icon, key="effects_swap", on_click=change, args=(found,), kwargs=swapped)
    return asked, Places(between, st.container())


def values(found: Refinement, asked: QuestionForm, places: Places) -> QuestionForm:
    """Draw the boxes for the values, and those of further set nodes; return the question with all values."""
    asked = _with_values(found, asked)
    _keep(found, asked)
    _values(places.between, found, asked.sets[0], "", lambda changes: change(found, **changes))
    for place in range(len(asked.also)):
        row = places.below.container(key=f"effects_also_row_{place}", horizontal=True, vertical_alignment="bottom")
        _further(row, found, asked, place)
    _rows(places.below, found, asked)
    if others := _free(found, asked):
        new = (*asked.also, Set(_cause(found, asked.outcome, others)))
        places.below.button(
            "Set another node too",
            type="tertiary",
            icon=":material/add:",
            key="effects_also",
            help="Two nodes set at once. With the same value in both boxes a node is held there.",
            on_click=change,
            args=(found,),
            kwargs={"also": new},
        )
    return asked


def _further(row: DeltaGenerator, found: Refinement, asked: QuestionForm, place: int) -> None:
    """The boxes of a node that is set beside the cause, and a button that takes it away."""
    one, before, after = asked.also[place], asked.also[:place], asked.also[place + 1 :]

    def ask(changed: Set | None) -> None:
        change(found, also=(*before, *([] if changed is None else [changed]), *after))

    free = [node for node in found.order if node == one.node or node in _free(found, asked)]
    _node(row, f"also_{place}", "And if this node is set too", one.node, free, lambda node: ask(Set(node)))
    between = row.container(horizontal=True, width="content")
    _values(between, found, one, f"also_{place}_", lambda changes: ask(one._replace(**changes)))
    help = f"{plain(one.node)} is not set."
    icon, key = ":material/close:", f"effects_also_{place}_away"
    row.button("Take away", icon=icon, key=key, help=help, on_click=ask, args=(None,))


def _free(found: Refinement, asked: QuestionForm) -> list[str]:
    """The nodes that are not in the question."""
    return [node for node in found.order if node != asked.outcome and node not in asked.do]


def _with_values(found: Refinement, asked: QuestionForm) -> QuestionForm:
    """A question with the usual values in place of those that are not given."""
    cause, *also = (_usual(found, one) for one in asked.sets)
    return asked._replace(before=cause.before, after=cause.after, also=tuple(also))


def _usual(found: Refinement, one: Set) -> Set:
    """A set node with its usual values in place of those that are not given."""
    usual = answering.usual(found.run, one.node)
    values = (usual.before if one.before is None else one.before, usual.after if one.after is None else one.after)
    return Set(one.node, *values)


def _node(
    row: DeltaGenerator, name: str, label: str, value: str, options: list[str], then: Callable[[str], None]
) -> None:
    live = answers.agreeing(f"effects_{name}", value)
    row.selectbox(
        label,
        options,
        key=live,
        format_func=labels_of(options),
        help="The node whose mean is computed." if name == "outcome" else "A node that is set from outside.",
        width=230,
        on_change=answers.valid(live, options, then, f"effects_{name}"),
    )


def _values(
    row: DeltaGenerator, found: Refinement, one: Set, name: str, then: Callable[[dict[str, float]], None]
) -> None:
    """The boxes for the two values of a set node."""
    usual, unit = answering.usual(found.run, one.node), modelled.unit(found.run)
    is_rate = "With an exposure, values are rates at an average exposure. " if unit == "rate" else ""
    help = f"{is_rate}In this table from {number(usual.lowest)} to {number(usual.highest)}. At first the median."
    more = {"step": 1.0 if unit == "count" else 0.1, "format": "%g", "help": help, "width": 125}

    def changed(which: str, live: str) -> None:
        if not answers.is_left(f"effects_{name}{which}", live):
            then({which: st.session_state[live]})

    for which, label in (("before", "From"), ("after", "To")):
        live = answers.agreeing(f"effects_{name}{which}", getattr(one, which))
        row.number_input(f"{label} ({unit})", 0.0, key=live, on_change=changed, args=(which, live), **more)


def _rows(place: DeltaGenerator, found: Refinement, asked: QuestionForm) -> None:
    """The box for the rows that the means are over; there is none if no covariate or context has levels."""
    if not (levels := answering.levels(found.run)):
        return
    live, options = answers.agreeing("effects_where", asked.where), ["", *levels]
    told = [shown(" = ".join(pair)) for one in levels.values() for pair in one.items()]
    labels = dict(zip(options, distinct(["all rows", *told]), strict=True))
    place.selectbox(
        "Over which rows",
        options,
        key=live,
        format_func=lambda one: labels.get(one, ""),
        help="The means are over all rows, or over those with one level of a covariate or context. The model is always "
        "fitted to all rows.",
        width=230,
        on_change=answers.valid(live, options, lambda where: change(found, where=where), "effects_where"),
    )


def _keep(found: Refinement, asked: QuestionForm) -> None:
    st.session_state[_KEPT] = {**st.session_state.get(_KEPT, {}), found.run.id: (asked, _picks(found))}


def _tell(asked: QuestionForm) -> None:
    """Write a question to the address: only one that was chosen, or Back would lead to its own page again and again."""
    told = {"from": asked.before, "to": asked.after}
    written = {name: _written(value) or None for name, value in told.items()}
    also = [":".join((one.node, *map(_written, one[1:]))) for one in asked.also]
    rest = {"also": also, "where": asked.where or None}
    session.address.tell({"cause": asked.cause, "outcome": asked.outcome, **written, **rest})


def _of_address(found: Refinement) -> QuestionForm | None:
    """The question of a link; None if it names no outcome of the graph."""
    cause, outcome = session.address.parameter("cause"), session.address.parameter("outcome")
    if outcome not in found.order:
        return None
    if cause not in found.order or cause == outcome:
        cause = _cause(found, outcome)
    before, after = (_number(session.address.parameter(name)) for name in ("from", "to"))
    also: dict[str, Set] = {}
    for text in session.address.every("also"):
        node, *values = text.rsplit(":", 2)
        if node in found.order and node not in (cause, outcome) and len(values) == 2:
            also[node] = Set(node, *map(_number, values))
    where = session.address.parameter("where")
    where = where if where in answering.levels(found.run) else ""
    return QuestionForm(cause, outcome, before, after, tuple(also.values()), where)


def _written(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


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


def _of_picks(found: Refinement, picks: tuple[str | None, tuple[str, str] | None]) -> QuestionForm:
    """The picked edge, or the picked node as the outcome; otherwise the last node of the order that has a cause."""
    node, edge = picks
    if edge is not None:
        return QuestionForm(*edge)
    children = {*found.edges["child"]}
    outcome = node or next((one for one in reversed(found.order) if one in children), found.order[-1])
    return QuestionForm(_cause(found, outcome), outcome)


def _cause(found: Refinement, outcome: str, among: Collection[str] | None = None) -> str:
    """The node at the strongest edge that may lead to an outcome; without one, the node before it in the order.

    Args:
        among: the nodes that may be returned; by default all but the outcome.
    """
    free = [node for node in found.order if node != outcome] if among is None else [*among]
    for edge in found.edges.itertuples():
        if edge.child == outcome and edge.parent in free:
            return edge.parent
        if edge.parent == outcome and edge.child in free and not edge.decided:
            return edge.child
    place = found.order.index(outcome)
    return next((node for node in reversed(found.order[:place]) if node in free), free[-1])
