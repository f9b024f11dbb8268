"""What a case study is: data, a reference that results are held against, and a group of ordinary runs.

A study is one module beside this one. It has a `STUDY`, its tables, and the runs it wants for what a reader chose.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from disco.settings import Settings

if TYPE_CHECKING:
    from disco.refine import Choice
    from disco.runs.origin import Origin
    from disco.table.roles import Roles

Pairs = tuple[tuple[str, str], ...]
Positions = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Study:
    """What stays the same, whatever the reader chooses.

    Attributes:
        name: of its page, and of its command if it has one.
        title: of its page.
        intro: what the reader sees there and does, one paragraph.
        credit: where the data come from, and their licence.
        references: by name, directions (first, second) that orders are held against.
        caution: what the references are not.
        published: the agreement that a paper reports with each reference, by what its orders were found from.
        positions: (x, y) of columns in the figure of a reference, y downwards; computed if there are none.
        numbers: where along the arrow of a direction its number stands, if not at 0.6.
        names: what columns with a code for a name are called in full.
    """

    name: str
    title: str
    intro: str
    credit: str
    references: Mapping[str, Pairs] = field(default_factory=dict)
    caution: str = ""
    published: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    positions: Positions = field(default_factory=dict)
    numbers: Mapping[tuple[str, str], float] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Wanted:
    """A run of a study's group: `disco.studies.group` finds it among all runs, or makes it.

    Attributes:
        label: what it is called in the group.
        name: of a new run.
        table: all columns.
        settings: of its fit.
        roles: of the columns that are not counts.
        source: of the table, in words.
        origin: of the table, for a script.
        choice: of its refinement; None if the run is to be fitted.
        free: settings that the run may have otherwise, because they are applied to what was fitted.
    """

    label: str
    name: str
    table: pd.DataFrame
    settings: Settings
    roles: "Roles | None" = None
    source: str = ""
    origin: "Origin | None" = None
    choice: "Choice | None" = None
    free: tuple[str, ...] = ()

    @cached_property
    def contents(self) -> tuple[list[str], "Roles | None", int]:
        """What tells its table and roles from others."""
        return contents(self.table, self.roles)


def contents(table: pd.DataFrame, roles: "Roles | None") -> tuple[list[str], "Roles | None", int]:
    """The columns on which results depend, their roles, and a number that tables of the same rows share."""
    needed = None if roles is None else roles.needed()
    counts = table if roles is None else roles.counts(table)
    rows = table[[*counts.columns, *(needed.columns if needed else ())]].reset_index(drop=True)
    return list(rows.columns), needed, int(pd.util.hash_pandas_object(rows, index=True).sum())
