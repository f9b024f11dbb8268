"""Run a method of the registry: check its options and table, and measure its time."""

import dataclasses
import time
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import require_types
from disco.graph.result import GraphResult, Note
from disco.hidden.all_artefacts import artefacts
from disco.knowledge import Knowledge
from disco.methods.registry import INSTALL, METHODS, Method
from disco.progress import Callback, Reporter
from disco.table.adjustment import Adjustment
from disco.table.artefacts import ignored
from disco.table.cells import as_frame
from disco.table.prepared import Prepared, Table, is_continuous, no_counts, prepare, without_interventions
from disco.table.roles import Given, Roles

_LEAST_ROWS = 12  # for counts, as for a fit of three folds


def method(name: str) -> Method:
    """The method with a name. InputError: it does not exist."""
    require_types(name=(name, str))
    if name not in METHODS:
        near = get_close_matches(name, METHODS, n=3)
        meant = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"There is no method {name!r}; the methods are {', '.join(METHODS)}.{meant}")
    return METHODS[name]


def options_of(name: str, changes: Mapping[str, Any] | None = None) -> Any:
    """The options of a method, with some changed. InputError: unknown method or option, or an invalid value."""
    require_types(changes=(changes, Mapping | None))
    chosen = method(name)
    options = import_module(f"disco.methods.{chosen.module}").Options
    names = [item.name for item in dataclasses.fields(options)]
    values = {**chosen.changes, **(changes or {})}
    unknown = sorted(set(values) - set(names))
    if unknown:
        raise InputError(f"{name} has no option {unknown[0]!r}; it has {', '.join(names) or 'none'}.")
    return options(**values)


def find(
    name: str,
    table: pd.DataFrame | np.ndarray,
    changes: Mapping[str, Any] | None = None,
    *,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
    dismissed: Collection[str] = (),
) -> GraphResult:
    """Run a method.

    Args:
        name: a key of `METHODS`.
        table: counts, or numbers if the method accepts them, and the columns with other roles.
        changes: options that differ from the method's defaults.
        roles: of the columns that are not counts; a method that cannot use them says so in its notes.
        knowledge: rules on order and edges; likewise.
        callback: receives the events; returning False stops.
        dismissed: kinds of artefacts (`disco.hidden.all_artefacts`) that do not apply; the notes name the others in a
            table of counts.

    InputError: the table, a role, an option or the knowledge cannot be used, or a package is not installed.
    """
    chosen, options = method(name), options_of(name, changes)
    require_types(knowledge=(knowledge, Knowledge | None))
    if not chosen.installed:
        raise InputError(f"{chosen.label} needs the package {chosen.package}: {INSTALL}.")
    nodes, adjustment = _nodes(chosen, table, roles)
    arguments: dict[str, Any] = {}
    unused, ignored_columns = [], ignored(table, roles)
    if isinstance(nodes, Prepared):
        ignored_columns = nodes.rows_of(ignored_columns)
    if isinstance(nodes, Prepared) and not chosen.interventions:
        interventions = None if nodes.adjustment is None else nodes.adjustment.interventions
        nodes, words = without_interventions(nodes)
        if interventions is not None and len(nodes.counts) < len(ignored_columns):
            ignored_columns = ignored_columns[interventions.arm == 0]
        adjustment = nodes.adjustment
        unused += [f"{chosen.label} cannot use interventions. {words}"] if words else []
    if adjustment is not None and not chosen.roles and not adjustment.is_only_arms:
        unused.append(f"{chosen.label} cannot use roles: covariates, exposure and groups were ignored.")
    if chosen.knowledge:
        arguments["knowledge"] = knowledge
    elif knowledge is not None:
        unused.append(f"{chosen.label} cannot use knowledge: tiers and rules were ignored.")
    began = time.perf_counter()
    result = import_module(f"disco.methods.{chosen.module}").find(nodes, options, callback=callback, **arguments)
    seconds = time.perf_counter() - began
    relay = Reporter(callback, {"method": 1.0, "artefacts": 0.0}).part("artefacts", "")  # a small share of the time
    is_of_counts = isinstance(nodes, Prepared)
    patterns = artefacts(nodes, aside=ignored_columns, dismissed=dismissed, callback=relay) if is_of_counts else ()
    sentences = tuple(Note(str(artefact), artefact.kind) for artefact in patterns)
    return dataclasses.replace(
        result,
        method=chosen.label,
        choices=dataclasses.asdict(options),
        seconds=seconds,
        notes=(*sentences, *result.notes, *unused),
        artefacts=sentences,
    )


def _nodes(chosen: Method, table: pd.DataFrame | np.ndarray, roles: Given | None) -> tuple[Table, Adjustment | None]:
    """The nodes' columns, and the adjustment from the others; a method for numbers checks them itself."""
    if chosen.numbers:
        if roles is None or isinstance(roles, Adjustment):
            return table, roles
        return (roles if isinstance(roles, Roles) else Roles(roles)).split(as_frame(table))
    if roles is None and is_continuous(table) and (column := no_counts(table)) is not None:
        able = ", ".join(name for name, method in METHODS.items() if method.numbers)
        raise InputError(f'{chosen.label} needs counts, and column "{column}" has other numbers: use {able}.')
    prepared = prepare(table, roles)
    if (rows := len(prepared.counts)) < _LEAST_ROWS:
        raise InputError(f"{chosen.label} needs at least {_LEAST_ROWS} rows; the table has {rows}.")
    return prepared, prepared.adjustment
