"""The graph of a selector: read from the run, or computed with progress; Ctrl-C stops it."""

import threading
from dataclasses import replace

import networkx as nx

from disco.cli.foreground import signals
from disco.cli.progress import Progress
from disco.errors import FitStopped
from disco.progress import Event
from disco.runs import Run
from disco.subjects.fit.candidates import compute_candidates, read_candidates, selected_graph


def chosen_parents(run: Run, selector: str) -> nx.DiGraph:
    """The DAG of cam, pcm or evidence along a finished run's order; a computed one is stored in the run.

    Raises:
        InputError: the run is not finished, or the selector cannot use its table.
        FitStopped: it was interrupted.
    """
    if read_candidates(run, selector) is None:
        _compute(run, selector)
    return selected_graph(run, selector)


def _compute(run: Run, selector: str) -> None:
    stopping = threading.Event()
    with Progress(f"parents by {selector}") as progress, signals(stopping, progress):

        def watch(event: Event) -> bool:
            progress(replace(event, stage="node"))
            return not stopping.is_set()

        try:
            compute_candidates(run, selector, callback=watch)
        except (FitStopped, KeyboardInterrupt) as stop:
            raise FitStopped("stopped; nothing was saved.") from stop
