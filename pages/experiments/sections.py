"""The sections of Experiments; without an experiment, what to bring and an example. Owns the keys `experiments_…`."""

import contextlib

import numpy as np
import pandas as pd
import streamlit as st

from disco import experiments, runs
from disco.columns import REFINED_CONTEXTS
from disco.errors import InputError
from disco.experiments.contrasts import CHANGED, KINDS, REFUTED, SEEMS
from disco.experiments.rules import OPEN, VERDICTS
from disco.paper.settings import Settings
from disco.refine import QUICK, Choice
from disco.runs import Run
from disco.runs.origin import FromDesign, FromPortal, Origin
from disco.simulate import simulate
from disco.simulate.example_designs import EXPERIMENT
from disco.subjects.experiments import figures
from disco.subjects.studies import portal
from disco.words import how_many, plural, ratio, series
from pages.shared import session
from pages.shared.compute.cache import cached
from pages.shared.evidence import evidence_words
from pages.shared.frame import intro
from pages.shared.result import contrasted
from pages.shared.result.refinement import Refinement
from pages.shared.widgets import figure, tables
from pages.shared.widgets.names import code, plain, shown
from pages.shared.work import group

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
        st.caption(f"The graph was found with ± {usual:.0%}: search again to change its rules.")
    return chosen / 100


@cached(lambda run, _contrasts: str(run.path))
def remarks(run: Run, contrasts: pd.DataFrame) -> tuple[str, ...]:
    """What the ratios must be read with."""
    return experiments.remarks(contrasted.prepared_rows(run), contrasts)


def full_names(run: Run) -> dict[str, str]:
    """The species behind the abbreviations of Portal; nothing for other tables."""
    origin = runs.origin.of(run)
    is_portal = origin is not None and isinstance(origin.source, FromPortal)
    return {node: portal.called(node) for node in run.nodes} if is_portal else {}


def verdict(contrasts: pd.DataFrame, margin: float) -> None:
    """How many contrasts changed, seem to, or stayed the same, and the surest change in words."""
    arms, kinds = contrasts.drop_duplicates(["of", "arm"]), contrasts["kind"].value_counts()
    changed, seem, same, refuted, unsure = (int(kinds.get(kind, 0)) for kind in KINDS)
    seeming = f" {seem:,} {plural(seem, 'seems', 'seem')} to have changed," if seem else ""
    refuting = f" {refuted:,} {plural(refuted, 'is', 'are')} {REFUTED}," if refuted else ""
    st.markdown(
        f"**{how_many(len(arms), 'arm')}: {changed:,} of {how_many(len(contrasts), 'comparison')} "
        f"show a change**,{seeming}{refuting} "
        f"{same:,} stayed within {margin:.0%}, {unsure:,} are too uncertain to tell. {_surest(contrasts)}"
    )


def _surest(contrasts: pd.DataFrame) -> str:
    sure = contrasts[contrasts["changed"] & contrasts["low"].notna()]
    if sure.empty:
        return "No change is certain."
    surest = sure.iloc[0]
    return (
        f"The surest change: {plain(shown(surest['node'], 60))} at {ratio(surest['ratio'])} times the controls "
        f"({ratio(surest['low'])} to {ratio(surest['high'])}), in the arm {plain(shown(surest['arm'], 80))}."
    )


def of_arm(contrasts: pd.DataFrame) -> pd.DataFrame:
    """The contrasts of the arm that the reader chose, or of all."""
    names = [_ALL, *dict.fromkeys(contrasts["arm"])]
    if len(names) == 2:
        return contrasts
    chosen = st.selectbox("Arm", names, key="experiments_arm", format_func=lambda name: shown(name, 60), width=320)
    return contrasts if chosen == _ALL else contrasts[contrasts["arm"] == chosen]


def forest(contrasts: pd.DataFrame, rows: pd.DataFrame, margin: float) -> None:
    """The ratios of one arm, or the surest of all."""
    several = rows is contrasts and contrasts["arm"].nunique() > 1
    figure.show(figures.forest(rows, margin, several=several), "experiments_forest")
    if len(rows) > figures.MOST:
        st.caption(f"The surest {figures.MOST} of {len(rows):,} comparisons; all are in the table below.")
    marks = " ".join(words for kind, words in _MARKS.items() if (rows["kind"].head(figures.MOST) == kind).any())
    st.caption(f"95% intervals. {marks} Band: ± {margin:.0%}, which counts as the same.")


_MARKS = {
    CHANGED: "*Changed*: false discovery rate at most 5%.",
    SEEMS: "*Seems changed*: the interval excludes 1, but with so many comparisons or so few units that is not sure.",
    REFUTED: "*Not as predicted*: the effect that the controls predict is refuted, 20 to 1 against none at all.",
}


def arrows(edges: pd.DataFrame, contrasts: pd.DataFrame) -> None:
    """The verdict on every arrow at a node that was set; nothing without an intervention."""
    if not contrasts["targets"].map(len).any():
        return
    verdict_rows = experiments.arrows(edges, contrasts)
    if verdict_rows.empty:
        st.caption("No edge of the graph touches a node with an arm of its own.")
        return
    counted = verdict_rows["verdict"].value_counts()
    verdicts = series([f"**{counted[word]}** {word}" for word in VERDICTS if word in counted])
    st.markdown(f"Of {how_many(len(verdict_rows), 'edge')} at nodes that were set: {verdicts}.")
    marks = np.where(verdict_rows["verdict"] == OPEN, " — ", " → ")
    rows = verdict_rows.assign(edge=verdict_rows["parent"] + marks + verdict_rows["child"])[["edge", "verdict", "why"]]
    text = st.column_config.TextColumn
    config = {"edge": text("Edge", pinned=True), "verdict": text("On the arrow"), "why": text("Why", width="large")}
    tables.show(
        rows, "Edges of the graph at nodes that were set, with the verdict of the experiment", config, max_height=320
    )


def contexts(graph: Refinement) -> None:
    """What contexts act on in the graph, and what it lacks; nothing without a context."""
    if note := evidence_words.removed(graph.refined.notes):
        st.caption(f":material/info: {plain(note)}")
    if (effects := graph.refined.contexts) is None:
        return
    lacking = contrasted.lacking(graph)
    if effects.empty:
        st.markdown(f"**No context acts on a node of the graph.** {lacking}")
        return
    drawn = how_many(len(effects.drop_duplicates(["context", "node"])), "edge")
    levels = f", {how_many(len(effects), 'effect')} of their levels" if effects["level"].any() else ""
    st.markdown(f"**{drawn} from contexts in the graph{levels}.** {lacking}")
    labels = [
        f"{effect.context} = {effect.level}" if effect.level else effect.context for effect in effects.itertuples()
    ]
    rows = effects.assign(context=labels)[["context", "node", "gain_nats"]]
    tables.show(rows, "What contexts act on in the graph", tables.config(REFINED_CONTEXTS.columns), max_height=320)


def every(contrasts: pd.DataFrame) -> None:
    """All contrasts as a table, folded."""
    with st.expander("Every comparison", icon=":material/table_rows:"):
        st.caption("Within strata of the covariates, and with groups as units if each is in one arm.")
        rows = contrasts[["arm", "node", "ratio", "low", "high", "p_value", "q_value", "expected", "rows", "units"]]
        column = st.column_config
        short = {"low": "From", "high": "To", "p_value": "p", "q_value": "q"}
        labels = {name: short.get(name, name.capitalize()) for name in rows.columns[2:]}
        number = {name: column.NumberColumn(label, format="%.3g") for name, label in labels.items()}
        config = {"arm": column.TextColumn("Arm", pinned=True), "node": column.TextColumn("Node"), **number}
        table = contrasts.assign(targets=[";".join(names) for names in contrasts["targets"]])
        csv = tables.Csv("Download CSV", "contrasts.csv", "experiments_csv", table)
        tables.show(rows, "Every arm against the controls, by node", config, csv=csv)


_BRING = """
**What to bring.** A table with one more column, which says what was done to each row:

- **intervention**: the columns that were set in this row, such as a gene that was knocked out. Rows in which nothing
  was set are empty or say *control*.
- **context**: a treatment, arm, site or season whose effects you do not know.

Give the column this role on Data. Each arm needs at least 10 rows, better some hundred, and there must be controls.
"""


def has_experiment(run: Run) -> bool:
    """Whether a run has an intervention or a context."""
    roles = run.roles
    return roles is not None and bool(roles.named("intervention") or roles.named("context"))


def missing(run: Run | None) -> None:
    """No run is open, or one without an experiment: what to bring, an example, and the latest runs that have one."""
    if run is None:
        intro.missing_run()
    with st.container(border=True):
        st.markdown(f"{'' if run is None else f'**{code(run.name)} has no experiment.** '}{_BRING.strip()}")
        if run is not None:
            st.caption("A run keeps its roles: give the column its role on Data, and start a new run.")
        with st.container(horizontal=True):
            _example()
            if st.button("Go to Data", icon=":material/table_view:", key="experiments_to_data"):
                session.address.go("data")
        intro.open_finished(_can_be_shown)


def _can_be_shown(run: Run) -> bool:
    with contextlib.suppress(InputError):  # a damaged run is listed on Runs
        return has_experiment(run)
    return False


def _example() -> None:
    help = "Simulated: 8 nodes, of which 4 are set in an arm each. The search takes some seconds."
    if st.button("See an example", type="primary", icon=":material/science:", key="experiments_example", help=help):
        drawn = simulate(EXPERIMENT)
        arguments = {"table": drawn.whole, "roles": EXPERIMENT.roles(), "truth": drawn.truth, "settings": Settings()}
        origin = Origin(FromDesign(EXPERIMENT.to_dict()))
        group.open_one({**arguments, "name": "Example: experiment", "origin": origin}, QUICK, "experiments")
