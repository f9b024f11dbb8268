"""All results on a run's table: its fit, its refinement, and each compared method."""

from dataclasses import replace

from disco.errors import InputError
from disco.graph.result import GraphResult
from disco.runs import artefacts
from disco.runs.folder import Run
from disco.subjects import FIT, REFINE, stamps
from disco.subjects.comparison import compared
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement.refined import read_refined

FITTED, REFINED = "fit", "refinement"
WORDS = {FITTED: "DISCO fit", REFINED: "likelihood search"}  # in sentences


def names(run: Run) -> list[str]:
    """The names of its results: the fit, the refinement, and the finished methods."""
    present = {FITTED: stamps.fit(run), REFINED: stamps.refinement(run)}
    return [*(name for name, stamp in present.items() if stamp), *compared.names(run)]


def read(run: Run, name: str) -> GraphResult:
    """The result of the fit, the refinement or a method."""
    if name == FITTED:
        return replace(StoredFit(run).graph_result, seconds=run.status(FIT).seconds, artefacts=artefacts.sentences(run))
    if name == REFINED:
        return replace(read_refined(run).found, seconds=run.status(REFINE).seconds)
    ended = compared.read_one(run, name)
    if ended.found is None:
        raise InputError(f"{name} found nothing on the run {run.name}: {ended.error}")
    return replace(ended.found, artefacts=artefacts.sentences(run))
