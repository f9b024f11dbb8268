"""Ordering: how the causal order was found, sink by sink."""

import streamlit as st

from disco import verdicts
from disco.words import how_many
from pages.ordering import sections
from pages.shared.frame import empty, intro
from pages.shared.frame.names import code
from pages.shared.graph import downloads
from pages.shared.parents import thresholds
from pages.shared.refined import misfit, refinement
from pages.shared.result import fit, truth

intro.page_intro(
    "Ordering",
    "The order is built from its end: each step removes the node with the smallest score as a sink, a node without "
    "children among those left. Move through the steps to see how clearly each was decided. Pick a node to see why it "
    "is a sink or not.",
)
run = empty.require_run()
result = fit.shown(run)
fit.variant_picker(result)
known = truth.shown(result)
arrows = verdicts.directions(result.ccs, result.edges(*thresholds.present(result)))
intro.verdict(*verdicts.of_order(result.steps, arrows))
misfit.note(refinement.readable(run))
sections.worth()
sections.knowledge(result)
st.markdown("Causal order, source first: " + ", ".join(code(node) for node in result.order[:24]))
if len(result.order) > 24:
    with st.expander(f"All {how_many(len(result.order), 'node')}"):
        st.markdown(" → ".join(code(node) for node in result.order))
downloads.order(result)
sections.sections(result, known)
