"""The fits of the Lahman page: both boundaries of each, and its refinement by the likelihood."""

import contextlib

import streamlit as st

from disco.errors import InputError
from disco.graph.result import GraphResult
from disco.paper.settings import CHOICES
from disco.refine import Choice, Refined
from disco.refine.bounds import ASSUMED
from disco.reports.matching import Group
from disco.runs import Run
from disco.runs.origin import FromLahman
from disco.selectors.sparse import is_sparse
from disco.subjects.fit.results import StoredFit
from disco.subjects.fit.results import variants as variants_of
from disco.subjects.studies import lahman
from disco.words import how_many
from pages.lahman import agreement
from pages.shared.evidence.evidence_words import SAME_ROWS
from pages.shared.result import refinement
from pages.shared.widgets.glossary import define
from pages.shared.work import group, variants

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
BOUNDARIES = CHOICES["boundary"]


def boundaries(finished: dict[str, Run]) -> None:
    """What the two boundaries are; score the one that is missing, from the fitted networks."""
    lines = [f"**{name.capitalize()}:** {define(f'{name} boundary')}" for name in BOUNDARIES]
    st.caption(" ".join(lines))
    missing = [(run, f"ccs-{b}") for run in finished.values() for b in BOUNDARIES if f"ccs-{b}" not in variants_of(run)]
    key = tuple(str(run.path) for run in finished.values())
    variants.offer("lahman_other", missing, "Score the other boundary too", key, icon=":material/rule:")


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
    for boundary in BOUNDARIES:
        label = f"{lahman.representation(levels)}, {boundary}, {years[0]}–{years[1]}"
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
        agreement.ends(refined, NEAR)
        st.caption(ASSUMED)
