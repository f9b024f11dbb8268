"""Figures of a table's quality: every column and row is drawn once, marked as it was found, its name as text."""

import numpy as np
import pandas as pd
import pytest
from app_world import HOSTILE, poisson

from disco.subjects.table.figures import quality as figures
from disco.table.quality import quality

FIGURES = (figures.dispersion, figures.zeros, figures.depth)


def made() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = poisson(rows=200, names=tuple("abcde"))
    table.iloc[7] = 30
    gaps = rng.poisson(8, 200) * (rng.random(200) < 0.6)
    return table.assign(gaps=gaps, capped=rng.binomial(20, 0.9, 200))


def drawn(figure) -> dict[str, list[str]]:
    return {trace.name: list(trace.text) for trace in figure.data if trace.text}


def test_marks_and_titles_say_what_was_found():
    looked_at = quality(made())
    dispersion, zeros, depth = (draw(looked_at) for draw in FIGURES)
    kinds = dict(zip(looked_at.columns["column"], looked_at.columns["varies"], strict=True))
    assert drawn(dispersion)["less"] == ["capped"] and "gaps" in drawn(dispersion)["more"]
    assert sorted(sum(drawn(dispersion).values(), [])) == sorted(kinds)
    assert "Of 7 columns" in dispersion.layout.title.text and "1 less" in dispersion.layout.title.text
    assert drawn(zeros)["more"] == ["gaps"] and "1 of 7 columns" in zeros.layout.title.text
    assert drawn(depth)["far away"] == ["row 8"] and len(drawn(depth)["rows"]) == 199
    assert f"{looked_at.depth.explained:.0%}" in depth.layout.title.text


@pytest.mark.parametrize("draw", FIGURES)
def test_hostile_names_and_tables_with_nothing_in_them(draw):
    written = draw(quality(poisson(names=HOSTILE))).to_json()
    assert "<script>" not in written and "\\u003cscript" not in written and "$x$" not in written
    for table in (pd.DataFrame({"a": [0, 0], "b": [0, 0]}), pd.DataFrame({"a": [0, 2, 0], "b": [0, 0, 1]})):
        draw(quality(table)).to_json()
