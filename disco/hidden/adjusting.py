"""A table with the kind of every row as a column to adjust for."""

import pandas as pd

from disco.errors import InputError
from disco.hidden.artefacts import kinds, letters
from disco.progress import Callback, Reporter
from disco.table.adjustment import CATEGORICAL
from disco.table.edits import AddKinds
from disco.table.prepared import prepare
from disco.table.roles import Roles

ROLE = ("covariate", CATEGORICAL)


def kinds_as_column(table: pd.DataFrame, roles: Roles | None = None, callback: Callback | None = None) -> AddKinds:
    """The change of a table that adds the kind of every row as a column; its role is `ROLE`.

    Args:
        table: counts, one column per node, and the columns with other roles.
        roles: roles of the columns that are not counts.
        callback: receives the events; False stops.

    Raises:
        InputError: the table or its roles cannot be used, or its rows do not fall into kinds.
    """
    reporter = Reporter(callback, {"kinds": 1.0}, "stopped while looking for kinds of rows.")
    _, found = kinds(prepare(table, roles, folds=None), reporter, "kinds")
    if found is None:
        raise InputError("The rows of this table do not fall into kinds that could be adjusted for.")
    return AddKinds(letters(found))
