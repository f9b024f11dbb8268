"""One row per method, with its metrics if the truth is known; the accuracy and time of each."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.subjects import stamps
from disco.subjects.comparison import compared, figures
from disco.subjects.graph.provenance import about
from disco.words import number
from pages.compare.comparison import Compared, group, heading, label
from pages.compare.monitoring import WORDS
from pages.shared.graph import downloads
from pages.shared.result import truth
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import define, plain

_METRICS = {  # label, format, term of the glossary
    "f1": ("F1", "%.3f", "F1"),
    "a_top": ("A_top", "%.3f", "A_top"),
    "precision": ("Precision", "%.3f", "precision"),
    "recall": ("Recall", "%.3f", "recall"),
    "skeleton_f1": ("Skeleton F1", "%.3f", "skeleton"),
    "shd": ("SHD", "%d", "SHD"),
    "class_shd": ("Class SHD", "%d", "class SHD"),
}


def truth_of(comparison: Compared) -> TruthComparison | None:
    """The truth, if known and shown; an unusable truth is reported, and the results still appear."""
    try:
        against_truth = truth.visible(comparison)
        if against_truth is not None and (why := compared.looped(against_truth.told)):
            raise InputError(why)
    except InputError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return against_truth


def section(comparison: Compared, against_truth: TruthComparison | None) -> None:
    """The table of methods and, with a known truth, accuracy and time; without one, why nothing is ranked."""
    st.subheader("The methods", anchor=False)
    rows = comparison.rows(against_truth is not None)
    metrics = [name for name in _METRICS if rows[name].notna().any()]
    shown_rows = rows.assign(
        method=[heading(name) for name in rows["method"]],
        group=[group(name).capitalize() for name in rows["method"]],
        state=rows["state"].map(WORDS).str.capitalize(),
    )[["method", "state", *metrics, "edges", "undirected", "seconds", "group", "note"]]
    unseen = ["note", *(["state"] if (rows["state"] == "done").all() else [])]
    name, description = f"{downloads.file_name(comparison.run)}_methods.csv", "Every method with its numbers and notes."
    facts = partial(about, comparison.run, "comparison")
    tables.show(
        shown_rows.drop(columns=unseen).assign(seconds=[_rounded(seconds) for seconds in shown_rows["seconds"]]),
        "Methods with their time, edges and metrics",
        _config(),
        max_height=420,
        csv=tables.Csv("The table, CSV", name, "compare_methods_csv", shown_rows, description, facts),
        key="compare_methods",
        placeholder="–",
    )
    _notes(comparison)
    if against_truth is None:
        _unranked(comparison)
    else:
        _against_truth(rows, against_truth)


def _rounded(seconds: float) -> float:
    """Two digits, and none beyond a hundredth of a second."""
    return round(seconds, 2) if seconds < 1 else float(f"{seconds:.2g}")


def _notes(comparison: Compared) -> None:
    failed = [result for result in comparison.ended if result.error]
    if failed:
        st.markdown("\n".join(f"- **{plain(label(result.method))}**: {plain(result.error)}" for result in failed))
    noted = [result for result in comparison.ended if result.notes]
    if noted:
        with st.expander("Notes of the methods on their results", icon=":material/info:"):
            st.markdown(
                "\n".join(f"- **{plain(label(result.method))}**: {plain(' '.join(result.notes))}" for result in noted)
            )


def _unranked(comparison: Compared) -> None:
    if stamps.truth(comparison.run):  # hidden for teaching, or damaged: a line above says so
        return
    st.caption(
        "The true edges of this table are not known, so the methods cannot be ranked. See below where they agree. "
        "Methods with the same assumptions make the same mistakes."
    )


def _against_truth(rows: pd.DataFrame, against_truth: TruthComparison) -> None:
    sorts = ", ".join(f"by {name} {number(value)}" for name, value in against_truth.controls.items())
    if sorts:
        st.caption(f"Baseline, A_top of sorting the columns: {sorts}.")
    if not rows["f1"].notna().any():
        return
    drawn = rows.assign(
        name=[label(name) for name in rows["method"]],
        is_control=[group(name) == "controls" for name in rows["method"]],
    )
    figure.show(figures.time_and_f1(drawn), "compare_time")
    if not drawn["is_control"].any():
        st.caption("Add a sorting control to see what sorting alone finds.")


def _config() -> dict[str, object]:
    column = st.column_config
    config = {
        "method": column.TextColumn("Method", width=176, pinned=True),
        "group": column.TextColumn("Kind"),
        "state": column.TextColumn("State"),
        "seconds": column.NumberColumn("Time", format="%g s", help="On one core, without the start-up."),
        "edges": column.NumberColumn("Edges"),
        "undirected": column.NumberColumn(
            "Undirected",
            help="Edges whose direction the method leaves open. The metrics take them along the method's order, or in "
            "both directions if it has none.",
        ),
    }
    for name, (words, format, term) in _METRICS.items():
        config[name] = column.NumberColumn(words, format=format, help=define(term))
    return config
