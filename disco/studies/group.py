"""The runs of a study's group: found among all runs, whoever made them, and made and started where they are missing."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from disco.errors import InputError
from disco.runs import FIT, REFINE, Run, Work, create_run, list_runs
from disco.studies.study import Wanted, contents
from disco.work import jobs

_KEPT = 512  # runs of which it is known what they hold


def work(wanted: Wanted) -> Work:
    """What is to be done with a run."""
    return FIT if wanted.choice is None else REFINE


def find(group: Iterable[Wanted]) -> dict[str, Run]:
    """The run of each label: of the same table, roles and settings; a finished one first, then a begun one, then the
    newest.
    """
    group, found = list(group), {}  # type: ignore[var-annotated]
    for run in list_runs():
        for wanted in group:
            if is_of(run, wanted):
                known = found.get(wanted.label)
                if known is None or _rank(run, wanted) > _rank(known, wanted):
                    found[wanted.label] = run
    return {wanted.label: found[wanted.label] for wanted in group if wanted.label in found}


def is_of(run: Run, wanted: Wanted) -> bool:
    """Whether a run has the table, roles and settings that are wanted, and no knowledge."""
    free = {name: getattr(run.settings, name) for name in wanted.free}
    if run.settings != wanted.settings.replace(**free):
        return False
    try:
        return run.shape[0] == len(wanted.table) and _contents(run.path, str(run.created)) == wanted.contents
    except (InputError, OSError, ValueError):
        return False


def missing(group: Iterable[Wanted], found: Mapping[str, Run]) -> list[Wanted]:
    """What nobody has asked for yet."""
    return [one for one in group if one.label not in found or not _rank(found[one.label], one)]


def start(wanted: Wanted, run: Run | None = None) -> Run:
    """Queue what is wanted of a run, which is made unless it is given.

    Raises:
        InputError: it cannot be started.
    """
    if run is None:
        own: dict[str, Any] = {"source": wanted.source, "roles": wanted.roles, "origin": wanted.origin}
        run = create_run(wanted.table, wanted.settings, name=wanted.name, **own)
    jobs.start(run, work(wanted), *(() if wanted.choice is None else (wanted.choice,)))
    return run


def _rank(run: Run, wanted: Wanted) -> int:
    """How far a run is: not begun, begun, done."""
    kind = work(wanted)
    state = run.status(kind).state
    return 2 if state == "done" else int(state != kind.unasked)


@lru_cache(_KEPT)
def _contents(path: Path, created: str) -> object:
    """What tells the table and the roles of a run from others; None if it keeps to knowledge."""
    run = Run(path)
    return None if run.knowledge() is not None else contents(run.with_roles(), run.roles)
