"""Parents by another selector along a run's order: computed in the background and kept with the run.

The work goes on in a thread of the server, one for each run, order and selector, so that a refresh or another tab
finds it again; it never touches Streamlit.
"""

import threading
from dataclasses import dataclass, field

import streamlit as st

from disco.errors import FitStopped, InputError
from disco.parents.selectors import WORDS
from disco.runs import Run
from pages.parts.names import plain
from pages.parts.results import Result


@dataclass
class Selecting:
    """One computation on its way.

    Attributes:
        progress: 0 to 1.
        state: running, done, stopped or failed.
        error: what went wrong, one sentence.
    """

    progress: float = 0.0
    state: str = "running"
    error: str = ""
    _stop: threading.Event = field(default_factory=threading.Event)

    def hear(self, done: int, total: int) -> bool:
        """Take note of how much is done; False asks the computation to stop."""
        self.progress = done / max(total, 1)
        return not self._stop.is_set()

    def cancel(self) -> None:
        """Ask it to stop at its next step."""
        self._stop.set()

    def work(self, run: Run, variant: str, selector: str) -> None:
        """Compute and save; every end is written into the state."""
        try:
            from disco.estimator import choose_device
            from disco.runs.parents import compute_candidates

            device = choose_device("auto").type
            compute_candidates(run, selector, variant, device=device, goes_on=self.hear)
            self.state = "done"
        except FitStopped:
            self.state = "stopped"
        except InputError as error:
            self.error, self.state = str(error), "failed"
        except Exception as error:
            # The thread has nobody else to tell.
            self.error, self.state = f"The parents could not be computed: {error}", "failed"


@st.cache_resource(show_spinner=False)
def _all() -> dict[tuple[str, str, str], Selecting]:
    return {}


def begin(run: Run, variant: str, selector: str) -> Selecting:
    """Start a computation, or find the one that runs already."""
    key = str(run.path), variant, selector
    found = _all().get(key)
    if found is None or found.state != "running":
        found = _all()[key] = Selecting()
        threading.Thread(target=found.work, args=(run, variant, selector), daemon=True).start()
    return found


def at_work(run: Run, variant: str, selector: str) -> Selecting | None:
    """The computation of a selector that was begun since the server started."""
    return _all().get((str(run.path), variant, selector))


def offer(result: Result, selector: str, where: str) -> None:
    """A button that computes the selector, or how far it is; the page is drawn anew when it is done.

    Args:
        where: of the page, so that two may stand on it.
    """
    job = at_work(result.run, result.variant, selector)
    busy = job is not None and job.state == "running"
    st.fragment(_line, run_every=0.5 if busy else None)(result, selector, where, busy)


def _line(result: Result, selector: str, where: str, was_busy: bool) -> None:
    job = at_work(result.run, result.variant, selector)
    name, key = WORDS[selector].name, f"{where}_{selector}"
    if job and job.state == "running":
        bar, button = st.columns([3, 1], vertical_alignment="center")
        bar.progress(min(job.progress, 1.0), text=f"{name} looks at every node's candidates")
        button.button("Cancel", key=f"selecting_cancel_{key}", on_click=job.cancel)
        return
    if was_busy:
        st.rerun()  # the whole page: the edges can be shown now, or why not, and the clock may stop
    if st.button(f"Compute {name}", key=f"selecting_{key}", icon=":material/play_arrow:", help=_TAKES[selector]):
        begin(result.run, result.variant, selector)
        st.rerun()
    if job and job.state == "failed":
        st.error(plain(job.error))
    elif job and job.state == "stopped":
        st.caption("Cancelled; nothing was kept.")


_KEPT = "The result is kept with the run; the page may be left meanwhile."
_TAKES = {
    "cam": f"Seconds. {_KEPT}",
    "pcm": f"A random forest for each node: minutes where nodes or rows are many. {_KEPT}",
    "evidence": f"Seconds to minutes, by the number of nodes. {_KEPT}",
}
