"""Figures of effects: the outcome's distribution at both sides of a question."""

import pandas as pd

from disco.effects.curve import DISTRIBUTION
from disco.effects.effect_records import Answer, Effect, Interval, Shares
from disco.subjects.effects import figures as outcomes

ANSWER = Answer(*[Interval(1.0, 0.9, 1.1)] * 4, Shares(1, 0, 0))
EFFECT = Effect("y", {"x": 3, "z": 2}, {"x": 1, "z": 2}, ANSWER, ANSWER, None, (), 0.0, ())


def found(whens, tail):
    """P(y ≥ count) of counts 0, 1, 2, …, the same in every case."""
    rows = [
        (case, when, count, *[share] * 3, *[share / 2 if count else 1.0] * 3)
        for case, when in enumerate(whens)
        for count, share in enumerate((1.0, *tail))
    ]
    return pd.DataFrame(rows, columns=list(DISTRIBUTION))


def lines(figure):
    return [trace for trace in figure.data if trace.mode != "lines" or trace.customdata is not None]


def test_the_distribution_has_a_line_per_side_without_the_trivial_count():
    figure = outcomes.over_counts(found([""], (0.6, 0.2, 0.001)), EFFECT)
    before, after = lines(figure)
    assert list(after.x) == [1, 2] and list(after.y) == [0.6, 0.2] and list(before.y) == [0.3, 0.1]
    assert (after.line.dash, before.line.dash) == ("solid", "dot") and figure.layout.showlegend is False
    title = figure.layout.title.text.replace("<br>", " ")
    assert title == "Rows with at least a given count of y, at x = 3 (solid) and x = 1 (dotted)"  # z stays where it is


def test_every_case_has_its_colour_and_one_name_in_the_legend():
    drawn = lines(outcomes.over_counts(found(["if x → y", "if y → x"], (0.6, 0.2)), EFFECT))
    assert [line.name for line in drawn if line.showlegend] == ["if x → y", "if y → x"]
    assert drawn[0].line.color == drawn[1].line.color != drawn[2].line.color


def test_a_count_that_is_rare_everywhere_is_drawn_all_the_same():
    assert list(lines(outcomes.over_counts(found([""], (0.001,)), EFFECT))[1].x) == [1]
