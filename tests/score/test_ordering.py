import numpy as np
import pytest

from disco.errors import ScoreUnavailable
from disco.score.ordering import order_of, remove_sinks

NAMES = ["a", "b", "c", "d"]


def scored(by_node):
    """An evaluation whose CCS is `by_node[fold][node]` and whose constant score is its negative."""
    table = np.asarray(by_node, dtype=float)
    return lambda R: {
        ("ccs", "clipped"): table[:, list(R)],
        ("constant", "clipped"): -table[:, list(R)],
        ("ccs", "admissible"): np.where(table[:, list(R)] > 3, np.nan, table[:, list(R)]),
    }


def test_the_smallest_mean_over_folds_goes_last():
    evaluate = scored([[1.0, 2.0, 9.0, 3.0], [6.0, 2.0, 0.0, 3.0]])
    steps = list(remove_sinks(evaluate, 4, "ccs", "clipped", NAMES))
    assert [step.sink for step in steps] == [1, 3, 0] and order_of(steps) == [2, 0, 3, 1]
    assert [len(step.remaining) for step in steps] == [4, 3, 2]
    assert order_of(list(remove_sinks(evaluate, 4, "constant", "clipped", NAMES)))[-1] == 2


def test_the_scores_belong_to_the_remaining_set():
    seen = []
    base = scored([[1.0, 2.0, 3.0, 4.0]])

    def evaluate(remaining):
        seen.append(remaining)
        return base(remaining)

    list(remove_sinks(evaluate, 4, "ccs", "clipped", NAMES))
    assert seen == [(0, 1, 2, 3), (1, 2, 3), (2, 3)]


def test_an_unavailable_node_stops_the_ordering_and_is_named():
    with pytest.raises(ScoreUnavailable) as caught:
        list(remove_sinks(scored([[1, 1, 1, 1], [1, 2, 5, 1]]), 4, "ccs", "admissible", NAMES))
    assert str(caught.value) == (
        "The CCS of column 'c' is unavailable in held-out fold 2: no repeated level is admissible. "
        "Use the clipped boundary, fewer folds or more rows."
    )


def test_who_has_the_clipped_boundary_is_not_told_to_use_it():
    with pytest.raises(ScoreUnavailable) as caught:
        list(remove_sinks(scored([[1, 1, 1, 1], [1, 2, np.nan, 1]]), 4, "ccs", "clipped", NAMES))
    assert str(caught.value) == (
        "The CCS of column 'c' is unavailable in held-out fold 2: none of its levels repeats there. "
        "Use quantile levels, fewer folds or more rows, or leave the column out."
    )
