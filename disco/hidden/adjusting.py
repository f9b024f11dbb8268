"""A table with the kind of every row as a column to adjust for."""

import pandas as pd

from disco.errors import InputError
from disco.hidden.all_artefacts import kinds, letters, without_advised
from disco.progress import Callback, Reporter
from disco.table.adjustment import CATEGORICAL
from disco.table.artefacts import plain_artefacts
from disco.table.cells import names_of
from disco.table.edits import AddKinds
from disco.table.prepared import prepare
from disco.table.roles import Roles

ROLE = ("covariate", CATEGORICAL)


def kinds_as_column(table: pd.DataFrame, roles: Roles | None = None, callback: Callback | None = None) -> AddKinds:
    """The change of a table that adds the kind of every row as a column; its role is `ROLE`.

    Columns that `disco.table.artefacts` advises to leave out are ignored.

    Raises:
        InputError: the table or its roles cannot be used, or its rows do not fall into kinds.
    """
    reporter = Reporter(callback, {"columns": 0.5, "kinds": 0.5}, "stopped while looking for kinds of rows.")
    prepared = prepare(table, roles, folds=None)
    plain = plain_artefacts(prepared, callback=reporter.part("columns", ""))
    _, row_kinds = kinds(without_advised(prepared, plain), reporter, "kinds")
    if row_kinds is None:
        raise InputError("The rows of this table do not fall into kinds that could be adjusted for.")
    return AddKinds(letters(row_kinds)).apart_from(names_of(table))
