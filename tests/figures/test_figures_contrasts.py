"""The forest plot draws every contrast where it is, by the names that nodes are called."""

import numpy as np
import pandas as pd
import pytest

from disco.experiments.contrasts import CHANGED, SAME, UNSURE
from disco.figures import theme
from disco.subjects.experiments import figures

FOUND = pd.DataFrame(
    {"arm": "kept out", "node": ["mice", "<b>rats</b>", "owls", "bats"], "ratio": [2.0, 1.0, 0.7, 0.0]}
).assign(
    of="",
    low=[1.2, 0.95, 0.3, np.nan],
    high=[3.5, 1.05, 1.4, np.nan],
    kind=[CHANGED, SAME, UNSURE, UNSURE],
    expected=[1.1, np.nan, 0.9, 0.5],
    control=1.0,
    treated=2.0,
    q_value=0.01,
)


def test_every_contrast_with_an_interval_is_where_it_is():
    fig = figures.forest(FOUND, 0.1)
    changed, seems, same, refuted, unsure, expected = fig.data
    assert [list(part.y) for part in fig.data] == [[0], [], [1], [], [2], [0, 2]]
    assert list(changed.x) == [2.0] and list(same.x) == [1.0] and list(unsure.x) == [0.7]
    assert (changed.error_x.array[0], changed.error_x.arrayminus[0]) == pytest.approx((1.5, 0.8))
    assert list(expected.x) == [1.1, 0.9]
    assert 10 ** fig.layout.xaxis.range[0] < 0.3 and 10 ** fig.layout.xaxis.range[1] > 3.5
    assert list(fig.layout.yaxis.ticktext) == [
        "mice (arm kept out)",
        "&lt;b&gt;rats&lt;/b&gt; (arm kept out)",
        "owls (arm kept out)",
    ]
    assert theme.title_of(fig) == "What each arm changed"
    levels = figures.forest(FOUND.assign(of="site", arm="site = north"), 0.1)
    assert levels.layout.yaxis.ticktext[0] == "mice (arm north)"  # a long name of the context would hide the level


def test_nodes_can_have_full_names_and_the_figure_a_title():
    fig = figures.forest(FOUND, 0.1, several=False, names={"mice": "Mus <i>"}, title="More mice")
    assert fig.layout.yaxis.ticktext[0] == "Mus &lt;i&gt;" and theme.title_of(fig) == "More mice"
    assert fig.data[0].customdata[0][5] == "kept out: Mus &lt;i&gt;"
