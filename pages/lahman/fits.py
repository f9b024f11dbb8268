"""The fits of the Lahman page: both boundaries of each, and its refinement by the likelihood."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from disco.errors import InputError, ScoreUnavailable
from disco.found import Found
from disco.parents.sparse import is_sparse
from disco.progress import Callback, Event
from disco.refine import Choice, Refined
from disco.runs import Run
from disco.settings import CHOICES
from disco.studies.lahman import STUDY
from disco.studies.study import Wanted
from disco.words import how_many, plural, size
from disco.work.forecast import estimate, span
from pages.lahman import choice
from pages.lahman.choice import Chosen
from pages.shared.refined import refinement
from pages.shared.refined.evidence_words import ASSUMED, SAME_ROWS
from pages.shared.studies import agreement, group
from pages.shared.work import background, fit_monitor, machine, refine_monitor, reordering

CHOICE = Choice(starts=6, bootstrap=20)
NEAR = 12.0  # nats; a trial found orders of R7 agreement .43 and .86 within so many of each other
BOUNDARIES = CHOICES["boundary"]


def section(chosen: Chosen) -> dict[str, Run]:
    """The fit of each seed, and both boundaries of the finished ones, which are returned."""
    st.subheader("Fits", anchor=False)
    done = group.section(
        "lahman",
        choice.group(chosen),
        fit_monitor.KIND,
        lambda missing: f"Start the missing {plural(len(missing), 'fit', 'fits')}: {_listed(missing)}",
        "They run one at a time, and continue when you leave the page.",
        "ordering",
        before=lambda missing: machine.once(
            partial(machine.calibrated, "auto"), "Measuring the speed of this machine", partial(_foretold, missing)
        ),
    )
    if done:
        _other_boundary(done)
    return done


def _listed(missing: list[Wanted]) -> str:
    return ", ".join(one.label for one in missing)


def _foretold(missing: list[Wanted]) -> None:
    """Time and memory of the fits to come."""
    fits, found = len(missing), estimate(*missing[0].table.shape, missing[0].settings, "auto")
    each = "" if fits == 1 else f", {span(fits * found.low, fits * found.high)} for all {fits}"
    st.caption(f"A fit takes about {span(found.low, found.high)} here{each}, and {size(found.bytes)} of memory.")


def _other_boundary(done: dict[str, Run]) -> None:
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
        reordering.FAILURE,
    )


def _score(wanted: list[tuple[Run, str]], hear: Callback) -> None:
    """Recover one after the other; one that cannot be does not keep the others from it."""
    problems = []
    for before, (run, variant) in enumerate(wanted):

        def heard(event: Event, before: int = before) -> bool | None:
            return hear(replace(event, progress=(before + event.progress) / len(wanted)))

        try:
            reordering.recover(run, variant, heard)
        except (InputError, ScoreUnavailable) as error:
            problems.append(str(error))
    if problems:
        raise InputError(" ".join(dict.fromkeys(problems)))


def results(chosen: Chosen, done: dict[str, Run]) -> dict[str, dict[str, Found]]:
    """What was found with each boundary and by the refinement, by run; a run that cannot be read has nothing."""
    found: dict[str, dict[str, Found]] = {chosen.label(boundary): {} for boundary in BOUNDARIES}
    for seed, run in done.items():
        for boundary in BOUNDARIES:
            with contextlib.suppress(InputError):
                found[chosen.label(boundary)][seed] = run.found(f"ccs-{boundary}")
    refined = {seed: one.found for seed, one in _refined(done).items()}
    return {label: group for label, group in (found | {"refined": refined}).items() if group}


def _refined(done: dict[str, Run]) -> dict[str, Refined]:
    return {seed: one.refined for seed, run in done.items() if (one := refinement.readable(run)) is not None}


def sparse(done: dict[str, Run]) -> None:
    """What to try if the graphs of the fits have next to no edges."""
    few = sum(is_sparse(len(run.edges()), len(run.nodes)) for run in done.values())
    if few:
        st.info(
            f"The graphs of {how_many(few, 'seed')} have next to no edges, by their rule of parent selection. "
            "Open such a fit and see Parents, which offers other rules, or refine the fits below.",
            icon=":material/lightbulb:",
        )


def refined(chosen: Chosen, done: dict[str, Run]) -> None:
    """The refinement of every finished fit, and where its searches ended.

    On these counts searches of nearly equal score end at quite different orders, so all of them are shown.
    """
    st.subheader("Refined by the likelihood", anchor=False)
    st.caption(
        "Beyond the paper: a search over orders by the likelihood of the paper's own class, from DISCO's order, sorted "
        "and random ones. DISCO's result stays as it is. Batting counts lie outside that class, because many follow "
        "from each other by accounting, so a higher likelihood does not mean better causal directions. " + SAME_ROWS
    )
    group.section(
        "lahman_refine",
        [replace(one, choice=CHOICE) for one in choice.group(chosen) if one.label in done],
        refine_monitor.KIND,
        lambda missing: f"Refine {len(missing)} of {how_many(len(done), 'fit')}",
        f"{CHOICE.starts} starts, {CHOICE.restarts} restarts and {CHOICE.bootstrap} bootstrap tables each: some "
        "minutes per fit. They run one at a time, and continue when you leave the page.",
        "refine",
        runs=done,
    )
    if found := _refined(done):
        agreement.ends(STUDY, found, NEAR)
        st.caption(ASSUMED)
