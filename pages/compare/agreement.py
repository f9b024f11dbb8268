"""How far every two methods agree on the order and on the edges."""

import streamlit as st

from disco.figures import compared as figures
from disco.words import how_many, plural
from pages.compare.comparison import Compared
from pages.shared.frame import figure
from pages.shared.frame.glossary import define


def section(found: Compared) -> None:
    """Both matrices, side by side where there is room."""
    st.caption(define("agreement"))
    left, right = st.container(key="beside_agreement").columns(2, gap="large")
    with left:
        if found.results.orders:
            figure.show(figures.agreement(found.results.order_agreements, "Orders"), "compare_orders")
        silent = len(found.done) - len(found.results.orders)
        if silent:
            st.caption(f"{how_many(silent, 'method')} shown here {plural(silent, 'gives', 'give')} no order.")
    with right:
        figure.show(figures.agreement(found.results.edge_agreements, "Edges"), "compare_edges")
