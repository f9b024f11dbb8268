"""Ordering: how the causal order was found, sink by sink."""

import streamlit as st

from disco import verdicts
from disco.paper.removals import directions
from disco.words import how_many
from pages.ordering import sections
from pages.shared import session
from pages.shared.evidence import evidence_panel
from pages.shared.frame import intro
from pages.shared.result import fit, refinement, selectors, truth
from pages.shared.widgets.names import code

intro.page_intro(
    "Ordering",
    "Causes come first. The order is built from its end: each step removes the node with the smallest score, usually "
    "the conditional curvature score (CCS), as a sink: a node that has no children among those left.",
)
run = intro.require_run()
result, refined = fit.current(run), refinement.readable(run)
fit.variant_picker(result)
comparison = truth.visible(result)
edges = directions(result.ccs, selectors.of_run(result).edges)
clarity = verdicts.clarity(result.steps, edges)
intro.verdict(verdicts.of_order(clarity, result.order, refined and refined.refined))
fit.rows_note(run)
left, right = st.container(key="beside_order").columns(2, gap="large")
with left:
    sections.ranked(result, clarity, comparison)
    if refined is not None:
        st.page_link("pages/graph/page.py", label="The search's order", query_params=session.address.parameters())
with right:
    sections.sections(result, comparison)
evidence_panel.note(refined)
sections.worth()
sections.knowledge(result)
with st.expander(f"The order of {how_many(len(result.order), 'node')} as text", icon=":material/notes:"):
    st.markdown(", ".join(code(node) for node in result.order))
