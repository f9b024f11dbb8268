"""The sections of the Lahman page."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from disco import lahman, runs
from disco.errors import InputError, ScoreUnavailable
from disco.figures import lahman as figures
from disco.parents.sparse import is_sparse
from disco.progress import Callback, Event
from disco.settings import PRESETS
from disco.words import how_many, plural, size
from disco.work.forecast import estimate, span
from pages.lahman import cohort_fits, refined, states
from pages.lahman.cohort_fits import BOUNDARIES, Study
from pages.shared.frame import answers, errors, figure, table
from pages.shared.frame.glossary import define
from pages.shared.frame.words import bullets
from pages.shared.work import background, fit_monitor, machine, variants

LEVEL_WORDS = {"4": "q4", "6": "q6", "8": "q8", "raw": "raw ranks"}
SEEDS = list(range(10))
_LEVELS = "q4: each column cut at its quartiles; raw: the rank of each count. Fewer levels give more rows per level."
_PRESETS = "Tuned: smaller networks and a short schedule. Paper: the paper's settings as we read them, minutes per fit."


def warning() -> None:
    """What the references are not."""
    st.warning(
        "**R7 and R17 are not ground truth.** They are directions that batting definitions (R7) and an earlier "
        "analysis (the ten more of R17) suggest. Several follow from accounting, such as hits being at most at-bats, "
        "which the method's model does not even allow for. Agreement describes an order; it does not show that it is "
        "causally right.",
        icon=":material/gavel:",
    )


def columns() -> None:
    """What each count means, in an expander."""
    with st.expander("What the columns count", icon=":material/info:"):
        st.markdown(bullets([f"**{name}**: {define(name)}" for name in lahman.COLUMNS]))


def choose() -> Study:
    """The cohort, its levels, the preset and the seeds."""
    first, last = lahman.seasons()
    start = 1955  # intentional walks and sacrifice flies are counted from then on
    with st.container(border=True):
        years = st.slider(
            "Seasons",
            start,
            last,
            (2012, min(2018, last)),
            key="lahman_years",
            help="200 players a season, those with the most at-bats. The paper takes 2019–2025 and, as a check, "
            "2012–2018.",
        )
        with st.container(horizontal=True, gap="large"):
            levels = answers.segments("Levels", LEVEL_WORDS, "lahman_levels", help=_LEVELS)
            presets = {name: name.capitalize() for name in PRESETS}
            preset = answers.segments("Preset", presets, "lahman_preset", "tuned", _PRESETS)
            help = "The paper runs 0, 1 and 2."
            seeds = st.multiselect("Seeds", SEEDS, default=[0, 1, 2], key="lahman_seeds", help=help)
    return Study(tuple(years), levels, preset, tuple(sorted(seeds)))


def fits(study: Study) -> None:
    """The fit of each seed with its progress; missing ones can be started."""
    st.subheader("Fits", anchor=False)
    known = cohort_fits.found(study)
    missing = [seed for seed in study.seeds if seed not in known]
    if not known:
        st.caption("No fit of this cohort yet.")
    states.follow(lambda: cohort_fits.found(study), fit_monitor.KIND)
    if not missing:
        return
    seeds = ", ".join(map(str, missing))
    is_ready = partial(machine.calibrated, "auto")
    machine.once(is_ready, "Measuring the speed of this machine", partial(_foretold, study, len(missing)))
    if st.button(
        f"Start the missing {plural(len(missing), 'fit: seed', 'fits: seeds')} {seeds}",
        type="primary",
        icon=":material/play_arrow:",
        key="lahman_start",
        help="They run one at a time, and continue when you leave the page.",
    ):
        with errors.said():
            for seed in missing:
                cohort_fits.start(study, seed)
            st.rerun()


def _foretold(study: Study, fits: int) -> None:
    """Time and memory of the fits to come."""
    rows, nodes = cohort_fits.cohort(study.years).shape
    found = estimate(rows, nodes, study.settings(0), "auto")
    each = "" if fits == 1 else f", {span(fits * found.low, fits * found.high)} for all {fits}"
    st.caption(f"A fit takes about {span(found.low, found.high)} here{each}, and {size(found.bytes)} of memory.")


def results(study: Study) -> None:
    """Scores of the finished runs beside the paper's, the reference arrows and the places."""
    known = cohort_fits.found(study)
    done = {seed: run for seed, run in known.items() if run.status().state == "done"}
    scores = cohort_fits.scores(study, done)
    st.subheader("Agreement with the references", anchor=False)
    if done:
        _score_table(scores)
        _other_boundary(done)
    controls = cohort_fits.controls(cohort_fits.cohort(study.years))
    figure.show(figures.agreement(scores, cohort_fits.paper_rows(), controls), "lahman_agreement")
    st.caption("Controls sort the columns of the chosen cohort and fit nothing: compare every method with them.")
    if done:
        _reference(done)
        refined.section(done)


def _score_table(scores: pd.DataFrame) -> None:
    """One row per boundary and seed, and the means."""
    if scores.empty:
        return
    shown = lahman.with_means(scores)
    fractions = {
        name: [f"{round(value * size, 1):g} / {size}" for value in shown[name]]
        for name, size in (("r7", 7), ("r17", 17))
    }
    shown = shown.assign(of7=fractions["r7"], of17=fractions["r17"])
    columns = {"label": "Levels, boundary, seasons", "seed": "Seed", "of7": "of R7", "of17": "of R17"}
    table.show(shown, "Agreement with the references, per boundary and seed", columns | refined.agreements())


def _other_boundary(done: dict[int, runs.Run]) -> None:
    """Score the boundary that is missing, from the fitted networks."""
    wanted = [(run, f"ccs-{b}") for run in done.values() for b in BOUNDARIES if f"ccs-{b}" not in run.variants()]

    def asked() -> Callable[[Callback], None] | None:
        label, help = "Score the other boundary too", "From the fitted networks; nothing is refitted."
        is_asked = wanted and st.button(label, key="lahman_other", icon=":material/rule:", help=help)
        return partial(_score, wanted) if is_asked else None

    background.panel(
        ("lahman_other", *(str(run.path) for run in done.values())),
        asked,
        lambda kept: None,
        lambda stage: f"Scoring the other boundary of {how_many(len(wanted), 'run')}",
        variants.FAILURE,
    )


def _score(wanted: list[tuple[runs.Run, str]], hear: Callback) -> None:
    """Recover one after the other; one that cannot be does not keep the others from it."""
    problems = []
    for before, (run, variant) in enumerate(wanted):

        def heard(event: Event, before: int = before) -> bool | None:
            return hear(replace(event, progress=(before + event.progress) / len(wanted)))

        try:
            variants.recover(run, variant, heard)
        except (InputError, ScoreUnavailable) as error:
            problems.append(str(error))
    if problems:
        raise InputError(" ".join(dict.fromkeys(problems)))


def _reference(done: dict[int, runs.Run]) -> None:
    st.subheader("The reference arrows, and where the columns stand", anchor=False)
    ready = [b for b in BOUNDARIES if any(f"ccs-{b}" in run.variants() for run in done.values())]
    with st.container(horizontal=True, gap="large"):
        which = answers.segments("Reference", ["R7", "R17"], "lahman_reference", "R17")
        variant = f"ccs-{answers.segments('Boundary', ready, 'lahman_boundary')}"
    with_it = {seed: run for seed, run in done.items() if variant in run.variants()}
    orders = {seed: run.order(variant) for seed, run in with_it.items()}
    edge_sets = [set(run.graph(variant=variant).edges) for run in with_it.values()]
    pairs = lahman.R7 if which == "R7" else lahman.R17
    left, right = st.columns([3, 2], gap="large")
    with left:
        figure.show(figures.reference(list(orders.values()), edge_sets, pairs), "lahman_reference_arrows")
        st.caption(
            "The number on an arrow: the number of runs whose order agrees with it. Solid: also an edge in most graphs."
        )
    with right:
        figure.show(figures.places(orders), "lahman_places")
    sparse = sum(is_sparse(len(edges), len(lahman.COLUMNS)) for edges in edge_sets)
    if sparse:
        st.info(
            f"The graphs of {how_many(sparse, 'seed')} have next to no edges, by their rule of parent selection. "
            "Open such a fit and see Parents, which offers other rules, or refine the fits below.",
            icon=":material/lightbulb:",
        )
