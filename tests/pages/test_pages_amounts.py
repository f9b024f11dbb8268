"""Numbers that stand for counts, and a sheet of samples, on Data."""

import numpy as np
import pandas as pd
from app_world import booted, button, csv, draft_of, press, texts, upload

from disco.table.edits import AddColumns, BlankAsZero, Restore


def counted(rng: np.random.Generator) -> pd.DataFrame:
    means = 12 * rng.lognormal(0, 1, 20) * rng.lognormal(0, 0.4, (60, 1))
    return pd.DataFrame(rng.poisson(means), columns=[f"g{at}" for at in range(20)])


def test_normalised_values_and_blank_cells_are_made_counts_by_one_click_each(rng):
    counts = counted(rng)
    at = upload(booted(), "shares.csv", csv(counts.div(counts.sum(axis=1), axis=0)))
    assert button(at, "Find the graph").disabled and "These columns hold numbers" not in texts(at)
    press(at, "Change it so")
    assert draft_of(at).table.equals(counts) and draft_of(at).steps[0].edits == (Restore(),)
    assert not button(at, "Find the graph").disabled
    sparse = pd.DataFrame(rng.poisson(0.9, (60, 20)), columns=counts.columns)
    at = upload(at, "sparse.csv", csv(sparse.astype(float).where(sparse > 0)))
    press(at, "Change it so")
    assert (draft_of(at).table == sparse).all(axis=None) and draft_of(at).steps[0].edits == (BlankAsZero(),)
    press(at, "Undo the last step")
    assert draft_of(at).table.isna().any(axis=None)


def test_a_sheet_of_samples_is_shown_before_it_is_joined_and_can_be_undone(rng):
    names = [f"22-{at}" for at in range(60)]
    counts = counted(rng)
    counts.insert(0, "sample", [f"X22.{at}" for at in range(60)])
    at = upload(booted(), "counts.csv", csv(counts))
    press(at, "The first column holds row names")
    sheet = pd.DataFrame({"id": names[::-1], "batch": ["a", "b", "b"] * 20, "hours": rng.integers(1, 9, 60)})
    key = f"samples_{draft_of(at).key}"
    at.file_uploader(key=key).set_value(("sheet.csv", csv(sheet), "text/csv")).run()
    assert "60 of 60 rows have a line" in texts(at) and draft_of(at).table.shape == (60, 20)
    press(at, "Join these columns")
    now = draft_of(at)
    assert now.roles.columns == {"batch": ("covariate", "categorical"), "hours": "exposure"}
    assert now.table["hours"].tolist() == sheet["hours"].tolist()[::-1] and now.columns == tuple(range(20))
    assert isinstance(now.steps[-1].edits[0], AddColumns) and not button(at, "Find the graph").disabled
    press(at, "Undo the last step")
    assert draft_of(at).table.shape == (60, 20) and not draft_of(at).roles.columns
    key = f"samples_{draft_of(at).key}"
    at.file_uploader(key=key).set_value(("sheet.csv", b"id,x\nn1,2\nn2,3\n", "text/csv")).run()
    assert "No row has its name" in texts(at)
