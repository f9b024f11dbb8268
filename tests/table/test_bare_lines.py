"""Files whose first line holds data and no names: nothing is lost, and numbered names stay names."""

import io

import numpy as np
import pandas as pd
import pytest
from app_world import workbook

from disco.table.read import NOTES, READING, read_table

pytestmark = pytest.mark.usefixtures("in_process")


def text(rows: list[list], mark: str = ",") -> bytes:
    return "".join(mark.join(map(str, row)) + "\n" for row in rows).encode()


def read(rows: list[list], kind: str = "csv") -> pd.DataFrame:
    data = workbook(("s", rows)) if kind == "xlsx" else text(rows, "\t" if kind == "tsv" else ",")
    return read_table(io.BytesIO(data), f"t.{kind}")


COUNTS = np.random.default_rng(0).poisson(20, (40, 6)).tolist()
GENES = np.random.default_rng(1).poisson(np.geomspace(500, 2, 40)[:, None], (40, 6)).tolist()
WORDS = {
    "ids": [f"ENSG{row:011d}" for row in range(40)],
    "symbols": [f"TP{row}" if row % 3 else f"MY{chr(65 + row)}" for row in range(40)],
    "sites": [f"site {row}" for row in range(40)],
}


@pytest.mark.parametrize("kind", ["csv", "tsv", "xlsx"])
def test_a_first_line_of_counts_is_data(kind):
    for rows in (COUNTS, [[0, 1, 0, 3, 1], *np.random.default_rng(2).poisson(1, (30, 5)).tolist()]):
        table = read(rows, kind)
        assert table.to_numpy().tolist() == rows and table.columns[0] == "x1" and table.attrs[READING]["names"] == 0
        assert any("read as data" in note and "names=1" in note for note in table.attrs[NOTES])


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("wide", [1, 6])
def test_a_first_line_of_a_word_and_counts_is_data(words, wide):
    counts = np.random.default_rng(3).poisson(5, (40, wide)).tolist()
    counts[0] = [4, 9, 2, 6, 5, 5][:wide]
    rows = [[word, *line] for word, line in zip(WORDS[words], counts, strict=True)]
    assert read(rows).iloc[:, 1:].to_numpy().tolist() == counts


@pytest.mark.parametrize("first", ["gene", "Site", "id", "", "sample_id", "Gene name"])
def test_numbers_below_a_title_are_names(first):
    names = [9, 4, 30, 2, 11, 6]
    rows = [[word, *line] for word, line in zip(WORDS["ids"], GENES, strict=True)]
    table = read([[first, *names], *rows])
    assert len(table) == 40 and table.columns.tolist()[1:] == [str(name) for name in names]


@pytest.mark.parametrize(
    "names",
    [
        range(1, 7), range(6, 0, -1), range(2015, 2021), [3, 17, 5, 1, 12, 8], [101, 407, 233, 150, 991, 312], [2] * 6,
        [1, 1, 2, 2, 3, 3], list("abcdef"), ["1a", "2a", "3a", "1b", "2b", "3b"], [5.5, 60.5, 90.5, 70, 71, 72],
    ],
)  # fmt: skip
def test_numbered_columns_keep_their_names(names):
    table = read([list(names), *COUNTS])
    assert len(table) == 40 and table.columns.tolist() == [str(name) for name in names]
    assert read_table(io.BytesIO(text([list(names), *COUNTS])), "t.csv", names=0).shape == (41, 6)


def test_the_choice_of_a_line_of_names_is_kept():
    table = read_table(io.BytesIO(text(COUNTS)), "t.csv", names=1)
    assert len(table) == 39 and table.columns.tolist() == [str(count) for count in COUNTS[0]]
    assert read([[1, 2], [2, 1], [1, 0], [0, 0], [2, 2], [1, 1], [0, 2]]).columns.tolist() == ["1", "2"]
