"""Columns that hardly vary: found and screened by hand-made numbers."""

import numpy as np
import pandas as pd

from disco.table.screening import Screen, left_out, nearly_constant, rare, spreads

TABLE = pd.DataFrame({"usual": np.arange(200) % 5, "rare": [1, 1, 1] + [0] * 197, "same": [3] * 197 + [4, 5, 6]})
TABLE["often 0"], TABLE["text"] = [2] * 10 + [0] * 190, "x"


def test_the_spread_of_each_column_by_hand():
    found = spreads(TABLE).set_index("column")
    assert found.loc["rare", "prevalence"] == 0.015 and found.loc["same", "commonest"] == 0.985
    assert found.loc["usual", "mean"] == 2 and np.isclose(found.loc["usual", "variance"], 2 * 200 / 199)
    assert found.loc["text"].isna().all()


def test_rare_and_nearly_constant_columns_are_told_apart():
    found = spreads(TABLE)
    assert rare(found).tolist() == [False, True, False, False, False]
    assert nearly_constant(found).tolist() == [False, False, True, False, False]


def test_each_bound_leaves_out_what_it_says():
    found = spreads(TABLE)
    assert not left_out(found, Screen()).any()
    assert left_out(found, Screen(prevalence=0.02)).tolist() == [False, True, False, False, False]
    assert left_out(found, Screen(prevalence=0.1)).tolist() == [False, True, False, True, False]
    assert left_out(found, Screen(mean=0.5)).tolist() == [False, True, False, True, False]
    assert left_out(found, Screen(variance=0.15)).tolist() == [False, True, True, False, False]
    assert left_out(found, Screen(commonest=0.98)).tolist() == [False, True, True, False, False]
