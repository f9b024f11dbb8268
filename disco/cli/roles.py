"""The columns' roles, from --roles and the flags of single roles, such as --covariates and --group."""

import argparse
import csv
import io
from collections.abc import Collection, Sequence

from disco.errors import InputError
from disco.runs import Run
from disco.table.adjustment import CATEGORICAL, CONTEXT_KINDS, KINDS
from disco.table.cells import is_number
from disco.table.interventions import INTERVENTION_KINDS
from disco.table.roles import COMPUTED_BY, Roles, read


def given_roles(arguments: argparse.Namespace, names: Sequence[str], categories: Collection[str] = ()) -> Roles | None:
    """The roles from --roles and the flags, which add to the file; None without any.

    Args:
        names: the columns of the table.
        categories: columns that are categorical covariates by default.

    Raises:
        InputError: a column has two roles, or the roles have the wrong form.
    """
    file = Roles() if arguments.roles is None else read(arguments.roles)
    columns, exposure = dict(file.columns), file.exposure
    for name, role in _flags(arguments, names):
        declared = (role, CATEGORICAL) if role == "covariate" and name in categories else role
        if columns.setdefault(name, declared) != declared:
            raise InputError(f'"{name}" has two roles, {_words(columns[name])} and {_words(declared)}: choose one.')
    if arguments.exposure in COMPUTED_BY:
        if arguments.exposure in names:
            raise InputError(
                f"--exposure {arguments.exposure} is computed from the counts, but a column has the same name: say in "
                "a file for --roles which one you mean."
            )
        exposure = COMPUTED_BY[arguments.exposure]
        if file.exposure not in (None, exposure):
            raise InputError(f"The exposure is given twice, as {file.exposure} and {exposure}: choose one.")
    effects, row_number = file.group_effects or arguments.group_effects, file.row_number or arguments.row_number
    blocks = file.blocks if arguments.blocks is None else arguments.blocks
    lags = file.lags if arguments.lags is None else arguments.lags
    season = file.season if arguments.season is None else arguments.season
    trend = file.trend and not arguments.no_trend
    roles = Roles(columns, exposure, effects, file.targets, row_number, blocks, lags, season, trend)
    if (lags, season, trend) != (None, None, True) and not roles.named("time"):
        raise InputError("--lags, --season and --no-trend need --time: name the column of times.")
    return None if roles == Roles() else roles


def _flags(arguments: argparse.Namespace, names: Sequence[str]) -> list[tuple[str, str | tuple[str, str]]]:
    """The name and role of every column in a flag."""
    declared: list[tuple[str, str | tuple[str, str]]] = []
    for role, texts, kinds in (
        ("covariate", arguments.covariates, KINDS),
        ("context", arguments.contexts, CONTEXT_KINDS),
    ):
        for text in names_in(texts):
            name, _, kind = text.rpartition("=")
            is_name = text in names or kind not in kinds
            declared.append((text, role) if is_name else (name, (role, kind)))
    declared += [(text, "ignore") for text in names_in(arguments.ignore)]
    for text in names_in(arguments.time):
        if text not in names and is_number(text):
            raise InputError(
                f'--time names the column of times, and no column is called "{text}". For a limit in seconds, give '
                f"--time-limit {text}."
            )
        declared.append((text, "time"))
    if arguments.exposure is not None and arguments.exposure not in COMPUTED_BY:
        declared.append((arguments.exposure, "exposure"))
    if arguments.intervention is not None:
        name, _, kind = arguments.intervention.rpartition("=")
        is_name = arguments.intervention in names or kind not in INTERVENTION_KINDS
        declared.append((arguments.intervention, "intervention") if is_name else (name, ("intervention", kind)))
    return declared if arguments.group is None else [*declared, (arguments.group, "group")]


def names_in(text: str | None) -> list[str]:
    """The names in a comma-separated list; a name with a comma is quoted."""
    return [] if text is None else [name.strip() for name in split(text)]


def split(text: str) -> list[str]:
    """The items of a list separated by commas or line breaks, unchanged; quotes protect these."""
    lines = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    return [item for line in lines for item in line]


def _words(role: str | tuple[str, str]) -> str:
    return role if isinstance(role, str) else " ".join(role[::-1])


def check_roles(run: Run, roles: Roles | None) -> None:
    """InputError if roles differ from the run's own."""
    if roles is not None and roles.needed() != run.roles:
        how = "without roles" if run.roles is None else f"with other roles ({run.roles})"
        raise InputError(f"{run.path} was created {how}, which are fixed: create a new run of its table.")
