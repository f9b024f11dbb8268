"""The design in preparation, its widgets, designs from files or examples, and the last table drawn from it.

Owns the keys `simulate_form`, `simulate_last` and `sim_NAME`. The form holds the values and the widgets show them, so
nothing is lost between pages and a design from a file fills every box.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from disco.errors import InputError
from disco.fields import options
from disco.files import check_size
from disco.simulate import FAMILIES, Design, Simulated, simulate
from disco.simulate.design import LARGEST_DESIGN
from disco.simulate.example_designs import EXAMPLES
from pages.shared.widgets import answers, errors
from pages.shared.widgets.answers import Bound
from pages.shared.widgets.names import plain
from pages.simulate import sketch

_FORM, _LAST = "simulate_form", "simulate_last"
_TRIED = 5000  # rows drawn to detect what is impossible
DRAWN_WITH_K = ("er", "er-exact", "sf")
SECTIONS = ("graph", "families", "table")
"""The parts of the form; each shows a sentence on what is impossible in it."""
_OF_GRAPH = ("graph", "nodes", "k", "seed")
UNSORTABLE = ("random_signs", "equal_means", "equal_variances")
# At first, sorting the columns does not find their order: then the table would test no method.
_OPTIONS = {name: option.default for name, option in options(Design).items() if name not in ("family", "unsortable")}
_OPTIONS |= dict.fromkeys(UNSORTABLE, True)


@dataclass(frozen=True)
class Form:
    """The values of the page's controls; `Design` rejects impossible ones.

    Attributes:
        values: by name, those of `Design` that the other attributes do not express.
        names: of nodes from a design file whose graph is not drawn by hand.
        mixing: "one" family for all nodes, "groups" along the causal order, or a family for each of the "nodes".
        by_node: the family of each node that was given one.
        parameters: those that differ from their families' defaults.
        intervened: nodes that are set or shifted, in place of random ones; those of another graph are left out.
        acting: from a design file, the nodes on which each context acts, in place of random ones; only for its graph.
    """

    values: dict[str, Any] = field(default_factory=_OPTIONS.copy)
    names: tuple[str, ...] | None = None
    mixing: str = "one"
    family: str = options(Design)["family"].default
    family_groups: tuple[str, ...] = ("poisson-softplus", "nb-softplus", "binomial-sigmoid")
    by_node: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)
    intervened: tuple[str, ...] = ()
    acting: tuple[tuple[str, ...], ...] = ()
    teaching: bool = False

    def __getattr__(self, name: str) -> Any:
        """The value of an option of the design."""
        if name not in _OPTIONS:
            raise AttributeError(name)
        return self.values[name]

    def changed(self, **changes: Any) -> "Form":
        """The same with some values changed."""
        attributes = {name: changes.pop(name) for name in [*changes] if name not in _OPTIONS}
        return replace(self, values=self.values | changes, **attributes)


def form() -> Form:
    """The present form."""
    return st.session_state.get(_FORM, Form())


def change(**values: Any) -> None:
    """Change values of the form."""
    st.session_state[_FORM] = form().changed(**values)


def node_names() -> tuple[str, ...]:
    """The nodes of the form's graph."""
    current = form()
    if current.graph == "own":
        return sketch.drawn().names
    if current.names is not None and len(current.names) == current.nodes:
        return current.names
    return tuple(f"x{index + 1}" for index in range(current.nodes))


def intervened() -> tuple[str, ...]:
    """The chosen nodes with an intervention that the form's graph has."""
    names = node_names()
    return tuple(name for name in form().intervened if name in names)


def acting() -> tuple[tuple[str, ...], ...]:
    """The nodes on which the contexts of a design file act; nothing if the form's graph lacks one of them."""
    names, current = set(node_names()), form()
    return current.acting if all(names.issuperset(nodes) for nodes in current.acting) else ()


def chosen_families() -> list[str]:
    """The families in the form, each once."""
    current = form()
    if current.mixing == "one":
        return [current.family]
    if current.mixing == "groups":
        return list(dict.fromkeys(current.family_groups))
    return list(dict.fromkeys(current.by_node.get(name, current.family) for name in node_names()))


def design(sections: Sequence[str] = SECTIONS) -> Design:
    """The design that the form describes; other sections have their defaults. InputError if it is impossible."""
    current, values = form(), {}
    if "graph" in sections:
        values |= {"graph": current.graph, "nodes": current.nodes, "names": node_names(), "seed": current.seed}
        values |= {"k": current.k} if current.graph in DRAWN_WITH_K else {}
        values |= {"edges": sketch.drawn().edges} if current.graph == "own" else {}
    if "families" in sections:
        families = chosen_families()
        parameter_names = {name for key in families for name in FAMILIES[key].parameters}
        by_node = {name: current.by_node.get(name, current.family) for name in node_names()}
        values |= {
            "family": {"one": current.family, "groups": ",".join(current.family_groups), "nodes": by_node}[
                current.mixing
            ]
        }
        values |= {"parameters": {name: value for name, value in current.parameters.items() if name in parameter_names}}
    if "table" in sections:
        values |= {name: value for name, value in current.values.items() if name not in _OF_GRAPH}
        values |= {"equal_variances": current.equal_means and current.equal_variances}
        values |= {"interventions": intervened() or current.interventions, "contexts": acting() or current.contexts}
    return Design(**values)


def take(design_given: Design) -> None:
    """Fill the form with a design."""
    plain, families = design_given.to_dict(), design_given.family
    option_values = {name: plain[name] for name in _OPTIONS}
    if design_given.graph == "own":
        sketch.keep(sketch.of_edges(design_given.names, design_given.edges))
    if not isinstance(families, str):
        option_values |= {"mixing": "nodes", "by_node": dict(families)}
    elif "," in families:
        option_values |= {"mixing": "groups", "family_groups": tuple(key.strip() for key in families.split(","))}
    else:
        option_values |= {"mixing": "one", "family": families}
    for name, to in (("interventions", "intervened"), ("contexts", "acting")):
        if isinstance(nodes := getattr(design_given, name), tuple):
            option_values |= {name: _OPTIONS[name], to: nodes}
    option_values |= {
        "names": design_given.names,
        "parameters": dict(design_given.parameters),
        "teaching": form().teaching,
    }
    st.session_state[_FORM] = Form().changed(**option_values)


# The last table is kept, so visiting another page or changing the layout does not draw it again.


def last(requested: Design) -> Simulated | None:
    """The table of a design, if it was drawn last."""
    stored = st.session_state.get(_LAST)
    return stored if stored is not None and stored.design == requested else None


def effort(requested: Design) -> int:
    """The approximate number of Poisson counts that could be drawn in the same time."""
    slow = ("com-poisson", "discrete-normal")  # each row sums over many counts
    kinds = [400 if FAMILIES[key].law.continuous else 10 if key in slow else 1 for key in requested.keys()]
    rows = requested.rows + requested.arms * requested.intervention_rows
    return requested.nodes * (rows + 10_000 * requested.equal_means + 10_000 * requested.equal_variances) * max(kinds)


def draw(requested: Design) -> Simulated:
    """Draw and store the table of a design; InputError if it cannot be drawn."""
    st.session_state.pop(_LAST, None)  # avoids keeping two large tables in memory
    try:
        st.session_state[_LAST] = simulate(requested)
    except MemoryError:
        raise InputError("The table is too large for this machine's memory: use fewer rows or nodes.") from None
    return st.session_state[_LAST]


def cause() -> str:
    """The first section of the form that is impossible whatever the later ones contain."""
    for number, name in enumerate(SECTIONS[:-1], start=1):
        try:
            rows = min(max(form().rows, 1), _TRIED) if name == "families" else 1  # some row's mean may explode
            simulate(design(SECTIONS[:number]).replace(rows=rows))
        except InputError:
            return name
    return SECTIONS[-1]


def _changed(name: str, value: Any) -> None:
    if value is not None:
        change(**{name: value})


_bound = Bound("sim_", Design, lambda name: getattr(form(), name), _changed)
option, switch, choice, segments = _bound.option, _bound.switch, _bound.choice, _bound.segments


_FILE, _PROBLEM, _EXAMPLE = "sim_design_file", "simulate_design_problem", "sim_example"


def examples() -> None:
    """A box of ready-made designs; the chosen one fills every control, and the box is emptied."""
    st.selectbox(
        "Examples",
        list(EXAMPLES),
        index=None,
        key=_EXAMPLE,
        placeholder="Start from an example",
        on_change=_take_file,
        label_visibility="collapsed",
    )


def _take_file() -> None:
    name = st.session_state[_EXAMPLE]
    if name is not None:
        take(EXAMPLES[name])
        st.session_state[_EXAMPLE] = None


def read_back() -> None:
    """The seed, teaching, and an upload box for a design.json, which fills every control; folded."""
    with st.expander("Seed, teaching, a saved design", icon=":material/file_open:"):
        option("seed")
        switch("teaching", "Teaching", "Hides the truth here and on every page, until someone reveals it.")
        st.file_uploader("design.json, as saved on this page", type=["json"], key=_FILE, on_change=_opened)
        if problem := st.session_state.get(_PROBLEM):
            st.error(plain(problem) + " The previous design is kept.", icon=":material/error:")


def _opened() -> None:
    file = answers.uploaded(_FILE)
    with errors.deferred(_PROBLEM, f"{file.name}: " if file else ""):
        if file is not None:
            take(parsed(file.getvalue()))


def parsed(content: bytes) -> Design:
    """The design in a file; InputError if it holds none."""
    check_size("it", len(content), LARGEST_DESIGN)
    return Design.from_dict(Design.values_of(content))
