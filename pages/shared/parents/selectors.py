"""The selector of parents shown, the cut-off it decides by, and the edges it keeps."""

from functools import partial

import networkx as nx
import pandas as pd
import streamlit as st

from disco import graph as graphs
from disco.parents import selectors
from disco.parents.ocs import frequencies
from disco.parents.selectors import CUTS, SELECTORS, WORDS
from disco.runs.parents import path_of, read_candidates
from pages.shared import session
from pages.shared.frame import answers
from pages.shared.frame.glossary import define
from pages.shared.result.fit import Result
from pages.shared.work.facts import fact

CHOICES = {
    "cam": (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "pcm": (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "evidence": (0.0, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0),
}
SAID = {selector: f"**{WORDS[selector].name}**: {define(WORDS[selector].name)}" for selector in SELECTORS}


def choose(result: Result) -> str:
    """Which selector's edges are shown; one line says what it does and assumes."""
    key = f"selector_{result.run.id}"
    st.session_state[key] = session.shown.selector() or result.run.settings.selector
    own = result.run.settings.selector
    words = {one: WORDS[one].name + (" (as fitted)" if one == own != "ocs" else "") for one in SELECTORS}
    help = f"All four choose each node's parents among the nodes before it in the same order. {' '.join(SAID.values())}"
    heard = partial(_chosen, key)
    selector = answers.segments("Selector of parents", words, key, help=help, on_change=heard)
    st.caption(SAID[selector])
    return selector


def _chosen(key: str) -> None:
    session.shown.set_selector(st.session_state[key])


def _stamp(result: Result, selector: str) -> tuple:
    """The file of the candidates; computed again, it has another time."""
    path = path_of(result.run, selector, result.variant)
    return str(path), result.rule, path.stat().st_mtime_ns if path.is_file() else 0


@fact(_stamp, 48)
def candidates(result: Result, selector: str) -> pd.DataFrame | None:
    """Every candidate of cam, pcm or evidence with its OCS, Z and frequency beside; None if not computed yet."""
    found = read_candidates(result.run, selector, result.variant)
    if found is None:
        return None
    beside = frequencies(result.ocs.drop(columns="rule", errors="ignore"), result.thresholds[0])
    return found.merge(beside, on=["parent", "child"], how="left")


def cut_of(selector: str) -> float:
    """The cut-off as the reader set it on the open run, or the selector's own."""
    chosen = session.shown.cut(selector)
    return CUTS[selector] if chosen is None else chosen


def cut_slider(result: Result, selector: str) -> float:
    """The cut-off as the reader sets it; it starts at the selector's own."""
    key = f"cut_{selector}_{result.run.id}"
    st.session_state[key] = cut_of(selector)
    label = "Least evidence for an edge, nats" if selector == "evidence" else "Cut-off of the p-value"
    row = st.container(key="beside_cut").columns([4, 3], gap="medium", vertical_alignment="bottom")
    with row[0]:
        cut = st.select_slider(
            label,
            CHOICES[selector],
            key=key,
            format_func=lambda value: f"{value:g}",
            help=_HELP[selector],
            on_change=lambda: session.shown.set_cut(selector, st.session_state[key]),
        )
    if cut != CUTS[selector]:
        row[1].button(
            f"Back to {rule(selector, CUTS[selector])}",
            key=f"own_{key}",
            type="tertiary",
            icon=":material/undo:",
            on_click=session.shown.set_cut,
            args=(selector, None),
        )
    return cut


_HELP = {
    "cam": "An edge is kept if the p-value of its F test is below this. The paper uses 0.001. Nothing is refitted.",
    "pcm": "An edge is kept if the p-value of its test is below this. The paper uses 0.05, without a correction for "
    "many tests: of 100 candidates without an edge, about five pass. Nothing is refitted.",
    "evidence": "An edge is kept if the child's log posterior would lose more than this without it. 0 keeps every edge "
    "of the search; 3 nats are odds of 20 to 1. Nothing is refitted.",
}


def rule(selector: str, cut: float) -> str:
    """How an edge is kept, such as `p < 0.001`."""
    return WORDS[selector].rule.format(cut=cut)


def kept(result: Result, selector: str) -> pd.DataFrame | None:
    """Every candidate with `selected` at the reader's cut-off or thresholds; None if not computed yet."""
    if selector == "ocs":
        return selectors.of_ocs(result.ocs, *(session.shown.thresholds(result.rule) or result.thresholds))
    found = candidates(result, selector)
    return None if found is None else selectors.kept(found, selector, cut_of(selector))


def graph(result: Result, kept: pd.DataFrame) -> nx.DiGraph:
    """The graph of the selected candidates."""
    return graphs.build(result.order, kept[kept["selected"]])
