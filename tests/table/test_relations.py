"""Columns that others determine exactly."""

import numpy as np
import pandas as pd
import pytest

from disco.table.artefacts import plain_artefacts
from disco.table.relations import exclusive, relations


@pytest.fixture
def base():
    random = np.random.default_rng(0)
    return {name: random.poisson(mean, 200) for name, mean in (("a", 3), ("b", 4), ("c", 2))}


def sentences(**columns):
    return [relation.message for relation in relations(pd.DataFrame(columns))]


def test_what_joins_columns_is_said(base):
    a, b, c = base.values()
    assert sentences(**base) == []
    for made, sentence in (
        (a.copy(), '"y" is a copy of "a".'),
        (3 * a, '"y" is 3 times "a".'),
        (20 - a, '"a" and "y" add up to 20 in every row.'),
        (a**2 + 1, '"y" rises with "a" one to one: their ranks are equivalent.'),
        (1000 - a**2, '"y" falls with "a" one to one: their ranks are equivalent.'),
        (a + b + c, '"y" is the sum of "a", "b" and "c".'),
        (a + 2 * b + 3, '"y" = "a" + 2 × "b" + 3 in every row.'),
        (40 - a - b - c, '"a", "b", "c" and "y" add up to 40 in every row.'),
    ):
        assert sentences(**base, y=made) == [sentence]


def test_a_total_is_named_wherever_it_stands(base):
    total = base["a"] + base["b"] + base["c"]
    for columns in ({"total": total, **base}, {**base, "total": total}):
        (found,) = relations(pd.DataFrame(columns))
        assert found.columns[0] == "total" and found.message.startswith('"total" is the sum of ')


def test_columns_that_agree_in_some_rows_alone_do_not_hide_a_later_total(base):
    """Of 300 rows fewer are decomposed, and in those two rare columns may be the same."""
    random = np.random.default_rng(1)
    columns = {f"x{number}": random.poisson(4, 300) for number in range(6)}
    rare = np.zeros(300, dtype=int)
    for ones in range(1, 30):
        rare[:ones] = 1
        pair = {"rare": rare.copy(), "same": np.where(np.arange(300) == 299 - ones, 9, rare)}
        total = columns["x0"] + columns["x1"]
        assert sentences(**columns, **pair, total=total) == ['"total" is the sum of "x0" and "x1".']


def test_halves_and_one_hot_columns(base):
    a, b = base["a"], base["b"]
    even = 2 * (a + b)
    (found,) = relations(pd.DataFrame({"a": a, "b": b, "twice": even}))
    assert '"twice"' in found.message and "2 × " in found.message
    hot = {f"is{level}": (np.minimum(a, 2) == level) * 1 for level in range(3)}
    (found,) = relations(pd.DataFrame(hot))
    assert found.message.endswith("add up to 1 in every row.") and len(found.columns) == 3


def test_one_row_apart_is_no_relation(base):
    total = base["a"] + base["b"] + base["c"]
    total[7] += 1
    assert sentences(total=total, **base) == []


def test_few_rows_determine_nothing():
    random = np.random.default_rng(0)
    assert relations(pd.DataFrame(random.poisson(3, (12, 20)))) == []
    assert relations(pd.DataFrame({"a": [0, 1, 0, 1], "b": [1, 0, 0, 1], "c": [1, 1, 0, 2]})) == []


def test_products_extremes_and_large_counts(base):
    a, b = base["a"], base["b"]
    assert sentences(a=a, b=b, times=a * b, most=np.maximum(a, b), parity=(a + b) % 2) == []
    large = 10**9 * (1 + a)
    assert sentences(large=large, b=b, sum=large + b) == ['"sum" is the sum of "large" and "b".']


@pytest.mark.parametrize("rows", [20, 100, 150])
def test_a_long_sum_is_found_in_fewer_rows_than_columns_too(rows):
    random = np.random.default_rng(0)
    parts = pd.DataFrame(random.poisson(random.uniform(0.1, 3, 120), (rows, 120))).add_prefix("p").assign(p7=0)
    (found,) = relations(parts.assign(p9=parts["p8"], all=parts.sum(axis=1) - parts["p9"] + parts["p8"]))[1:]
    assert found.message == '"all" is the sum of 119 columns.' and found.columns[0] == "all"
    assert sentences(**parts, rest=parts.sum(axis=1) - (parts["p5"] > 0)) == []
    some = {"other": random.poisson(50, rows), "some": parts.loc[:, "p1":].sum(axis=1)}  # a subset needs more rows
    assert sentences(**parts, **some) == ['"some" is the sum of 118 columns.'] * (rows == 150)


def test_answers_to_one_question_are_found_and_other_0_1_columns_are_not():
    random = np.random.default_rng(0)
    answer = random.choice(5, 4000, p=[0.5, 0.36, 0.08, 0.015, 0.045])
    dummies = pd.DataFrame({f"is{level}": (answer == level) * 1 for level in range(1, 4)})
    table = dummies.assign(a=random.poisson(3, 4000), smokes=random.integers(2, size=4000))
    (found,) = plain_artefacts(table)
    assert (found.kind, found.without) == ("exclusive", ("is2", "is3")) and "about 109 rows" in found.message
    (found,) = plain_artefacts(table.assign(is0=(answer == 0) * 1, is4=(answer == 4) * 1))  # no sum, no shared total
    assert found.kind == "exclusive" and len(found.without) == 4 and found.message.startswith("Exactly one of ")
    kinds = {found.kind for found in plain_artefacts(table.assign(quits=1 - table["smokes"]).drop(columns=["is1"]))}
    assert "relation" in kinds and "exclusive" not in kinds
    for seed in range(100):  # independent, and rare in some columns
        random = np.random.default_rng(seed)
        values = (random.random((random.integers(30, 5000), 40)) < random.beta(0.5, 4, 40)) * 1
        assert not exclusive(values, range(40))
    once = dummies.to_numpy().copy()
    once[np.flatnonzero(once[:, 0])[0], 1:] = 1  # a single row says that they are not answers to one question
    assert not exclusive(once, range(3))
