"""The methods by name. The command line, the benchmarks and the page Compare read this list and no other.

A method's module has a frozen dataclass `Options`, checked as `disco.checks` describes, and

    find(table, options, *, callback=None) -> Result

with `adjustment=` too if the method takes roles, and `knowledge=` if it takes knowledge. `table` holds the counts, or
any finite numbers if the method takes them.
"""

import dataclasses
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pandas as pd

from disco.errors import InputError
from disco.knowledge import Knowledge
from disco.progress import Callback
from disco.rivals.result import Result
from disco.table.adjustment import Adjustment
from disco.table.continuous import as_numbers, no_counts
from disco.table.role_checks import divided
from disco.table.roles import Given, Roles


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        label: its name in figures and tables.
        about: what it assumes and does, in one or two sentences.
        module: the module of `disco.rivals` that holds it.
        changes: its options, where they differ from the module's own.
        seconds: about how long it takes on one core, from the numbers of rows and nodes.
        roles: whether it adjusts for covariates, exposure and groups.
        knowledge: whether it keeps to tiers, required and forbidden edges.
        numbers: whether it takes any finite numbers, not only counts.
        package: the package that it needs beyond the project's requirements, as it is installed.
        imports: the name under which that package is imported.
    """

    label: str
    about: str
    module: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    seconds: Callable[[int, int], float] = lambda rows, nodes: 0.1
    roles: bool = False
    knowledge: bool = False
    numbers: bool = False
    package: str = ""
    imports: str = ""

    @property
    def installed(self) -> bool:
        """Whether the package that it needs is there; it is looked for, not loaded."""
        return not self.package or find_spec(self.imports) is not None


def _weights(nodes: int) -> float:
    """About how many weights DiffAN's network has."""
    narrow, wide = max(128, 3 * nodes), max(1024, 5 * nodes)
    return 2 * nodes * narrow + 2 * narrow * wide + wide**2


def _trained(rows: int, nodes: int, epochs: int) -> float:
    """About how many seconds its training takes, at 90 ms for 1,000 rows of 30 nodes."""
    return 7e-11 * rows * epochs * _weights(nodes)


METHODS: dict[str, Method] = {
    "sort-mean": Method(
        "sorted by mean",
        "A control: the columns by rising mean, parents by CAM. What beats no sorting tells little.",
        "sorting",
        {"by": "mean"},
        roles=True,
    ),
    "sort-variance": Method(
        "sorted by variance",
        "A control: the columns by rising variance, parents by CAM.",
        "sorting",
        {"by": "variance"},
        roles=True,
    ),
    "sort-excess": Method(
        "sorted by variance − mean",
        "A control: the columns by rising variance − mean, which is 0 for a Poisson source; parents by CAM.",
        "sorting",
        {"by": "excess"},
        roles=True,
    ),
    "diffan": Method(
        "DiffAN",
        "Removes the node whose log density, as a diffusion network learns it, has the most even curvature; sound if "
        "noise is additive and normal; parents by CAM.",
        "diffan",
        seconds=lambda rows, nodes: _trained(rows, nodes, 3000) + 6e-11 * rows * nodes**2 * _weights(nodes),
        numbers=True,
    ),
    "disco-cont": Method(
        "DISCO-Cont",
        "Our criterion on continuous columns: removes the node whose curvature depends least on the other columns; "
        "parents by CAM.",
        "cont",
        seconds=lambda rows, nodes: 1.2 * _trained(rows, nodes, 1000) + 2e-6 * rows * nodes**2,
        numbers=True,
    ),
}


def method(name: str) -> Method:
    """The method of a name.

    Raises:
        InputError: there is none.
    """
    if name not in METHODS:
        raise InputError(f"There is no method {name!r}; the methods are {', '.join(METHODS)}.")
    return METHODS[name]


def options_of(name: str, changes: Mapping[str, Any] | None = None) -> Any:
    """The options of a method, with some changed.

    Raises:
        InputError: there is no such method or option, or a value does not fit.
    """
    chosen = method(name)
    options = import_module(f"disco.rivals.{chosen.module}").Options
    known = [item.name for item in dataclasses.fields(options)]
    given = {**chosen.changes, **(changes or {})}
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InputError(f"{name} has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}.")
    return options(**given)


def find(
    name: str,
    table: pd.DataFrame,
    changes: Mapping[str, Any] | None = None,
    *,
    roles: Given | None = None,
    knowledge: Knowledge | None = None,
    callback: Callback | None = None,
) -> Result:
    """Run a method.

    Args:
        name: a key of `METHODS`.
        table: counts, or numbers if the method takes them, and the columns with other roles.
        changes: options that differ from the method's own.
        roles: of the columns that are not counts; a method that cannot use them says so in its notes.
        knowledge: rules for order and edges; likewise.
        callback: receives the events; False stops.

    Raises:
        InputError: the table, a role, an option or the knowledge cannot be used, or a package is not installed.
        FitStopped: the callback asked to stop.
    """
    chosen, options = method(name), options_of(name, changes)
    if not chosen.installed:
        raise InputError(f"{chosen.label} needs the package {chosen.package}: pip install {chosen.package}.")
    nodes, adjustment = _nodes(chosen, table, roles)
    more: dict[str, Any] = {}
    unused = []
    if chosen.roles:
        more["adjustment"] = adjustment
    elif adjustment is not None:
        unused.append(f"{chosen.label} cannot use roles: covariates, exposure and groups were left aside.")
    if chosen.knowledge:
        more["knowledge"] = knowledge
    elif knowledge is not None:
        unused.append(f"{chosen.label} cannot use knowledge: no tier and no rule was kept to.")
    began = time.perf_counter()
    found = import_module(f"disco.rivals.{chosen.module}").find(nodes, options, callback=callback, **more)
    seconds = time.perf_counter() - began
    return dataclasses.replace(found, seconds=seconds, notes=(*found.notes, *unused))


def _nodes(chosen: Method, table: pd.DataFrame, roles: Given | None) -> tuple[pd.DataFrame, Adjustment | None]:
    """The columns that become nodes, checked, and what the others say of the rows."""
    if chosen.numbers:
        if roles is None or isinstance(roles, Adjustment):
            return as_numbers(table), roles
        nodes, adjustment = (roles if isinstance(roles, Roles) else Roles(dict(roles))).split(table)
        return as_numbers(nodes), adjustment
    if roles is None and (column := no_counts(table)) is not None:
        able = ", ".join(name for name, method in METHODS.items() if method.numbers)
        raise InputError(f'{chosen.label} needs counts, and column "{column}" holds other numbers: use {able}.')
    return divided(table, roles)
