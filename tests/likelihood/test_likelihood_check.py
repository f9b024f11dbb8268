"""The model check: simulated tables compared with the observed one, and graphs on held-out rows."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from disco.errors import FitStopped, InputError
from disco.likelihood.model import Model
from disco.likelihood.model_check import check
from disco.table.adjustment import Adjustment

GRAPHS = {"empty": {}, "true": {"y": ["x"], "z": ["y"]}}


def chain(rows=1500, seed=0):
    random = np.random.default_rng(seed)
    x = random.poisson(2.0, rows)
    y = random.poisson(np.exp(0.2 + 0.3 * x))
    return pd.DataFrame({"z": random.poisson(0.5 + 0.6 * y), "x": x, "y": y})


@pytest.fixture(scope="module")
def found():
    return check(chain(), GRAPHS, simulations=19, folds=3)


def test_the_numbers_are_those_of_the_table(found):
    table = chain()
    columns = found.columns.set_index(["statistic", "node"])["observed"]
    for name, column in table.items():
        assert columns["mean", name] == pytest.approx(column.mean())
        assert columns["ratio", name] == pytest.approx(column.var(ddof=0) / column.mean())
        assert columns["zeros", name] == pytest.approx((column == 0).mean())
    for pair in found.pairs.itertuples():
        expected = spearmanr(table[pair.first], table[pair.second]).statistic
        assert pair.observed == pytest.approx(expected, abs=1e-5)
    margin = found.margins[found.margins["node"] == "x"].set_index("count")["observed"]
    pd.testing.assert_series_equal(margin, table["x"].value_counts().sort_index(), check_names=False, check_dtype=False)


def test_the_true_graph_makes_such_tables_and_the_empty_one_does_not(found):
    assert found.chance == 0.1 and found.outside("pairs") == (0, 3)
    assert all(found.outside(name)[0] <= 1 for name in ("mean", "ratio", "zeros"))
    assert (found.columns["low"] <= found.columns["middle"]).all()
    assert (found.columns["middle"] <= found.columns["high"]).all()
    empty = check(chain(), {"empty": {}}, simulations=19, folds=3)
    assert empty.outside("pairs") == (3, 3)


def test_the_band_is_as_wide_as_tables_differ(found):
    """Each mean's simulated values spread by its standard error: the range of 19 is about 3.7 of them."""
    rows = found.columns[found.columns["statistic"] == "mean"].set_index("node")
    table = chain()
    errors = table.std() / np.sqrt(len(table))
    assert ((rows["high"] - rows["low"]) / errors).mean() == pytest.approx(3.7, rel=0.35)


def test_a_parent_left_out_leaves_its_pair_outside():
    part = check(chain(), {"part": {"z": ["y"]}}, simulations=19, folds=3).pairs.set_index(["first", "second"])
    assert part.loc[("x", "y"), "outside"] and not part.loc[("z", "y"), "outside"]


def test_held_out_rows_prefer_the_true_graph(found):
    assert found.scores["graph"].tolist() == ["empty", "true"]
    gap = found.differences.iloc[0]
    assert (gap["graph"], gap["against"]) == ("true", "empty")
    assert gap["difference"] == pytest.approx(found.scores["mean"].diff().iloc[1])
    assert gap["difference"] > 5 * gap["error"] > 0


def test_held_out_likelihood_by_hand():
    """Two folds, with `Model` fitted on one and evaluated on the other."""
    from disco.paper.ranks import fold_of_rows

    table, fold = chain(400), fold_of_rows(400, 2, 0)
    total = 0.0
    for number in (0, 1):
        model = Model.of(table[fold != number], GRAPHS["true"])
        total += model.held_out(table[fold == number]).sum()
    mean = check(table, GRAPHS, simulations=2, folds=2).scores.set_index("graph")["mean"]
    assert mean["true"] == pytest.approx(total / 400, abs=1e-6)


def test_a_wrong_extra_parent_does_not_help_on_held_out_rows():
    random = np.random.default_rng(1)
    table = pd.DataFrame({"a": random.poisson(3.0, 300), "b": random.poisson(3.0, 300)})
    gap = check(table, {"empty": {}, "extra": {"b": ["a"]}}, simulations=2, folds=3).differences.iloc[0]
    assert gap["difference"] < 2 * gap["error"]


def test_counts_not_seen_in_training_count_as_their_rank():
    table = chain(300)
    table.loc[0, "x"], table.loc[1, "x"] = 500, 300
    found = check(table, GRAPHS, simulations=2, folds=3)
    assert np.isfinite(found.scores["mean"]).all() and found.unseen > 0
    model = Model.of(table[table["x"] < 300], {})
    beyond = table[table["x"] >= 300].assign(y=0, z=0)
    highest = model.row_log_likelihood(beyond.assign(x=model.grids[1][-1]))
    np.testing.assert_array_equal(model.row_log_likelihood(beyond), highest)


def test_tables_without_held_out_rows_say_why():
    few = check(chain(15), GRAPHS, simulations=2, folds=5)
    assert "too few" in few.note and few.scores.empty and len(few.pairs) == 3
    table = chain(60).assign(rare=0)
    table.loc[7, "rare"] = 1
    assert '"rare" is constant' in check(table, GRAPHS, simulations=2, folds=3).note


def test_the_same_seed_gives_the_same_check(found):
    again = check(chain(), GRAPHS, simulations=19, folds=3)
    pd.testing.assert_frame_equal(again.pairs, found.pairs)
    other = check(chain(), GRAPHS, simulations=19, folds=3, seed=1)
    assert not other.pairs["low"].equals(found.pairs["low"])


def test_progress_rises_to_the_end_and_a_wish_to_stop_is_heard():
    heard = []
    check(chain(200), GRAPHS, simulations=3, folds=3, callback=heard.append)
    shares = [event.progress for event in heard]
    assert shares == sorted(shares) and shares[-1] > 0.8
    assert {event.stage for event in heard} == {"fit", "simulate", "held-out"}
    for stage in ("fit", "simulate", "held-out"):
        with pytest.raises(FitStopped):
            check(chain(200), GRAPHS, simulations=3, folds=3, callback=lambda event, stop=stage: event.stage != stop)


def test_a_graph_of_other_columns_is_refused():
    with pytest.raises(InputError, match='"q"'):
        check(chain(200), {"odd": {"q": ["x"]}}, simulations=2)


def test_an_exposure_goes_into_both_parts():
    random = np.random.default_rng(4)
    depth = random.normal(0.0, 0.4, 900)
    table = pd.DataFrame({name: random.poisson(np.exp(1.0 + depth)) for name in "ab"})
    assert check(table, {"empty": {}}, simulations=9, folds=3).outside("pairs") == (1, 1)
    exposed = Adjustment(900, exposure=np.exp(depth))
    assert check(table, {"empty": {}}, adjustment=exposed, simulations=9, folds=3).outside("pairs") == (0, 1)
