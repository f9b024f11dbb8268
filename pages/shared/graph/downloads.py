"""The graph as files (pictures, interactive HTML, tables, graphs for other programs), and the script of its run.

A file is written when its button is pressed, so redrawing the page at every move of a threshold does not wait for it.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import networkx as nx
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from disco.errors import InputError
from disco.graph import dag as graphs
from disco.graph.draw import picture as drawing
from disco.graph.result import placed
from disco.reports.script import TABLE, Facts, python, shell
from disco.runs import Run
from disco.subjects.graph.provenance import about
from disco.table import spreadsheets
from disco.table.spreadsheets import to_csv
from pages.shared.graph import canvas, layout
from pages.shared.graph.layout import Placed
from pages.shared.result.fit import Result
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets.names import plain, shown
from pages.shared.widgets.tables import Csv

ORDER_HELP = "Position from 1 and node, sources first."
KINDS = {
    "csv": (
        "CSV",
        "text/csv",
        f"The edges with their numbers; lines with # above them say how they were found. {spreadsheets.NOTE}",
    ),
    "graphml": ("GraphML", "application/xml", "For Gephi, Cytoscape, igraph, networkx."),
    "dot": ("DOT", "text/vnd.graphviz", "For Graphviz."),
    "json": ("JSON", "application/json", "Nodes and links, as networkx reads them."),
}


def row(
    placed: Placed,
    graph: nx.DiGraph,
    strength: float,
    method: str,
    rule: str,
    chosen: dict[str, float | str],
    key: str = "graph",
) -> None:
    """Buttons in a row: pictures of the graph shown, a box with its edges in other formats, and the script.

    The pictures are as shown, with the verdicts of a truth; the other files hold the edges found.

    Args:
        strength: of the widest line.
        method: how the graph was found, in words.
        rule: what chose DISCO's edges, in words.
        chosen: thresholds and other choices by name.
        key: begins the keys of the buttons, and ends the files' names unless it is graph.
    """
    title = ", ".join(filter(None, [f"{placed.run.name}: {method}", rule]))
    facts = partial(about, placed.run, method, **chosen)
    st.caption("Download the graph shown:")
    name = file_name(placed.run) + ("" if key == "graph" else f"_{key}")
    with files(placed, _edges_only(graph), graph, title, facts, strength, name, key):
        script_button({placed.run.name: placed.run}, key, chosen)


def files(
    result: Placed,
    edges_found: nx.DiGraph,
    drawn: nx.DiGraph,
    title: str,
    facts: Callable[[], dict],
    strength: float,
    name: str,
    key: str,
) -> DeltaGenerator:
    """The row of buttons for the picture, and a box with those for the edges in the formats of other programs.

    Args:
        edges_found, drawn: the graph in the files for other programs, and as drawn.
        facts: returns what every file says about the graph (`disco.subjects.graph.provenance`).
        strength: of the widest line.
        name: of the files, without an ending.
        key: begins the keys of the buttons.
    """

    # A file is written outside the page's script, where there is no session.
    seen, boxes = layout.drawn(result, drawn, [canvas.picked(result.order)]), [*layout.arrangement(result).groups]
    positions = layout.positions(result, seen)

    def picture() -> str:
        return drawing.svg(seen, positions, strength, title, facts())

    def interactive() -> str:
        return standalone_page(canvas.shown_data(result.order, seen, positions, strength, boxes), title, facts())

    buttons = st.container(horizontal=True, gap="small")
    with buttons:
        for kind in ("PNG", "PDF"):
            canvas.picture_button(kind, picture, f"{name}.{kind.lower()}", f"{key}_{kind.lower()}")
    save = partial(buttons.download_button, on_click="ignore")
    save("SVG", picture, f"{name}.svg", "image/svg+xml", key=f"{key}_svg")
    help = "The interactive graph, for any browser, offline."
    save("HTML", interactive, f"{name}.html", "text/html", key=f"{key}_html", help=help)
    _other_formats(buttons, edges_found, facts, name, key)
    return buttons


def _other_formats(
    buttons: DeltaGenerator, edges_found: nx.DiGraph, facts: Callable[[], dict], name: str, key: str
) -> None:
    def written(kind: str) -> str:
        return graphs.export(edges_found, kind, facts())

    help = "CSV, GraphML, DOT or JSON: the edges for other programs."
    box = buttons.popover("Other formats", help=help, width="content")
    save = partial(box.download_button, on_click="ignore", width="stretch")
    for kind, (label, mime, help) in KINDS.items():
        try:
            graphs.check_exports(edges_found, kind)
        except InputError as error:
            box.button(label, disabled=True, help=str(error), key=f"{key}_{kind}", width="stretch")
            continue
        save(label, partial(written, kind), f"{name}.{kind}", mime, key=f"{key}_{kind}", help=help)


def order(result: Result) -> None:
    """A button for the causal order of a result, sources first."""
    name = f"{file_name(result.run)}_order_{result.variant}.csv"
    Csv("Order, CSV", name, "order_table", lambda: placed(result.order), ORDER_HELP).button()


def verdicts(result: Result, comparison: TruthComparison, graph: nx.DiGraph) -> None:
    """A button for every edge, found or true, with its verdict and its scores."""
    candidates = result.candidates(0.0).drop(columns="frequency")
    rows = comparison.verdicts(graph).merge(candidates, on=["parent", "child"], how="left")
    help = "Every edge at these thresholds, found or true: true, extra, reversed or missing, with OCS and Z."
    name = f"{file_name(result.run)}_verdicts.csv"
    Csv("Edges against the truth, CSV", name, "graph_verdicts", rows, help).button()


def file_name(run: Run) -> str:
    """A run's name in the characters of a file name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", run.name).strip("_")[:60] or "graph"


def _edges_only(graph: nx.DiGraph) -> nx.DiGraph:
    """The graph without the additions of a truth or a refinement."""
    copy = nx.DiGraph()
    copy.add_nodes_from(
        (node, {name: values[name] for name in ("position", graphs.CONTEXT) if name in values})
        for node, values in graph.nodes(data=True)
    )
    for parent, child, values in graph.edges(data=True):
        if values.get("verdict") != "missing":
            copy.add_edge(parent, child, **{name: value for name, value in values.items() if name != "verdict"})
    return copy


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def standalone_page(data: Mapping[str, object], title: str, about: Mapping[str, object]) -> str:
    """A page with the title, the graph from `data` (drawn by `assets/graph_draw.js`), and below it the facts."""
    facts = "".join(f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in about.items())
    # In a script only "<" could end the data, so every "<" in a name is escaped.
    held = json.dumps({"data": data, "about": about}, ensure_ascii=False).replace("<", "\\u003c")
    scripts = "".join(canvas.asset(name) for name in ("graph_draw.js", "graph_tools.js", "standalone.js"))
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{_safe(title)}</title>",
            f"<style>\n{canvas.asset('standalone.css')}{canvas.asset('graph_view.css')}</style>\n</head>\n<body>",
            f"<h1>{_safe(title)}</h1>",
            canvas.asset("graph_view.html"),
            f"<details><summary>How this graph was found</summary><dl>{facts}</dl></details>",
            f'<script type="application/json" id="graph">{held}</script>',
            f"<script>\n{scripts}</script>\n</body>\n</html>\n",
        ]
    )


def _safe(value: object) -> str:
    return html.escape(str(value))


_SCRIPT_HELP = "Python, or command lines, that give these results again."
_SCRIPTS = {"Python": (python, "python", "py"), "Command line": (shell, "bash", "sh")}


def script_button(
    runs: Mapping[str, Run],
    key: str,
    graph: Mapping[str, Any] | None = None,
    effect: Mapping[str, Any] | None = None,
) -> None:
    """A button that opens the scripts.

    Args:
        runs: by label; one is shown at a time.
        graph: the choices that define the graph shown, by name.
        effect: a question about the graph: on, do, against, where.
    """
    if runs and st.button("Script", icon=":material/code:", key=f"{key}_script", help=_SCRIPT_HELP):
        _script(runs, key, graph, effect)


@st.dialog("Script", width="large", icon=":material/code:")
def _script(
    runs: Mapping[str, Run], key: str, graph: Mapping[str, Any] | None, effect: Mapping[str, Any] | None
) -> None:
    label = next(iter(runs))
    if len(runs) > 1:
        label = st.selectbox("Of", list(runs), format_func=lambda name: shown(name, 60), key=f"{key}_script_of")
    run = runs[label]
    try:
        facts = Facts.of(run, graph, effect)
        texts = {name: (write(facts), *rest) for name, (write, *rest) in _SCRIPTS.items()}
    except InputError as error:
        st.error(plain(error))
        return
    st.markdown(
        f"What was done to find the results of **{plain(shown(run.name, 60))}**, and what gives them again: the same "
        "table, settings and seeds. The icon at the top right of the text copies it."
    )
    for tab, (text, language, ending) in zip(st.tabs(list(texts)), texts.values(), strict=True):
        with tab, st.container(horizontal_alignment="left"):
            st.code(text, language=language, wrap_lines=True)
            name = f"{run.id}.{ending}"
            st.download_button(name, text, name, key=f"{key}_{ending}", on_click="ignore", icon=":material/download:")
    if facts.needs_table or facts.for_shell.needs_table:
        st.caption(f"How this table came to be is not known to the script. It reads {TABLE}: save that beside it.")
        data, icon = lambda: to_csv(run.with_roles()), ":material/download:"
        st.download_button(TABLE, data, TABLE, "text/csv", key=f"{key}_table", on_click="ignore", icon=icon)
