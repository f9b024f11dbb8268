"""One run: open it, rename it, download its results, attach a truth. Owns the keys `attach_truth_…`."""

import textwrap
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from disco.errors import printable
from disco.refine.refinement_result import METHOD
from disco.reports.all_results import FITTED, REFINED, WORDS
from disco.reports.packing import pack
from disco.runs import Run
from disco.simulate import truth_of
from disco.subjects import stamps
from disco.subjects.comparison import compared
from disco.subjects.fit.results import StoredFit
from disco.subjects.graph.provenance import about
from disco.subjects.refinement.refined import read_refined
from disco.words import how_many, size
from pages.shared import session
from pages.shared.graph import downloads
from pages.shared.widgets import answers, errors
from pages.shared.widgets.names import plain
from pages.shared.widgets.tables import Csv
from pages.shared.work import monitor

_LONGEST, _LONGEST_SOURCE = 200, 300  # characters of a name, and of where a table came from


def section(run: Run) -> None:
    """The picked run and its actions."""
    st.subheader(plain(run.name), anchor=False)
    if run.source:
        st.caption(plain(printable(textwrap.shorten(run.source, _LONGEST_SOURCE, placeholder=" …"))))
    monitor.queued(run)
    with st.container(horizontal=True, gap="small"):
        if st.button("Open", type="primary", icon=":material/folder_open:", key=f"runs_open_{run.id}"):
            session.run.show(run)
        _rename(run)
        _zip(run)
        downloads.script_button({run.name: run}, f"runs_{run.id}")
    _tables(run)
    with st.expander("Known truth", icon=":material/rule:"):
        truth_box(run)


def _rename(run: Run) -> None:
    with st.popover("Rename", icon=":material/edit:"), st.form(f"runs_form_{run.id}", border=False):
        name = st.text_input(
            "New name",
            run.name,
            max_chars=_LONGEST,
            key=f"runs_name_{run.id}_{run.name}",
            help="Leave empty to restore the original name. Its address does not change.",
        )
        if st.form_submit_button("Rename", type="primary", key=f"runs_rename_{run.id}"):
            with errors.caught():
                run.rename(name or "")
                st.rerun()


def _zip(run: Run) -> None:
    with st.popover("Whole run, ZIP", icon=":material/folder_zip:"):
        st.markdown(
            "Table, settings, results and truth. Load the file with **Open a ZIP**, here or elsewhere. Logs and "
            "unfinished work are left out."
        )
        networks = run.path / "networks.safetensors"
        is_with = stamps.networks(run) > 0 and st.checkbox(
            f"With the fitted networks ({size(networks.stat().st_size)})",
            value=True,
            key=f"runs_networks_{run.id}",
            help="Without them the run still opens, but no other order can be found and no curvature drawn.",
        )
        if run.alive:
            st.caption("The run has work in progress. You can download it when that is done.")
        st.download_button(
            "Download",
            partial(pack, run, networks=is_with),
            f"{run.id}.zip",
            "application/zip",
            key=f"runs_zip_{run.id}",
            type="primary",
            disabled=run.alive,
            on_click="ignore",
        )


def _tables(run: Run) -> None:
    files: dict[str, dict[str, Callable[[], pd.DataFrame]]] = {}
    if stamps.fit(run):
        fit = StoredFit(run)
        files[FITTED] = {
            "order": lambda: downloads.placed(fit.order),
            "edges": lambda: fit.graph_result.edges,
            "node scores": lambda: fit.ccs,
            "edge scores": lambda: fit.ocs,
        }
    if stamps.refinement(run):
        files[REFINED] = {
            "order": lambda: downloads.placed(read_refined(run).order),
            "edges": lambda: read_refined(run).edges,
        }
    for result, tables in files.items():
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f"CSV of the {WORDS[result]}:", width="content")
            facts = partial(about, run, METHOD if result == REFINED else "DISCO")
            for what, frame in tables.items():
                name = f"{run.id}_{result}_{what.replace(' ', '_')}.csv"
                Csv(what.capitalize(), name, f"runs_{result}_{what}_{run.id}", frame, _HELP[what], facts).button()


_HELP = {
    "order": downloads.ORDER_HELP,
    "edges": "The edges with their numbers.",
    "node scores": "The CCS of every node left at every step, per fold.",
    "edge scores": "The OCS and Z of every candidate, per fold.",
}


def truth_box(run: Run) -> None:
    """Attach true edges to a run, or replace or remove them; hidden ones cannot be changed."""
    if run.teaching:
        st.caption("The truth of this run is hidden for teaching, so it cannot be changed.")
        return
    present = None
    with errors.caught():
        present = run.truth()
    state = "has no known truth" if present is None else f"has {how_many(len(present), 'true edge')}"
    st.markdown(
        f"The run {state}. Upload a CSV file with the columns `parent` and `child`, one row per edge, to compare with "
        "its order, parents and graphs. Nothing is refitted."
    )
    file = st.file_uploader(
        "True edges",
        type=["csv", "tsv", "txt", "graphml"],
        key=answers.box(_name(run)),
        help="Every name must be a column of the run's table, and there must be no cycle. GraphML works too. An "
        "optional column `direction` says whether each direction can be known: known, unknown or not proved.",
    )
    if file is not None:
        _offer(run, file, present)
    if present is not None:
        with st.popover("Remove the truth", icon=":material/delete:", type="tertiary"):
            st.markdown(f"Remove the {how_many(len(present), 'true edge')} from this run? This cannot be undone.")
            if st.button("Remove", type="primary", key=f"attach_truth_remove_{run.id}"):
                _set(run, None)


def _offer(run: Run, file: st.runtime.uploaded_file_manager.UploadedFile, present: pd.DataFrame | None) -> None:
    """Attach the edges of a file at once or, if the run has true edges, when the button is pressed."""
    with errors.caught(f"{file.name}: "):
        edges = truth_of(file.getvalue(), set(run.nodes))
        question = (
            f"Replace the {how_many(0 if present is None else len(present), 'true edge')} with these {len(edges):,}"
        )
        if present is None or st.button(question, type="primary", key=f"attach_truth_replace_{run.id}"):
            _set(run, edges)


def _set(run: Run, edges: pd.DataFrame | None) -> None:
    with errors.caught():
        compared.set_truth(run, edges)
        session.draft.truth_changed(run)
        answers.renew(_name(run))
        st.rerun()


def _name(run: Run) -> str:
    return f"attach_truth_file_{run.id}"
