"""The sections of Experiments. Owns the keys `experiments_…`."""

import pandas as pd
import streamlit as st

from disco import experiments
from disco.columns import REFINED_CONTEXTS
from disco.experiments.arrows import VERDICTS
from disco.figures import contrasts as figures
from disco.refine import Choice
from disco.runs import Run
from disco.words import how_many, series
from pages.shared.compute.cache import cached
from pages.shared.evidence import evidence_words
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import plain, shown

_ALL = "All arms"


def margin(run: Run, refinement: Refinement | None) -> float:
    """The change of a rate that counts as none, chosen here; at first that of the refinement."""
    usual = Choice().margin if refinement is None else refinement.choice.margin
    chosen = st.number_input(
        "Counts as unchanged, ± %",
        1,
        100,
        round(100 * usual),
        key=f"experiments_margin_{run.id}",
        width=200,
        persist_state="session",
        help="A node counts as left alone if its whole interval is within this share of no change.",
    )
    if refinement is not None and chosen != round(100 * usual):
        st.caption(f"The graph was found with ± {usual:.0%}: refine again to change its rules.")
    return chosen / 100


@cached(lambda run, _found: str(run.path))
def remarks(run: Run, found: pd.DataFrame) -> tuple[str, ...]:
    """What the ratios must be read with."""
    return experiments.remarks(evidence_words.given(run), found)


def verdict(found: pd.DataFrame, margin: float) -> None:
    """How many contrasts changed, how many stayed the same, and the surest change in words."""
    arms = found.drop_duplicates(["of", "arm"])
    changed, same = int(found["changed"].sum()), int((found["unchanged"] & ~found["changed"]).sum())
    st.markdown(
        f"**{how_many(len(arms), 'arm')}: {changed:,} of {how_many(len(found), 'comparison')} changed**, {same:,} "
        f"stayed within {margin:.0%}, {len(found) - changed - same:,} are too unsure to tell. {_surest(found)}"
    )


def _surest(found: pd.DataFrame) -> str:
    """The surest change with an interval, as a sentence."""
    sure = found[found["changed"] & found["low"].notna()]
    if sure.empty:
        return "Nothing changed for sure."
    one = sure.iloc[0]
    return (
        f"The surest change: {plain(shown(one['node'], 60))} at {one['ratio']:.2f} times the controls "
        f"({one['low']:.2f} to {one['high']:.2f}), in the arm {plain(shown(one['arm'], 80))}."
    )


def of_arm(found: pd.DataFrame) -> pd.DataFrame:
    """The contrasts of the arm that the reader chose, or of all."""
    names = [_ALL, *dict.fromkeys(found["arm"])]
    if len(names) == 2:
        return found
    chosen = st.selectbox("Arm", names, key="experiments_arm", format_func=lambda name: shown(name, 60), width=320)
    return found if chosen == _ALL else found[found["arm"] == chosen]


def forest(found: pd.DataFrame, part: pd.DataFrame, margin: float) -> None:
    """The ratios of one arm, or the surest of all."""
    several = part is found and found["arm"].nunique() > 1
    figure.show(figures.forest(part, margin, several=several), "experiments_forest")
    if len(part) > figures.MOST:
        st.caption(f"The surest {figures.MOST} of {len(part):,} comparisons; all are in the table below.")
    st.caption(
        f"95 % intervals. *Changed*: false discovery rate at most 5 %. Band: ± {margin:.0%}, which counts as the same."
    )


def arrows(edges: pd.DataFrame, found: pd.DataFrame) -> None:
    """The verdict on every arrow at a node that was set; nothing without an intervention."""
    if not found["targets"].map(len).any():
        return
    said = experiments.arrows(edges, found)
    if said.empty:
        st.caption("No edge of the graph has an end that an arm of its own set.")
        return
    counted = said["verdict"].value_counts()
    verdicts = series([f"**{int(counted.get(one, 0))}** {one}" for one in VERDICTS])
    st.markdown(f"Of {how_many(len(said), 'arrow')} at what was set: {verdicts}.")
    rows = pd.DataFrame(
        {
            "edge": [f"{one.parent} → {one.child}" for one in said.itertuples()],
            "verdict": said["verdict"],
            "why": said["why"],
        }
    )
    text = st.column_config.TextColumn
    config = {"edge": text("Edge", pinned=True), "verdict": text("Verdict"), "why": text("Why", width="large")}
    tables.show(
        rows, "Edges of the graph at nodes that were set, with the verdict of the experiment", config, max_height=320
    )


def contexts(effects: pd.DataFrame | None) -> None:
    """What contexts act on in the graph; nothing without a context."""
    if effects is None:
        return
    if effects.empty:
        st.markdown("**No context acts on a node of the graph.**")
        return
    st.markdown(f"**{how_many(len(effects), 'effect')} of contexts in the graph**")
    rows = pd.DataFrame(
        {
            "context": [f"{one.context} = {one.level}" if one.level else one.context for one in effects.itertuples()],
            "node": effects["node"],
            "gain_nats": effects["gain_nats"],
        }
    )
    tables.show(rows, "What contexts act on in the graph", tables.config(REFINED_CONTEXTS.columns), max_height=320)


def every(found: pd.DataFrame) -> None:
    """All contrasts as a table, folded."""
    with st.expander("Every comparison", icon=":material/table_rows:"):
        st.caption("Within strata of the covariates, and with groups as units if each is in one arm.")
        rows = found[["arm", "node", "ratio", "low", "high", "p_value", "q_value", "expected", "rows", "units"]]
        column = st.column_config
        number = {name: column.NumberColumn(label, format="%.3g") for name, label in _NUMBERS.items()}
        config = {"arm": column.TextColumn("Arm", pinned=True), "node": column.TextColumn("Node"), **number}
        whole = found.assign(targets=[";".join(names) for names in found["targets"]])
        csv = tables.Csv("Download CSV", "contrasts.csv", "experiments_csv", whole)
        tables.show(rows, "Every arm against the controls, by node", config, csv=csv)


_NUMBERS = {
    "ratio": "Ratio",
    "low": "From",
    "high": "To",
    "p_value": "p",
    "q_value": "q",
    "expected": "Expected",
    "rows": "Rows",
    "units": "Units",
}
