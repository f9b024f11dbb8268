"""The figures of the ordering show what the frames contain."""

import numpy as np
import pandas as pd
import pytest
from made_up import HOSTILE, curvature, ordering
from text_boxes import WIDTH, box, point, text_width

from disco import verdicts
from disco.figures import theme
from disco.figures.axes import log_ticks
from disco.graph.draw import colours
from disco.paper import removals
from disco.subjects.fit.figures import ordering as figures
from disco.subjects.fit.figures import ranking
from disco.subjects.fit.figures import row_curvature as by_rank
from disco.words import number

ORDER = ["a", "b", "c", "d", "e"]
SMALLEST = 12  # pixels of a font that is read with ease


@pytest.fixture
def ccs() -> pd.DataFrame:
    return ordering(ORDER)[0]


def two_steps(scores: dict[str, tuple[float, ...]], sink: str) -> pd.DataFrame:
    rows = [(1, 3, node, fold, value, node == sink) for node, v in scores.items() for fold, value in enumerate(v, 1)]
    return pd.DataFrame(rows, columns=["step", "remaining", "node", "fold", "score", "chosen"])


def test_a_step_is_read_with_margin_runner_up_and_agreement():
    frame = two_steps({"a": (4.0, 4.0, 4.0), "b": (1.0, 3.0, 2.0), "c": (0.5, 0.5, 3.5)}, "c")
    step = removals.step_of(removals.all_steps(frame), 1)
    assert (step.sink, step.runner_up, step.folds_agreeing, step.folds) == ("c", "b", 2, 3)
    assert step.score == pytest.approx(1.5) and step.margin == pytest.approx(0.5) and step.ratio == pytest.approx(4 / 3)


def test_a_step_that_knowledge_decided_says_so():
    frame = two_steps({"a": (4.0, 4.0), "b": (1.0, 3.0), "c": (0.5, 0.5)}, "b")
    step = removals.step_of(removals.all_steps(frame), 1)
    assert (step.sink, step.runner_up, step.margin, step.ratio) == ("b", "c", -1.5, 0.25)
    told = "The rules make b the sink, with a CCS of 2.00; c has the smallest, 0.500, but cannot be last."
    assert step.sentence() == told
    title = figures.scores(frame, 1, ["c", "a", "b"]).layout.title.text
    assert "the rules make b the sink" in title and "smallest" not in title


def test_a_tie_keeps_the_node_that_was_chosen():
    frame = two_steps({"a": (1.0, 1.0), "b": (1.0, 1.0), "c": (2.0, 2.0)}, "b")
    step = removals.step_of(removals.all_steps(frame), 1)
    assert (step.sink, step.runner_up, step.ratio) == ("b", "a", 1.0)


def test_rows_stay_in_place_in_causal_order_and_shrink_by_score(ccs):
    assert figures.shown_rows(ccs, 3, ORDER, "order", 40, None) == ORDER
    few = figures.shown_rows(ccs, 1, ORDER, "score", 2, "a")
    assert few[0] == "e" and few[1] == "a"


@pytest.mark.parametrize("runner_up", [1.0, 8.0, 13.0, 100.0])
def test_the_words_of_the_margin_stand_at_its_end_and_cover_no_mark(runner_up):
    """Wherever the runner-up's score lies, they end within the panel, above the nodes and below the legend."""
    frame = two_steps({"a": (100.0, 100.0), "b": (runner_up, runner_up), "c": (1.0, 1.0)}, "c")
    fig = figures.scores(frame, 1, ["c", "b", "a"])
    (note,) = fig.layout.annotations
    words = box(fig, note)
    assert 0 <= words.left and words.right <= WIDTH and words.top >= 0
    marks = [point(fig, np.log10(x), y) for trace in fig.data for x, y in zip(trace.x, trace.y, strict=True)]
    assert not any(words.holds(mark, room=8) for mark in marks)
    end, _ = point(fig, np.log10(runner_up), 0)
    assert words.left - 1 <= end <= words.right + 1 and number(runner_up) in note.text and note.font.size >= SMALLEST


@pytest.mark.parametrize(("levels", "every"), [(5, 1), (10, 1), (11, 2), (16, 2)])
def test_ranks_of_two_panels_find_room_on_a_telephone(levels, every):
    """As many ranks have a number as stand side by side."""
    fig = by_rank.by_rank({name: curvature(levels, 1.0) for name in ("a", "b")}, "b")
    for axis in fig.select_xaxes():
        assert axis.dtick == every
        panel = WIDTH * (axis.domain[1] - axis.domain[0])
        beside = panel * every / (1.25 * levels)  # a browser's axis is a quarter longer than the ranks
        assert beside >= text_width(str((levels - 1) // every * every), SMALLEST)


@pytest.mark.parametrize("ranks", [(4, 40), (40, 4), (4, 4), (40, 40)])
def test_panels_of_both_kinds_have_their_legends(ranks):
    nodes = {name: curvature(levels, 1.0) for name, levels in zip("ab", ranks, strict=True)}
    entries = [trace.name for trace in by_rank.by_rank(nodes, "b").data if trace.showlegend]
    folds = [f"fold {fold}" for fold in sorted(nodes["a"]["fold"].unique())] if 4 in ranks else []
    means = ["mean ± standard deviation within a rank"] if 40 in ranks else []
    assert sorted(entries) == sorted(folds + means)


def test_names_of_two_panels_find_room_on_a_telephone():
    names = ("a_name_of_forty_letters_that_has_no_room", "another")
    fig = by_rank.by_rank({name: curvature(5, 1.0) for name in names}, "another")
    left, right = (box(fig, note) for note in fig.layout.annotations)
    assert -30 <= left.left and left.right + 8 <= right.left and right.right <= WIDTH
    assert [note.text.split(": ")[1] for note in fig.layout.annotations] == ["stays", "the sink"]
    assert all(note.font.size >= SMALLEST for note in fig.layout.annotations)


def test_means_and_folds_are_drawn_where_they_are(ccs):
    fig = figures.scores(ccs, 1, ORDER, picked="b")
    means = next(trace for trace in fig.data if trace.name == "mean of the folds")
    expected = removals.fold_scores(ccs, 1).loc[ORDER].mean(axis=1)
    assert np.allclose(means.x, expected) and list(means.customdata) == ORDER
    assert means.marker.color[4] == colours.ACCENT and means.marker.color[1] == colours.PICKED


def test_criteria_are_multiples_of_each_rules_smallest():
    _, frame = ordering(ORDER)
    fig = figures.criteria(frame, 2, ORDER)
    heat = fig.data[0]
    assert heat.z.shape == (4, 4) and np.allclose(heat.z.min(axis=0), 0.0)
    assert [row.count("sink") for row in zip(*heat.text, strict=True)] == [1, 1, 1, 1]


def test_a_criterion_that_one_fold_lacks_is_left_open():
    _, frame = ordering(ORDER)
    frame.loc[(frame["node"] == "a") & (frame["fold"] == 1), "ccs_admissible"] = np.nan
    assert np.isnan(figures.mean_criteria(frame, 1).loc["a", "ccs_admissible"])
    assert figures.criteria(frame, 1, ORDER).data[0].text[0][1] == "–"


def test_names_are_escaped_for_plotly():
    ccs, criteria = ordering(HOSTILE)
    for fig in (figures.scores(ccs, 1, HOSTILE), figures.criteria(criteria, 1, HOSTILE)):
        fig.update_traces(customdata=None)  # what a click returns; it is never drawn
        assert "<script" not in fig.to_json().replace("\\u003c", "<")
        assert "&lt;script" in " ".join(fig.layout.yaxis.ticktext)


def clarity(ccs: pd.DataFrame) -> pd.DataFrame:
    """Every node but the first and the third with all earlier ones as parents."""
    pairs = [(parent, child) for k, child in enumerate(ORDER) for parent in ORDER[:k] if child != ORDER[2]]
    edges = pd.DataFrame(pairs, columns=["parent", "child"])
    return verdicts.clarity(removals.all_steps(ccs), removals.directions(ccs, edges))


def test_the_order_is_ranked_from_the_top_and_marks_follow_the_verdict(ccs):
    places = clarity(ccs).assign(is_clear=[True, False, True])
    fig = ranking.ranking(ORDER, places)
    assert [text.split()[0] for text in fig.layout.yaxis.ticktext] == [str(k) for k in range(1, len(ORDER) + 1)]
    assert fig.layout.yaxis.range[0] > fig.layout.yaxis.range[1]  # the source is on top
    named = [trace for trace in fig.data if trace.name]
    marks = {node: (row, one.name) for one in named for node, row in zip(one.customdata, one.y, strict=True)}
    placed = {node: ORDER.index(node) for node in ORDER[1:] if node != ORDER[2]}  # which has no parents
    assert {node: row for node, (row, _) in marks.items()} == placed
    assert {node for node, (_, name) in marks.items() if name == "clear"} == {*places["sink"][places["is_clear"]]}
    assert theme.title_of(fig) in verdicts.of_order(places).text


def test_a_part_of_the_ranked_order_is_on_the_scale_and_under_the_title_of_all(ccs):
    every, part = (ranking.ranking(ORDER, clarity(ccs), (1, 3), some) for some in (None, range(1, 3)))
    assert part.layout.yaxis.ticktext == every.layout.yaxis.ticktext[1:3]
    assert part.layout.xaxis == every.layout.xaxis and theme.title_of(part) == theme.title_of(every)
    assert {row for one in part.data if one.name for row in one.y} <= {1, 2}
    assert part.layout.height < every.layout.height


def test_variance_parts_are_the_two_criteria():
    frame = pd.DataFrame({"rank": [0, 0, 1, 1, 2], "curvature": [1.0, 3.0, 5.0, 5.0, 9.0], "row": range(1, 6)})
    frame = frame.assign(fold=1, admissible=frame["rank"] < 2)
    found = by_rank.parts(frame, min_rows=2, admissible_only=False)
    assert found.within == pytest.approx((2 * 2.0 + 2 * 0.0) / 4)  # the rank with one row is not used
    assert found.total == pytest.approx(np.var([1, 3, 5, 5, 9], ddof=1))
    assert (found.rows, found.levels, found.left_out) == (4, 2, 1)
    assert by_rank.parts(frame, 2, True).total == pytest.approx(np.var([1, 3, 5, 5], ddof=1))


@pytest.mark.parametrize("levels", [4, 60])
def test_curvature_is_drawn_for_few_and_many_ranks(levels):
    frames = {"wide": curvature(levels, 0.8), "narrow": curvature(levels, 0.05, seed=1)}
    fig = by_rank.by_rank(frames, sink="narrow", admissible_only=True)
    assert {note.text for note in fig.layout.annotations} == {"wide: stays", "narrow: the sink"}
    assert "narrow" in theme.title_of(fig) and by_rank.by_rank({"narrow": frames["narrow"]}, "narrow").layout.height


@pytest.mark.parametrize(("low", "most"), [(1e-47, 9), (1e-3, 7), (0.2, 7), (1.0, 1)])
def test_an_axis_of_any_length_has_ticks_that_can_be_read(low, most):
    values, words = log_ticks(low, 1.0)
    assert min(3, most) <= len(values) <= most and len(set(words)) == len(words) and values[-1] == 1.0
