"""Lahman: each fit refined by the likelihood, both graphs against the references, and where the searches ended.

On these counts searches of nearly equal score end at quite different orders, so the section shows them all.
"""

import contextlib

import pandas as pd
import streamlit as st

from disco import lahman, runs
from disco.errors import InputError
from disco.figures import lahman as figures
from disco.metrics import a_top
from disco.refine import Choice, Refined
from disco.runs import REFINE
from disco.runs.refined import read_refined
from disco.work import jobs
from pages.lahman import states
from pages.shared.frame import figure, table
from pages.shared.frame.answers import segments
from pages.shared.frame.glossary import define
from pages.shared.refined.evidence_words import ASSUMED, SAME_ROWS, decided_means
from pages.shared.work import refine_monitor

CHOICE = Choice(starts=6, bootstrap=20)
NEAR = 12.0  # nats; a trial found orders of R7 agreement .43 and .86 within so many of each other


def section(done: dict[int, runs.Run]) -> None:
    """The refinement of every finished fit: start, progress, results.

    Args:
        done: the finished run of each seed.
    """
    st.subheader("Refined by the likelihood", anchor=False)
    st.caption(
        "Beyond the paper: a search over orders by the likelihood of the paper's own class, from DISCO's order, sorted "
        "and random ones. DISCO's result stays as it is. Batting counts lie outside that class, for many follow from "
        "each other by accounting, so a higher likelihood does not mean better causal directions."
    )
    states.follow(lambda: _unfinished(done), refine_monitor.KIND)
    missing = [run for run in done.values() if run.status(REFINE).state == "none"]
    if missing and st.button(
        f"Refine {len(missing)} of {len(done)} fits",
        key="lahman_refine",
        icon=":material/tune:",
        help=f"{CHOICE.starts} starts, {CHOICE.restarts} restarts and {CHOICE.bootstrap} bootstrap "
        "tables each: some minutes per fit. They run one at a time, and continue when you leave the page.",
    ):
        for run in missing:
            states.guarded(jobs.start, run, REFINE, CHOICE)
        st.rerun()
    found = _found(done)
    if found:
        _agreement(done, found)
        _ends(found)


def _unfinished(done: dict[int, runs.Run]) -> dict[int, runs.Run]:
    """The runs whose refinement was requested and is not finished."""
    return {seed: run for seed, run in done.items() if run.status(REFINE).state not in ("none", "done")}


def _found(done: dict[int, runs.Run]) -> dict[int, Refined]:
    """The finished refinements of the runs whose order can be read."""
    found = {}
    for seed, run in done.items():
        with contextlib.suppress(InputError):
            run.order()
            found[seed] = read_refined(run)
    return found


def _agreement(done: dict[int, runs.Run], found: dict[int, Refined]) -> None:
    """Both orders of every seed against the references, and the directions that stay open."""
    rows = []
    for seed, refined in found.items():
        run = done[seed]
        for name, order in (("DISCO", run.order()), ("refined", refined.order)):
            scores = a_top(order, lahman.R7), a_top(order, lahman.R17)
            open_ = [_open(refined, reference) if name == "refined" else "–" for reference in (lahman.R7, lahman.R17)]
            rows.append((seed, name, *scores, *open_))
    columns = {
        "seed": "Seed",
        "graph": "Order",
        **agreements(),
        "open7": st.column_config.TextColumn("R7 open", help=_OPEN_HELP),
        "open17": st.column_config.TextColumn("R17 open", help=_OPEN_HELP),
    }
    compared = pd.DataFrame(rows, columns=["seed", "graph", "r7", "r17", "open7", "open17"])
    table.show(compared, "Agreement of both orders with the references, per seed", columns)
    st.caption(SAME_ROWS)


def agreements() -> dict[str, object]:
    """How a table shows the agreement with both references."""
    number = st.column_config.NumberColumn
    return {name.lower(): number(name, format="%.3f", help=define(name)) for name in ("R7", "R17")}


_OPEN_HELP = (
    "Of the reference's pairs that are joined in the refined graph, those whose direction the evidence leaves open. "
    + decided_means(CHOICE.bound)
)


def _open(refined: Refined, reference: tuple[tuple[str, str], ...]) -> str:
    joined, undecided = lahman.undecided(refined.edges, reference)
    return f"{undecided} of {joined}"


def _ends(found: dict[int, Refined]) -> None:
    """Where the searches of one seed's refinement ended."""
    seeds = [seed for seed, refined in found.items() if refined.orders is not None]
    if not seeds:
        st.caption("These refinements come from an older version, which did not keep where each search ended.")
        return
    refined = found[segments("Searches of seed", seeds, "lahman_ends_seed")]
    ends = lahman.ends(refined.starts, refined.orders)
    st.markdown(f"Ends within {NEAR:g} nats of each other cannot be told apart: read them together, not only the best.")
    figure.show(figures.ends(ends, NEAR), "lahman_ends")
    below = st.column_config.NumberColumn("Nats below", format="%.1f", help=define("nats"))
    table.show(ends, "Where each search ended", {"start": "Search from", "below": below, **agreements()}, most=380)
    st.caption(ASSUMED)
