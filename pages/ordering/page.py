"""Ordering: how the causal order was found, sink by sink."""

import streamlit as st

from disco.figures.words import how_many
from pages.ordering import ordering_sections, step_player
from pages.shared import empty, intro, reordering, results, truth
from pages.shared.names import code

intro.page_intro(
    "Ordering",
    "The order is found from its end: at each step the node whose score is smallest is taken out as a sink, a node "
    "without children among those left. Move through the steps, see how clearly each was decided, and pick a node to "
    "see why it is a sink or not.",
)
run = empty.require_run()
result = results.shown(run)
results.variant_picker(result)
known = truth.shown(result)
st.markdown("Causal order, source first: " + " → ".join(code(node) for node in result.order[:24]))
if len(result.order) > 24:
    with st.expander(f"All {how_many(len(result.order), 'node')}"):
        st.markdown(" → ".join(code(node) for node in result.order))
ordering_sections.worth()
if known:
    ordering_sections.against_truth(result, known)
st.subheader("Step by step", anchor=False)
st.fragment(ordering_sections.by_step, run_every=step_player.interval())(result, known)
ordering_sections.overview(result, known)
st.subheader("Order again", anchor=False)
st.markdown(
    "Another criterion or boundary can take another path. It is computed from the fitted networks, with nothing "
    "refitted, and kept with the run; then Ordering, Parents and Graph can show it."
)
reordering.section(run)
