"""Find the graph: the likelihood search at once, the fit after it, and the progress of both; or the search alone."""

import streamlit as st

from disco.refine import QUICK
from disco.runs import Run, Work
from disco.subjects import FIT, REFINE
from disco.words import series
from disco.work import jobs
from pages.shared.table import draft_artefacts, draft_facts
from pages.shared.table.drafts import Draft, own_settings
from pages.shared.widgets import errors
from pages.shared.widgets.names import plain, why
from pages.shared.work import fit_options, fit_start, monitor
from pages.shared.work.monitor import FITTING, REFINEMENT

_SECONDS = 1.0
_KINDS = {kind.work: kind for kind in (REFINEMENT, FITTING)}


def button(draft: Draft, why_not: str = "") -> None:
    """The button that starts both on the loaded table and opens Graph; `why_not`, one sentence, disables it.

    While the table is checked for sums, depth and near copies, it waits, and a second button does not.
    """
    is_checked = bool(why_not) or draft_artefacts.is_checked(draft)
    pressed = st.button(
        "Find the graph",
        type="primary",
        icon=":material/hub:",
        key="find_graph",
        disabled=bool(why_not) or not is_checked,
        help="Searches for the graph of highest likelihood, then fits DISCO's networks. Graph opens now and shows "
        "results as they arrive. You can close the tab meanwhile.",
    )
    if not is_checked:
        st.fragment(_wait, run_every=_SECONDS)(draft)
        pressed = st.button("Find it without waiting", key="find_at_once", type="tertiary")
    if pressed:
        fit_start.begin(draft, REFINE, QUICK, fit_start.trial_of_draft(draft).result, then=FIT, page="graph")


def _wait(draft: Draft) -> None:
    st.caption("Waits for the check of the table.")
    if draft_artefacts.is_checked(draft):
        errors.redraw()


def times(draft: Draft) -> None:
    """How long the search and the fit after it will take here."""
    if draft_facts.usable_table(draft) is not None:
        fit_start.search_line(fit_start.trial_of_draft(draft), QUICK)
    fit_start.time_of(draft)
    if changed := own_settings(draft.settings):
        words = series([fit_options.in_sentence(name, value) for name, value in changed.items()])
        st.caption(f":material/tune: The fit uses what you set on Train: {words}.")


def progress(run: Run) -> bool:
    """The progress of work on a run, with Cancel, and work that failed; False if all is done or never requested."""
    states = {kind: run.status(kind).state for kind in _KINDS}
    is_active = any(run.status(kind).active for kind in _KINDS)
    if is_active:
        st.fragment(_live, run_every=_SECONDS)(run, states)
        return True
    ended = [kind for kind, state in states.items() if state in ("failed", "cancelled", "interrupted")]
    for kind in ended:
        _ended(run, kind)
    return bool(ended)


def _live(run: Run, previous: dict) -> None:
    current = {kind: run.status(kind) for kind in _KINDS}
    is_pressed = st.session_state.get("cancel_finding", False)  # pressed while the search ends, it means the fit
    if any(previous[kind] != status.state for kind, status in current.items()) and not is_pressed:
        errors.redraw()
    row = st.container(key="finding", horizontal=True, vertical_alignment="center", border=True)
    for kind, status in current.items():
        if status.active:
            slot = row.container(width="stretch", gap=None)
            slot.caption(f"**{_KINDS[kind].title}**")
            monitor.bar(slot, run, _KINDS[kind], status)
            monitor.start_now(row, run, kind)
    active = next((kind for kind, status in current.items() if status.active), None)
    if active is not None:
        monitor.cancel(row, run, active, "cancel_finding")
    if is_pressed and active is None:
        errors.redraw()


def _ended(run: Run, kind: Work) -> None:
    status = run.status(kind)
    monitored = _KINDS[kind]
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        st.markdown(f":material/warning: **{monitored.title}** {status.state}. {plain(why(status))}", width="stretch")
        if st.button(monitored.again(run, status), key=f"again_{kind.name}", icon=":material/play_arrow:"):
            monitor.act("Starting …", lambda: jobs.start(run, kind, *monitored.choices(run, status)))
        if kind == REFINE:
            monitored.buttons(run, status)


def offer(draft: Draft) -> None:
    """Both buttons: the search with the fit after it, and the search alone."""
    button(draft)
    quick_look(draft)


def quick_look(draft: Draft) -> None:
    """The button that starts the search alone and opens Graph, and how long it will take."""
    pressed = st.button(
        "Quick look, without a fit",
        icon=":material/bolt:",
        key="quick_look",
        help="Searches for the order and graph of highest likelihood in the paper's model, without networks. You can "
        "fit the same run later.",
    )
    if draft_facts.usable_table(draft) is not None:
        fit_start.search_line(fit_start.trial_of_draft(draft), QUICK)
    if pressed:
        fit_start.begin(draft, REFINE, QUICK, fit_start.trial_of_draft(draft).result, page="graph")
