"""The shape of a curve in words: a hump is not told by its ends."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from disco.effects.drivers import drivers
from disco.effects.graph_fits import FittedGraphs
from disco.effects.shape import over_range, shape, usual_range
from disco.subjects.effects import figures
from disco.subjects.refinement.figures import fitted_model

VALUES = np.arange(0.0, 24.0, 2.0)


def curve(means: np.ndarray, half: float = 0.5) -> pd.DataFrame:
    return pd.DataFrame({"value": VALUES, "mean": means, "low": means - half, "high": means + half})


@pytest.mark.parametrize(
    ("means", "moves", "at"),
    [
        (3 + VALUES, (1,), np.nan),
        (40 - VALUES, (-1,), np.nan),
        (np.log1p(VALUES) * 9, (1,), np.nan),  # slower and slower, but never level
        (30 - (VALUES - 12) ** 2 / 6, (1, -1), 12),
        (3 + (VALUES - 10) ** 2 / 6, (-1, 1), 10),
        (np.minimum(VALUES, 8) * 2, (1,), 8),
        (np.maximum(20 - VALUES, 8), (-1,), 12),
        (np.maximum(VALUES - 8, 0.0), (1,), np.nan),  # level at first
        (np.full(12, 7.0), (), np.nan),
        (7 + 0.3 * np.sin(VALUES), (), np.nan),  # within the band
        (3 + VALUES + 0.45 * np.sin(9 * VALUES), (1,), np.nan),
        (9 + 6 * np.sin(VALUES / 2), (1, -1, 1, -1), np.nan),
    ],
)
def test_a_shape_is_that_of_the_curve(means, moves, at):
    found = shape(curve(means))
    assert found.moves[: len(moves)] == moves and bool(moves) == bool(found.moves)
    assert found.at == at or (np.isnan(found.at) and np.isnan(at))
    assert found.turns == (len(moves) > 1)
    reversed_ = shape(curve(-means))
    assert reversed_.moves == tuple(-move for move in found.moves)


def hump() -> FittedGraphs:
    """hour → count, highest at noon and equally low at both ends."""
    rng = np.random.default_rng(3)
    hour = rng.integers(0, 24, 900)
    count = rng.poisson(3 + 30 * np.exp(-(((hour - 12) / 4) ** 2)))
    return FittedGraphs.of_dag(nx.DiGraph([("hour", "count")]), pd.DataFrame({"hour": hour, "count": count}))


def test_a_hump_drives_by_its_peak_and_its_title_says_so():
    (row,) = drivers(hump(), "count").to_dict("records")
    assert row["high_value"] == pytest.approx(12, abs=2) or row["low_value"] == pytest.approx(12, abs=2)
    assert abs(np.log(row["rate_ratio"])) > 1 and row["shape"].startswith("rises until about")
    title = figures.drivers(drivers(hump(), "count"), "count").layout.title.text
    assert "its mean rises until about 1" in title and "open" not in title
    title = figures.drivers(drivers(hump(), "count").assign(graphs_none=0.5), "count").layout.title.text
    assert "Directions are open" in title and "drive" not in title


def test_a_line_is_told_by_two_values_and_a_turn_by_a_sentence():
    line = curve(3 + VALUES).assign(case=0, when="")
    assert over_range(line, "c", "a") == ""
    humped = curve(30 - (VALUES - 12) ** 2 / 6).assign(case=1, when="if a → c")
    sentence = "If a → c, over all values of a, the mean of c rises until about 12, then falls."
    assert over_range(pd.concat([line, humped]), "c", "a") == sentence


def test_an_edge_is_told_by_its_peak_too():
    rows = np.full(len(VALUES), 10)
    humped = curve(30 - (VALUES - 12) ** 2 / 6).rename(columns={"value": "count"}).assign(rows=rows)
    words = fitted_model.response_words(humped, "a", "c", str)
    assert words.endswith("rises until about 12, then falls (13.3, 30.0, 19.3).")
    assert "higher where" not in fitted_model.joint_words(humped, "a", "c", "a", str)
    line = curve(3 + VALUES).rename(columns={"value": "count"}).assign(rows=rows)
    words = fitted_model.response_words(line, "a", "c", str)
    assert words.endswith("from 2 to 20, the mean of c goes from 5.00 to 23.0.")
    assert fitted_model.joint_words(line, "a", "c", "a", str) == "a: higher where c is higher."
    rare = line.assign(rows=[95, *[1] * (len(VALUES) - 1)])  # as on Effects: the quantiles are equal, so others count
    low, high = usual_range(np.repeat(VALUES, rare["rows"]))
    assert low < high and f"from {low:g} to {high:g}, " in fitted_model.response_words(rare, "a", "c", str)
