"""Parents by another selector along a run's order: computed in the background and stored with the run."""

import streamlit as st

from disco.parents.selectors import WORDS
from disco.progress import Callback
from disco.runs.parents import compute_candidates
from pages.shared.compute import machine
from pages.shared.compute.background import Slow
from pages.shared.result.fit import Result


def offer(result: Result, selector: str, where: str) -> None:
    """A button that runs the selector, or its progress; the page is redrawn when it is done.

    Args:
        where: the section of the page, so a page may have two buttons.
    """
    name, run = WORDS[selector].name, result.run

    def work(callback: Callback) -> None:
        compute_candidates(run, selector, result.variant, callback=callback)

    def button() -> bool:
        key, icon = f"selecting_{where}_{selector}", ":material/play_arrow:"
        look = "primary" if where == "shown" else "secondary"  # the page has nothing else to show
        return st.button(f"Compute {name}", type=look, key=key, icon=icon, help=_TAKES[selector])

    Slow(
        (f"selecting_{selector}", str(run.path), result.variant),
        machine.once_compiled(work) if selector == "evidence" else work,
        f"{name} is testing every node's candidates",
        "The parents could not be computed",
    ).panel(lambda _: None, button)


_STORED = "The result is kept with the run. You can leave the page meanwhile."
_TAKES = {
    "cam": f"Takes seconds. {_STORED}",
    "pcm": f"Fits a random forest for each node: minutes if there are many nodes or rows. {_STORED}",
    "evidence": f"Takes seconds to minutes, depending on the number of nodes. {_STORED}",
}
