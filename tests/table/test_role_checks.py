"""Roles that a table cannot bear: each is one sentence with a cure, and the rows that keep a column from its role."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import InputError
from disco.table.prepared import prepare
from disco.table.roles import Roles, unusable_rows


def table() -> pd.DataFrame:
    """Sixty rows of three counts, and columns beside them."""
    rng = np.random.default_rng(0)
    counts = {name: rng.poisson(mean, 60) for name, mean in (("a", 3.0), ("b", 2.0), ("c", 4.0))}
    beside = {"site": ["x", "y", "z"] * 20, "age": rng.permutation(60) + 20.5, "one": "here"}
    rows = {"row": [f"r{row}" for row in range(60)], "half": ["m", "f"] * 30}
    return pd.DataFrame({**counts, **beside, **rows}).assign(c=counts["c"] + 1)


def counts_with(roles: dict, **columns: object) -> tuple:
    frame = table().assign(**columns)
    used = ["a", "b", "c", *columns, *(name for name in roles if name in frame)]
    given = prepare(frame[list(dict.fromkeys(used))], Roles(roles), folds=3)
    return given.counts, given.adjustment


REFUSED = {
    "all rows": ({"one": "group"}, {}, 'group "one" is the same in every row: ignore'),
    "one row": ({"row": "group"}, {}, 'Every row is its own group in "row": ignore'),
    "too few groups": ({"half": "group"}, {}, '"half" has 2 groups, too few for 3 folds'),
    "two nodes": ({"a": "ignore", "b": "covariate"}, {}, 'Only "c" is left as a count, and at least 2'),
    "no node": ({"a": "ignore", "b": "ignore", "c": "ignore"}, {}, "No column is left as a count"),
    "by its levels": ({"site": "covariate"}, {"d": [7, 1, 4] * 20}, 'covariate "site" determines "d"'),
    "rising": ({"age": "covariate"}, {"d": (table()["age"] * 2).astype(int)}, '"age" determines "d", which always'),
    "falling": ({"c": ("covariate", "count")}, {"d": 99 - table()["c"]}, '"c" determines "d", which always'),
    "exposure": ({"c": "exposure"}, {"d": 3 * table()["c"]}, '"d" is the same multiple of the exposure "c"'),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    roles, columns, words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        counts_with(roles, **columns)


def test_a_group_with_effects_that_determines_a_node_is_refused_and_one_without_is_no_cause():
    frame = table()[["a", "b", "site"]].assign(d=[7, 1, 4] * 20)
    assert prepare(frame, {"site": "group"}).adjustment.group is not None
    with pytest.raises(InputError, match='covariate "site" determines "d"'):
        prepare(frame, Roles({"site": "group"}, group_effects=True))


def test_a_node_that_is_only_near_a_function_of_a_covariate_is_no_fault():
    rising = (table()["age"] * 2).astype(int)
    one_other = rising.where(rising != rising.median(), rising.max() + 1)
    one_other.iloc[3] = 0
    assert counts_with({"age": "covariate"}, d=one_other)[1].covariates
    assert counts_with({"site": "covariate"}, d=[*([7, 1, 4] * 19), 7, 1, 5])[1].covariates


def test_rows_that_keep_a_column_from_its_role():
    frame = table().astype({"age": float, "site": object})
    frame.loc[[3, 9], "age"], frame.loc[5, "site"], frame.loc[8, "site"] = np.nan, None, "alone"
    frame["depth"] = [0, -2, "many", *range(1, 58)]
    frame.loc[11, ["a", "b", "c"]] = 0
    roles = Roles({"age": "covariate", "site": ("covariate", "categorical"), "half": "group", "depth": "exposure"})
    found = {name: np.flatnonzero(rows).tolist() for name, rows in unusable_rows(frame, roles).items()}
    assert found == {"age": [3, 9], "site": [5, 8], "depth": [0, 1, 2]}
    roles = Roles({name: "ignore" for name in frame if name not in "abc"}, exposure="total")
    assert np.flatnonzero(unusable_rows(frame, roles)["total"]).tolist() == [11]
    for name, rows in unusable_rows(frame, Roles({"site": "group"}, group_effects=True)).items():
        assert name == "site" and np.flatnonzero(rows).tolist() == [5, 8]
    assert list(unusable_rows(frame, Roles({"site": "group"}))) == ["site"]
    assert not unusable_rows(frame, Roles({"nowhere": "covariate"}))


def test_dates_truths_and_odd_digits_are_levels():
    table = pd.DataFrame({"a": np.arange(60) % 4, "b": np.arange(60) % 5})
    odd = {
        "day": pd.to_datetime(["2020-01-01", "2020-02-01"] * 30),
        "flag": pd.Series([True, False, False] * 20, dtype=object),
        "power": ["²", "1"] * 30,
    }
    for name, cells in odd.items():
        adjustment = prepare(table.assign(**{name: cells}), {name: ("covariate", "categorical")}).adjustment
        assert len(adjustment.covariates[0].levels) == 2
    with pytest.raises(InputError, match="not a number"):
        prepare(table.assign(day=odd["day"]), {"day": ("covariate", "continuous")})


def test_what_python_asks_for_is_checked_as_on_the_page():
    table = pd.DataFrame({"a": np.arange(60) % 4, "b": np.arange(60) % 5})
    with pytest.raises(InputError, match="83% of the rows"):
        prepare(table.assign(g=np.r_[np.zeros(50, int), 1:11]), {"g": "group"})
    with pytest.raises(InputError, match="no total"):
        prepare(table, Roles({"a": "ignore", "b": "ignore"}, exposure="total"))
    for given in (("covariate",), (), ("group", "ordinal")):
        with pytest.raises(InputError, match='"a"'):
            Roles({"a": given})
