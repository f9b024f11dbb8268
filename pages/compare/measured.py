"""One row per method, with its metrics if the truth is known; the accuracy and time of each."""

from functools import partial

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.figures import compared as figures
from disco.runs import compared, stamps
from disco.runs.about import about
from disco.words import number
from pages.compare.comparison import Compared, group, heading, label
from pages.compare.monitoring import WORDS
from pages.shared.graph import downloads
from pages.shared.result import truth
from pages.shared.result.truth import TruthComparison
from pages.shared.widgets import figure, tables
from pages.shared.widgets.glossary import define
from pages.shared.widgets.names import plain

_METRICS = {  # label, format, term of the glossary
    "f1": ("F1", "%.3f", "F1"),
    "a_top": ("A_top", "%.3f", "A_top"),
    "precision": ("Precision", "%.3f", "precision"),
    "recall": ("Recall", "%.3f", "recall"),
    "skeleton_f1": ("Skeleton F1", "%.3f", "skeleton"),
    "shd": ("SHD", "%d", "SHD"),
    "class_shd": ("Class SHD", "%d", "class SHD"),
}


def truth_of(found: Compared) -> TruthComparison | None:
    """The truth, if known and shown; an unusable truth is reported, and the results still appear."""
    try:
        known = truth.visible(found)
        if known is not None and (why := compared.looped(known.told)):
            raise InputError(why)
    except InputError as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None
    return known


def section(found: Compared, known: TruthComparison | None) -> None:
    """The table of methods and, with a known truth, accuracy and time; without one, why nothing is ranked."""
    st.subheader("The methods", anchor=False)
    rows = found.rows(known is not None)
    metrics = [name for name in _METRICS if rows[name].notna().any()]
    told = rows.assign(
        method=[heading(name) for name in rows["method"]],
        group=[group(name).capitalize() for name in rows["method"]],
        state=rows["state"].map(WORDS).str.capitalize(),
    )[["method", "state", *metrics, "edges", "undirected", "seconds", "group", "note"]]
    unseen = ["note", *(["state"] if (rows["state"] == "done").all() else [])]
    name, said = f"{downloads.file_name(found.run)}_methods.csv", "Every method with its numbers and notes."
    facts = partial(about, found.run, "comparison")
    tables.show(
        told.drop(columns=unseen).assign(seconds=[_rounded(seconds) for seconds in told["seconds"]]),
        "Methods with their time, edges and metrics",
        _config(),
        max_height=420,
        csv=tables.Csv("The table, CSV", name, "compare_methods_csv", told, said, facts),
        key="compare_methods",
        placeholder="–",
    )
    _notes(found)
    if known is None:
        _unranked(found)
    else:
        _against_truth(rows, known)


def _rounded(seconds: float) -> float:
    """Two digits, and none beyond a hundredth of a second."""
    return round(seconds, 2) if seconds < 1 else float(f"{seconds:.2g}")


def _notes(found: Compared) -> None:
    """Why a method failed, and each method's notes on its result."""
    failed = [one for one in found.ended if one.error]
    if failed:
        st.markdown("\n".join(f"- **{plain(label(one.method))}**: {plain(one.error)}" for one in failed))
    told = [one for one in found.ended if one.notes]
    if told:
        with st.expander("Notes of the methods on their results", icon=":material/info:"):
            st.markdown("\n".join(f"- **{plain(label(one.method))}**: {plain(' '.join(one.notes))}" for one in told))


def _unranked(found: Compared) -> None:
    """Why no method is ranked above another."""
    if stamps.truth(found.run):  # hidden for teaching, or damaged: a line above says so
        return
    st.caption(
        "The true edges of this table are not known, so the methods cannot be ranked. See below where they agree. "
        "Methods with the same assumptions make the same mistakes."
    )


def _against_truth(rows: pd.DataFrame, known: TruthComparison) -> None:
    sorts = ", ".join(f"by {name} {number(value)}" for name, value in known.controls.items())
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
    found = {
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
        found[name] = column.NumberColumn(words, format=format, help=define(term))
    return found
