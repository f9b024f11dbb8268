"""Agreement of the orders with the reference directions. Owns `study_reference` and `study_of`."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from disco.graph.result import GraphResult
from disco.refine import Refined
from disco.refine.bounds import BOUND, decided_means
from disco.subjects.studies import agreement, figures
from disco.subjects.studies.lahman import PUBLISHED, REFERENCES
from pages.shared.widgets import answers, figure, tables
from pages.shared.widgets.glossary import define, entries
from pages.shared.widgets.names import plain

_CAUTION = (
    "**R7 and R17 are not ground truth.** They are directions that batting definitions (R7) and an earlier "
    "analysis (the ten more of R17) suggest. Several follow from accounting, such as hits being at most at-bats, "
    "which the method's model rules out. Agreement describes an order; it does not show that it is "
    "causally right."
)
_OPEN = "Of the reference's pairs that the refined graph joins, those whose direction is undecided. "
Results = Mapping[str, Mapping[str, GraphResult]]  # by how they were found, then by run


def section(results: Results, counts: pd.DataFrame) -> None:
    """Scores of every result, published ones and the sorting controls; nothing before there is a result."""
    scores = agreement.scores(results)
    if scores.empty:
        return
    st.info(_CAUTION, icon=":material/gavel:")
    controls = agreement.controls(counts)
    figure.show(figures.agreement(scores, PUBLISHED, controls), "lahman_agreement")
    st.caption("Controls sort the columns of the chosen table and fit nothing: compare every method with them.")
    _table(results, agreement.with_means(scores))


def _references() -> None:
    """The directions of each reference; those of an earlier one are not listed again."""
    lines, listed = [], set()
    for name, pairs in REFERENCES.items():
        new = ", ".join(f"{plain(first)} → {plain(second)}" for first, second in pairs if (first, second) not in listed)
        lines.append(f"**{plain(name)}**{', besides those above' if listed else ''}: {new}.")
        listed.update(pairs)
    st.caption("  \n".join(lines))


def _table(results: Results, scores: pd.DataFrame) -> None:
    columns = {"label": "Order", "run": "Run", **_numbers()}
    graphs = [results[label].get(run) for label, run in zip(scores["label"], scores["run"], strict=True)]
    judged = [graph if graph is not None and "decided" in graph.edges else None for graph in graphs]
    for name, pairs in REFERENCES.items() if any(judged) else ():
        open_ = [None if graph is None else agreement.undecided(graph.edges, pairs) for graph in judged]
        scores[f"{name} open"] = ["–" if graph is None else f"{graph[1]} of {graph[0]}" for graph in open_]
        columns[f"{name} open"] = st.column_config.TextColumn(help=_OPEN + decided_means(BOUND))
    tables.show(scores, "Agreement with the references, per order and run", columns)


def _numbers() -> dict[str, object]:
    number = st.column_config.NumberColumn
    return {name: number(name, format="%.3f", help=entries().get(name)) for name in REFERENCES}


def arrows(results: Results) -> None:
    """A reference as arrows with the number of orders that agree, and the positions of the columns."""
    with st.container(horizontal=True, gap="large"):
        name = answers.segments("Reference", list(REFERENCES), "study_reference", [*REFERENCES][-1])
        group = results[answers.segments("Orders", list(results), "study_of")]
    left, right = st.columns([3, 2], gap="large")
    with left:
        arrows = figures.reference(list(group.values()), REFERENCES[name])
        figure.show(arrows, "lahman_reference_arrows")
        st.caption(
            "The number on an arrow: the number of runs whose order agrees with it. Solid: also an edge in most graphs."
        )
        _references()
    with right:
        figure.show(figures.positions({run: graph.nodes for run, graph in group.items()}), "lahman_places")


def ends(refined: Mapping[str, Refined], near: float) -> None:
    """Where the searches of one run's refinement ended, and how far their orders agree with the references.

    Optima within `near` nats cannot be distinguished.
    """
    runs = [run for run, result in refined.items() if result.orders is not None]
    if not runs:
        st.caption("These refinements come from an older version, which did not keep where each search ended.")
        return
    result = refined[answers.segments("Searches of", runs, "lahman_ends_of")]
    optima = agreement.ends(result.starts, result.orders)
    st.markdown(f"Ends within {near:g} nats of each other cannot be told apart: read them together, not only the best.")
    figure.show(figures.ends(optima, near), "lahman_ends")
    below = st.column_config.NumberColumn("Nats below", format="%.1f", help=define("nats"))
    with st.expander("As a table"):
        columns = {"start": "Search from", "below": below, **_numbers()}
        tables.show(optima, "Where each search ended", columns, max_height=380)
