"""The opening of a page: its step, title and table, how sure its result is; or what it needs and where that is."""

from collections.abc import Callable
from itertools import islice
from typing import NoReturn

import streamlit as st

from disco import runs
from disco.runs import Run
from disco.subjects import FIT, stamps
from disco.subjects.refinement import refined
from disco.table.roles import Roles
from disco.verdicts import LEVELS, Verdict
from disco.words import ago, how_many
from pages.shared import session
from pages.shared.table import draft_facts
from pages.shared.table.drafts import Draft
from pages.shared.widgets.findings import dismissed, doubts, lines
from pages.shared.widgets.names import STATES, code, define, plain

# Red is left for errors: a direction that cannot be known is no fault of the table.
_LOOKS = {
    "sure": (st.success, ":material/check_circle:"),
    "guess": (st.info, ":material/info:"),
    "poor": (st.warning, ":material/help:"),
}


def page_intro(title: str, text: str) -> None:
    """A page's title and its one paragraph: what the reader sees and what to do."""
    st.title(title, anchor=False)
    st.markdown(text)


def run_caption(name: str, rows: int, columns: int) -> None:
    """One line that names the table of a page."""
    st.caption(f"{code(name)} · {how_many(rows, 'row')} × {how_many(columns, 'column')}")


def adjustment(roles: Roles | None) -> None:
    """One line on what a result, or a fit to come, is adjusted for; nothing without roles."""
    if roles is not None:
        words = str(roles)
        st.caption(f":material/tune: {plain(words[0].upper() + words[1:])}.", help=define("adjustment"))


def artefacts(run: Run) -> bool:
    """Draw what in a run's table creates edges, while it stands, what was dismissed, and doubts; whether any stands."""
    artefacts_of_run = runs.artefacts.of(run)
    if artefacts_of_run.due:
        st.caption(":material/hourglass_top: Hidden causes are checked last. Until then, no direction is decided.")

    def dismiss(kind: str, why: str) -> None:
        refined.dismiss(run, {kind: why})

    if artefacts_of_run.standing:
        with st.container(border=True, key="artefacts"):
            lines(artefacts_of_run.standing, "run_artefact", None, dismiss)
            st.caption("No direction is decided until this is cured or dismissed.")
            if st.button("Change the table on Data", icon=":material/arrow_back:", key="artefacts_to_data"):
                session.address.go("data")
    dismissed(artefacts_of_run.found, artefacts_of_run.dismissed, "run_artefact", dismiss)
    doubts(artefacts_of_run.doubts, "on Data")
    return bool(artefacts_of_run.standing)


def verdict(of_page: Verdict, on_graph: Verdict | None = None) -> None:
    """Draw a verdict, and below it what the open run is adjusted for.

    While the run's table has artefacts, they replace the level and the advice, unless the verdict is poor.

    Args:
        of_page: its text and advice are Markdown.
        on_graph: Graph's verdict on the run, on a page that judges something else. The worse of the two is in the box
            above the other.
    """
    first, second = of_page, on_graph
    if second is not None and LEVELS.index(second.level) > LEVELS.index(first.level):
        first, second = second, first
    box, icon = _LOOKS[first.level]
    run = session.run.current()
    with st.container(gap="xsmall"):
        if run is not None and artefacts(run) and first.level != "poor":
            st.caption(of_page.text)
        else:
            box(f"**{first.head}.** {first.text} {first.advice}", icon=icon)
            if second is not None and second.head != first.head:
                st.caption(f"{_LOOKS[second.level][1]} **{second.head}.** {second.text}")
        if run is not None:
            adjustment(run.roles)
            origin = runs.origin.of(run)
            if origin is not None and origin.source.caution:
                st.caption(f":material/gavel: {origin.source.caution}")


_BY_LIKELIHOOD = (
    "**It means:** the model of the counts fits better with it, by more than its parameters cost: given the child's "
    "other parents, the distribution of the child changes with the parent. The edge has a head if its reverse fits "
    "clearly worse, also under simpler assumptions. Without a head, its direction is not decided."
)
_BY_DISCO = (
    "**It means:** given the causal order found, raising the parent by one level changes the log odds that the child "
    "is one level higher. Under the paper's rule, this change exceeds that of the child's other candidates in enough "
    "cross-fitting folds. Under the agreement of the folds, it exceeds what their disagreement explains. For CAM, PCM "
    "and evidence, see the help of the selector on Parents."
)


def assumptions_note(*, of_likelihood: bool) -> None:
    """What an edge means and what it does not, in an expander; its edges come from the likelihood or from DISCO."""
    with st.expander("What an edge means, and what it does not", icon=":material/info:"):
        st.markdown(
            f"{_BY_LIKELIHOOD if of_likelihood else _BY_DISCO}\n\n"
            "**It is causal only if** every common cause of two columns is a column of the table, the rows are "
            "independent, there are no causal loops, and each column given its parents follows a semiparametric GLM "
            "whose dependence on every parent is nonlinear.\n\n"
            "**It does not mean** that the effect is large in the units of the data, that a missing edge proves no "
            "effect, or that the share of wrong edges is bounded: no choice of parents guarantees that, and a "
            "wrong order produces wrong edges. A total beside its parts, or an exposure shared by all columns, breaks "
            "the assumptions."
        )


# The paper's method, step by step: page, its title, and what the next page needs.
STEPS = {
    "preprocess": ("Preprocess", "counts"),
    "train": ("Train", "fit"),
    "ordering": ("Ordering", "fit"),
    "parents": ("Parents", "fit"),
    "graph": ("Graph", ""),
}
_MISSING = {
    "counts": "First load a table of counts, and fix the problems listed on Data.",
    "fit": "This needs a finished fit: start one on Train.",
}


def steps(name: str) -> None:
    """Draw the line for a page of the method, by its folder; nothing for other pages."""
    names = list(STEPS)
    if name not in names[:-1]:
        return
    index = names.index(name)
    crumbs = [f"**{title}**" if page == name else title for page, (title, _) in STEPS.items()]
    with st.container(key="steps", horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(" › ".join(crumbs))
        follower, need = names[index + 1], STEPS[name][1]
        is_ready = _is_there(need)
        st.page_link(
            f"pages/{follower}/page.py",
            label=f"Next: {STEPS[follower][0]}",
            icon=":material/arrow_forward:",
            icon_position="right",
            query_params=session.address.parameters(),
            disabled=not is_ready,
            help=None if is_ready else _MISSING[need],
        )


def _is_there(need: str) -> bool:
    if need == "counts":
        draft = session.draft.current()
        return draft is not None and draft_facts.chosen_counts(draft) is not None
    run = session.run.current()
    return run is not None and run.status(FIT).state == "done"


class Ended(Exception):
    """A page has nothing further to draw."""


def end() -> NoReturn:
    """End the page here.

    Never by st.stop: it drops a click in a fragment that is still to be answered, and what the former page's timers
    call stays callable, and is drawn over this page (streamlit 1.67).
    """
    raise Ended


def require_run() -> runs.Run:
    """The open run with its result; without one, draw an empty state and end the page."""
    run = session.run.current()
    if run is None:
        no_run()
        end()
    if run.status(FIT).state != "done":
        not_done(run)
        end()
    return run


def no_table() -> None:
    """No table is loaded: point to Data and end the page."""
    missing_run()
    with st.container(border=True):
        st.markdown("**No table is loaded.** Choose a sample or upload your own counts first.")
        _lead_to("data")
    end()


def missing_run() -> None:
    """Say, once, why the run in the address could not be opened."""
    missing = session.run.why_missing()
    if missing:
        st.warning(plain(missing))


def no_run() -> None:
    """No run is open on a page that shows a fit: a way to start one, and the finished runs."""
    has_fits = any(map(_is_fitted, runs.list_runs()))
    way_on = "Fit a table, or open a finished run." if has_fits else "First load a table of counts and fit it."
    _no_run(
        f"This page shows the result of a fit. {way_on}",
        lambda: _lead_to("data" if session.draft.current() is None else "train"),
    )


def _is_fitted(run: runs.Run) -> bool:
    return run.status(FIT).state == "done"


def without_a_run(words: str, offer: Callable[[Draft], None], which: Callable[[runs.Run], bool] = _is_fitted) -> None:
    """No run is open on a page that needs no fit: a way to make a run of the loaded table, and the finished runs.

    Args:
        offer: draws the button that makes a run of the table.
        which: selects the runs that are listed.
    """
    draft = session.draft.current()

    def begin() -> None:
        if draft is None or draft_facts.chosen_counts(draft) is None:
            _lead_to("data")
            return
        run_caption(draft.name, len(draft.table), len(draft.columns))
        adjustment(draft.roles.needed())
        offer(draft)

    _no_run(words, begin, which)


def _no_run(words: str, begin: Callable[[], None], which: Callable[[runs.Run], bool] = _is_fitted) -> None:
    missing_run()
    with st.container(border=True):
        st.markdown(f"**No run is open.** {words}")
        begin()
        open_finished(which)


_LEADS = {"data": ("Go to Data", ":material/table_view:"), "train": ("Go to Train", ":material/model_training:")}


def _lead_to(page: str) -> None:
    label, icon = _LEADS[page]
    if st.button(label, type="primary", icon=icon, key="empty_lead_on"):
        session.address.go(page)


def open_finished(which: Callable[[runs.Run], bool] = _is_fitted) -> None:
    """A button that opens each of the latest runs of a kind, at first finished fits."""
    listed = st.container(gap="xxsmall")
    for run in islice(filter(which, runs.list_runs()), 5):
        if listed.button(f"Open {code(run.name)} · {ago(run.created)}", key=f"empty_open_{run.id}", type="tertiary"):
            session.run.select(run)
            st.rerun()


def not_done(run: runs.Run) -> None:
    """The open run has no result yet: show its state and point to Train."""
    status = run.status(FIT)
    with st.container(border=True):
        what = "" if status.state == "unfitted" else "The fit "
        state = STATES[status.state]
        way_on = "Train shows its progress and the time left." if status.active else ""
        way_on = "You can continue it on Train." if status.state in ("cancelled", "interrupted") else way_on
        st.markdown(f"**{what}{code(run.name)} {state}.** This page shows the result of a fit. {way_on}")
        if status.state == "running":
            st.progress(min(max(status.progress, 0.0), 1.0), text=f"{status.progress:.0%}")
        with st.container(horizontal=True):
            _lead_to("train")
            if stamps.refinement(run) and st.button("See its graph", icon=":material/hub:", key="empty_to_graph"):
                session.address.go("graph")
