"""The order of a fit that goes on, as readers see it."""

import pandas as pd
import pytest

from disco.paper.settings import Settings
from disco.runs import create_run
from disco.subjects.fit import order_so_far


@pytest.fixture
def run():
    table = pd.DataFrame({"a": [0, 1, 2, 3] * 9, "b": [1, 0, 2, 5] * 9, "c": [2, 0, 1, 0] * 9})
    return create_run(table, Settings(), name="watched")


def test_an_order_says_how_many_pairs_have_turned(run):
    assert order_so_far.read(run) is None
    order_so_far.tell(run, 20, ["a", "b", "c"])
    assert order_so_far.read(run) == (20, ["a", "b", "c"], None)
    order_so_far.tell(run, 25, ["c", "a", "b"])
    assert order_so_far.read(run) == (25, ["c", "a", "b"], pytest.approx(2 / 3))
    order_so_far.tell(run, 20, ["c", "a", "b"])  # begun again
    assert order_so_far.read(run).turned is None
    order_so_far.forget(run)
    assert order_so_far.read(run) is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"epoch": 1, "order": ["a"], "turned": null}', '{"epoch": "1", "order": [], "turned": 1}']
)
def test_a_damaged_file_counts_as_none(run, text):
    (run.path / "order_so_far.json").write_text(text)
    assert order_so_far.read(run) is None
