"""The run of a command: an existing one, or a new one for a table."""

import argparse

from disco.cli import options
from disco.cli.roles import check_roles, given_roles
from disco.cli.table_options import read_counts
from disco.errors import InputError
from disco.knowledge.knowledge_files import read
from disco.paper.settings import WITHOUT_FIT, Settings
from disco.runs import Run, open_run
from disco.subjects.fit.command import check_knowledge, folds_of, new_run, resumed
from disco.subjects.table.dismissal import dismiss
from disco.subjects.table.dismissal import reasons as reasons_of


def chosen_run(arguments: argparse.Namespace, run: str, counts: str) -> Run:
    """An existing run, or the run of a table, created if needed but not fitted; messages call them `run` and `counts`.

    Raises:
        InputError: both or neither are given, or --kinds with a run, there is no such run, the table cannot be used, or
            the knowledge or the roles differ from the run's.
    """
    if (arguments.run is None) == (arguments.counts is None):
        raise InputError(f"give {run} for an existing run, or {counts} and --out for a new one.")
    knowledge = None if arguments.knowledge is None else read(arguments.knowledge)
    if arguments.run is not None:
        if arguments.out is not None:
            raise InputError(f"--out goes with {counts}; with {run} the results are stored in that run.")
        if arguments.kinds:
            raise InputError(
                f"--kinds goes with {counts}; the columns of a run are fixed: create a new run of its table."
            )
        existing = open_run(arguments.run)
        check_knowledge(existing, knowledge)
        check_roles(existing, given_roles(arguments, list(existing.with_roles())))
        dismiss(existing, arguments)
        return existing
    if arguments.out is None:
        raise InputError(f"{counts} needs --out, the folder of the new run.")
    selection = read_counts(arguments.counts, arguments, folds_of(arguments.out, {}))
    if (resumed_run := resumed(arguments.out, selection, {}, None, knowledge)) is not None:
        dismiss(resumed_run, arguments)
        return resumed_run
    values = options.specified(arguments, Settings, *WITHOUT_FIT)
    reasons = reasons_of(arguments)
    return new_run(
        selection, Settings.of(**values), arguments.out, "auto", knowledge=knowledge, dismissed=reasons, fits=False
    )
