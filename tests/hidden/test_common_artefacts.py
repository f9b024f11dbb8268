"""Common causes among the artefacts of a table, with their cure tried."""

import numpy as np
import pandas as pd
import pytest

from disco.errors import FitStopped, InputError
from disco.hidden.all_artefacts import ROLE, Artefacts, artefacts, kinds_as_column, looked_for
from disco.table.edits import AddKinds, applied
from disco.table.finding import Finding
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
    assert not found.columns and "Adjust for the kinds" in found.remedy
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
    assert "add it as a column" in found.remedy
    with pytest.raises(InputError, match="do not fall into kinds"):
        kinds_as_column(season())


def test_a_depth_is_said_as_depth_and_copies_are_looked_at_once():
    random = np.random.default_rng(4)
    counts = random.poisson(random.uniform(4, 12, 8) * random.lognormal(0, 0.5, (ROWS, 1)))
    assert kinds_of(artefacts(pd.DataFrame(counts).add_prefix("x"))) == ["depth"]
    assert kinds_of(artefacts(pd.DataFrame(counts).add_prefix("x"), dismissed=("depth",))) == ["common"]
    _, table = batches()
    assert kinds_of(artefacts(table.assign(copy=table["a"]))) == ["relation", "kinds"]


def test_the_same_columns_are_looked_at_whether_they_are_dismissed_or_not():
    """A sum and a copy follow the kinds as well: with them, other kinds would be found."""
    _, table = batches()
    table = table.assign(sum=table[list("abcd")].sum(axis=1), copy=table["e"])
    told, without = (looked_for(table, reasons=reasons) for reasons in ({}, {"relation": "It is meant."}))
    assert told.found == without.found and kinds_of(told.found) == ["relation", "kinds"]
    assert kinds_of(without.standing) == ["kinds"] == kinds_of(artefacts(table, dismissed=("relation",)))
    assert told.found[1].edits == (kinds_as_column(table),) == (kinds_as_column(table[list("abcdefgh")]),)


def searches_due(kinds, dismissed, hidden):
    """The searches made beside plain artefacts, and the kinds found; `hidden` has what each finds."""
    asked = []

    def find(which):
        asked.append(which)
        return hidden.get(which)

    plain = tuple(Finding(kind, "So.", "Do.") for kind in kinds)
    told = Artefacts(plain, reasons=dict.fromkeys(dismissed, "It is meant.")).searched(find)
    return asked, kinds_of(told.found)


def test_what_is_looked_for_depends_on_what_stands():
    kinds, common, readings = (Finding(kind, "So.", "Do.") for kind in ("kinds", "common", "readings"))
    both = {"common": common, "readings": readings}
    for shared in ("repeated", "serial", "depth", "filter"):
        assert searches_due(["near", shared], [], both) == ([], [shared, "near"])
        assert searches_due([shared], [shared], both) == (["common"], [shared, "common"])
        assert searches_due([shared, "serial"], [shared], both)[0] == (["common"] if shared == "serial" else [])
    assert searches_due(["near"], [], {"readings": readings}) == (["common", "readings"], ["readings", "near"])
    assert searches_due([], ["common"], both) == (["common", "readings"], ["common", "readings"])
    assert searches_due(["closure"], [], both) == (["common"], ["closure"])
    assert searches_due(["closure"], ["kinds"], {**both, "common": kinds}) == (["common"], ["closure", "kinds"])
    assert searches_due(["closure"], ["closure", "common"], both)[1] == ["closure", "common", "readings"]


def test_dismissed_kinds_are_not_said_and_the_work_can_be_stopped():
    _, table = batches()
    assert "kinds" not in kinds_of(artefacts(table, dismissed=("kinds",)))
    assert artefacts(table, dismissed=("kinds", "common", "readings")) == ()
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
    with pytest.raises(InputError, match='has 2 rows, but "kinds of rows" has 3'):
        applied(table[:2], (AddKinds("ABA"),))
    named = table.assign(**{"kinds of rows": 0, "kinds of rows 2": 0})
    with pytest.raises(InputError, match='already has a column "kinds of rows"'):
        applied(named, (AddKinds("ABA"),))
    assert applied(named, (AddKinds("ABA").apart_from(named.columns),)).columns[-1] == "kinds of rows 3"
    for letters in ("AbA", "", "A1B"):
        with pytest.raises(ValueError, match="capital letter"):
            AddKinds(letters)
