"""Numbers that stand for a missing value."""

import numpy as np
import pandas as pd
import pytest

from disco.table.artefacts import plain_artefacts
from disco.table.codes import coded_rows, codes
from disco.table.edits import applied


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


def test_one_row_is_enough_for_a_code_of_another_column():
    values = with_codes()
    values[7, 2] = 99
    assert [(one.column, one.rows.tolist()) for one in codes(values)] == [(1, [3, 8, 40]), (2, [7])]
    values[7, 2] = 999
    assert [one.column for one in codes(values)] == [1]


@pytest.mark.parametrize("code", [99, 999, 9999])
@pytest.mark.parametrize("mean", [2, 50, 300, 3000])
def test_codes_are_seen_beyond_and_among_counts_that_spread(code, mean, rng):
    counts = rng.negative_binomial(1, 1 / (1 + mean), 400)
    assert codes(counts[:, None]) == []
    rows = np.arange(0, 400, 16)  # 25 rows
    counts[rows] = code
    (found,) = codes(counts[:, None])
    assert code in found.codes and {*rows} <= {*found.rows} and len(found.rows) < 30


def test_a_number_among_counts_is_no_code_if_others_near_it_are_as_common(rng):
    many = np.concatenate([np.full(12, 99), np.full(5, 96), rng.poisson(60, 300)])[:, None]
    assert codes(many) == []  # 12 is less than three times 5
    (found,) = codes(np.concatenate([many, np.full((5, 1), 99)]))
    assert (found.codes, found.near, len(found.rows)) == ((99,), 5, 17) and found.largest == 96
    copies = np.repeat(np.concatenate([[99], rng.negative_binomial(1, 0.02, 40)]), 6)[:, None]
    assert codes(copies) == []  # each row six times
    table = pd.DataFrame({"a": [*rng.negative_binomial(1, 0.01, 300), *[99] * 30], "b": rng.poisson(3, 330)})
    (found,) = [one for one in plain_artefacts(table) if one.kind == "code"]
    assert '"a" is 99 in 3' in found.message and "no number near it in more than" in found.message


def test_a_row_that_reaches_a_code_by_chance_hides_no_code_beyond(rng):
    counts = rng.poisson(40, (300, 1))
    counts[7], counts[[30, 60]] = 77, 9999
    (found,) = codes(counts)
    assert found.codes == (9999,) and found.rows.tolist() == [30, 60] and found.largest == 77


def test_the_finding_names_the_rows_to_leave_out():
    table = pd.DataFrame(with_codes(), columns=list("abcd"))
    (found,) = plain_artefacts(table)
    assert found.kind == "code" and found.flag == "--without-codes"
    assert '"b" is 99 in 3 rows' in found.message and "leave out the 3 rows" in found.remedy
    cured = applied(table, found.edits)
    pd.testing.assert_frame_equal(cured, table.drop(index=[3, 8, 40]).reset_index(drop=True))
    assert plain_artefacts(cured) == ()
