"""The four selectors by name: in settings, in a fit, in a run, and side by side; parents by the likelihood."""

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from made_up import finished_run, of_an_older_version

from disco import DISCO, FitStopped, InputError, Settings
from disco.fitting import fingerprint
from disco.graph.dag import export
from disco.metrics import f1
from disco.paper import ocs
from disco.paper.ranks import other_ranks, rank_on_grid, split_rows
from disco.progress import Event
from disco.runs import Run, create_run
from disco.selectors import cam, evidence, pcm, selection
from disco.simulate import Design, simulate
from disco.subjects.fit import results
from disco.subjects.fit.candidates import compute_candidates, path_of, read_candidates, selected_edges
from disco.subjects.fit.execution import execute
from disco.subjects.fit.results import StoredFit
from disco.table.artefacts import ARTEFACTS
from disco.table.counts import as_counts

TINY = {"width": 8, "hidden_layers": 2, "joint_epochs": 3, "projection_epochs": 2, "noise_levels": 1, "device": "cpu"}
ENGINES = {"cam": cam.edges, "pcm": pcm.edges, "evidence": evidence.edges}
OTHERS = list(ENGINES)


def fitted(table: pd.DataFrame, **settings: object) -> DISCO:
    return DISCO("paper", **{**TINY, **settings}).fit(table)


def finished(table: pd.DataFrame, **settings: object) -> Run:
    chosen = {name: value for name, value in {**TINY, **settings}.items() if name != "device"}
    run = create_run(table, Settings.of("paper", **chosen), name="tiny", device="cpu")
    execute(run)
    return run


@pytest.fixture
def quick_pcm(monkeypatch):
    """A forest with few trees, for speed."""
    usual = pcm.edges
    monkeypatch.setattr(pcm, "edges", lambda *a, **named: usual(*a, trees=5, **named))
    return lambda *a, **named: usual(*a, trees=5, **named)


def test_settings_go_round_and_old_ones_read_as_before(small_table):
    chosen = Settings.of("tuned", selector="evidence", disjoint_rows=True)
    assert Settings.from_dict(json.loads(json.dumps(chosen.to_dict()))) == chosen
    assert chosen.changed() == {"selector": "evidence", "disjoint_rows": True}
    with pytest.raises(InputError, match="selector must be one of ocs, cam, pcm, evidence; got 'lasso'"):
        Settings(selector="lasso")
    run = create_run(small_table, Settings(), name="old")
    head = json.loads((run.path / "settings.json").read_text())
    for later in ("selector", "disjoint_rows", "folds_by"):
        del head["settings"][later]
    (run.path / "settings.json").write_text(json.dumps(head))
    assert Run(run.path).settings == Settings()


PREVIEW = {
    "max_rows": 1500, "width": 192, "joint_epochs": 80, "validation_start": 40, "validation_every": 20,
    "projection_epochs": 150, "evaluation_rows": 200, "monitor_every": 5,
}  # fmt: skip # a table
LITERAL = {"joint_schedule": "epochs", "projection_schedule": "epochs"}
LATER = {*LITERAL, "joint_decay", "projection_decay", "projection"}  # settings that fits and runs of before do not have


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("paper", Settings.of("paper", **LITERAL)),
        ("preview", Settings.of("paper", **LITERAL, **PREVIEW)),
        ("tuned", Settings.of("tuned", projection="network")),
    ],
)
def test_runs_of_before_keep_their_numbers(small_table, name, numbers):
    """Their schedules counted epochs, which their settings do not say; the preset `preview` no longer exists."""
    run = create_run(small_table, numbers, name="old")
    head = json.loads((run.path / "settings.json").read_text())
    for later in LATER:
        del head["settings"][later]
    head["settings"]["preset"] = name
    (run.path / "settings.json").write_text(json.dumps(head))
    again = Run(run.path).settings
    assert again == numbers and again.preset == ("tuned" if name == "tuned" else "paper")
    if name == "preview":
        assert again.changed() == {**PREVIEW, **LITERAL}


def test_a_fit_begun_before_the_schedules_were_a_choice_goes_on(small_table):
    """The fingerprint of its checkpoint is what it was then."""
    settings, counts = Settings.of("paper", **LITERAL), as_counts(small_table)
    before = {name: value for name, value in settings.to_dict().items() if name not in {*LATER, "selector"}}
    del before["disjoint_rows"], before["folds_by"]
    assert settings.projection == "network"
    text = json.dumps([sorted(small_table.columns), before], sort_keys=True).encode()
    digest = hashlib.sha256(text + counts.astype("<i8").to_numpy().tobytes()).hexdigest()
    assert fingerprint(counts, np.arange(len(counts)), settings) == digest


@pytest.mark.parametrize("selector", OTHERS)
def test_a_fit_takes_the_edges_of_its_selector(selector, small_table, quick_pcm):
    engine = quick_pcm if selector == "pcm" else ENGINES[selector]
    run = finished(small_table, selector=selector)
    expected = engine(small_table, StoredFit(run).order)
    edges = StoredFit(run).edges()
    kept = expected[expected["selected"]]
    assert set(edges["parent"] + edges["child"]) == set(kept["parent"] + kept["child"])
    assert len(edges) and edges["score"].is_monotonic_decreasing and edges["ocs"].notna().all()
    assert ("p_value" in edges) == (selector != "evidence")
    pd.testing.assert_frame_equal(read_candidates(run, selector), expected, check_dtype=False, rtol=1e-4)
    graph = StoredFit(run).graph()
    assert set(graph.edges) == set(zip(kept["parent"], kept["child"], strict=True))
    assert export(graph, "csv").splitlines()[0].startswith("parent,child,ocs,z,frequency,score")
    tau_z, pi_min = StoredFit(run).thresholds
    by_ocs = ocs.select(StoredFit(run).ocs, tau_z, pi_min)  # is still there, for comparison
    assert len(StoredFit(run).edges(tau_z, pi_min)) == len(by_ocs) and "score" not in StoredFit(run).edges(
        tau_z, pi_min
    )


def test_the_estimator_has_the_same_edges(small_table):
    model, plain = fitted(small_table, selector="cam"), fitted(small_table)
    assert model.order_ == plain.order_ and model.ocs_.equals(plain.ocs_)
    expected = cam.edges(small_table, model.order_)
    pd.testing.assert_frame_equal(model.candidates_, expected)
    kept = expected[expected["selected"]]
    assert set(zip(model.edges_["parent"], model.edges_["child"], strict=True)) == set(model.graph().edges)
    assert int(model.adjacency_.to_numpy().sum()) == len(kept) == len(model.edges_)
    assert all(model.adjacency_.loc[edge.parent, edge.child] for edge in kept.itertuples())
    assert plain.candidates_ is None and set(plain.graph().edges) == set(model.graph(2.0, 1.0).edges)


def test_an_unfinished_fit_goes_on_whatever_the_selector(small_table, tmp_path):
    """No network depends on the selector, nor on disjoint rows if they are off."""
    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(FitStopped):
        DISCO("paper", **TINY).fit(
            small_table, checkpoint=path, callback=lambda event: event.stage in ("artefacts", "joint")
        )
    seen = []
    chosen = DISCO("paper", **TINY, selector="cam")
    chosen.fit(small_table, checkpoint=path, callback=seen.append, dismissed=ARTEFACTS)
    assert seen[0].stage == "projection" and [event.stage for event in seen].count("selector") == 4
    assert [event.progress for event in seen] == sorted(event.progress for event in seen) and seen[-1].progress == 1
    with pytest.raises(InputError, match="other settings"):
        DISCO("paper", **TINY, disjoint_rows=True).fit(small_table, checkpoint=path)


def test_a_stop_while_parents_are_tested_keeps_the_networks(small_table, tmp_path):
    path, model = tmp_path / "checkpoint.safetensors", DISCO("paper", **TINY, selector="cam")
    with pytest.raises(FitStopped, match="while parents were tested"):
        model.fit(small_table, checkpoint=path, callback=lambda event: event.stage != "selector")
    seen = []
    model.fit(small_table, checkpoint=path, callback=lambda event: seen.append(event.stage))
    assert "joint" not in seen and "projection" not in seen and "selector" in seen


# Disjoint rows


def test_halves_are_disjoint_whole_and_of_the_seed():
    settings = Settings(disjoint_rows=True, max_rows=101)
    one, other = split_rows(300, settings)
    assert (len(one), len(other)) == (51, 50) and not set(one) & set(other) and len(set(one) | set(other)) == 101
    assert set(one) | set(other) == set(split_rows(300, Settings(max_rows=101))[0])
    assert not np.array_equal(one, split_rows(300, settings.replace(seed=1))[0])
    same = split_rows(300, Settings())
    assert np.array_equal(*same) and len(same[0]) == 300
    with pytest.raises(InputError, match="disjoint_rows halves the rows, and 23 are too few for 3 folds"):
        split_rows(23, Settings(disjoint_rows=True))


def shuffled(table: pd.DataFrame, rows: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """The table with each column shuffled among some rows."""
    changed = table.copy()
    changed.iloc[rows] = table.iloc[rows].apply(lambda column: rng.permutation(column.to_numpy()))
    return changed


@pytest.mark.parametrize("selector", ["ocs", "cam"])
def test_the_other_half_gives_the_parents_and_nothing_else(selector, small_table, rng):
    settings = {"selector": selector, "disjoint_rows": True}
    model = fitted(small_table, **settings)
    one, other = split_rows(300, model.settings_)
    again = fitted(shuffled(small_table, other, rng), **settings)
    assert model.rows_used_ == 300
    assert again.order_ == model.order_ and again.ccs_.equals(model.ccs_) and again.criteria_.equals(model.criteria_)
    assert not again.ocs_["ocs"].equals(model.ocs_["ocs"])
    if selector == "cam":
        pd.testing.assert_frame_equal(model.candidates_, cam.edges(small_table.iloc[other], model.order_))
        assert not again.candidates_["score"].equals(model.candidates_["score"])
    spoilt = fitted(shuffled(small_table, one, rng), **settings)
    assert not spoilt.ccs_["score"].equals(model.ccs_["score"])


def test_other_rows_stand_on_the_grids_of_the_training_rows(rng):
    counts, others = rng.poisson(3.0, (60, 2)), rng.poisson(9.0, (30, 2))
    fold = np.arange(60) % 3
    found = other_ranks(counts, fold, others, Settings())
    assert sorted(np.concatenate([part.rows for part in found])) == list(range(30))
    for number, part in enumerate(found):
        train = counts[fold != number]
        assert part.top == max(len(np.unique(column)) - 1 for column in train.T)
        for node in range(2):
            expected = rank_on_grid(others[part.rows, node], np.unique(train[:, node]))
            assert np.array_equal(part.held_out[:, node], expected)
    cuts = np.quantile(counts[:, 0], [0.25, 0.5, 0.75])
    levels = other_ranks(counts, fold, others, Settings(transform="quantile"))[0]
    assert np.array_equal(levels.held_out[:, 0], np.searchsorted(cuts, others[levels.rows, 0], side="left"))


# In a run


def test_a_run_keeps_what_is_computed_later(small_table):
    run = finished(small_table)
    assert read_candidates(run, "cam") is None and len(StoredFit(run).edges().columns) == 5
    found = compute_candidates(run, "cam")
    assert path_of(run, "cam") == run.path / "parents_cam.csv"
    pd.testing.assert_frame_equal(read_candidates(run, "cam"), found, check_dtype=False)
    assert "score" not in StoredFit(run).edges()  # the run's own result is as it was
    strict = selected_edges(run, "cam", 1e-30)
    assert len(strict) < len(selected_edges(run, "cam")) == int(found["selected"].sum())
    with pytest.raises(InputError, match="has no parents by evidence yet"):
        selected_edges(run, "evidence")
    with pytest.raises(InputError, match="one of cam, pcm, evidence; got 'ocs'"):
        read_candidates(run, "ocs")


def test_what_is_stale_or_broken_is_not_computed_yet(small_table):
    run = finished(small_table)
    found = compute_candidates(run, "cam")
    path = path_of(run, "cam")
    whole = path.read_text()
    for spoilt in (whole[: len(whole) // 2], "", "parent,child\n", whole.replace('"selected"', '"chosen"')):
        path.write_text(spoilt)
        assert read_candidates(run, "cam") is None
    path.write_text(whole)
    assert read_candidates(run, "cam") is not None
    order = pd.read_csv(run.path / "order.csv")
    order["node"] = order["node"].to_numpy()[::-1]
    order.to_csv(of_an_older_version(run).path / "order.csv", index=False)
    assert read_candidates(run, "cam") is None
    assert not compute_candidates(run, "cam")[["parent", "child"]].equals(found[["parent", "child"]])


def test_a_variant_has_its_own(small_table):
    run = finished(small_table)
    with pytest.raises(InputError, match="no result for constant-clipped"):
        read_candidates(run, "cam", "constant-clipped")
    variant = fitted(small_table).recover(criterion="constant")
    results.save_variant(run, variant, "constant-clipped")
    assert read_candidates(run, "cam", "constant-clipped") is None
    found = compute_candidates(run, "cam", "constant-clipped")
    pd.testing.assert_frame_equal(found, cam.edges(small_table, variant.order))
    assert read_candidates(run, "cam") is None
    results.save_variant(run, variant, "constant-clipped")  # recovered anew
    assert read_candidates(run, "cam", "constant-clipped") is None


@pytest.mark.parametrize("selector", OTHERS)
def test_computing_can_be_stopped_and_tells_how_far_it_is(selector, small_table, quick_pcm):
    run, told = finished_run(5, table=small_table.set_axis([f"x{k}" for k in range(1, 6)], axis=1)), []

    def goes_on(event: Event) -> bool:
        told.append(event.progress)
        return len(told) < 2

    with pytest.raises(FitStopped):
        compute_candidates(run, selector, callback=goes_on)
    assert len(told) == 2 and told == sorted(told) and 0 <= told[0] and told[-1] <= 1
    assert read_candidates(run, selector) is None
    compute_candidates(run, selector, callback=lambda event: told.append(event.progress))
    assert max(told) > 0.7


def test_what_a_selector_would_refuse_is_refused_before_the_fit():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.poisson(3.0, (40, 12))).rename(columns=lambda name: f"x{name}")
    events = []
    with pytest.raises(InputError, match="too many for 20 rows"):
        DISCO("paper", **TINY, selector="pcm").fit(table, callback=events.append)
    table["x3"] = np.where(np.arange(40) == 0, 5, 0)
    settings = {**TINY, "selector": "evidence", "disjoint_rows": True, "folds": 2}
    with pytest.raises(InputError, match='"x3" is constant in the 20 rows used for the parents'):
        [DISCO("paper", **settings, seed=seed).fit(table, callback=events.append) for seed in _halves_without(0)]
    assert {event.stage for event in events} <= {"artefacts"}


def _halves_without(row: int) -> list[int]:
    """A seed for which the half for the parents does not contain a row."""
    halves = (split_rows(40, Settings(disjoint_rows=True, folds=2, seed=seed))[1] for seed in range(20))
    return [next(seed for seed, half in enumerate(halves) if row not in half)]


# Cut-offs and comparison


def test_another_cut_fits_nothing_anew(small_table):
    order = ["a", "b", "c", "d", "e"]
    found = cam.edges(small_table, order)
    for cut in (1e-30, 0.2):
        assert selection.recut(found, "cam", cut).equals(cam.edges(small_table, order, cutoff=cut))
    weighed = evidence.edges(small_table, order)
    least = weighed.loc[weighed["selected"], "score"].min() + 1e-6
    worth = selection.recut(weighed, "evidence", least)
    assert worth["selected"].sum() == weighed["selected"].sum() - 1 > 0
    assert selection.recut(weighed, "evidence", 0.0).equals(weighed)
    assert selection.recut(weighed, "evidence", -5.0)["selected"].equals(weighed["selected"])


def test_two_selectors_side_by_side():
    pairs = {"parent": ["a", "a", "b", "b"], "child": ["b", "c", "c", "d"]}
    one = pd.DataFrame({**pairs, "score": [1.0, 2, 3, 4], "selected": [True, True, False, False]})
    other = pd.DataFrame({**pairs, "score": [5.0, 6, 7, -np.inf], "selected": [True, False, True, False]})
    found = selection.compared(one, other.sample(frac=1, random_state=0))
    assert found["selected_by"].tolist() == ["both", "one", "other", "neither"]
    assert found["score_one"].tolist() == [1, 2, 3, 4] and found["score_other"].tolist()[:3] == [5, 6, 7]
    with pytest.raises(InputError, match="not computed along the same order"):
        selection.compared(one, other.iloc[1:])


@pytest.fixture(scope="module", params=["poisson-softplus", "nb-softplus", "binomial-sigmoid"])
def known(request):
    return simulate(Design(nodes=12, rows=3000, k=2, family=request.param, seed=3))


def test_true_order_gives_nearly_the_true_graph(known):
    found = evidence.edges(known.table, known.order)
    assert f1(known.truth, found[found["selected"]]) > 0.93 and len(found) == 12 * 11 // 2
    place = {name: number for number, name in enumerate(known.order)}
    assert (found["parent"].map(place) < found["child"].map(place)).all()
    assert (found.loc[found["selected"], "score"] > -0.5).all()
    assert (found.loc[~found["selected"], "score"].fillna(-1.0) < 0.5).all()  # NaN: the screen leaves it out


@pytest.mark.parametrize("other", [np.arange(12) % 2, 1 - np.arange(12) % 2])
def test_a_copy_and_a_complement_have_an_answer(other):
    found = evidence.edges(pd.DataFrame({"a": np.arange(12) % 2, "b": other}), ["a", "b"])
    assert len(found) == 1 and not np.isinf(found["score"]).any()


def test_the_order_is_kept_where_it_is_wrong():
    """Along the reverse of x → y the edge is still found, reversed."""
    random = np.random.default_rng(0)
    x = random.poisson(2.0, 1500)
    table = pd.DataFrame({"x": x, "y": random.poisson(0.5 + x)})
    forward, back = evidence.edges(table, ["x", "y"]), evidence.edges(table, ["y", "x"])
    assert forward[["parent", "child"]].iloc[0].tolist() == ["x", "y"] and forward["selected"].all()
    assert back[["parent", "child"]].iloc[0].tolist() == ["y", "x"] and back["selected"].all()


def test_no_parents_among_independent_columns():
    table = pd.DataFrame(np.random.default_rng(1).poisson(2.0, (1000, 12))).rename(columns=str)
    assert not evidence.edges(table, list(table.columns))["selected"].any()
