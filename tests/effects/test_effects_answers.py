"""Answers: cases of open directions, shares of the graphs, sentences, bad questions, the command line."""

import io
import json
import shlex
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import refine_world
from made_up import finished_run, refine_by_hand

from disco.__main__ import main
from disco.effects.curve import curve, routes
from disco.effects.drivers import drivers
from disco.effects.effect import answer, effect
from disco.effects.effect_question import among, between, usual
from disco.effects.graph_fits import FittedGraphs, Sampled
from disco.effects.sentences import in_words
from disco.errors import FitStopped, InputError
from disco.paper.settings import Settings
from disco.refine.fitted_graphs import fitted_graphs
from disco.reports.script import Facts, shell
from disco.runs import create_run
from disco.table.roles import Roles
from disco.words import of_graphs


def table(rows=800, seed=1):
    """a → b → c, and d apart from them."""
    random = np.random.default_rng(seed)
    a = random.poisson(3.0, rows)
    b = random.poisson(1 + a)
    return pd.DataFrame({"a": a, "b": b, "c": random.poisson(1 + 0.5 * b), "d": random.poisson(2.0, rows)})


def refined(edges, tables=(), order="abcd"):
    """A refinement of edges (parent, child): source, with the graphs of bootstrap tables."""
    drawn = [(number, *pair) for number, pairs in enumerate(tables, start=1) for pair in pairs]
    kept = pd.DataFrame(drawn, columns=["table", "parent", "child"]) if tables else None
    return refine_world.refined(order, edges, tables=kept, bootstrap=len(tables))


KNOWN = {("a", "b"): "class", ("b", "c"): "class"}
OPEN = {("a", "b"): "", ("b", "c"): "class"}


@pytest.fixture(scope="module")
def settled():
    return fitted_graphs(refined(KNOWN, [list(KNOWN)] * 4), table())


@pytest.fixture(scope="module")
def half_open():
    return fitted_graphs(refined(OPEN, [list(OPEN)] * 4), table())


def test_known_directions_give_one_number_with_the_truth_in_it(settled):
    found = effect(settled, "c", {"a": 6}, {"a": 1})
    assert found.cases == () and found.notes == () and tuple(found.total.graphs) == (1, 0, 0)
    assert found.total.difference.low < 2.5 < found.total.difference.high
    assert found.by_adjustment.difference.low < 2.5 < found.by_adjustment.difference.high
    assert found.direct.difference == (0, 0, 0)
    assert "all of the graphs" in in_words(found)


def test_an_open_direction_that_decides_is_two_cases(half_open):
    found = effect(half_open, "c", {"a": 6}, {"a": 1})
    # a – b → c: of its graphs a → b → c and b → a, b → c, both without a further collider.
    some, none = found.cases
    assert some.edges == (("a", "b"),) and none.edges == (("b", "a"),)
    assert some.share == pytest.approx(0.5) and none.answer.graphs.none == 1
    assert some.answer.difference.low < 2.5 < some.answer.difference.high
    assert none.answer.difference == (0, 0, 0)
    assert found.settled_by == ("a", "b")
    words = in_words(found)
    assert "only if a → b, the mean of c would go from" in words and "; if b → a, c would not change." in words
    assert words.endswith("An experiment that sets a or b would tell.")


def test_the_direction_that_tells_the_cases_apart_comes_first():
    """u – a – b → c ← u: where b → a, a → u too, so that no collider is new; but a → u may be where a → b."""
    edges = {("u", "a"): "", ("a", "b"): "", ("b", "c"): "class", ("u", "c"): "class"}
    fitted = fitted_graphs(refined(edges, [list(edges)] * 4, "uabc"), table().rename(columns={"d": "u"}))
    found = effect(fitted, "c", {"a": 6}, {"a": 1})
    assert [case.edges for case in found.cases] == [(("a", "b"),), (("b", "a"), ("a", "u"))]
    assert found.settled_by == ("a", "b")


def test_what_a_rare_case_gives_is_told_too():
    """One graph in forty leads from a to c; its interval is not that of a few draws."""
    tables = [[("b", "c")]] * 18
    fitted = fitted_graphs(refined(OPEN, tables), table())
    some, none = effect(fitted, "c", {"a": 6}, {"a": 1}).cases
    assert some.share == pytest.approx(0.5 / 19) and none.share == pytest.approx(18.5 / 19)
    assert 1.5 < some.answer.difference.low < 2.5 < some.answer.difference.high < 3.5


def test_graphs_are_read_one_after_the_other_and_can_be_stopped():
    seen = []
    fitted_graphs(refined(OPEN, [list(OPEN)] * 4), table(), callback=lambda event: seen.append(event) and None)
    assert {event.stage for event in seen} >= {"classes", "graphs"} and seen[-1].progress == 1
    with pytest.raises(FitStopped):
        fitted_graphs(refined(OPEN), table(), callback=lambda event: event.stage != "graphs")


def test_edges_that_bootstrap_tables_lack_are_shares_of_the_graphs():
    tables = [list(KNOWN)] * 5 + [[("a", "b")]] * 5
    found = effect(fitted_graphs(refined(KNOWN, tables), table()), "c", {"a": 6}, {"a": 1})
    assert found.cases == ()
    assert tuple(found.total.graphs) == pytest.approx((6 / 11, 0, 5 / 11))
    assert found.total.difference.low == 0 and "No change in about half of the graphs, where no" in in_words(found)
    assert "c may rise or stay near" in in_words(found) and "increase" not in in_words(found)


def test_more_draws_and_other_seeds_change_little(settled):
    one = effect(settled, "c", {"a": 6}, {"a": 1}).total.difference
    other = effect(fitted_graphs(refined(KNOWN), table(), seed=7), "c", {"a": 6}, {"a": 1}, draws=400).total.difference
    assert np.array(one) == pytest.approx(np.array(other), rel=0.12)
    assert effect(settled, "c", {"a": 6}, {"a": 1}).total.difference == one


def test_without_a_path_nothing_changes(settled):
    found = effect(settled, "c", {"d": 4}, {"d": 1})
    assert found.total.graphs.none == 1 and found.total.difference == (0, 0, 0) and found.by_adjustment is None
    assert "no path leads from d to c" in in_words(found)


def test_the_medians_are_compared_with_by_default(settled):
    assert effect(settled, "c", {"a": 6}).against == {"a": 3.0}


def test_what_drives_a_node_is_ranked(settled):
    found = drivers(settled, "c")
    assert found["node"].tolist() == ["b", "a"]
    assert (found["low"] < found["rate_ratio"]).all() and (found["rate_ratio"] < found["high"]).all()
    assert drivers(settled, "a").empty
    with pytest.raises(FitStopped):
        drivers(settled, "c", callback=lambda event: False)


def test_a_curve_has_a_line_per_case_and_the_paths_their_shares(half_open):
    found = curve(half_open, "c", "a")
    assert set(found["case"]) == {0, 1} and (found["low"] <= found["mean"]).all()
    some, none = (found[found["case"] == case]["mean"] for case in (0, 1))
    assert found.groupby("case")["when"].first().tolist() == ["if a → b", "if b → a"]
    assert some.is_monotonic_increasing and none.nunique() == 1
    direct = curve(half_open, "c", "a", is_direct=True)
    assert direct["case"].nunique() == 1 and direct["mean"].nunique() == 1  # a acts through b alone
    assert routes(half_open, "c", "a") == [(("a", "b", "c"), pytest.approx(0.5))]


@pytest.mark.parametrize(
    ("on", "do", "against", "words"),
    [
        ("c", {"c": 1}, None, '"c" cannot be set and be the outcome at once'),
        ("a", {"b": 1}, None, '"a" comes before "b" whichever way open edges point'),
        ("c", {"a": 500}, None, 'No row has a "a" near 500: choose a value between 0 and'),
        ("c", {"a": -1}, None, "a number of at least 0, not to -1"),
        ("c", {"a": float("nan")}, None, "a number of at least 0, not to nan"),
        ("c", {"a": "many"}, None, "a number of at least 0, not to 'many'"),
        ("c", {"a": True}, None, "a number of at least 0, not to True"),
        ("c", {"a": 2}, {"a": 2}, "Both sides set the same values"),
        ("c", {"a": 2}, {"b": 2}, "Both sides must set the same nodes: give `against` for a"),
        ("c", {}, None, "Nothing is set"),
        ("c", {"x": 1}, None, 'There is no node "x": the table has a, b, c, d'),
        ("x", {"a": 1}, None, 'There is no node "x"'),
    ],
)
def test_a_question_without_an_answer_is_one_sentence(settled, on, do, against, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        effect(settled, on, do, against)


def test_a_covariate_is_no_node():
    given = table().assign(site=np.arange(800) % 3)
    fitted = FittedGraphs.of_dag(nx.DiGraph([("a", "b")]), given, roles=Roles({"site": ("covariate", "categorical")}))
    with pytest.raises(InputError, match='"site" is a covariate or a context, not a node'):
        effect(fitted, "b", {"site": 1})


SITES = {"site": ("covariate", "categorical"), "age": ("covariate", "continuous")}


def at_sites():
    """b has three times as many counts at site v, and a's effect on it is three times as large there."""
    random, rows = np.random.default_rng(4), 1500
    site, a = random.integers(0, 2, rows), random.poisson(3.0, rows)
    b = random.poisson((1 + 2 * site) * (2 + a))
    given = pd.DataFrame({"a": a, "b": b, "site": np.array(["u", "v"])[site], "age": 5.0 + site})
    return FittedGraphs.of_dag(nx.DiGraph([("a", "b")]), given, roles=Roles(SITES))


@pytest.mark.parametrize(
    ("where", "expected"), [({}, 6.0), ({"site": "u"}, 3.0), ({"site": "v"}, 9.0), ({"age": 5}, 3.0)]
)
def test_a_covariate_can_be_held(where, expected):
    found = effect(among(at_sites(), where), "b", {"a": 5}, {"a": 2})
    assert found.total.difference.low < expected < found.total.difference.high
    assert found.total.difference.estimate == pytest.approx(expected, rel=0.1)
    assert any(note.startswith("Over the ") for note in found.notes) == bool(where)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ({"plot": "u"}, 'no covariate or context "plot": the table has site, age'),
        ({"site": "w"}, '"site" has no level "w": it has u, v'),
        ({"age": "old"}, '"age" is a number: give one, not "old"'),
        ({"age": 50}, "No row has age = 50"),
        ({"site": "u", "age": 6}, "No row has site = u and age = 6"),
    ],
)
def test_rows_that_there_are_not_are_one_sentence(where, words):
    with pytest.raises(InputError, match=words):
        among(at_sites(), where)


def test_values_are_those_of_all_rows_also_if_a_node_does_not_vary_in_the_rows_in_question():
    given = table()
    held = given.assign(site=np.where(given["a"] == 3, "u", "v"))
    fitted = FittedGraphs.of_dag(nx.DiGraph([("a", "b")]), held, roles=Roles({"site": ("covariate", "categorical")}))
    few = among(fitted, {"site": "u"})
    assert drivers(few, "b")["low_value"].tolist() == drivers(fitted, "b")["low_value"].tolist()
    assert len(effect(few, "b", {"a": 5}, {"a": 3}).notes) == 2  # the rows and that one graph is taken for granted


def test_where_a_level_excludes_the_outcome_there_are_a_ratio_and_a_note():
    random = np.random.default_rng(3)
    a, site = random.poisson(3, 400), np.repeat(["u", "v"], 200)
    given = pd.DataFrame({"a": a, "b": np.where(site == "u", 0, random.poisson(4 + 4 * a)), "site": site})
    roles, none = Roles({"site": ("covariate", "categorical")}), nx.empty_graph(["a", "b"], nx.DiGraph)
    found = effect(among(FittedGraphs.of_dag(none, given, roles=roles), {"site": "u"}), "b", {"a": 6}, {"a": 2})
    assert found.total.mean == (0, 0, 0) and found.total.rate_ratio == (1, 1, 1)
    assert found.notes[0].startswith('"b" is 0 in all these rows')


def test_a_node_that_varies_only_where_it_is_set_has_values():
    random = np.random.default_rng(2)
    a = np.repeat([2, 6], [300, 100])
    given = pd.DataFrame({"a": a, "b": random.poisson(1 + a), "arm": np.where(a == 6, "a", "")})
    fitted = FittedGraphs.of_dag(nx.DiGraph([("a", "b")]), given, roles=Roles({"arm": "intervention"}))
    assert between(fitted, 0) == (2, 6)


def test_beyond_the_rows_there_is_a_note_and_a_wider_interval(settled):
    most = float(table()["a"].max())
    inside, outside = (effect(settled, "c", {"a": value}, {"a": 3}) for value in (most - 1, most + 1))
    assert "is extrapolated" in outside.notes[0]
    widths = [found.total.mean.high - found.total.mean.low for found in (inside, outside)]
    assert widths[1] > widths[0]


def test_another_table_or_graph_is_refused():
    with pytest.raises(InputError, match='Only one of the table and the refinement has the column "d"'):
        fitted_graphs(refined(KNOWN), table()[["a", "b", "c"]])
    with pytest.raises(InputError, match="The graph has a cycle"):
        FittedGraphs.of_dag(nx.DiGraph([("a", "b"), ("b", "a")]), table())
    with pytest.raises(InputError, match='The graph names "z"'):
        FittedGraphs.of_dag(nx.DiGraph([("a", "z")]), table())


def test_a_collider_compels_an_open_direction_unless_its_evidence_is_weak():
    """a → b ← c: reversing either edge gives another class, near the best or not."""
    edges, given = {("a", "b"): "", ("c", "b"): ""}, table()
    never, weak = (fitted_graphs(refine_world.refined("acbd", edges, nats=nats), given) for nats in (np.inf, 2.0))
    assert effect(never, "b", {"a": 6}, {"a": 1}).cases == ()
    first, second = effect(weak, "b", {"a": 6}, {"a": 1}).cases
    assert first.edges == (("a", "b"),) and second.edges == (("b", "a"),) and second.is_none
    # The other class is exp(−2) times as likely; a ← b in two of its three graphs, all of which are among those left.
    assert second.share == pytest.approx(np.exp(-2) / (1 + np.exp(-2)) * 2 / 3)


@pytest.mark.parametrize(("nats", "artefacts"), [(116.0, ()), (116.0, ("Totals vary.",)), (4.0, ("Totals vary.",))])
def test_evidence_that_decides_no_direction_settles_no_effect(nats, artefacts):
    """a → b ← c without a source: Graph says that no direction is decided, so b may act on a, and a may not on b."""
    found = refine_world.refined("acbd", {("a", "b"): "", ("c", "b"): ""}, nats=nats).having(artefacts=artefacts)
    fitted = fitted_graphs(found, table())
    for cause, outcome in (("a", "b"), ("b", "a"), ("a", "c")):
        answer = effect(fitted, outcome, {cause: 6}, {cause: 1})
        some, none = answer.cases[0], answer.cases[-1]
        assert not some.is_none and none.is_none and 0.1 < none.share < 0.95
        assert answer.total.difference.low <= 0 <= answer.total.difference.high
        assert "directions that are not decided" in in_words(answer) and "%" not in in_words(answer).replace("90%", "")
    ranked = drivers(fitted, "b").set_index("node")
    assert ((ranked["low"] <= 1) & (ranked["high"] >= 1)).all()  # none is called clear
    both = {("a", "b"): "class", ("c", "b"): "class"}
    settled = fitted_graphs(refine_world.refined("acbd", both, nats=nats), table())
    with pytest.raises(InputError, match='"a" comes before "b" whichever way open edges point'):
        effect(settled, "a", {"b": 6}, {"b": 1})


def test_two_edges_may_point_the_other_way_at_once():
    """a → b → c ← d → b: no class and no single reversed edge has c → b → a."""
    edges = {("a", "b"): "", ("d", "b"): "", ("b", "c"): "", ("d", "c"): ""}
    fitted = fitted_graphs(refine_world.refined("adbc", edges, nats=40.0), table())
    assert not effect(fitted, "a", {"c": 4}, {"c": 1}).cases[0].is_none
    kept = {**edges, ("b", "c"): "class"}
    with_one = fitted_graphs(refine_world.refined("adbc", kept, nats=40.0), table())
    assert effect(with_one, "a", {"c": 4}, {"c": 1}).total.graphs.none == 1


@pytest.mark.parametrize(
    ("share", "word"),
    [(1, "all"), (0.99, "nearly all"), (0.9, "most"), (0.52, "about half"), (0.1, "some"), (0.09, "few"), (0, "none")],
)
def test_a_share_of_the_graphs_is_a_word(share, word):
    assert of_graphs(share) == word


def test_a_refinement_answers_by_itself(settled):
    found = refined(KNOWN, [list(KNOWN)] * 4).effect(table(), "c", {"a": 6}, {"a": 1})
    assert found.total == effect(settled, "c", {"a": 6}, {"a": 1}).total


def files(run):
    return {path: path.read_bytes() for path in sorted(run.path.rglob("*")) if path.is_file()}


def test_the_command_line_gives_the_same_numbers_and_changes_nothing(capsys):
    run = refine_by_hand(finished_run(4, truth=None), edges=[("x1", "x2"), ("x2", "x3")])
    before, asked = files(run), ["effect", run.id, "--on", "x3", "--do", "x1=3", "--against", "x1=1"]
    assert main([*asked, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["on"] == "x3" and found["do"] == {"x1": 3} and found["against"] == {"x1": 1}
    assert all(len(found[name]) == 3 for name in ("mean", "mean_against", "difference", "rate_ratio"))
    assert set(found["graphs"]) == {"more", "less", "none"}
    assert set(found["direct"]) == set(found["by_adjustment"]) == {"difference", "rate_ratio"}
    assert main([*asked, "--format", "csv"]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out), keep_default_na=False)
    total = rows[(rows["of"] == "total") & (rows["case"] == "") & (rows["number"] == "difference")].iloc[0]
    assert [float(total[name]) for name in ("estimate", "low", "high")] == pytest.approx(found["difference"])
    assert main(asked) == 0 and capsys.readouterr().out.startswith(found["sentence"])
    assert main(["effect", run.id, "--on", "x3"]) == 0
    assert capsys.readouterr().out.split()[0] in ("x1", "x2")
    assert main(["effect", run.id, "--on", "x3", "--curve", "x2", "--format", "csv"]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert set(rows["of"]) == {"total", "direct"} and (rows["low"] <= rows["mean"]).all()
    assert main([*asked, "--distribution", "--format", "csv"]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert rows.loc[0, ["at_least", "against"]].tolist() == pytest.approx([1, 1])
    assert rows["at_least"].is_monotonic_decreasing
    for table in (["--on", "x3", "--curve", "x2"], [*asked[2:], "--distribution"]):
        assert main(["effect", run.id, *table]) == 0 and capsys.readouterr().out
    assert files(run) == before


@pytest.mark.parametrize("name", ["dose", "dose=daily"])
def test_the_command_of_a_script_takes_a_level_with_any_sign(name, capsys):
    table = finished_run(4).table()
    levels = [("0", "5=mg")[row % 2] for row in range(len(table))]
    run = create_run(table.assign(**{name: levels}), Settings(), name="doses", roles=Roles({name: "covariate"}))
    refine_by_hand(run)
    question = {"on": "x3", "do": {"x1": 2.0}, "against": {"x1": 1.0}, "where": {name: "5=mg"}}
    (line,) = [line for line in shell(Facts.of(run, effect=question)).splitlines() if line.startswith("disco effect")]
    assert main(["effect", str(run.path), *shlex.split(line)[3:]]) == 0, capsys.readouterr().err
    assert f"Over the {len(table) // 2} rows with {name} = 5=mg." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--do", "x1"], "--do needs name=value; got 'x1'"),
        (["--do", "x1=many"], "x1 must be a number; got 'many'"),
        (["--do", "x1=2", "--curve", "x1"], "leave --do out"),
        (["--where", "x1=2"], 'There is no covariate or context "x1": the table has none'),
        (["--do", "x1=2", "--do", "x1=3"], "x1 is given twice by --do"),
        (["--against", "x1=2"], "--against needs --do"),
        (["--distribution"], "--distribution needs --do"),
    ],
)
def test_a_bad_command_line_is_one_sentence(more, words, capsys):
    run = refine_by_hand(finished_run(4, truth=None))
    assert main(["effect", run.id, "--on", "x3", *more]) != 0
    assert words in capsys.readouterr().err


def test_a_run_without_a_refinement_says_what_to_do(capsys):
    assert main(["effect", finished_run(4).id, "--on", "x3", "--do", "x1=3"]) != 0
    assert "has no refinement yet; run disco refine" in capsys.readouterr().err


def test_signs_of_hidden_causes_are_asked_for_alone(capsys):
    run = refine_by_hand(finished_run(4, truth=None))
    assert main(["effect", run.id, "--hidden-causes", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {frozenset((row["node"], row["with"])) for row in found["ties"]} == {
        frozenset(pair) for pair in (("x1", "x3"), ("x1", "x4"), ("x2", "x4"))
    }
    assert main(["effect", run.id, "--hidden-causes"]) == 0 and capsys.readouterr().out
    assert main(["effect", run.id, "--hidden-causes", "--on", "x3"]) != 0
    assert "Give --on with the node asked about, or --hidden-causes." in capsys.readouterr().err
    assert main(["effect", run.id, "--hidden-causes", "--do", "x1=3"]) != 0
    assert "leave --do, --where and --curve out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ([0, 1, 2, 3, 4, 5, 6], (0, 6)),
        ([2] * 6 + [3], (2, 3)),
        ([0] * 6 + [4], (0, 4)),
        ([1] + [4] * 30, (1, 4)),
    ],
)
def test_usual_values_are_seen_and_differ(column, values):
    given = table(60 * len(column)).assign(a=column * 60)
    found = usual(FittedGraphs.of_dag(nx.DiGraph([("a", "b")]), given), "a")
    assert (found.before, found.after) == values and found.lowest == min(column) and found.highest == max(column)


def test_a_rare_node_goes_from_its_usual_value_to_the_median_of_the_others():
    """Not to its largest, which a single row has."""
    rare = np.zeros(800, dtype=int)
    rare[:30], rare[30] = 1, 4
    fitted = FittedGraphs.of_dag(nx.DiGraph([("d", "c")]), table().assign(d=rare))
    (row,) = drivers(fitted, "c").to_dict("records")
    assert (row["low_value"], row["high_value"]) == (0, 1) and row["high"] / row["low"] < 2


def test_the_interval_of_a_ratio_in_one_case_is_never_below_zero():
    """Draws of the second of two graphs, in the first of which the outcome nearly vanishes."""
    draws = np.linspace(0.5, 1.5, 40)
    points = np.array([[0.01, 10.0], [9.0, 10.0]])
    drawn = np.stack([9.0 * draws, 10.0 * draws[::-1]], axis=1)
    sampled = Sampled(points, np.ones(2, bool), drawn, np.ones(40, int), np.full(40, 1 / 40))
    graphs = SimpleNamespace(shares=np.full(2, 0.5), near=np.ones(2, bool))
    result = answer(SimpleNamespace(graphs=graphs), sampled, np.ones(2, bool))
    assert 0 < result.rate_ratio.low < 0.001 and result.rate_ratio.high > 2
    assert 0 < result.mean.low < 0.01 and result.mean.high > 13
    assert result.difference.low < -14
