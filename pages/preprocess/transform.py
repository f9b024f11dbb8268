"""Preprocess: the choice of the transform, what it means, and its effect on the columns."""

import math
from functools import partial

import pandas as pd
import streamlit as st

from disco.figures.theme import plotly_config
from disco.subjects.table.figures import counts as figures
from pages.shared import session
from pages.shared.table import draft_facts, preview
from pages.shared.table.drafts import Draft
from pages.shared.widgets import tables
from pages.shared.widgets.names import bullets, code, plain
from pages.shared.work import fit_options

_MOST_LOST = 5
_MEANING = {  # in sight, and in a box
    "rank": (
        "Each distinct value becomes its rank. A column keeps its order and its ties, and loses its units.",
        "The graph is the same after any strictly increasing transform of any column, such as a logarithm. With many "
        "distinct values few rows share a level, and the ordering score, which compares rows *within* a level, has "
        "little to work with: then use quantile levels. Ranks are the paper's default.",
    ),
    "quantile": (
        "Each column is cut at its quantiles into a few levels, so that many rows share one.",
        "The graph is still the same after a strictly increasing transform, up to rounding of the cuts. But this "
        "compresses the support: values within a level are no longer distinguished, and the levels need not keep the "
        "conditional independences of the counts. The result is about levels. The paper does this for the Lahman "
        "table. A column with many ties leaves levels empty.",
    ),
    "none": (
        "The counts are used as they are, so distances between values matter.",
        "The invariance is lost: a logarithm or another unit may change the graph, and gaps between values are states "
        "that no row has. Use it for comparison with ranks.",
    ),
}


def choose(draft: Draft) -> None:
    """The transform, what it does, and what it means in a box."""
    with st.container(horizontal=True, gap="medium"):
        fit_options.option("transform")
        if draft.settings.transform == "quantile":
            fit_options.option("levels", max_value=64, width=200)
    does, means = _MEANING[draft.settings.transform]
    st.markdown(does)
    with st.expander("What this means for the graph", icon=":material/info:"):
        st.markdown(means)


def before_after(draft: Draft) -> None:
    """One column before and after, side by side."""
    counts, levels, _ = draft_facts.coded(draft)
    position = preview.pick_column(draft, "preprocess_column")
    index = draft.columns.index(position)
    figure = figures.before_after(counts.iloc[:, index], levels.iloc[:, index], draft.settings.transform)
    st.plotly_chart(figure, key="before_after", config=plotly_config("before-after"))
    fitted = "half of every count" if draft.settings.folds_by == "counts" else "the other folds"
    st.caption(
        f"Shown as fitted on all rows. In the fit, each fold's transform is fitted on {fitted}; a held-out value not "
        "seen there is assigned to the level below it."
        + (f" The fit uses {len(counts):,} of {len(draft.table):,} rows." if len(counts) < len(draft.table) else "")
    )


def all_columns(draft: Draft) -> None:
    """Levels of every column, and the held-out rows that the ordering score can use."""
    support = draft_facts.support(draft)
    loses = bool((support["before"] != support["after"]).any())
    if loses:
        left, right = st.container(key="beside_levels").columns(2, gap="large")
        with left:
            st.subheader("Levels per column", anchor=False)
            st.plotly_chart(figures.levels_per_column(support), key="levels", config=plotly_config("levels"))
            _lost(support)
    with right if loses else st.container():
        _rows_per_level(support, draft.settings.min_level_rows)
    if (all_of_them := len(support)) > (limit := figures.MOST_COLUMNS):
        st.caption(f"Drawn: the {limit} of {all_of_them:,} columns that lose most rows. The table below has all.")
    with st.expander("As a table"):
        tables.show(support, "Levels, and rows per level", _config(draft.settings.min_level_rows))


def _rows_per_level(support: pd.DataFrame, min_rows: int) -> None:
    st.subheader("Rows per level", anchor=False)
    fit_options.option("min_level_rows", max_value=1000)
    figure = figures.rows_per_level(support, min_rows)
    st.plotly_chart(figure, key="rows_per_level", config=plotly_config("rows-per-level"))
    note = "" if (support["before"] != support["after"]).any() else "No two counts share a level. "
    st.caption(
        f"{note}Line: from the level with the fewest rows to that with the most. Dashed: {min_rows} rows. Right: the "
        "share of rows at levels with at least that many. The search for the order compares rows within a level, and "
        "uses only these."
    )


def _lost(support: pd.DataFrame) -> None:
    lost = support[support["merged"] != ""]
    lines = [
        f"{code(line.column)}: {line.before:,} counts became {line.merged.count(';') + 1} levels: {plain(line.merged)}."
        for line in lost.sort_values("before", ascending=False).itertuples()
    ]
    text = bullets(lines, _MOST_LOST, "more: see the table below.")
    st.caption(f"Counts that share a level are no longer told apart.\n\n{text}")


def verdict(draft: Draft) -> None:
    """Whether enough rows share a level for the ordering score, and what to do otherwise."""
    weak = draft_facts.few_per_level(draft)
    if weak is None:
        smallest = draft_facts.support(draft)["kept"].min()
        share = "all" if smallest == 1 else f"at least {math.floor(100 * smallest)}% of"
        st.success(f"Enough rows per level: in every column, the search for the order can use {share} the rows.")
        return
    can_pool = draft.settings.transform != "quantile"
    st.warning(plain(weak.message if can_pool else str(weak)))
    if can_pool:
        help = "For the next fit. What was found with the present transform stays as it is."
        use = partial(session.draft.change_settings, transform="quantile")
        st.button("Use quantile levels", icon=":material/stacks:", key="use_quantile", on_click=use, help=help)


def _config(n_min: int) -> dict[str, object]:
    number = st.column_config.NumberColumn
    return {
        "column": st.column_config.TextColumn("Column", pinned=True),
        "before": number("Values before"),
        "after": number("Values after"),
        "merged": st.column_config.TextColumn("Counts of each level", help="Empty: no two counts share a level."),
        "fewest_rows": number("Fewest rows per level", help="Of the levels of a held-out fold."),
        "median_rows": number("Median", format="%g"),
        "most_rows": number("Most"),
        "kept": st.column_config.ProgressColumn(
            f"Held-out rows at levels with {n_min} or more", min_value=0, max_value=1, format="percent"
        ),
    }
