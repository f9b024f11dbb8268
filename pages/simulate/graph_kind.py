"""Simulate: the graph of the table, of some kind with its numbers or drawn by the user."""

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.files import check_size
from disco.simulate import read_edges
from disco.simulate.edge_files import LARGEST_TEXT
from disco.simulate.random_graphs import own_graph
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain
from pages.simulate import form, sketch

_K = {
    "er": ("Parents per node", "On average. Every pair of nodes is an edge with the same probability."),
    "er-exact": ("Edges per node", "The graph has exactly this many times as many edges as nodes."),
    "sf": ("Edges per new node", "Edges added with each new node; a whole number."),
}
_PROBLEM, _PASTED, _BASE = "simulate_edges_problem", "simulate_pasted", "simulate_edges_base"


def choose() -> None:
    """The kind of graph and its numbers."""
    form.option("graph", is_list=True)
    graph = form.form().graph
    if graph == "own":
        if not form.form().teaching:
            _table()
            _paste()
        return
    left, right = st.columns(2)
    with left:
        form.option("nodes")
    if graph in form.DRAWN_WITH_K:
        with right:
            label, text = _K[graph]
            form.option("k", label=label, help=text)


def _table() -> None:
    drawn, stamp = sketch.drawn(), sketch.stamp("table")
    key = f"sim_edges_{stamp}"
    if key not in st.session_state:  # new, or shown again: start from the present graph
        joined = {end for edge in drawn.edges for end in edge}
        alone = [(name, None) for name in drawn.names if name not in joined]
        st.session_state[_BASE] = pd.DataFrame([*drawn.edges, *alone], columns=["parent", "child"], dtype="object")
    st.caption("Draw on the canvas, or edit the edges here, one per row. A parent alone is a node without edges.")
    edited = st.data_editor(
        st.session_state[_BASE],
        key=key,
        num_rows="dynamic",
        hide_index=True,
        height=min(320, 38 + 35 * (len(st.session_state[_BASE]) + 2)),
        column_config={
            "parent": st.column_config.TextColumn("Parent", max_chars=60),
            "child": st.column_config.TextColumn("Child", max_chars=60),
        },
        placeholder="",
        alt="Edges of the drawn graph",
    )
    edges, names = listed(edited)
    if (set(names), set(edges)) == (set(drawn.names), set(drawn.edges)):
        return
    try:
        own_graph(edges, names)
    except InputError as error:
        st.error(f"{plain(error)} Until then, the drawing does not change.")
        return
    stay = [name for name in drawn.names if name in names]
    sketch.keep(sketch.with_edges(drawn, dict.fromkeys([*stay, *names]), edges), seen_in="table")


def listed(table: pd.DataFrame) -> tuple[list[tuple[str, str]], list[str]]:
    """The edges and nodes of an edited table; a row with one name alone is a node."""
    rows = [[" ".join(str(cell).split()) if pd.notna(cell) else "" for cell in row] for row in table.to_numpy()]
    names = list(dict.fromkeys(name for row in rows for name in row if name))
    return list(dict.fromkeys((parent, child) for parent, child in rows if parent and child)), names


def _paste() -> None:
    with st.expander("Paste or upload edges", icon=":material/content_paste:"):
        st.text_area(
            "Edges, one per line: parent, child",
            key=_PASTED,
            placeholder="rain, wet\nsprinkler -> wet",
            height=120,
            persist_state="session",
        )
        st.button("Use these edges", on_click=_take_pasted, disabled=not st.session_state.get(_PASTED, "").strip())
        st.file_uploader(
            "Or a file: CSV with parent and child, or GraphML",
            type=["csv", "tsv", "txt", "graphml", "xml"],
            key="sim_edge_file",
            on_change=_take_file,
        )
        st.caption("They replace the drawing. Undo on the canvas restores it.")
    if problem := st.session_state.get(_PROBLEM):
        st.error(plain(problem), icon=":material/error:")


def _take_pasted() -> None:
    with errors.deferred(_PROBLEM):
        _take(st.session_state[_PASTED])


def _take_file() -> None:
    file = answers.uploaded("sim_edge_file")
    with errors.deferred(_PROBLEM):
        if file is not None:
            check_size(file.name, file.size, LARGEST_TEXT)
            _take(_text(file))


def _text(file: st.runtime.uploaded_file_manager.UploadedFile) -> str:
    try:
        return file.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{file.name} is not text: upload a CSV file with parent and child, or GraphML.") from None


def _take(text: str) -> None:
    edges, names = read_edges(text)
    sketch.keep(sketch.of_edges(names, edges))
