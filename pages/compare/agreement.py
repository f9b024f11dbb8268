"""How far every two methods agree on the order and on the edges."""

import streamlit as st

from disco.figures import compared as figures
from disco.metrics import several
from disco.words import how_many, plural
from pages.compare.comparison import Comparison
from pages.shared.frame import figure
from pages.shared.frame.glossary import define


def section(found: Comparison) -> None:
    """Both matrices, side by side where there is room."""
    st.caption(define("agreement"))
    left, right = st.container(key="beside_agreement").columns(2, gap="large")
    with left:
        if found.orders:
            figure.show(figures.agreement(several.order_agreements(found.orders), "Orders"), "compare_orders")
        silent = len(found.done) - len(found.orders)
        if silent:
            st.caption(f"{how_many(silent, 'method')} shown here {plural(silent, 'gives', 'give')} no order.")
    with right:
        figure.show(figures.agreement(several.edge_agreements(found.pairs), "Edges"), "compare_edges")
