"""The sidebar below the menu: the list of runs, the device and its cached networks, where work runs."""

import re
from functools import partial

import streamlit as st

from disco import __version__, runs, space
from disco.errors import InputError
from disco.subjects import FIT
from disco.subjects.fit import network_cache
from disco.words import clock, how_many, size
from disco.work import where
from pages.shared import session
from pages.shared.compute import machine
from pages.shared.frame import gate
from pages.shared.graph import downloads
from pages.shared.widgets import errors
from pages.shared.widgets.answers import agreeing, is_left
from pages.shared.widgets.names import GLOSSARY, WORKS, code, distinct, plain, shown, state_of

_MOST_LOOKS = 600  # short waits; half a minute in total


def draw() -> None:
    """The run picker and the state of the device."""
    with st.sidebar:
        picker()
        # In a thread of its own, so the page is drawn while the engine loads.
        st.fragment(_device, parallel=True)()
        is_shared = space.current().is_shared
        if not is_shared or gate.is_admin():  # where work runs is one choice for all
            st.fragment(_cluster)()
        if is_shared:
            gate.user()
        if st.button("About", icon=":material/info:", type="tertiary", key="about"):
            _about()


PAPER = "Discrete Score Matching Enables Causal Discovery from Count Data"
CITATION = f"Euijong Song, Hyewon Park and Gunwoong Park (2026). {PAPER}. Seoul National University."
_LINK = re.compile(r"!\[[^\]]*\]\([^)]*\)|\[([^\]]*)\]\((?!https?:)[^)]*\)")  # a picture or a file beside a document


@st.dialog("About DISCO", width="large")
def _about() -> None:
    """The version, the paper to cite, and the documents."""
    st.markdown(f"**DISCO {__version__}** looks for causes in tables of counts. Apache License 2.0. Please cite:")
    st.code(CITATION, language=None, wrap_lines=True)
    texts = [path.read_text(encoding="utf-8").partition("\n") for path in sorted(GLOSSARY.parent.glob("*.md"))]
    documents = {first.strip("# "): text for first, _, text in texts}
    title = st.selectbox("Document", list(documents), index=None, key="about_document", placeholder="Choose one")
    if title is not None:
        st.markdown(_LINK.sub(r"\1", documents[title]))


def _device() -> None:
    slot = st.empty()
    for _ in range(_MOST_LOOKS):
        if machine.begun() and machine.engine_ready():
            break
        slot.caption("Device: checking …")
    with slot.container():
        _messages()


def _messages() -> None:
    if not machine.engine_ready():
        st.caption("Device: not yet known")
        return
    status = network_cache.device_status()
    st.caption(
        f"**{'GPU' if status.kind == 'cuda' else 'CPU'}** {code(status.name)}",
        help="Fits and scores run here: on the first CUDA device or, without one, on the processor.",
    )
    share = min(max(status.used / status.total, 0.0), 1.0) if status.total else 0.0
    st.progress(share, text=f"Memory {size(status.used)} of {size(status.total)}")
    is_shared = space.current().is_shared
    cached = [item for item in network_cache.cached() if not is_shared or item.path.parent == space.runs_root()]
    if not cached:
        st.caption("No networks loaded.", help="The networks of an opened run stay loaded, so pages respond at once.")
        return
    with st.expander(f"Networks loaded: {len(cached)}"):
        for held in cached:
            st.caption(f"{code(held.name)} {size(held.bytes)}")


_ADDRESS = "cluster_address"
_CLUSTER_HELP = (
    "The address of a Dask scheduler that is running already. Fits, searches and the methods of Compare that begin "
    "from now on are sent there, the table too: use it in a network that you trust."
)


def _cluster() -> None:
    address = where.address()
    with st.popover("Cluster" if address else "This machine", icon=":material/lan:", help="Where long work runs."):
        st.caption(f"Work is sent to {code(address)}." if address else "Work runs on this machine.")
        with st.form("cluster_form", border=False):
            typed = st.text_input(
                "Dask scheduler",
                address,
                key=_ADDRESS,
                max_chars=200,
                placeholder="tcp://host:8786",
                help=_CLUSTER_HELP,
            )
            is_asked = st.form_submit_button("Work there", type="primary", width="stretch")
        if address and st.button("Work on this machine", key="cluster_leave", width="stretch"):
            _use_cluster("")
        if is_asked:
            _use_cluster(typed)


def _use_cluster(address: str) -> None:
    try:
        with st.spinner("Asking the scheduler"):
            workers = where.choose(address)
    except InputError as error:
        st.error(plain(error))
        return
    st.toast(f"Work is sent to {how_many(workers, 'worker')}." if address.strip() else "Work runs on this machine.")
    st.rerun()


_NAME = "run_picker"


def picker() -> None:
    """A select box over all runs, newest first, the open one selected."""
    with errors.caught():
        readable, unreadable = runs.find_runs()
        if readable:
            _run_box({run.id: run for run in readable})
            if (run := session.run.current()) is not None:
                with st.container(horizontal=True, gap="small"):
                    downloads.script_button({run.name: run}, "open_run")
                    gate.share_button(run)
        else:
            st.caption("No runs yet.")
        if unreadable:
            st.page_link(
                "pages/runs/page.py",
                label=f"{how_many(len(unreadable), 'folder')} unreadable",
                icon=":material/warning:",
                query_params=session.address.parameters(),
                help="See Runs for the reasons.",
            )


def _run_box(listed: dict[str, runs.Run]) -> None:
    current = session.run.current()
    if current is not None and current.id not in listed:
        listed[current.id] = current
    key = agreeing(_NAME, None if current is None else current.id)  # a link or a start may have opened it
    # The oldest keeps its label when a new run appears; all differ, since the browser returns a label, not an id.
    oldest_first = list(listed.values())[::-1]
    names = dict(zip([run.id for run in oldest_first], distinct(map(label, oldest_first)), strict=True))
    st.selectbox(
        "Run",
        list(listed),
        key=key,
        index=None,
        format_func=lambda run_id: names.get(run_id, run_id),
        placeholder="Open a run",
        on_change=partial(_picked, key),
        help="Your runs, from this app or the command line. The page address includes the open run.",
    )


def label(run: runs.Run) -> str:
    """The label of a run, its distinguishing part first: a narrow sidebar cuts off the end."""
    statuses = {work: run.status(work) for work in WORKS}
    is_fitted = statuses[FIT].state == "done" and not any(status.active for status in statuses.values())
    state = clock(run.created) if is_fitted else state_of(statuses)
    return f"{state} · {shown(run.name, 60)} · {run.settings.preset}, seed {run.settings.seed}"


def _picked(key: str) -> None:
    if is_left(_NAME, key):
        return
    chosen = st.session_state[key]
    try:
        session.run.select(None if chosen is None else runs.open_run(chosen))
    except InputError:
        return  # a label that has changed since, which the browser sends back as if it were chosen
