"""Numbers that stand for a missing value."""

import numpy as np
import pandas as pd

from disco.table.artefacts import plain_artefacts
from disco.table.codes import coded_rows, codes


def with_codes(rows=(3, 8, 40), code=99):
    values = np.random.default_rng(0).poisson(5, (300, 4))
    values[list(rows), 1] = code
    return values


def test_rows_with_a_code_are_told_and_counts_are_none():
    (found,) = codes(with_codes())
    assert (found.column, found.codes) == (1, (99,)) and found.rows.tolist() == [3, 8, 40] and found.largest < 20
    assert codes(with_codes()[:, [0]]) == [] == codes(with_codes(code=95)) == codes(with_codes(rows=(3,)))
    large = np.random.default_rng(0).poisson(90, (300, 2))
    large[:5] = 99  # within the counts
    assert codes(large) == []
    both = with_codes()
    both[[5, 6], 1] = 98
    assert codes(both)[0].codes == (98, 99)
    assert coded_rows(both).tolist() == [3, 5, 6, 8, 40] and not len(coded_rows(large))
    assert codes(np.full((9, 2), 99)) == [] == codes(np.empty((0, 2), int))


def test_the_finding_names_the_rows_to_leave_out():
    table = pd.DataFrame(with_codes(), columns=list("abcd"))
    (found,) = plain_artefacts(table)
    assert found.kind == "code" and found.flag == "--without-codes"
    assert '"b" is 99 in 3 rows' in found.message and "leave out the 3 rows" in found.advice
    assert plain_artefacts(table.drop(index=[3, 8, 40])) == ()
