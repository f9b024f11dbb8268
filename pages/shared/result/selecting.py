"""Parents by another selector along a run's order: computed in the background and kept with the run."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from disco.parents.selectors import WORDS
from disco.progress import Callback
from disco.runs import Run
from disco.runs.parents import compute_candidates
from pages.shared.compute import background, machine
from pages.shared.result.fit import Result


def compute(run: Run, variant: str, selector: str, hear: Callback) -> None:
    """Score every candidate by a selector, and keep the scores with the run."""
    compute_candidates(run, selector, variant, callback=hear)


def offer(result: Result, selector: str, where: str) -> None:
    """A button that runs the selector, or its progress; the page is redrawn when it is done.

    Args:
        where: the part of the page, so a page may have two buttons.
    """
    name = WORDS[selector].name

    def asked() -> Callable[[Callback], None] | None:
        key, icon = f"selecting_{where}_{selector}", ":material/play_arrow:"
        look = "primary" if where == "shown" else "secondary"  # the page has nothing else to show
        if not st.button(f"Compute {name}", type=look, key=key, icon=icon, help=_TAKES[selector]):
            return None
        work = partial(compute, result.run, result.variant, selector)
        return machine.once_compiled(work) if selector == "evidence" else work

    background.panel(
        (f"selecting_{selector}", str(result.run.path), result.variant),
        asked,
        lambda kept: None,
        lambda stage: f"{name} is testing every node's candidates",
        "The parents could not be computed",
    )


_KEPT = "The result is kept with the run. You can leave the page meanwhile."
_TAKES = {
    "cam": f"Takes seconds. {_KEPT}",
    "pcm": f"Fits a random forest for each node: minutes if there are many nodes or rows. {_KEPT}",
    "evidence": f"Takes seconds to minutes, depending on the number of nodes. {_KEPT}",
}
