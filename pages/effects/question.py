"""The question on Effects: cause, outcome and two values. Owns the keys `effects_…`.

Once something was chosen, the address holds it, `?cause=x1&outcome=x2&from=3&to=6&also=x3:0:2&where=site:A`, so a link
asks the same, and the browser's Back returns to the previous question; each run has its own. `also`, which may be
repeated, has a further set node with its two values; `where` has a level of a covariate or context.
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
from pages.shared.graph import canvas
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
        also: the nodes that are set in addition to the cause.
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
        return {setting.node: setting.after for setting in self.sets}

    @property
    def against(self) -> dict[str, float | None]:
        """The values compared with."""
        return {setting.node: setting.before for setting in self.sets}


class Slots(NamedTuple):
    """Containers for the values: next to the cause, and below it for further set nodes."""

    between: DeltaGenerator
    below: DeltaGenerator


def current(refinement: Refinement) -> QuestionForm:
    """The question in the address; without one, the run's last one, unless something else was picked since."""
    picks = _picks(refinement)
    stored, of_picks = st.session_state.get(_KEPT, {}).get(refinement.run.id, (None, None))
    form = _of_address(refinement) or (stored if of_picks == picks else None) or _of_picks(refinement, picks)
    _keep(refinement, form)
    return form


def change(refinement: Refinement, **changes: Any) -> None:
    """Change the question. A new cause gets its usual values; a cause that becomes the outcome swaps with it."""
    previous = st.session_state[_KEPT][refinement.run.id][0]
    form = previous._replace(**changes)
    if form.cause == form.outcome:
        form = QuestionForm(previous.outcome, previous.cause, also=form.also, where=form.where)
    elif form.cause != previous.cause:
        form = form._replace(before=None, after=None)
    form = form._replace(also=tuple(setting for setting in form.also if setting.node not in form[:2]))
    _keep(refinement, form)
    _tell(_with_values(refinement, form))


def nodes(refinement: Refinement) -> tuple[QuestionForm, Slots]:
    """Draw the boxes for cause and outcome; return the question, and the containers for the values."""
    form = current(refinement)
    row = st.container(key="effects_question", horizontal=True, vertical_alignment="bottom")
    ask = {name: lambda node, name=name: change(refinement, **{name: node}) for name in ("cause", "outcome")}
    _node(row, "cause", "If this node is set", form.cause, refinement.order, ask["cause"])
    between = row.container(horizontal=True, width="content")
    _node(row, "outcome", "What happens to", form.outcome, refinement.order, ask["outcome"])
    swapped = {"cause": form.outcome, "outcome": form.cause, "before": None, "after": None}
    icon = ":material/swap_horiz:"
    row.button("Swap", icon=icon, key="effects_swap", on_click=change, args=(refinement,), kwargs=swapped)
    return form, Slots(between, st.container())


def values(refinement: Refinement, form: QuestionForm, slots: Slots) -> QuestionForm:
    """Draw the boxes for the values, and those of further set nodes; return the question with all values."""
    form = _with_values(refinement, form)
    _keep(refinement, form)
    _values(slots.between, refinement, form.sets[0], "", lambda changes: change(refinement, **changes))
    for index in range(len(form.also)):
        row = slots.below.container(key=f"effects_also_row_{index}", horizontal=True, vertical_alignment="bottom")
        _further(row, refinement, form, index)
    _rows(slots.below, refinement, form)
    if unset := _free(refinement, form):
        new = (*form.also, Set(_cause(refinement, form.outcome, unset)))
        slots.below.button(
            "Set another node too",
            type="tertiary",
            icon=":material/add:",
            key="effects_also",
            help="Two nodes set at once. With the same value in both boxes a node is held there.",
            on_click=change,
            args=(refinement,),
            kwargs={"also": new},
        )
    return form


def _further(row: DeltaGenerator, refinement: Refinement, form: QuestionForm, index: int) -> None:
    setting, earlier, later = form.also[index], form.also[:index], form.also[index + 1 :]

    def ask(changed: Set | None) -> None:
        change(refinement, also=(*earlier, *([] if changed is None else [changed]), *later))

    free = [node for node in refinement.order if node == setting.node or node in _free(refinement, form)]
    _node(row, f"also_{index}", "And if this node is set too", setting.node, free, lambda node: ask(Set(node)))
    between = row.container(horizontal=True, width="content")
    _values(between, refinement, setting, f"also_{index}_", lambda changes: ask(setting._replace(**changes)))
    help = f"Do not set {plain(setting.node)}."
    icon, key = ":material/close:", f"effects_also_{index}_away"
    row.button("Remove", icon=icon, key=key, help=help, on_click=ask, args=(None,))


def _free(refinement: Refinement, form: QuestionForm) -> list[str]:
    return [node for node in refinement.order if node != form.outcome and node not in form.do]


def _with_values(refinement: Refinement, form: QuestionForm) -> QuestionForm:
    cause, *also = (_usual(refinement, setting) for setting in form.sets)
    return form._replace(before=cause.before, after=cause.after, also=tuple(also))


def _usual(refinement: Refinement, setting: Set) -> Set:
    usual = answering.usual(refinement.run, setting.node)
    values = (
        usual.before if setting.before is None else setting.before,
        usual.after if setting.after is None else setting.after,
    )
    return Set(setting.node, *values)


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
    row: DeltaGenerator, refinement: Refinement, setting: Set, name: str, then: Callable[[dict[str, float]], None]
) -> None:
    usual, unit = answering.usual(refinement.run, setting.node), modelled.unit(refinement.run)
    is_rate = "With an exposure, values are rates at an average exposure. " if unit == "rate" else ""
    help = f"{is_rate}In this table from {number(usual.lowest)} to {number(usual.highest)}. At first "
    first = {"before": "its 10% quantile.", "after": "its 90% quantile, or another usual value."}
    extra = {"step": 1.0 if unit == "count" else 0.1, "format": "%g", "width": 125}

    def changed(which: str, live: str) -> None:
        if not answers.is_left(f"effects_{name}{which}", live):
            then({which: st.session_state[live]})

    for which, label in (("before", "From"), ("after", "To")):
        live = answers.agreeing(f"effects_{name}{which}", getattr(setting, which))
        words = {"help": help + first[which], "on_change": changed, "args": (which, live)}
        row.number_input(f"{label} ({unit})", 0.0, key=live, **words, **extra)


def _rows(slot: DeltaGenerator, refinement: Refinement, form: QuestionForm) -> None:
    if not (levels := answering.levels(refinement.run)):
        return
    live, options = answers.agreeing("effects_where", form.where), ["", *levels]
    names = [shown(" = ".join(pair)) for option in levels.values() for pair in option.items()]
    labels = dict(zip(options, distinct(["all rows", *names]), strict=True))
    slot.selectbox(
        "Over which rows",
        options,
        key=live,
        format_func=lambda option: labels.get(option, ""),
        help="The means are over all rows, or over those with one level of a covariate or context. The model is always "
        "fitted to all rows.",
        width=230,
        on_change=answers.valid(live, options, lambda where: change(refinement, where=where), "effects_where"),
    )


def _keep(refinement: Refinement, form: QuestionForm) -> None:
    st.session_state[_KEPT] = {**st.session_state.get(_KEPT, {}), refinement.run.id: (form, _picks(refinement))}


def _tell(form: QuestionForm) -> None:
    """Write a question to the address: only one that was chosen, or Back would lead to its own page again and again."""
    bounds = {"from": form.before, "to": form.after}
    written = {name: _written(value) or None for name, value in bounds.items()}
    also = [":".join((setting.node, *map(_written, setting[1:]))) for setting in form.also]
    rest = {"also": also, "where": form.where or None}
    session.address.tell({"cause": form.cause, "outcome": form.outcome, **written, **rest})


def _of_address(refinement: Refinement) -> QuestionForm | None:
    """The question of a link; None if it names no outcome of the graph."""
    cause, outcome = session.address.parameter("cause"), session.address.parameter("outcome")
    if outcome not in refinement.order:
        return None
    before, after = (_number(session.address.parameter(name)) for name in ("from", "to"))
    if cause not in refinement.order or cause == outcome:
        cause, before, after = _cause(refinement, outcome), None, None  # the values are those of another node
    also: dict[str, Set] = {}
    for text in session.address.every("also"):
        node, *values = text.rsplit(":", 2)
        if node in refinement.order and node not in (cause, outcome) and len(values) == 2:
            also[node] = Set(node, *map(_number, values))
    where = session.address.parameter("where")
    where = where if where in answering.levels(refinement.run) else ""
    return QuestionForm(cause, outcome, before, after, tuple(also.values()), where)


def _written(value: float | None) -> str:
    return "" if value is None else f"{value:.12g}"


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _picks(refinement: Refinement) -> tuple[str | None, tuple[str, str] | None]:
    edges = {*zip(refinement.edges["parent"], refinement.edges["child"], strict=True)}
    return canvas.picked(refinement.order), canvas.picked_edge(edges)


def _of_picks(refinement: Refinement, picks: tuple[str | None, tuple[str, str] | None]) -> QuestionForm:
    """The picked edge, or the picked node as the outcome; otherwise the last node of the order that has a cause."""
    node, edge = picks
    if edge is not None:
        return QuestionForm(*edge)
    children = {*refinement.edges["child"]}
    outcome = node or next((name for name in reversed(refinement.order) if name in children), refinement.order[-1])
    return QuestionForm(_cause(refinement, outcome), outcome)


def _cause(refinement: Refinement, outcome: str, among: Collection[str] | None = None) -> str:
    """The node of `among` at the strongest edge that may lead to an outcome, else the nearest one before it."""
    free = [node for node in refinement.order if node != outcome] if among is None else [*among]
    for edge in refinement.edges.itertuples():
        if edge.child == outcome and edge.parent in free:
            return edge.parent
        if edge.parent == outcome and edge.child in free and not edge.decided:
            return edge.child
    position = refinement.order.index(outcome)
    return next((node for node in reversed(refinement.order[:position]) if node in free), free[-1])
