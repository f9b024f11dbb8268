"""Simulate: the drawn table with its columns, its graph (shown, or drawn by hand), the sorting controls, its files."""

import json
import math
from typing import Any

import pandas as pd
import streamlit as st

from disco import metrics
from disco.errors import InputError
from disco.runs.origin import FromDesign
from disco.simulate import FAMILIES, GRAPHS, Design, Simulated, identifiable
from disco.subjects.simulation import figures
from disco.table.spreadsheets import NOTE, to_csv
from disco.words import how_many, listed
from pages.shared import session
from pages.shared.graph import canvas
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import code, distinct, shown
from pages.simulate import form, sketch
from pages.simulate.sketch import DrawnGraph

AT_ONCE = 2_000_000  # cells that are drawn at once, without asking
_ROWS, _COLUMNS, _CAUSES, _EDGES = 50, 60, 5, 10
_SORTS = {"mean": "By mean", "variance": "By variance", "excess": "By variance − mean"}


def drawn(design: Design) -> Simulated | None:
    """The table of the design, drawn at once if that is quick, else on request; InputError if impossible."""
    simulated = form.last(design)
    if simulated is not None:
        return simulated
    rows = design.rows + design.arms * design.intervention_rows
    size = f"{how_many(rows, 'row')} × {how_many(design.nodes, 'column')}"
    if form.effort(design) > AT_ONCE:
        st.caption(f"{size}: this may take a few seconds.")
        if not st.button("Simulate", type="primary", icon=":material/play_arrow:", key="sim_draw"):
            return None
    with st.spinner(f"Simulating {size} …"):
        return form.draw(design)


def send_on(result: Simulated, teaching: bool) -> None:
    """The simulated table in one line, and the button that loads it."""
    rows, nodes = result.table.shape
    suffix = "".join(f" + {name}" for name in result.design.beside())
    edges = f", {how_many(len(result.truth), 'true edge')}" if not teaching else ""
    row = st.container(horizontal=True, vertical_alignment="center", gap="medium")
    row.markdown(f"**{how_many(rows, 'row')} × {how_many(nodes, 'column')}{suffix}{edges}**", width="content")
    if row.button(
        "Use this table",
        type="primary",
        icon=":material/arrow_forward:",
        key="sim_use",
        help="Loads the table with its truth and opens Data, where *Find the graph* starts.",
    ):
        _use(result, teaching)


def _use(result: Simulated, teaching: bool) -> None:
    design = result.design
    families = ", ".join(FAMILIES[key].label for key in design.keys())
    kind = "own graph" if design.graph == "own" else f"{GRAPHS[design.graph].partition(' (')[0].lower()} graph"
    words = [*([] if teaching else [kind]), how_many(design.nodes, "node"), f"seed {design.seed}"]
    name = f"Simulated: {', '.join(words)}"
    source = "Simulated." if teaching else f"Simulated: {GRAPHS[design.graph]}, {families}, seed {design.seed}."
    settings = session.draft.settings().replace(transform="rank")
    roles = design.roles() if design.beside() else None
    origin = FromDesign(design.to_dict())
    session.draft.load(
        result.whole, name, source, result.truth, settings, teaching=teaching, roles=roles, origin=origin
    )
    session.address.go("data")


def graph(result: Simulated | None) -> None:
    """The graph: the canvas if it is drawn by hand, else a picture of the truth."""
    current = form.form()
    if current.teaching:
        st.info(
            "The graph, and everything that would reveal it, is hidden while **Teaching** is on.",
            icon=":material/visibility_off:",
        )
        return
    by_hand, max_nodes = current.graph == "own", MOST
    too_many = by_hand and len(sketch.drawn().positions) > max_nodes
    if too_many:
        st.caption(f"More than {max_nodes} nodes cannot be drawn by hand: edit the table of edges.")
    if by_hand and not too_many:
        drawing_board("sim_canvas")
    elif result is not None and len(result.order) > figures.MOST_NODES:
        st.caption(f"More than {figures.MOST_NODES} nodes are not drawn; truth.csv holds the edges.")
    elif result is not None:
        truth = figures.truth(result)
        canvas.graph_view(truth, truth.graph, "sim_truth", strength=1.0)
    if result is None:
        return
    _directions(result)
    _hidden_causes(result)
    _contexts(result)
    if not by_hand and len(result.order) <= max_nodes:
        st.button(
            "Edit this graph by hand",
            icon=":material/draw:",
            key="sim_by_hand",
            type="tertiary",
            on_click=_by_hand,
            args=(result,),
        )


def _directions(result: Simulated) -> None:
    """Whether the directions can be known; if only some can, which cannot."""
    if not len(result.truth):
        return
    st.caption(f"{identifiable.words(result.truth['direction'])} {identifiable.reservation(result.design)}".rstrip())
    unknown = result.truth[result.truth["direction"] == identifiable.UNKNOWN]
    if 0 < len(unknown) < len(result.truth):
        pairs = unknown[["parent", "child"]].itertuples(index=False, name=None)
        edges = [f"{code(parent)} → {code(child)}" for parent, child in pairs]
        st.caption(f"Unknown directions: {listed(edges, _EDGES)}.")


def _hidden_causes(result: Simulated) -> None:
    hidden = result.latent_edges.groupby("parent", sort=False)["child"].agg(list)
    for cause, children in hidden.head(_CAUSES).items():
        st.caption(f"Hidden: {code(cause)} affects {' and '.join(map(code, children))}.")
    if len(hidden) > _CAUSES:
        st.caption(f"and {how_many(len(hidden) - _CAUSES, 'more hidden cause')}.")


def _contexts(result: Simulated) -> None:
    acts = result.context_edges.groupby("parent", sort=False)["child"].agg(list)
    for context in result.design.context_names()[:_CAUSES]:
        targets = listed([code(node) for node in acts[context]], _EDGES) if context in acts else "nothing"
        st.caption(f"{code(context)} acts on {targets}.")


def _by_hand(result: Simulated) -> None:
    edges = result.truth[["parent", "child"]].itertuples(index=False, name=None)
    sketch.keep(sketch.of_edges(result.table.columns, edges))
    form.change(graph="own")


def sorting(result: Simulated) -> None:
    """A_top of sorting the columns, the baseline for every method."""
    st.subheader("Baseline: sorting the columns", anchor=False)
    st.caption(
        "Share of the true edges that agree with the columns sorted from low to high (A_top). Sorted from high to low, "
        "it is 100% minus this share."
    )
    try:
        scores = metrics.controls(result.table, result.truth)
    except InputError:
        st.caption("The graph has no edges to agree with.")
        return
    figure.metrics(*((words, f"{scores[name]:.0%}", None) for name, words in _SORTS.items()))
    sides = {(words, side): share for name, words in _SORTS.items() for side, share in _sides(scores[name]).items()}
    (words, side), share = max(sides.items(), key=lambda item: item[1])
    st.markdown(
        f"**Sorting {words.lower()}, {side}, agrees with {share:.0%}:** a method must beat this. Chance is 50% in the "
        f"long run, but with {how_many(len(result.truth), 'edge')} one table may differ much."
    )
    box = st.expander("Why", icon=":material/scatter_plot:", key="sim_why", on_change="rerun")
    if box.open:
        with box:
            figure.show(figures.sortable(result), "sim_sortable")


def _sides(share: float) -> dict[str, float]:
    """The A_top of an order, and of the same reversed."""
    return {"from low to high": share, "from high to low": 1 - share}


def columns(result: Simulated, teaching: bool) -> None:
    """Summary statistics of every column, and the first rows."""
    st.subheader("Columns", anchor=False)
    facts = figures.facts(result)
    facts["column"] = [shown(name, 80) for name in facts["column"]]
    if len(result.design.keys()) > 1:
        facts["family"] = [FAMILIES[result.families[name]].label for name in result.table.columns]
    if teaching:
        facts = facts.drop(columns=["position", "parents", "family"], errors="ignore")
    number = st.column_config.NumberColumn
    looks = {
        "column": st.column_config.TextColumn("Column", pinned=True),
        "mean": number("Mean", format="%.3g"),
        "variance": number("Variance", format="%.3g"),
        "zeros": st.column_config.ProgressColumn("Zeros", format="percent", min_value=0, max_value=1),
        "max": number("Max", format="localized"),
        "position": number("Position", help="In a causal order, sources first."),
        "parents": number("Parents"),
        "family": "Family",
    }
    tables.show(facts, "Summary statistics of the simulated columns", looks, max_height=340)
    box = st.expander("First rows", True, key="sim_rows_box", on_change="rerun")
    if box.open:
        excerpt = pd.concat([result.beside, result.table], axis=1).iloc[:_ROWS, :_COLUMNS]
        excerpt = excerpt.rename(index=lambda row: row + 1, columns=lambda name: shown(name))
        with box:
            tables.show(
                excerpt.set_axis(distinct(excerpt.columns), axis=1), "The first rows", hide_index=False, height=320
            )


def files(result: Simulated, teaching: bool) -> None:
    """The table, its truth, its order and its design as files."""
    row = st.container(horizontal=True, gap="small")
    hidden = "Hidden while **Teaching** is on." if teaching else None
    order = pd.DataFrame({"position": range(1, len(result.order) + 1), "node": result.order})
    contents = {
        "counts.csv": (lambda: to_csv(result.whole), False, "text/csv"),  # large: written only on request
        "truth.csv": (to_csv(result.told), teaching, "text/csv"),
        "order.csv": (to_csv(order), teaching, "text/csv"),
        "design.json": (_json(result.design.to_dict()), teaching, "application/json"),
    }
    if (roles := result.design.roles()) is not None:
        contents["roles.json"] = (_json(roles.to_dict()), False, "application/json")
    for name, (data, closed, kind) in contents.items():
        row.download_button(
            name,
            data,
            name,
            kind,
            key=f"sim_{name}",
            on_click="ignore",
            icon=":material/download:",
            disabled=closed,
            help=hidden if closed else NOTE if kind == "text/csv" else None,
        )


def _json(values: dict[str, Any]) -> str:
    return json.dumps(values, indent=2, ensure_ascii=False)


MOST = 150  # nodes; a larger graph is unreadable on a canvas
_HEIGHT = 460
_FARTHEST = 1e6  # largest distance of a position from the centre, in pixels
_LONGEST = 10_000  # characters of a name
_component = st.components.v2.component(
    "disco_draw",
    html=canvas.asset("draw_graph.html"),
    css=canvas.asset("draw_graph.css"),
    js=canvas.asset("draw_graph.js") + canvas.asset("draw_shapes.js"),
)


def drawing_board(key: str) -> None:
    """Draw the graph of this session; every edit on the canvas is stored."""
    drawn, stamp = sketch.drawn(), sketch.stamp("canvas")
    graph = {
        "nodes": [{"name": name, "x": x, "y": y} for name, (x, y) in drawn.positions.items()],
        "edges": [list(edge) for edge in drawn.edges],
    }

    def edited() -> None:
        answer = st.session_state[key].get("edit")
        # An edit of a graph that was replaced meanwhile is dropped, as is anything that no canvas would send.
        if isinstance(answer, dict) and answer.get("stamp") == stamp:
            graph = read(answer)
            sketch.keep(graph or sketch.drawn(), seen_in="canvas" if graph else None)

    _component(
        key=key,
        data={"stamp": stamp, "graph": graph, "height": _HEIGHT, "most": MOST},
        on_edit_change=edited,
        on_arrange_change=lambda: sketch.keep(sketch.arranged(sketch.drawn())),
    )


def read(answer: dict[str, Any]) -> DrawnGraph | None:
    """The graph sent by a browser; None if it is not a valid graph."""
    try:
        nodes = [(node["name"], float(node["x"]), float(node["y"])) for node in answer["nodes"]]
        edges = tuple((parent, child) for parent, child in answer["edges"])
    except (KeyError, TypeError, ValueError):
        return None
    positions = {name: (x, y) for name, x, y in nodes if isinstance(name, str) and 0 < len(name) <= _LONGEST}
    is_valid = all(isinstance(end, str) and end in positions for edge in edges for end in edge)
    near = all(math.isfinite(value) and abs(value) < _FARTHEST for point in positions.values() for value in point)
    if len(positions) != len(nodes) or len(nodes) > MOST or not is_valid or not near or len(set(edges)) < len(edges):
        return None
    return DrawnGraph(positions, edges)
