"""Runs: all runs of a user: open, rename, download, delete, compare."""

import streamlit as st

from disco import runs
from disco.errors import InputError
from pages.runs import comparison, deleting, incoming, one_run, run_table
from pages.shared.frame import intro
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain

intro.page_intro(
    "Runs",
    "Your searches and fits, from this app or the command line. Tick a run to open, rename, download or delete it; "
    "tick two to compare them.",
)
intro.missing_run()
incoming.zip_box()
errors.show(deleting.PROBLEM)
try:
    all_runs, damaged = runs.find_runs()
except InputError as error:
    st.error(plain(error), icon=":material/error:")
    intro.end()
if not all_runs:
    run_table.empty()
else:
    picked = run_table.choose(all_runs)
    if len(picked) == 1:
        one_run.section(picked[0])
    if len(picked) == 2:
        comparison.section(*picked)
    if picked:
        deleting.section(picked)
deleting.trashed()
incoming.examples()
deleting.unreadable(damaged)
