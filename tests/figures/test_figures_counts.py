"""Figures of counts: their numbers against direct computation, names as text, readable colours."""

import numpy as np
import pandas as pd
import pytest
from app_world import HOSTILE, poisson
from colours import contrast

from disco.figures import theme
from disco.paper.support import level_support
from disco.subjects.table.figures import counts as figures
from disco.table.counts import describe


@pytest.mark.parametrize("colour", theme.FOLD_COLOURS)
@pytest.mark.parametrize("page", ["#FBFBF9", "#151A1E"])
def test_colours_are_readable_on_light_and_dark(colour, page):
    assert contrast(colour, page) >= 2.8


def test_a_name_is_text_in_a_figure():
    assert theme.label("<script>alert(1)</script>") == "&lt;script&gt;alert(1)&lt;/script&gt;"
    assert "$" not in theme.label("$x$") and theme.label("") == "(empty)" and len(theme.label("x" * 100)) == 40


def test_hostile_names_in_every_figure():
    table = poisson(names=HOSTILE)
    support = level_support(table, table, np.arange(90) % 3, 2)
    drawn = [
        figures.mean_variance(describe(table), HOSTILE[0]),
        figures.distribution(table[HOSTILE[0]]),
        figures.before_after(table[HOSTILE[0]], table[HOSTILE[0]], "rank"),
        figures.levels_per_column(support),
        figures.rows_per_level(support, 2),
    ]
    for figure in drawn:
        written = figure.to_json()
        assert "<script>" not in written and "\\u003cscript" not in written and "$x$" not in written


def test_bars_hold_every_row():
    rng = np.random.default_rng(0)
    for column in (rng.poisson(3, 500), rng.integers(0, 100_000, 500), np.full(5, 7)):
        bars = figures.distribution(pd.Series(column, name="x")).data[0]
        assert sum(bars.y) == len(column) and len(bars.x) <= 121


def test_level_support_against_counting_by_hand():
    codes = pd.DataFrame({"a": [0, 0, 1, 1, 0, 0, 1, 2]})
    fold = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    found = level_support(codes * 5, codes, fold, 2).iloc[0]
    assert (found["before"], found["after"]) == (3, 3) and (found["fewest_rows"], found["most_rows"]) == (1, 2)
    assert found["median_rows"] == 2 and found["kept"] == pytest.approx((1.0 + 0.5) / 2)


def test_thin_columns_stand_out_and_come_first():
    names = ["column", "before", "after", "fewest_rows", "median_rows", "most_rows", "kept"]
    support = pd.DataFrame([("good", 9, 9, 5, 9.0, 20, 1.0), ("thin", 90, 90, 1, 1.0, 2, 0.1)], columns=names)
    figure = figures.rows_per_level(support, 2)
    assert list(figure.layout.yaxis.ticktext) == ["thin", "good"]
    marked = {trace.name: trace.marker.color for trace in figure.data if trace.mode == "markers"}
    assert marked["Median, too few rows"] == theme.WARNING and figure.layout.shapes[0].x0 == 2


def test_at_most_sixty_columns_are_drawn():
    table = poisson(names=tuple(f"x{i}" for i in range(80)))
    support = level_support(table, table, np.arange(90) % 3, 2)
    assert len(figures.levels_per_column(support).layout.yaxis.ticktext) == figures.MOST_COLUMNS


def test_the_poisson_line_is_the_diagonal():
    figure = figures.mean_variance(describe(poisson()))
    np.testing.assert_array_equal(figure.data[0].x, figure.data[0].y)
    constant = describe(pd.DataFrame({"a": [0] * 9, "b": [0] * 9}))
    assert "No column" in figures.mean_variance(constant).layout.annotations[0].text


def test_before_and_after_stand_side_by_side():
    figure = figures.before_after(pd.Series([5, 9, 9], name="x"), pd.Series([0, 1, 1], name="x"), "quantile")
    assert [note.text for note in figure.layout.annotations] == ["Before", "After"]
    assert figure.layout.xaxis2.title.text == "Quantile level"


def test_a_short_axis_of_levels_has_more_than_one_label():
    levels = {"column": ["a", "b"], "before": [7, 9], "after": [7, 9], "thinnest": 1.0, "median": 2.0, "fullest": 3.0}
    figure = figures.levels_per_column(pd.DataFrame({**levels, "kept": 1.0}))
    assert list(figure.layout.xaxis.ticktext) == ["6", "7", "8", "9", "10"]


def test_an_axis_of_equal_numbers_of_levels_has_labels_on_both_sides_and_is_no_wider():
    levels = {"column": ["a", "b"], "before": [17, 17], "after": [17, 17]}
    axis = figures.levels_per_column(pd.DataFrame({**levels, "kept": 1.0})).layout.xaxis
    assert list(axis.ticktext) == ["16", "18", "20"]
    assert 10 ** axis.range[0] < 16 and 20 < 10 ** axis.range[1] < 25
