"""Common causes among the artefacts of a table, with their cure tried."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped, InputError
from disco.hidden.adjusting import ROLE, kinds_as_column
from disco.hidden.artefacts import artefacts
from disco.table.edits import AddKinds, applied
from disco.table.roles import Roles

ROWS = 1200


def batches(kinds=2, seed=3):
    """The batch of every row, and counts with means of their own in each batch."""
    random = np.random.default_rng(seed)
    batch = random.integers(kinds, size=ROWS)
    means = random.uniform(3, 9, 8) * np.exp(random.normal(0, 0.7, (kinds, 8)))
    return batch, pd.DataFrame(random.poisson(means[batch]), columns=list("abcdefgh"))


def season():
    random = np.random.default_rng(0)
    time = random.uniform(0, 2 * np.pi, (ROWS, 1)) - random.uniform(0, 2 * np.pi, 8)
    return pd.DataFrame(random.poisson(6 * np.exp(0.6 * np.cos(time))), columns=list("abcdefgh"))


def kinds_of(found):
    return [one.kind for one in found]


def test_kinds_of_rows_are_said_and_adjusting_for_them_is_the_cure():
    batch, table = batches()
    (found,) = artefacts(table)
    assert found.kind == "kinds" and found.message.startswith("2 kinds of rows would explain")
    assert not found.columns and "Adjust for the kinds" in found.advice
    change = kinds_as_column(table)
    assert {*change.kinds} == {"A", "B"} and len(change.kinds) == ROWS
    agreement = np.mean((np.array([*change.kinds]) == "A") == (batch == 0))
    assert max(agreement, 1 - agreement) > 0.8
    cured, roles = applied(table, (change,)), Roles({change.name: ROLE})
    assert str(roles) == "adjusted for kinds of rows" and artefacts(cured, roles) == ()
    with pytest.raises(InputError, match="do not fall into kinds"):
        kinds_as_column(cured, roles)


def test_a_declared_batch_leaves_nothing_to_say():
    batch, table = batches()
    assert artefacts(table.assign(batch=batch), Roles({"batch": ("covariate", "categorical")})) == ()


def test_a_factor_has_no_computed_cure():
    (found,) = artefacts(season())
    assert found.kind == "common" and "One hidden cause would explain what 8 columns share" in found.message
    assert "add it as a column" in found.advice
    with pytest.raises(InputError, match="do not fall into kinds"):
        kinds_as_column(season())


def test_a_depth_is_said_as_depth_and_copies_are_looked_at_once():
    random = np.random.default_rng(4)
    counts = random.poisson(random.uniform(4, 12, 8) * random.lognormal(0, 0.5, (ROWS, 1)))
    assert kinds_of(artefacts(pd.DataFrame(counts).add_prefix("x"))) == ["depth"]
    assert kinds_of(artefacts(pd.DataFrame(counts).add_prefix("x"), dismissed=("depth",))) == ["common"]
    _, table = batches()
    assert kinds_of(artefacts(table.assign(copy=table["a"]))) == ["relation", "kinds"]


def test_dismissed_kinds_are_not_said_and_the_work_can_be_stopped():
    _, table = batches()
    assert artefacts(table, dismissed=("kinds",)) == ()
    stages = []

    def stop(event):
        stages.append((event.stage, event.progress))
        return event.stage != "common"

    with pytest.raises(FitStopped):
        artefacts(table, callback=stop)
    assert [stage for stage, _ in stages][-1] == "common"
    shares = [share for _, share in stages]
    assert shares == sorted(shares) and shares[-1] >= 0.5


def test_a_column_of_kinds_fits_one_table_once():
    table = pd.DataFrame({"a": [1, 2, 3]})
    assert list(applied(table, (AddKinds("ABA"),))["kinds of rows"]) == ["A", "B", "A"]
    for wrong in (table[:2], table.assign(**{"kinds of rows": 0})):
        with pytest.raises(InputError, match="already has a column"):
            applied(wrong, (AddKinds("ABA"),))
    for letters in ("AbA", "", "A1B"):
        with pytest.raises(ValueError, match="capital letter"):
            AddKinds(letters)
