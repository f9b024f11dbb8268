"""Thresholds, the rule's limits and the figures of parent selection."""

import numpy as np
import pandas as pd
import pytest
from made_up import HOSTILE, candidates

from disco.figures import theme
from disco.paper.ocs import frequencies, select, sensitivity, standardise, with_z
from disco.subjects.fit.figures import parents as figures
from disco.words import how_many

ORDER = [f"x{k}" for k in range(8)]


@pytest.mark.parametrize("tau_z", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("child", ["x1", "x2", "x7"])
def test_a_candidate_passes_exactly_above_its_folds_threshold(tau_z, child):
    ocs = candidates(ORDER)
    lines = figures.thresholds(ocs, child, tau_z)
    here = ocs[ocs["child"] == child]
    above = here["ocs"].to_numpy() > here["fold"].map(lines).to_numpy()
    # With two candidates Z is exactly 1 or -1, and rounding decides.
    unclear = (here["z"] - tau_z).abs().to_numpy() < 1e-9
    assert ((above == (here["z"] > tau_z).to_numpy()) | unclear).all()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_no_scores_reach_more_than_the_highest_z(count, rng):
    for _ in range(300):
        z = standardise([rng.gamma(0.3, 1.0, count)])[0]
        assert z.max() <= figures.highest_z(count) + 1e-9
    alone = np.array([0.0] * (count - 1) + [1.0]) + 1e-3 * np.arange(count)
    assert standardise([alone])[0].max() > 0.9 * figures.highest_z(count)


def test_what_the_rule_cannot_select_is_named():
    assert figures.cannot_select(ORDER, 2.0) == [("x2", 2, 1.0), ("x3", 3, 2.0)]
    assert figures.cannot_select(ORDER, 1.5) == [("x2", 2, 1.0)] and figures.cannot_select(ORDER, 0.9) == []


def test_candidates_say_how_many_are_kept():
    ocs = candidates(ORDER)
    fig = figures.candidates(ocs, "x7", 1.0, 1.0)
    kept = select(ocs[ocs["child"] == "x7"], 1.0, 1.0)
    assert f"keeps {len(kept)} of 7" in theme.title_of(fig)
    assert sum("<b>" in text for text in fig.layout.yaxis.ticktext) == len(kept)
    assert "2 highest" in theme.title_of(figures.candidates(ocs, "x7", 1.0, 1.0, by="z", limit=2))


@pytest.mark.parametrize("by", ["ocs", "z", "frequency"])
def test_the_matrix_rings_the_kept_edges(by):
    ocs = candidates(ORDER)
    table = frequencies(ocs, 1.0)
    fig = figures.matrix(table, ORDER, 1.0, by, picked="x3")
    heat, kept = fig.data
    expected = select(ocs, 1.0, 1.0)
    assert set(zip(kept.y, kept.x, strict=True)) == set(zip(expected["parent"], expected["child"], strict=True))
    assert np.isnan(np.asarray(heat.z, dtype=float)[np.tril_indices(len(ORDER))]).all()


def test_a_matrix_of_many_nodes_has_few_cells_with_the_highest_of_their_values(monkeypatch):
    names = [f"x{k}" for k in range(1, 8)]
    ocs = candidates(names)
    table, truth = frequencies(ocs, 1.0), pd.DataFrame([("x1", "x2"), ("x7", "x1")], columns=["parent", "child"])
    every = np.asarray(figures.matrix(table, names, 1.0, "z").data[0].customdata, dtype=float)
    monkeypatch.setattr(figures, "MOST_CELLS", 3)
    fig = figures.matrix(table, names, 1.0, "z", "x5", truth)
    heat, kept, right, wrong = fig.data
    assert list(heat.x) == list(heat.y) == ["x1 … x3", "x4 … x6", "x7 … x7"]
    cells = np.asarray(heat.customdata, dtype=float)
    assert (
        cells[0, 1] == np.nanmax(every[:3, 3:6]) and cells[0, 2] == every[:3, 6].max() and np.isnan(cells[1:, 0]).all()
    )
    expected = {tuple(heat.x[names.index(end) // 3] for end in pair) for pair in zip(*_ends(ocs), strict=True)}
    assert set(zip(kept.y, kept.x, strict=True)) == expected and len(kept.x) == len(expected)
    assert (right.y[0], right.x[0], wrong.y[0], wrong.x[0]) == ("x1 … x3", "x1 … x3", "x7 … x7", "x1 … x3")
    assert "3 × 3 pairs" in theme.title_of(fig) and fig.layout.shapes[0].x0 == 0.5


def _ends(ocs: pd.DataFrame) -> tuple[list[str], list[str]]:
    kept = select(ocs, 1.0, 1.0)
    return kept["parent"].tolist(), kept["child"].tolist()


def test_names_cut_to_the_same_letters_stay_apart():
    names = ["a_long_gene_name_of_sample_1", "a_long_gene_name_of_sample_2", "b"]
    fig = figures.matrix(frequencies(candidates(names), 1.0), names, 1.0)
    assert len(set(fig.data[0].x)) == 3


def test_names_are_escaped_for_plotly():
    ocs = candidates(HOSTILE)
    figs = [figures.candidates(ocs, HOSTILE[4], 1.0, 1.0), figures.matrix(frequencies(ocs, 1.0), HOSTILE, 1.0)]
    for fig in figs:
        assert "<script" not in fig.to_json().replace("\\u003c", "<")


@pytest.mark.parametrize("tau_z", [0.0, 1.0, 1.03, 5.04, 7.5])
def test_the_sensitivity_curve_marks_the_present_choice(tau_z):
    """Also between the steps of the curve and beyond its usual end; here Z goes far above 5."""
    ocs = candidates(ORDER).assign(z=lambda ocs: 4 * ocs["z"])
    kept = [len(select(ocs, tau, 2 / 3)) for tau in (tau_z, tau_z - 0.25, tau_z + 0.25)]
    fig = figures.sensitivity(ocs, tau_z, 2 / 3)
    title = "{} at τ_Z = {}; {} if it is 0.25 lower, {} if 0.25 higher"
    assert theme.title_of(fig) == title.format(how_many(kept[0], "edge"), f"{tau_z:g}", *kept[1:])
    assert fig.data[-1].y[0] == kept[0]
    assert {trace.name for trace in fig.data[:-1]} == {"1 of 3 folds", "2 of 3 folds", "all 3 folds"}
    assert all(max(trace.x) >= tau_z and min(trace.x) == 0 for trace in fig.data[:-1])


@pytest.mark.parametrize("rule", ["iqr", "jackknife"])
def test_the_curve_and_the_selection_count_the_same_edges_at_every_threshold(rule):
    """At every Z, where alone the number changes, on a grid, and for a share of the folds between multiples of 1/B."""
    ocs = with_z(candidates(ORDER), rule)
    shown = ocs if rule == "iqr" else ocs[ocs["fold"] == 1]  # as Parents draws it
    taus = sorted({*np.arange(0.0, 5.0, 0.25), *ocs["z"].abs()})
    for pi_min in (0.4, 2 / 3, 1.0) if rule == "iqr" else (1.0,):
        needed = next(k / 3 for k in (1, 2, 3) if k / 3 >= pi_min - 1e-9) if rule == "iqr" else 1.0
        counts = sensitivity(shown, taus)
        curve = counts[np.isclose(counts["pi_min"], needed)]["edges"].tolist()
        assert curve == [len(select(ocs, tau, pi_min)) for tau in taus]
        for tau in taus[::15]:
            assert theme.title_of(figures.sensitivity(shown, tau, pi_min)).startswith(f"{curve[taus.index(tau)]} edge")


def test_equal_scores_draw_without_a_threshold():
    ocs = pd.DataFrame({"fold": [1, 2], "parent": "a", "child": "b", "ocs": [0.0, 0.0], "z": [0.0, 0.0]})
    assert np.isinf(figures.thresholds(ocs, "b", 2.0)).all() and figures.candidates(ocs, "b", 2.0, 1.0).data
