"""Simulate: design a table with a known truth, inspect it, and use it."""

import streamlit as st

from disco.errors import InputError
from pages.shared.frame import intro
from pages.shared.widgets.names import plain
from pages.simulate import families, form, graph_kind, outcome, table

intro.page_intro(
    "Simulate",
    "Draw a table of counts whose causes you know, to see how well a method finds them. Choose a graph, and how each "
    "node depends on its parents. The truth comes with the table: every result page compares with it.",
)
head = st.container()  # above the form, so that the next step is in sight on a phone too
with st.container(key="simulate"):
    columns = st.columns([2, 3], gap="medium")
# In a narrow window the graph stands between the two parts of the form (assets/app.css).
kind, rest = (columns[0].container(key=f"simulate_{name}") for name in ("kind", "form"))
picture, below = (columns[1].container(key=f"simulate_{name}") for name in ("graph", "table"))
problems = {}
with kind:
    form.examples()
    graph_kind.choose()
    problems["graph"] = st.empty()
with rest:
    for name, choose in (("families", families.choose), ("table", table.choose)):
        choose()
        problems[name] = st.empty()
    form.read_back()
teaching = form.form().teaching
result = None
with head:
    try:
        result = outcome.drawn(form.design())
    except InputError as error:
        problems[form.cause()].error(plain(error), icon=":material/error:")
        st.info("There is no table yet: correct what is marked in red.", icon=":material/arrow_downward:")
    if result is not None:
        outcome.send_on(result, teaching)
with picture:
    outcome.graph(result)
if result is None:
    intro.end()
with below:
    if not teaching:
        outcome.sorting(result)
    outcome.columns(result, teaching)
    outcome.files(result, teaching)
