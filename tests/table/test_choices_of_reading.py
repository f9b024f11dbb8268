"""Choices of reading a file that no file has: each is refused in one sentence, whatever its type."""

import dataclasses
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.formats.reading import Reading
from disco.table.read import read_table

ODD = (-1, 1.5, np.nan, b"a", "\x1b[31m" + "a" * 9999, [1], {"a": 1}, {3}, object(), np.arange(2), Decimal("sNaN"), 1j)
ODD = (*ODD, "x", pd.DataFrame({"a": [1]}), pd.Series([1]), type, [None], (1,))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    return path


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Reading)])
def test_a_choice_of_a_wrong_type_is_refused_in_a_sentence(path, name):
    for value in ODD:
        with pytest.raises(InputError, match=r"^t\.csv.*\.$") as error:
            read_table(path, **{name: value})
        assert str(error.value).isprintable() and len(str(error.value)) < 500


@pytest.mark.parametrize("mark", [",", ", "])
def test_a_comma_has_one_meaning(path, mark):
    with pytest.raises(InputError, match=r"^t\.csv.*\.$"):
        read_table(path, decimal=",", thousands=mark)


def test_whole_numbers_of_any_type_are_lines(path):
    table = read_table(path, names=np.int64(0), above=np.int8(0))
    assert table.iloc[0].tolist() == ["a", "b"] and len(table) == 3


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 5000 + ".csv", "no.csv", "\x00", "two\nlines.xyz"])
def test_a_path_that_leads_nowhere_is_refused_in_a_sentence(name):
    with pytest.raises(InputError) as error:
        read_table(name)
    assert str(error.value).isprintable() and str(error.value).endswith(".")
