"""Parents by another selector along a run's order: computed in the background and kept with the run."""

from functools import partial

import streamlit as st

from disco.parents.selectors import WORDS
from disco.progress import Callback
from disco.runs import Run
from disco.runs.parents import compute_candidates
from pages.shared.result.fit import Result
from pages.shared.work import background, machine


def begin(run: Run, variant: str, selector: str) -> background.Computation:
    """Start a selector in the background, or find it if it is running already."""
    work = partial(compute, run, variant, selector)
    work = machine.once_compiled(work) if selector == "evidence" else work
    return background.begin(_key(run, variant, selector), work, "The parents could not be computed")


def at_work(run: Run, variant: str, selector: str) -> background.Computation | None:
    """The computation of a selector that was begun since the server started."""
    return background.find(_key(run, variant, selector))


def compute(run: Run, variant: str, selector: str, hear: Callback) -> None:
    """Score every candidate by a selector, and keep the scores with the run."""
    from disco.devices import choose_device  # here, since it loads torch

    device = choose_device("auto").type
    compute_candidates(run, selector, variant, device=device, callback=hear)


def _key(run: Run, variant: str, selector: str) -> background.Key:
    return "selecting", str(run.path), variant, selector


def offer(result: Result, selector: str, where: str) -> None:
    """A button that computes the selector, or its progress; the page is redrawn when it is done.

    Args:
        where: the part of the page, so that a page may have two.
    """
    job = at_work(result.run, result.variant, selector)
    busy = job is not None and job.is_running
    st.fragment(_line, run_every=background.SECONDS if busy else None)(result, selector, where, busy)


def _line(result: Result, selector: str, where: str, was_busy: bool) -> None:
    job = at_work(result.run, result.variant, selector)
    name, key = WORDS[selector].name, f"{where}_{selector}"
    if job and job.is_running:
        background.bar(job, f"{name} tests every node's candidates", key=f"selecting_cancel_{key}")
        return
    if was_busy:
        st.rerun()  # the whole page: the edges can be shown now, or why not, and the clock may stop
    if st.button(f"Compute {name}", key=f"selecting_{key}", icon=":material/play_arrow:", help=_TAKES[selector]):
        begin(result.run, result.variant, selector)
        st.rerun()
    background.say_end(job)


_KEPT = "The result is kept with the run; you may leave the page meanwhile."
_TAKES = {
    "cam": f"Seconds. {_KEPT}",
    "pcm": f"A random forest for each node: minutes if there are many nodes or rows. {_KEPT}",
    "evidence": f"Seconds to minutes, depending on the number of nodes. {_KEPT}",
}
