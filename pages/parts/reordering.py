"""Another criterion or boundary from the fitted networks: nothing is refitted, but each node is scored anew.

The work goes on in a thread of the server, one for each run and variant, so that a refresh or another tab finds
it again; it never touches Streamlit.
"""

import threading
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from disco.errors import FitStopped, InputError, ScoreUnavailable
from disco.runs import Run
from pages.parts import session
from pages.parts.names import plain
from pages.parts.results import VARIANT_WORDS


@dataclass
class Reordering:
    """One recovery on its way.

    Attributes:
        progress: 0 to 1.
        stage: ordering or parents.
        state: running, done, stopped or failed.
        error: what went wrong, one sentence.
    """

    progress: float = 0.0
    stage: str = "ordering"
    state: str = "running"
    error: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)

    def hear(self, event: Any) -> bool:
        """Take note of a progress event; False asks the recovery to stop."""
        self.progress, self.stage = event.progress, event.stage
        return not self._stop.is_set()

    def cancel(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()

    def work(self, run: Run, variant: str) -> None:
        """Recover and save the variant; every end is written into the state."""
        criterion, boundary = variant.split("-")
        try:
            from disco import serving

            recovery = serving.fitted(run).recover(boundary=boundary, criterion=criterion, callback=self.hear)
            run.save_recovery(recovery, variant)
            self.state = "done"
        except FitStopped:
            self.state = "stopped"
        except (InputError, ScoreUnavailable) as error:
            self.state, self.error = "failed", str(error)
        except Exception as error:
            # The thread has nobody else to tell.
            self.state, self.error = "failed", f"The scores could not be computed: {error}"


@st.cache_resource(show_spinner=False)
def _all() -> dict[tuple[str, str], Reordering]:
    return {}


def begin(run: Run, variant: str) -> Reordering:
    """Start a recovery, or find the one that runs already."""
    key = str(run.path), variant
    found = _all().get(key)
    if found is None or found.state != "running":
        found = _all()[key] = Reordering()
        threading.Thread(target=found.work, args=(run, variant), daemon=True).start()
    return found


def at_work(run: Run, variant: str) -> Reordering | None:
    """The recovery of a variant that was begun since the server started."""
    return _all().get((str(run.path), variant))


def section(run: Run) -> None:
    """One line for each criterion and boundary: shown, ready, on its way, or to be computed."""
    busy = any((job := at_work(run, variant)) and job.state == "running" for variant in VARIANT_WORDS)
    st.fragment(_lines, run_every=0.5 if busy else None)(run, busy)


def _lines(run: Run, was_busy: bool) -> None:
    available = run.variants()
    for variant, words in VARIANT_WORDS.items():
        left, right = st.columns([3, 2], vertical_alignment="center")
        left.markdown(f"**{words}**" + (" · as fitted" if variant == run.own_variant else ""))
        with right:
            _line(run, variant, variant in available)
    busy = any((job := at_work(run, variant)) and job.state == "running" for variant in VARIANT_WORDS)
    if was_busy and not busy:
        st.rerun()  # the whole page: the new order can be shown now, and the clock may stop


def _line(run: Run, variant: str, is_available: bool) -> None:
    job = at_work(run, variant)
    if job and job.state == "running":
        bar, button = st.columns([3, 1], vertical_alignment="center")
        bar.progress(min(job.progress, 1.0), text="Scoring nodes" if job.stage == "ordering" else "Scoring edges")
        button.button("Cancel", key=f"reorder_cancel_{variant}", on_click=job.cancel)
        return
    if is_available:
        is_shown = (session.variant() or run.own_variant) == variant
        if st.button("Shown" if is_shown else "Show", key=f"reorder_show_{variant}", disabled=is_shown):
            session.set_variant(variant)
            st.rerun()
        return
    if st.button("Order again", key=f"reorder_{variant}", help="Uses the fitted networks; nothing is refitted."):
        begin(run, variant)
        st.rerun()
    if job and job.state == "failed":
        st.error(plain(job.error))
    elif job and job.state == "stopped":
        st.caption("Cancelled; nothing was kept.")
