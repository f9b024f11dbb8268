"""The selector of parents shown: its computation, thresholds or cut-off, its edges, and advice if there are few."""

from dataclasses import dataclass
from functools import cached_property, partial

import networkx as nx
import pandas as pd
import streamlit as st

from disco.columns import PAIR
from disco.graph import dag as graphs
from disco.paper.ocs import MARKS, frequencies, reaches
from disco.paper.removals import with_decided
from disco.progress import Callback
from disco.runs import Run, digests
from disco.selectors import selection
from disco.selectors.selection import CUTS, SELECTORS, WORDS
from disco.selectors.sparse import LOWER, is_sparse, other_rules
from disco.subjects.fit import advice
from disco.subjects.fit.candidates import compute_candidates, path_of, read_candidates
from disco.words import how_many, share
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.compute.cache import cached
from pages.shared.result import refinement
from pages.shared.result.fit import Result
from pages.shared.widgets import answers
from pages.shared.widgets.answers import valid
from pages.shared.widgets.names import define

HIGHEST = 5.0  # of the slider; a higher Z passes any sensible threshold
RULES = {"jackknife": "Agreement of the folds (parts of the rows)", "iqr": "The paper's: above the other candidates"}


def present_thresholds(result: Result) -> tuple[float, float]:
    """(τ_Z, π_min) as the reader set them, or the rule's defaults."""
    return session.shown.thresholds.current(result.rule) or result.thresholds


def sliders(result: Result, where: str) -> tuple[float, float]:
    """Draw the rule and its thresholds; return (τ_Z, π_min), which start at the rule's defaults."""
    rule_box, middle, right = st.container(key=f"beside_thresholds_{where}").columns([3, 4, 3], gap="medium")
    with rule_box:
        _rule_box(result, where)
    defaults, folds = result.thresholds, result.folds
    tau_z, pi_min = session.shown.thresholds.current(result.rule) or defaults
    options = [k / folds for k in range(1, folds + 1)]
    names = ("tau_z", "pi_min", "own")
    tau_key, pi_key, own_key = (f"{name}_{where}_{result.rule}_{result.run.id}" for name in names)
    st.session_state[tau_key] = float(tau_z)

    def keep() -> None:
        session.shown.thresholds.keep((st.session_state[tau_key], st.session_state.get(pi_key, pi_min)), result.rule)

    with middle:
        tau_z = st.slider(
            "Threshold on Z (τ_Z)",
            0.0,
            max(HIGHEST, float(tau_z)),
            step=_STEP[result.rule],
            key=tau_key,
            on_change=keep,
            help=_RULE_HELP[result.rule],
        )
        # Always there, so nothing moves; the other threshold does not change.
        st.button(
            f"Back to τ_Z = {defaults[0]:.3g}",
            key=own_key,
            type="tertiary",
            icon=":material/undo:",
            disabled=tau_z == defaults[0],
            on_click=session.shown.thresholds.keep,
            args=((defaults[0], pi_min), result.rule),
        )
    with right:
        if result.rule == "iqr":
            # Any π_min requires the same folds as the next multiple of 1/B above it.
            st.session_state[pi_key] = next(option for option in options if reaches(option, min(pi_min, 1.0)))
            pi_min = st.select_slider(
                "Folds that must agree, π_min",
                options,
                key=pi_key,
                on_change=keep,
                format_func=lambda value: share(round(value * folds), folds),
                help=f"{define('π_min')} The default is all.",
            )
    return tau_z, pi_min


_STEP = {"iqr": 0.05, "jackknife": 0.01}
_RULE_HELP = {
    "iqr": f"{define('τ_Z')} Z: {define('Z')} The default is 2; in the paper's own comparison, 1 is better in all "
    "three families.",
    "jackknife": f"{define('τ_Z')} A candidate is kept if its mean curvature over the folds is more than this many "
    "standard errors from zero. The default gives the local false discovery rate of the settings: this share of the "
    "candidates with exactly this Z have no edge (nominal).",
}


def _rule_box(result: Result, where: str) -> None:
    if not result.has_curvature:
        return
    key = f"parent_rule_{where}_{result.run.id}"
    st.session_state[key] = result.rule
    st.selectbox(
        "Rule",
        list(RULES),
        format_func=RULES.get,
        key=key,
        on_change=valid(key, RULES, session.shown.parent_rule.keep),
        help="Agreement of the folds: Z is an edge's mean curvature over its jackknife standard error. It works on "
        "small tables, where many candidates are parents. The paper's: Z is how far a candidate's OCS exceeds the "
        "median of the child's candidates, in interquartile ranges. Both use the same fitted networks.",
    )


def advise_if_sparse(selection: "Selection", where: str) -> None:
    """If a fit keeps almost no edges, why, and on Parents and beside the fit's own graph buttons for what to try.

    `where` is the page, or `search` where the graph of the likelihood search is shown.
    """
    result, edges, nodes = selection.result, len(selection.pairs), len(selection.result.order)
    if not is_sparse(edges, nodes):
        return
    head = f"few edges: {edges:,} among {how_many(nodes, 'node')}" if edges else "no edge"
    why = f"Its rule is {selection.words}. {_cause(result.run)}"
    if where == "search":
        st.caption(f":material/lightbulb: The DISCO fit has {head}. {why} The graph of the search does not need it.")
        return
    with st.container(border=True):
        st.markdown(f":material/lightbulb: **The DISCO fit has {head}.** {why}")
        st.caption("If you try several rules, report every one that you tried.")
        with st.container(horizontal=True):
            if selection.is_ocs:
                _rule_buttons(result, edges)
            label = "Edges by likelihood" if where == "parents" else "Edges by likelihood, on Parents"
            if selection.selector != "evidence" and st.button(
                label, key="sparse_evidence", on_click=session.shown.selector.keep, args=("evidence",)
            ):
                session.address.go("parents")


@cached(lambda run: run.key)
def _cause(run: Run) -> str:
    return advice.cause(run)


def _rule_buttons(result: Result, edges: int) -> None:
    rules = {
        "jackknife": ("Agreement of the folds", session.shown.parent_rule.keep, ("jackknife",)),
        "lower": (f"τ_Z = {LOWER[0]:g} in all folds", session.shown.thresholds.keep, (LOWER, "iqr")),
    }
    for name in other_rules(result.ocs, result.run.settings, result.rule, edges):
        label, then, arguments = rules[name]
        st.button(label, on_click=then, args=arguments, key=f"sparse_{name}")


CHOICES = {
    "cam": (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "pcm": (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "evidence": (0.0, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0),
}
_LABELS = {  # in plain words, the abbreviation in brackets
    "ocs": "Curvature (OCS)",
    "cam": "Additive curves (CAM)",
    "pcm": "Prediction test (PCM)",
    "evidence": "Likelihood (Evidence)",
}
SAID = {selector: f"**{WORDS[selector].name}**: {define(WORDS[selector].name)}" for selector in SELECTORS}


def choose(result: Result) -> str:
    """Choose whose edges are shown; one line says what the selector does and assumes. Above it, undo and redo."""
    with st.container(horizontal=True, horizontal_alignment="right", gap="small"):
        for label, is_redo in (("Undo", False), ("Redo", True)):
            st.button(
                label,
                icon=f":material/{label.lower()}:",
                key=f"choices_{label.lower()}",
                type="tertiary",
                disabled=not session.shown.can_move(is_redo),
                on_click=session.shown.move,
                args=(is_redo,),
                help="Of the selector, the rule and the thresholds.",
            )
    key = f"selector_{result.run.id}"
    st.session_state[key] = session.shown.selector.current() or result.run.settings.selector
    fitted = result.run.settings.selector
    words = {name: _LABELS[name] + (", as fitted" if name == fitted != "ocs" else "") for name in SELECTORS}
    help = f"All four choose each node's parents among the nodes before it in the order. {' '.join(SAID.values())}"
    on_change = partial(_chosen, key)
    selector = answers.segments("Selector of parents", words, key, help=help, on_change=on_change)
    st.caption(SAID[selector])
    return selector


def _chosen(key: str) -> None:
    session.shown.selector.keep(st.session_state[key])


def _stamp(result: Result, selector: str) -> tuple:
    """The stamp of the candidates' file and of its digest, which is written later; new if they are computed again."""
    path = path_of(result.run, selector, result.variant)
    files = path, path.with_name(digests.FILE)
    return str(path), result.rule, *(file.stat().st_mtime_ns if file.is_file() else 0 for file in files)


@cached(_stamp)
def candidates(result: Result, selector: str) -> pd.DataFrame | None:
    """Every candidate of cam, pcm or evidence, with its OCS, Z and frequency; None if not yet computed."""
    table = read_candidates(result.run, selector, result.variant)
    if table is None:
        return None
    scores = frequencies(result.ocs.drop(columns=list(MARKS), errors="ignore"), result.thresholds[0])
    return table.merge(scores, on=["parent", "child"], how="left")


def cut_of(selector: str) -> float:
    """The cut-off that the reader set on the open run, or the selector's own."""
    chosen = session.shown.cut.current(selector)
    return CUTS[selector] if chosen is None else chosen


def cut_slider(result: Result, selector: str) -> float:
    """The cut-off as the reader sets it; it starts at the selector's own."""
    key = f"cut_{selector}_{result.run.id}"
    st.session_state[key] = cut_of(selector)
    label = "Least evidence for an edge, nats" if selector == "evidence" else "p-value cut-off"
    row = st.container(key="beside_cut").columns([4, 3], gap="medium", vertical_alignment="bottom")
    with row[0]:
        cut = st.select_slider(
            label,
            CHOICES[selector],
            key=key,
            format_func=lambda value: f"{value:g}",
            help=_HELP[selector],
            on_change=lambda: session.shown.cut.keep(st.session_state[key], selector),
        )
    if cut != CUTS[selector]:
        row[1].button(
            f"Back to {rule(selector, CUTS[selector])}",
            key=f"own_{key}",
            type="tertiary",
            icon=":material/undo:",
            on_click=session.shown.cut.keep,
            args=(None, selector),
        )
    return cut


_HELP = {
    "cam": "An edge is kept if the p-value of its F test is below this. The paper uses 0.001. Nothing is refitted.",
    "pcm": "An edge is kept if the p-value of its test is below this. The paper uses 0.05, without correcting for "
    "multiple tests: a calibrated test passes about five of 100 candidates without an edge. Nothing is refitted.",
    "evidence": "An edge is kept if the child's log posterior would lose more than this without it. 0 keeps every edge "
    "of the search. 3 nats are odds of 20 to 1. Nothing is refitted.",
}


def rule(selector: str, cut: float) -> str:
    """The condition for keeping an edge, such as `p < 0.001`."""
    return WORDS[selector].rule.format(cut=cut)


@dataclass(frozen=True)
class Selection:
    """The candidates that a selector keeps along an order, at the cut-off or thresholds that the reader set.

    Attributes:
        selector: one of `SELECTORS`.
        kept: every candidate: parent, child, score, p_value (cam and pcm), selected, ocs, z, frequency.
        tau_z, pi_min: the thresholds of the OCS that chose the edges, or its defaults if another selector did.
    """

    result: Result
    selector: str
    kept: pd.DataFrame
    tau_z: float
    pi_min: float

    @property
    def is_ocs(self) -> bool:
        """Whether the OCS chose the edges."""
        return self.selector == "ocs"

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The selected candidates, parent and child."""
        return list(self.kept.loc[self.kept["selected"], [*PAIR]].itertuples(index=False, name=None))

    @cached_property
    def edges(self) -> pd.DataFrame:
        """The selected candidates, with their numbers, and `decided`: whether the direction is known."""
        edges = self.kept[self.kept["selected"]].drop(columns=["selected", *(["score"] if self.is_ocs else [])])
        return with_decided(edges, self.result.ccs, refinement.edges_of(self.result.run))

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The graph of the selected candidates."""
        return graphs.build(self.result.order, self.edges)

    @property
    def words(self) -> str:
        """The selector and its rule."""
        if not self.is_ocs:
            return f"{WORDS[self.selector].name}, {rule(self.selector, cut_of(self.selector))}"
        folds = share(round(self.pi_min * self.result.folds), self.result.folds)
        return f"OCS, Z > {self.tau_z:.3g}{'' if self.result.rule == 'jackknife' else f' in {folds} folds'}"

    @property
    def lines(self) -> str:
        """What the width and dashes of a line mean if a selector other than the OCS chose the edges."""
        return (
            "Unless they show the truth, lines show the OCS: a thicker line has a higher OCS, a dashed line is not "
            f"above τ_Z = {self.tau_z:.3g} in all folds."
        )


def selected_edges(result: Result, selector: str) -> Selection | None:
    """What a selector keeps at present; None if it has not been computed along this order."""
    if selector == "ocs":
        return _by_ocs(result, *present_thresholds(result))
    table = candidates(result, selector)
    if table is None:
        return None
    return Selection(result, selector, selection.recut(table, selector, cut_of(selector)), *result.thresholds)


def _by_ocs(result: Result, tau_z: float, pi_min: float) -> Selection:
    return Selection(result, "ocs", selection.of_ocs(result.ocs, tau_z, pi_min), tau_z, pi_min)


def controls(result: Result, selector: str, where: str) -> Selection | None:
    """Draw the controls of a selector's thresholds or cut-off, or the button that computes it; return what it keeps.

    `where` is the page, so each has its own widgets.
    """
    if selector == "ocs":
        return _by_ocs(result, *sliders(result, where))
    if candidates(result, selector) is None:
        st.markdown(f"{WORDS[selector].name} has not been computed along this order yet.")
        offer_computation(result, selector, "shown")
        return None
    cut_slider(result, selector)
    return selected_edges(result, selector)


def of_run(result: Result) -> Selection:
    """What the run's own selector keeps; the OCS if that selector has not been computed along this order."""
    return selected_edges(result, result.run.settings.selector) or _by_ocs(result, *present_thresholds(result))


def on_graph(result: Result) -> Selection:
    """Draw the controls of what Graph shows of the fit, and return it (`of_run`)."""
    selector, selection_shown = result.run.settings.selector, of_run(result)
    if not selection_shown.is_ocs:
        sentence = f"Shown: the edges by {selection_shown.words}, as this run was fitted."
        st.caption(f"{sentence} {selection_shown.lines} Parents shows other selectors.")
        return selection_shown
    if selector != "ocs":
        name = WORDS[selector].name
        st.caption(f"{name} has not been computed along this order: these are the edges by OCS. Compute it on Parents.")
    elif session.shown.selector.current() not in (None, "ocs"):
        st.caption("Shown: the edges by OCS, as this run was fitted. Parents shows other selectors.")
    return _by_ocs(result, *sliders(result, "graph"))


def offer_computation(result: Result, selector: str, where: str) -> None:
    """A button that runs the selector, or its progress; the page is redrawn when it is done.

    `where` is the section of the page, so a page may have two buttons.
    """
    name, run = WORDS[selector].name, result.run

    def work(callback: Callback) -> None:
        compute_candidates(run, selector, result.variant, callback=callback)

    def button() -> bool:
        key, icon = f"selecting_{where}_{selector}", ":material/play_arrow:"
        look = "primary" if where == "shown" else "secondary"  # the page has nothing else to show
        return st.button(f"Compute {name}", type=look, key=key, icon=icon, help=_TAKES[selector])

    Slow(
        (f"selecting_{selector}", str(run.path), result.variant),
        machine.once_compiled(work) if selector == "evidence" else work,
        f"{name} is testing every node's candidates",
        "The parents could not be computed",
    ).panel(lambda _: None, button)


_STORED = "The result is kept with the run. You can leave the page meanwhile."
_TAKES = {
    "cam": f"Takes seconds. {_STORED}",
    "pcm": f"Fits a random forest for each node: minutes if there are many nodes or rows. {_STORED}",
    "evidence": f"Takes seconds to minutes, depending on the number of nodes. {_STORED}",
}
