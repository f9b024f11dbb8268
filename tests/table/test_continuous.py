"""Tables of numbers that are not counts: checked, and recognised."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.prepared import as_numbers, is_continuous, no_counts

RNG = np.random.default_rng(0)
COUNTS = pd.DataFrame(RNG.poisson(3.0, (40, 3)), columns=list("abc"))
NUMBERS = pd.DataFrame(RNG.normal(size=(40, 3)), columns=list("xyz"))


def test_numbers_are_kept_as_they_are():
    found = as_numbers(NUMBERS.set_axis(range(5, 45)).astype({"x": "Float64"}))
    assert np.array_equal(found, NUMBERS) and list(found.index) == list(range(40)) and list(found) == ["x", "y", "z"]
    assert as_numbers(COUNTS).dtypes.eq(float).all()


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (NUMBERS.assign(z=2.5), 'Column "z" is constant: every row is 2.5. Leave it out'),
        (NUMBERS * [1, 1, 1e200], 'Column "z" has numbers whose squares are too large or too small'),
        (NUMBERS * [1, 1e-200, 1], 'Column "y" has numbers whose squares are too large or too small'),
        (NUMBERS.head(19), "The table has 19 rows; at least 20 are needed."),
    ],
)
def test_what_cannot_be_used_is_named(table, sentence):
    with pytest.raises(InputError, match=sentence):
        as_numbers(table)


def test_a_table_is_continuous_if_half_of_its_columns_are_no_counts_and_all_are_numbers():
    assert is_continuous(NUMBERS) and not is_continuous(COUNTS)
    assert is_continuous(NUMBERS.assign(a=COUNTS["a"], b=COUNTS["b"], c=COUNTS["c"]))
    assert not is_continuous(COUNTS.assign(x=NUMBERS["x"])) and is_continuous(-1 - COUNTS)
    assert not is_continuous(NUMBERS.assign(word="a")) and not is_continuous(NUMBERS.assign(z=np.nan))
    assert not is_continuous(NUMBERS[["x"]]) and not is_continuous(NUMBERS[[]])


def test_the_first_column_that_holds_no_counts_is_named():
    assert no_counts(COUNTS) is None and no_counts(COUNTS.assign(y=0.5, z=-1)) == "y"
    assert no_counts(COUNTS.assign(y="word", z=-1)) == "z"  # what is no number has a sentence of its own
