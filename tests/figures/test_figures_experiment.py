"""The figure of an experiment draws every plot and interval where it is."""

import numpy as np
import pandas as pd
import pytest

from disco.figures import experiment as figures
from disco.figures import roles
from disco.studies.portal import EXPERIMENT

FOUND = pd.DataFrame({"node": ["rats", "<b>mice</b>", "owls"], "control": [4.0, 1.0, 0.5], "treated": [0.2, 2.0, 0.0]})
FOUND = FOUND.assign(ratio=[0.05, 2.0, 0.0], low=[0.02, 1.2, np.nan], high=[0.1, 3.5, np.nan])
PLOTS = pd.DataFrame({"unit": [1, 2, 3], "is_control": [True, False, False], "rats": [4.0, 0.4, 0.0]})
PLOTS["<b>mice</b>"], PLOTS["owls"] = [1.0, 1.5, 2.5], [0.5, 0.0, 0.0]


def drawn(found, means, words):
    return figures.effects(found, means, words, EXPERIMENT)


def test_every_plot_and_interval_is_where_it_is():
    fig = drawn(FOUND, PLOTS, "all exclosures")
    single, sure, open_ = fig.data
    assert [(unit, y) for (unit, _), y in zip(single.customdata, single.y, strict=True)] == [(2, 0), (2, 1), (3, 1)]
    assert list(single.x) == pytest.approx([0.1, 1.5, 2.5])
    assert list(sure.x) == [0.05, 2.0] and list(sure.y) == [0, 1] and len(open_.x) == 0
    assert list(sure.error_x.array) == pytest.approx([0.05, 1.5])
    assert list(sure.error_x.arrayminus) == pytest.approx([0.03, 0.8])
    assert 10 ** fig.layout.xaxis.range[0] < 0.02 and 10 ** fig.layout.xaxis.range[1] > 3.5
    assert fig.layout.yaxis.ticktext[1] == "&lt;b&gt;mice&lt;/b&gt;"


def test_the_title_names_what_is_sure():
    said = "All exclosures, against controls: <b>mice</b> caught more often, rats caught less often"
    assert roles.title_of(drawn(FOUND, PLOTS, "all exclosures")) == said
    unsure = drawn(FOUND.assign(low=0.5, high=2.0), PLOTS, "all")
    assert roles.title_of(unsure) == "All, against controls: no species caught more or less often for sure"


def test_a_code_has_its_full_name_under_the_pointer():
    fig = figures.effects(FOUND, PLOTS, "all", EXPERIMENT, {"rats": "Rattus & <i>co</i>"})
    single, sure, _ = fig.data
    assert [name for _, name in single.customdata][:2] == [
        "rats Rattus &amp; &lt;i&gt;co&lt;/i&gt;",
        "&lt;b&gt;mice&lt;/b&gt;",
    ]
    assert sure.customdata[0][4].startswith("rats Rattus") and "customdata[4]" in sure.hovertemplate


def test_a_code_has_its_full_name_beside_the_axis_if_that_is_short():
    names = {"rats": "Rattus <b>", "owls": "a long list of the names of several owls"}
    fig = figures.effects(FOUND, PLOTS, "all", EXPERIMENT, names)
    assert list(fig.layout.yaxis.ticktext) == ["rats Rattus &lt;b&gt;", "&lt;b&gt;mice&lt;/b&gt;", "owls"]


def test_many_names_are_counted():
    many = pd.concat([FOUND.iloc[[1]].assign(node=f"s{k}") for k in range(6)], ignore_index=True)
    plots = pd.DataFrame({"unit": [1, 2], "is_control": [True, False], **{f"s{k}": [1.0, 2.0] for k in range(6)}})
    assert "s0, s1, s2, s3 and 2 more caught more often" in roles.title_of(drawn(many, plots, "all"))
