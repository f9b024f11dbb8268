"""The runs of a table among all runs, whatever their origin.

Each is described by the arguments of `create_run`: table, settings, name, source, origin and, with roles, roles.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from disco.errors import InputError
from disco.runs import Run, Work, list_runs

Group = Mapping[str, Mapping[str, Any]]  # by label, the arguments of `create_run`

_FREE = ("boundary", "tau_z", "pi_min")  # applied to what was fitted, so a run may have others


def find(group: Group, work: Work) -> dict[str, Run]:
    """The run of each label: of the same table, roles and settings, without knowledge. A run in which the work is done
    comes first, then one in which it began, then the newest."""
    runs, matches = list_runs(), {}
    for label, arguments in group.items():
        if of_it := [run for run in runs if _is_of(run, arguments)]:
            matches[label] = max(of_it, key=lambda run: progress(run, work))
    return matches


def progress(run: Run, work: Work) -> int:
    """How far the work on a run is: 0 not begun, 1 begun, 2 done."""
    state = run.status(work).state
    return 2 if state == "done" else int(state != work.unasked)


def _is_of(run: Run, arguments: Mapping[str, Any]) -> bool:
    table, roles = arguments["table"], arguments.get("roles")
    needed = None if roles is None else roles.needed()
    free = {name: getattr(run.settings, name) for name in _FREE}
    if run.settings != arguments["settings"].replace(**free) or run.shape[0] != len(table):
        return False
    names = [*(table if roles is None else roles.counts(table)), *(needed.columns if needed else ())]
    try:
        rows, is_bare = run.with_roles(), run.roles == needed and run.knowledge() is None
        return is_bare and list(rows) == names and np.array_equal(rows.to_numpy(), table[names].to_numpy())
    except (InputError, OSError, ValueError):
        return False
