"""Data without a table, and the sources of one: two samples and an upload. Owns `upload` and `source_problem`."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from disco.errors import InputError
from disco.reports.bundled import example
from disco.runs.origin import FromDesign, FromLahman
from disco.subjects.studies import lahman
from disco.table.formats.catalogue import MATRIX_NAMES, PLAIN_NAMES
from disco.table.read import read_table
from pages.data import rereading
from pages.shared import session
from pages.shared.table.drafts import File
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain

_PROBLEM = "source_problem"
_COHORTS = ((2012, 2018), (2019, 2025))  # the paper's


def cards() -> None:
    """Three cards, side by side or stacked on a small screen; collapsed once a table is loaded."""
    is_loaded = session.draft.current() is not None
    with st.container():  # also without a problem: the cards stay in their places
        _problem(is_loaded)
    with st.expander("Load another table", icon=":material/upload_file:") if is_loaded else st.container():
        cards = (_upload, _lahman, _poisson)
        for column, card in zip(st.container(key="beside_cards").columns(3), cards, strict=True):
            with column.container(border=True, height="stretch"):
                card()


def _problem(is_loaded: bool) -> None:
    problem = st.session_state.get(_PROBLEM)
    if not problem:
        return
    st.error(plain(problem) + (" The previous table is kept." if is_loaded else ""), icon=":material/error:")
    file = answers.uploaded("upload")
    choices = None if file is None else rereading.after_failure(file.name, file.getvalue())
    if choices is not None:
        _guarded(lambda: _load_file(file, **choices))


def _lahman() -> None:
    st.markdown("**Baseball**  \n17 counts of 200 batters per season: runs, hits, strikeouts …")
    last = lahman.seasons()[1]
    cohorts = {_years(begin, min(end, last)): (begin, min(end, last)) for begin, end in _COHORTS if begin <= last}
    note = f" The installed table ends in {last}." if last < _COHORTS[-1][1] else ""
    help = f"The paper takes 2012–2018 and 2019–2025, in four quantile levels.{note} {lahman.CREDIT}"
    seasons = answers.segments("Seasons", list(cohorts), "lahman_seasons", help=help)
    st.space("stretch")
    if st.button("Load baseball counts", key="load_lahman", width="stretch"):
        _guarded(lambda: _load_lahman(cohorts[seasons]))


def _years(first: int, last: int) -> str:
    return f"{first}–{last}"


def _load_lahman(years: tuple[int, int]) -> None:
    with st.spinner("Reading the batting table …"):
        table = lahman.cohort(*years)
    settings = session.draft.settings().replace(transform="quantile", levels=4)
    session.draft.load(table, f"Lahman {_years(*years)}", lahman.CREDIT, settings=settings, origin=FromLahman(*years))


def _poisson() -> None:
    st.markdown(
        "**Simulated counts**  \n20 columns from a known graph, so you can compare results with the truth. 2,000 rows."
    )
    st.page_link(
        "pages/simulate/page.py",
        label="Design your own",
        icon=":material/science:",
        query_params=session.address.parameters(),
        help="Choose or draw a graph, and choose how each node depends on its parents.",
    )
    st.space("stretch")
    if st.button("Load simulated counts", key="load_poisson", width="stretch"):
        _guarded(_load_poisson)


def _load_poisson() -> None:
    from disco.simulate import Design, simulate  # imported here because it takes half a second, for the first page

    design = Design(nodes=20, rows=2000, k=3, seed=0)
    drawn = simulate(design)
    edges, settings = drawn.truth[["parent", "child"]], session.draft.settings().replace(transform="rank")
    source, origin = "Simulated: Erdős–Rényi graph, Poisson counts, seed 0.", FromDesign(design.to_dict())
    session.draft.load(drawn.table, "Poisson 20", source, edges, settings, origin=origin)


def _upload() -> None:
    st.markdown("**Your own counts**  \nOne row per observation, one column per variable.")
    st.file_uploader(
        "File",
        key="upload",
        on_change=_uploaded,
        help="One row per observation, one column per variable, names in the first row. Whole numbers from 0 up. "
        f"{PLAIN_NAMES}. Or cells and genes (you choose the genes next): {MATRIX_NAMES}, or a ZIP or tar of "
        "matrix.mtx, features.tsv and barcodes.tsv. Or a ZIP or tar of several files: of HTSeq, salmon, STAR or the "
        "like, one per sample, or with the same columns. Each also packed, as .csv.gz. The file stays on this machine.",
    )


def _uploaded() -> None:
    file = answers.uploaded("upload")
    if file is None:
        st.session_state.pop(_PROBLEM, None)
        return
    _guarded(lambda: _load_file(file), rerun=False)


def _load_file(file: st.runtime.uploaded_file_manager.UploadedFile, **choices: Any) -> None:
    table = read_table(file, file.name, **choices)
    settings = session.draft.settings().replace(transform="rank")
    upload = File(file.name, file.getvalue())
    source, origin = f"Uploaded file {file.name}.", upload.source(**choices)
    session.draft.load(table, file.name, source, settings=settings, file=upload, origin=origin)


def _guarded(load: Callable[[], None], rerun: bool = True) -> None:
    """Load a table; if that fails, keep the previous one and show the reason."""
    with errors.deferred(_PROBLEM):
        try:
            load()
        except MemoryError:
            raise InputError("The table is too large for this machine's memory.") from None
    if rerun:
        st.rerun()


def greet() -> None:
    """The title, one sentence, and a button that opens an example."""
    st.title("What drives what?", anchor=False)
    st.markdown(
        "DISCO searches a table of counts for its **causal graph**: which columns are linked directly, how certain "
        "each link and direction is, and which directions this table cannot show. Load a table and press one button: "
        "a first graph takes seconds."
    )
    if st.button(
        "See an example result",
        type="primary",
        icon=":material/visibility:",
        key="see_example",
        help="A finished search and fit of simulated counts with a known true graph. It opens at once.",
    ):
        with errors.caught():
            session.run.select(example())
            session.address.go("graph")
