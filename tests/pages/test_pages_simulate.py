"""Simulate: good and impossible designs, graphs by hand, teaching, files, and the way to Preprocess."""

import json

import pandas as pd
import pytest
from app_world import APP, HOSTILE, button, frame_with, texts
from streamlit.testing.v1 import AppTest

from disco import metrics
from disco.simulate import Design, simulate
from disco.simulate.example_designs import EXAMPLES
from pages.simulate import graph_kind, outcome, sketch
from pages.simulate.form import UNSORTABLE, Form
from pages.simulate.sketch import DrawnGraph


def opened(drawn=None, **values):
    """The page with a small design, with given values in its form and perhaps a drawn graph."""
    at = AppTest.from_file(APP, default_timeout=60)
    at.session_state["simulate_form"] = Form().changed(
        **(dict.fromkeys(UNSORTABLE, False) | {"nodes": 6, "rows": 60, "k": 2.0} | values)
    )
    if drawn is not None:
        at.session_state["simulate_drawn"] = drawn
    return at_simulate(at.run())


def at_simulate(at):
    at.switch_page("pages/simulate/page.py").run()
    assert not at.exception, at.exception
    return at


def set_to(at, **values):
    """Set controls of the page, one after the other."""
    for name, value in values.items():
        kinds = (at.number_input, at.selectbox, at.segmented_control, at.toggle)
        next(one for kind in kinds for one in kind if one.key == f"sim_{name}").set_value(value).run()
        assert not at.exception, at.exception
    return at


def table_of(at):
    return at.session_state["simulate_last"].table


def said(at):
    return [error.value.replace("\\", "") for error in at.error]


def test_the_table_is_that_of_the_design():
    at = opened(seed=3, k=2.0)
    expected = simulate(Design(nodes=6, rows=60, k=2.0, seed=3))
    pd.testing.assert_frame_equal(table_of(at), expected.table)
    shown = frame_with(at, "variance").set_index("column")
    for name, column in expected.table.items():
        numbers = [column.mean(), column.var(), (column == 0).mean(), sum(expected.truth["child"] == name)]
        assert shown.loc[name, ["mean", "variance", "zeros", "parents"]].tolist() == pytest.approx(numbers)
    assert f"60 rows × 6 columns, {len(expected.truth)} true edges" in texts(at) and len(at.metric) == 3
    highest = max(max(share, 1 - share) for share in metrics.controls(expected.table, expected.truth).values())
    assert f", agrees with {highest:.0%}:** a method must beat this" in texts(at).replace("\\", "")
    keys = [key for one in at.main if (key := getattr(one, "key", None))]
    assert keys.index("sim_use") < keys.index("sim_rows")
    folded = {one.key for box in at.expander for kind in (box.number_input, box.selectbox, box.toggle) for one in kind}
    every = {one.key for kind in (at.number_input, at.selectbox, at.toggle) for one in kind}
    assert len(every - folded) < 8 and at.button(key="sim_use")  # with the new seed, what a newcomer sees
    button(at, "New seed").click().run()
    assert at.number_input(key="sim_seed").value != 3 and not table_of(at).equals(expected.table)


def test_every_kind_of_graph():
    at = opened(k=2.0)
    for graph, edges in {"er-exact": 12, "sf": 8, "chain": 5, "fork": 5, "collider": 5, "own": 4}.items():
        set_to(at, graph=graph)
        assert f"60 rows × {4 if graph == 'own' else 6} columns, {edges} true edges" in texts(at)


def test_families_in_groups_and_by_node():
    at = set_to(opened(graph="chain"), mixing="groups", group_0="binomial-probit")
    families = ("binomial-probit", "nb-softplus", "binomial-sigmoid")
    assert list(at.session_state["simulate_last"].families.values()) == [family for family in families for _ in "12"]
    set_to(at, mixing="nodes", family="geometric")
    assert set(at.session_state["simulate_last"].families.values()) == {"geometric"}


def test_parameters_are_those_of_the_chosen_families():
    at = set_to(opened(family="nb-softplus"), parameter_size=0.5)
    assert at.session_state["simulate_last"].design.parameters == {"size": 0.5}
    set_to(at, family="poisson-softplus")
    assert at.session_state["simulate_last"].design.parameters == {}
    set_to(at, family="nb-softplus")
    assert at.number_input(key="sim_parameter_size").value == 0.5
    at.number_input(key="sim_parameter_size").set_value(None).run()
    assert at.session_state["simulate_last"].design.parameters == {}


def test_unsortable_sets_its_parts_and_is_on_at_first():
    first = at_simulate(AppTest.from_file(APP, default_timeout=60).run()).session_state["simulate_last"]
    assert all(0.25 < share < 0.75 for share in metrics.controls(first.table, first.truth).values())
    at = set_to(opened(), unsortable=True)
    design = at.session_state["simulate_last"].design
    assert design.random_signs and design.equal_means and design.equal_variances
    set_to(at, equal_means=False)
    design = at.session_state["simulate_last"].design
    assert design.random_signs and not design.equal_variances and not at.toggle(key="sim_unsortable").value


@pytest.mark.parametrize(
    ("values", "section", "words"),
    [
        ({"nodes": 1}, "graph", "from 2 to"),
        ({"graph": "er-exact", "k": 5.0}, "graph", "lower k"),
        ({"graph": "sf", "k": 1.5}, "graph", "whole k"),
        ({"graph": "own", "drawn": DrawnGraph({})}, "graph", "needs its edges"),
        ({"family": "nb-softplus", "parameters": {"size": -1.0}}, "families", "size"),
        ({"graph": "chain", "nodes": 40, "parameters": {"scale": 10.0}}, "families", "The mean of"),
        ({"rows": 0}, "table", "rows"),
        ({"family": "binomial-probit", "exposure": 0.5}, "table", "exposure"),
        ({"interactions": 1.5}, "table", "interactions"),
        ({"family": "binomial-probit", "depth": 0.5}, "table", "depth"),
        ({"groups": 40}, "table", "half as many as the 60 rows"),
    ],
)
def test_what_is_impossible_is_said_where_it_was_asked(values, section, words):
    at = opened(**values)
    (sentence,) = said(at)
    assert words in sentence and "There is no table yet" in texts(at)
    order = [element.key or element.type for element in _flat(at.main)]
    ends = {"graph": ("graph", "mixing"), "families": ("family", "rows"), "table": ("rows", "teaching")}
    first, last = (f"sim_{end}" for end in ends[section])
    assert order.index(first) < order.index("error") < order.index(last)


def _flat(block):
    for element in block.children.values():
        if hasattr(element, "children"):
            yield from _flat(element)
        else:
            yield element


def test_a_cycle_is_named():
    names = ("a", "<b>b</b>", "c")
    cycle = DrawnGraph(dict.fromkeys(names, (0.0, 0.0)), (("a", names[1]), (names[1], "c"), ("c", "a")))
    at = opened(cycle, graph="own")
    assert "a → <b>b</b> → c → a" in said(at)[0] and "<b>" not in at.error[0].value


def test_pasted_edges_take_the_place_of_the_drawing():
    at = opened(graph="own")
    at.text_area(key="simulate_pasted").set_value("parent,child\nrain,wet\nsun,dry\n").run()
    button(at, "Use these edges").click().run()
    assert set(table_of(at)) == {"rain", "wet", "sun", "dry"}
    at.text_area(key="simulate_pasted").set_value("a,b\nb,a").run()
    button(at, "Use these edges").click().run()
    assert any("a → b → a" in sentence for sentence in said(at)) and set(table_of(at)) == {"rain", "wet", "sun", "dry"}


def test_hostile_names_are_shown_not_read():
    edges = tuple(zip(HOSTILE, HOSTILE[1:], strict=False))
    at = opened(DrawnGraph(dict.fromkeys(HOSTILE, (0.0, 0.0)), edges), graph="own", mixing="nodes")
    assert not at.error and list(table_of(at)) == list(HOSTILE) and "<script>" not in texts(at)
    button(at, "Use this table").click().run()
    assert not at.exception


def test_two_and_three_hundred_nodes():
    at = set_to(opened(nodes=2, k=1.0), nodes=300)
    assert table_of(at).shape == (60, 300)
    at = opened(DrawnGraph({f"x{k}": (0.0, 0.0) for k in range(300)}, (("x0", "x1"),)), graph="own")
    assert table_of(at).shape == (60, 300) and "cannot be drawn by hand" in texts(at)


def test_a_large_design_waits_for_the_button(monkeypatch):
    monkeypatch.setattr("pages.simulate.outcome.AT_ONCE", 100)
    at = opened(nodes=5, rows=50)
    assert "simulate_last" not in at.session_state
    button(at, "Simulate").click().run()
    at.switch_page("pages/data/page.py").run()
    at_simulate(at)
    assert table_of(at).shape == (50, 5) and "50 rows × 5 columns" in texts(at)


def test_an_example_fills_the_form_and_the_page_says_what_can_be_known():
    at = opened()
    for name, words in (
        ("Complete binary model: cannot be known", "No direction can be known."),
        ("Trimodal source, softplus: can be known", "Every direction can be known"),
        ("Tree, partly known", "Unknown directions: `a` → `b`, `a` → `e`."),
    ):
        set_to(at, example=name)
        pd.testing.assert_frame_equal(table_of(at), simulate(EXAMPLES[name]).table)
        assert words in texts(at)
        assert next(box for box in at.selectbox if box.key == "sim_example").value is None, "ready for the next"
    assert words not in texts(set_to(at, teaching=True))


def test_columns_beside_the_counts_come_with_the_table_and_their_roles():
    def has_roles():
        return "roles.json" in {one.label for one in at.get("download_button")}

    beside = {"batches": 3, "batch_effect": 1.0, "depth": 0.4, "age_and_sex": True, "groups": 10}
    at = set_to(opened(), **beside)
    made = at.session_state["simulate_last"]
    pd.testing.assert_frame_equal(made.whole, simulate(Design(nodes=6, rows=60, k=2.0, **beside)).whole)
    assert "60 rows × 6 columns + batch + age + sex + depth + group" in texts(at) and has_roles()
    assert "is an exposure" in texts(at)
    set_to(at, depth_causes="counts")
    assert "a covariate" in texts(at) and at.session_state["simulate_last"].beside["depth"].equals(made.beside["depth"])
    set_to(at, batches=0, depth=0.0, age_and_sex=False, groups=0)
    assert not has_roles()


def test_contexts_come_with_the_table_and_what_they_act_on():
    at = set_to(opened(), contexts=1, idle_contexts=1, context_levels=4)
    made = at.session_state["simulate_last"]
    pd.testing.assert_frame_equal(made.whole, simulate(Design(nodes=6, rows=60, k=2.0, contexts=1, idle_contexts=1,
                                                              context_levels=4)).whole)  # fmt: skip
    assert "columns + context1 + context2" in texts(at) and "Contexts: 1 of 2 without effects." in texts(at)
    assert f"`context1` acts on `{made.context_edges['child'][0]}`." in texts(at)
    assert "`context2` acts on nothing." in texts(at)


def test_the_table_goes_on_with_its_truth_unless_teaching_hides_it():
    at = opened(k=2.0, graph="own", teaching=True)
    assert not at.metric and "true edge" not in texts(at)
    assert not {"position", "parents", "family"} & set(frame_with(at, "variance"))
    files = {one.label: one for one in at.get("download_button")}
    disabled = [files[name].disabled for name in ("counts.csv", "truth.csv", "order.csv", "design.json")]
    assert disabled == [False, True, True, True] and not any("parent" in frame.value for frame in at.dataframe)
    button(at, "Use this table").click().run()
    draft, made = at.session_state["shared_draft"], at.session_state["simulate_last"]
    assert at.title[0].value == "Data" and button(at, "Find the graph")
    assert draft.teaching and "seed" not in draft.source
    pd.testing.assert_frame_equal(draft.table, made.table)
    pd.testing.assert_frame_equal(draft.truth, made.truth)
    button(set_to(at_simulate(at), teaching=False), "Use this table").click().run()
    assert not at.session_state["shared_draft"].teaching and "seed 0" in at.session_state["shared_draft"].source


def test_continuous_tables_go_to_data():
    at = opened(rows=20, family="gaussian-gp")
    if "simulate_last" not in at.session_state:
        button(at, "Simulate").click().run()
    button(at, "Use this table").click().run()
    assert not at.exception and at.button(key="find_graph").disabled


def test_nothing_is_lost_between_pages():
    at = set_to(opened(), graph="sf", family="nb-exp", parameter_size=3.0, latent=1, seed=8, teaching=True)
    before = at.session_state["simulate_form"]
    at.switch_page("pages/data/page.py").run()
    at_simulate(at)
    assert at.session_state["simulate_form"] == before
    shown = {one.key: one.value for one in [*at.number_input, *at.selectbox, *at.toggle]}
    assert shown["sim_nodes"] == 6 and shown["sim_family"] == "nb-exp" and shown["sim_parameter_size"] == 3.0
    assert shown["sim_latent"] == 1 and shown["sim_seed"] == 8 and shown["sim_teaching"]


DESIGNS = [
    Design(graph="sf", nodes=7, k=2, rows=50, family="nb-exp", parameters={"size": 3.0}, seed=4, unsortable=True),
    Design(graph="own", edges=(("a", "b"), ("c", "b")), names=("b", "a", "c", "alone"), rows=30, family="zip,nb-exp"),
    Design(nodes=2, rows=30, family={"x1": "zip", "x2": "geometric"}, latent=1, exposure=0.2, interactions=0.3),
    Design(nodes=6, rows=60, k=1.0, sources="heaped", spread=3.0),
    Design(nodes=3, rows=30, batches=2, batch_effect=0.4, depth=0.3, depth_causes="counts", groups=5, group_effect=0.2),
    Design(nodes=3, rows=30, contexts=[["x3", "x1"], ["x2"]], idle_contexts=1, context_kind="dose", context_effect=0.3),
]


def test_a_saved_design_gives_the_same_table_again_and_a_bad_one_is_refused():
    at = opened()
    for design in DESIGNS:
        give(at, json.dumps(design.to_dict()).encode())
        assert not at.error
        pd.testing.assert_frame_equal(table_of(at), simulate(design).table)
    form = at.session_state["simulate_form"]
    give(at, b"{")
    assert "is kept" in said(at)[0] and at.session_state["simulate_form"] == form


def give(at, content):
    """Open a design file."""
    at.file_uploader(key="sim_design_file").set_value(("design.json", content, "application/json")).run()
    assert not at.exception, at.exception


def sent(nodes, edges=()):
    return {"stamp": 0, "nodes": [{"name": name, "x": x, "y": y} for name, x, y in nodes], "edges": list(edges)}


def test_only_graphs_are_taken_from_the_browser():
    good = sent([("a", 0, 1), ("b", 2, 3)], [["a", "b"]])
    assert outcome.read(good) == DrawnGraph({"a": (0.0, 1.0), "b": (2.0, 3.0)}, (("a", "b"),))
    nodes = [("a", 0, "far"), ("a", 0, float("nan")), ("a", 0, 1e9), ("", 0, 0), (5, 0, 0)]
    edges = [[["a", "b"]], [["a"]], [[["a"], "a"]]]
    bad = [
        *({}, {"nodes": 3, "edges": 4}, sent([("a", 0, 0), ("a", 1, 1)])),
        *(sent([node]) for node in nodes),
        *(sent([("a", 0, 0)], wrong) for wrong in edges),
        sent([("a", 0, 0), ("b", 0, 0)], [["a", "b"], ["a", "b"]]),
        sent([(f"x{k}", 0, 0) for k in range(outcome.MOST + 1)]),
    ]
    assert [outcome.read(answer) for answer in bad] == [None] * len(bad)


def test_the_table_of_edges_says_the_whole_graph():
    table = pd.DataFrame({"parent": ["a", " b ", None, "d", "a"], "child": ["b", "c", "e", None, "b"]})
    edges, names = graph_kind.listed(table)
    assert edges == [("a", "b"), ("b", "c")] and names == ["a", "b", "c", "e", "d"]


def test_nodes_keep_their_places_when_edges_change():
    before = DrawnGraph({"a": (5.0, 5.0), "b": (90.0, 10.0)}, (("a", "b"),))
    after = sketch.with_edges(before, ["a", "b", "new"], [("a", "new")])
    assert after.positions["a"] == (5.0, 5.0) and after.positions["b"] == (90.0, 10.0)
    assert len(set(after.positions.values())) == 3


def test_causes_are_laid_out_above_their_effects():
    laid = sketch.of_edges(["c", "a", "b"], [("a", "b"), ("b", "c"), ("a", "c")])
    assert laid.positions["a"][1] < laid.positions["b"][1] < laid.positions["c"][1] and laid.names == ("c", "a", "b")
