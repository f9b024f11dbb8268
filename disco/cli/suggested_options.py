"""The command-line options that make a table usable, suggested beside its problems."""

import numpy as np
import pandas as pd

from disco.table.cells import names_of
from disco.table.finding import option
from disco.table.formats.text import DASHED
from disco.table.guesses import guesses
from disco.table.read import NOTES
from disco.table.reshape import has_row_names
from disco.table.roles import Roles, unusable_rows
from disco.table.rows import MOST_FAULTY, proposal
from disco.table.values import blank_as_zero

_MOST_ROWS = 0.5  # share of the rows that may be left out


def suggested_options(table: pd.DataFrame, roles: Roles | None) -> str:
    """The options that make a table usable, as text; empty if one column or less than half of the rows would remain.

    Args:
        table: all chosen columns.
        roles: of its columns; None if none is given, and `--tidy` may then accept the guessed ones.
    """
    counts = table if roles is None else roles.counts(table)
    blanks = ["--blank 0"] if DASHED in table.attrs.get(NOTES, ()) and counts.isna().any(axis=None) else []
    counts = blank_as_zero(counts) if blanks else counts
    names, bad = names_of(counts), proposal(counts)
    if len(names) - len(bad.columns) < 2:
        return ""
    guessed = {} if roles is not None else guesses(counts)
    has_names, has_guesses = has_row_names(counts), bool({*bad.columns} & {*guessed})
    is_first_alone = {*bad.columns, *bad.texts} == {0} or (not names[0].strip() and not has_guesses)
    named = has_names and is_first_alone
    words = ["--row-names"] if named else ["--tidy"] if has_guesses else []
    cured = {*guessed, *([0] if named else [])}
    words += blanks + [option("--without", [names[at] for at in bad.columns if at not in cured and names[at]])]
    texts = [names[at] for at in bad.texts if at or not has_names]  # 0007 names a row
    words += [option("--as-numbers", texts)]
    faulty = np.zeros(len(table), bool) if roles is None else np.any([*unusable_rows(table, roles).values()], axis=0)
    if len(bad.rows) or 0 < faulty.mean() <= MOST_FAULTY:
        faulty[bad.rows] = True
        if faulty.mean() > _MOST_ROWS:
            return ""
        words.append("--complete-rows")
    return " ".join(filter(None, words))
