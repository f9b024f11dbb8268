"""Simulate: design a table with a known answer, look at it, and send it on."""

import streamlit as st

from disco.errors import InputError
from pages.shared import intro
from pages.shared.names import plain
from pages.simulate import (
    simulate_design,
    simulate_families,
    simulate_form,
    simulate_graph,
    simulate_result,
    simulate_table,
)

intro.page_intro(
    "Simulate",
    "Draw a table of counts whose causes you know, to see how far the method finds them. Choose or draw a graph, "
    "choose how each node depends on its parents, look at the table, then use it like one of your own: its truth goes "
    "with it, and the result pages hold every order and edge against it.",
)
with st.container(key="simulate"):
    left, right = st.columns([2, 3], gap="large")
problems = {}
with left:
    simulate_design.examples()
    for name, choose in (
        ("graph", simulate_graph.choose),
        ("families", simulate_families.choose),
        ("table", simulate_table.choose),
    ):
        choose()
        problems[name] = st.empty()
    simulate_form.switch("teaching", "Teaching", "Hides the truth here and on every page, until someone reveals it.")
    simulate_design.read_back()
teaching = simulate_form.form().teaching
with right:
    result = None
    try:
        result = simulate_result.drawn(simulate_form.design())
    except InputError as error:
        problems[simulate_form.cause()].error(plain(error), icon=":material/error:")
        st.info("There is no table yet: change what is marked in red.", icon=":material/arrow_back:")
    if result is not None:
        simulate_result.send_on(result, teaching)
    simulate_result.graph(result)
    if result is None:
        st.stop()
    if not teaching:
        simulate_result.sorting(result)
    simulate_result.columns(result, teaching)
    simulate_result.files(result, teaching)
