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


def suggested_options(table: pd.DataFrame, roles: Roles | None) -> str:
    """The options that leave out columns and rows or read them differently; empty if too little would remain.

    Args:
        table: all chosen columns.
        roles: of its columns; with None, `--tidy` accepts guesses.
    """
    counts = table if roles is None else roles.counts(table)
    blanks = ["--blank 0"] if DASHED in table.attrs.get(NOTES, ()) and counts.isna().any(axis=None) else []
    counts = blank_as_zero(counts) if blanks else counts
    names, bad = names_of(counts), proposal(counts)
    if len(names) - len(bad.columns) < 2:
        return ""
    guessed = {} if roles is not None else guesses(counts)
    words = ["--tidy"] if {*bad.columns} & {*guessed} else []
    has_names = has_row_names(counts)
    is_only = {*bad.columns, *bad.texts} == {0} or (not names[0].strip() and "--tidy" not in words)
    words = ["--row-names"] if has_names and is_only else words
    cured = {*guessed, *([0] if "--row-names" in words else [])}
    words += blanks + [option("--without", [names[at] for at in bad.columns if at not in cured and names[at]])]
    texts = [names[at] for at in bad.texts if at or not has_names]  # 0007 names a row
    words += [option("--as-numbers", texts)]
    of_roles = np.any([*unusable_rows(table, roles).values()], axis=0) if roles is not None else np.zeros(1, bool)
    words += ["--complete-rows"] if len(bad.rows) or 0 < of_roles.mean() <= MOST_FAULTY else []
    return " ".join(filter(None, words))
