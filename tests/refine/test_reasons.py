"""Why a direction is decided or not: the rule named is the one that decides."""

import numpy as np
import pandas as pd
import pytest

from disco.refine.edge_evidence import decided, poorly_fitted
from disco.refine.reasons import Reason, asked, is_of_kind, missed, reason

BOUND = 10.0


def test_a_rule_fails_exactly_where_the_direction_is_not_decided(rng):
    seen = set()
    for _ in range(60):
        direction = rng.choice([3.0, 12.0, 40.0, np.nan], 12)
        robust = np.minimum(direction, rng.choice([4.0, 7.0, 50.0, np.nan], 12))
        edges = pd.DataFrame({"parent": 0, "child": range(1, 13), "direction_nats": direction, "robust_nats": robust})
        edges["gain_nats"] = rng.choice([9.0, 90.0, np.nan], 12, p=[0.1, 0.8, 0.1])
        edges["linear_nats"] = rng.choice([3.0, -0.5, -9.0, np.nan], 12, p=[0.5, 0.3, 0.1, 0.1])
        misfit = rng.choice([0.0, 1.0, 4.0, np.nan], 13, p=[0.6, 0.25, 0.1, 0.05])
        levels = rng.choice([2, 3, 4, 9], 13, p=[0.05, 0.05, 0.1, 0.8])
        nodes = pd.DataFrame({"node": range(13), "levels": levels, "misfit_nats": misfit})
        nodes["is_poor"] = poorly_fitted(misfit, edges)
        sure = decided(edges, misfit, levels, BOUND, set())
        for row, is_sure in zip(edges.to_dict("records"), sure, strict=True):
            rule = reason({**row, "decided": is_sure}, nodes, BOUND)
            assert (rule is Reason.DECIDED) == is_sure
            # Stored as undecided although no rule that can be checked fails: another search has it reversed.
            assert (reason({**row, "decided": False}, nodes, BOUND) is Reason.ELSEWHERE) == is_sure
            assert reason({**row, "decided": True, "rule": "fixed"}, nodes, BOUND) is Reason.KNOWN
            assert reason({**row, "decided": is_sure, "rule": "free", "source": ""}, nodes, BOUND) is rule
            assert reason({**row, "decided": True, "source": "experiment"}, nodes, BOUND) is Reason.SHOWN
            assert reason({**row, "decided": is_sure}, nodes, BOUND, has_artefacts=True) is Reason.ARTEFACT
            seen.add(rule)
    assert seen == {*Reason} - {Reason.ARTEFACT, Reason.OLDER, Reason.ELSEWHERE, Reason.KNOWN, Reason.SHOWN}


def test_what_is_asked_beside_misfit_is_what_decides():
    nodes = pd.DataFrame({"node": [*"abcdefghijkl"], "levels": 9, "misfit_nats": [2.0, 0.5, *[0.0] * 10]})
    nodes["is_poor"] = False
    row = {"parent": "a", "child": "b", "direction_nats": 17.5, "robust_nats": 17.5, "linear_nats": 0}
    row |= {"gain_nats": 20.0, "decided": False}
    assert asked(row, nodes, BOUND) == pytest.approx(17.5) and reason(row, nodes, BOUND) is Reason.ELSEWHERE
    assert reason({**row, "direction_nats": 17.4}, nodes, BOUND) is Reason.MISSED
    assert reason(row, None, BOUND) is Reason.OLDER
    assert reason({**row, "gain_nats": 15.0, "decided": True}, nodes, BOUND) is Reason.DECIDED  # by an older version
    assert reason({**row, "gain_nats": 15.0}, nodes, BOUND) is Reason.UNSURE
    assert reason({**row, "gain_nats": 4000.0}, nodes, BOUND, rows=30_000) is Reason.RIVAL
    assert reason({**row, "gain_nats": 4000.0}, nodes, BOUND, rows=300_000) is Reason.ELSEWHERE


def test_the_worst_nodes_come_first_and_a_tenth_of_them_is_too_many():
    nodes = pd.DataFrame({"node": [*"abcdefghij"], "misfit_nats": [2.9, 3.0, np.nan, 80.0, *[0.0] * 6]})
    nodes["is_poor"] = [False, True, True, True, *[False] * 6]
    assert missed(nodes)["node"].tolist() == ["c", "d", "b"]
    assert not is_of_kind(nodes) and not is_of_kind(nodes.assign(is_poor=[False] * 9 + [True]))
    assert is_of_kind(pd.DataFrame({"node": range(11), "misfit_nats": 0.0, "is_poor": [False] * 10 + [True]}))


def test_a_misfit_counts_in_proportion_to_what_it_could_overturn():
    """The same table with more rows: misfit and evidence grow alike, and the verdict on a node stays."""
    edges = pd.DataFrame({"parent": [0, 1, 1], "child": [1, 2, 3], "direction_nats": [40.0, 20.0, -70.0]})
    misfit = np.array([3.9, 4.1, 7.0, 1.0, np.nan])
    assert poorly_fitted(misfit, edges).tolist() == [False, False, True, False, True]
    many = edges.assign(direction_nats=10 * edges["direction_nats"])
    assert poorly_fitted(10 * misfit, many).tolist() == [False, False, True, True, True]  # 10 nats of no evidence
    assert poorly_fitted(misfit, edges[:0]).tolist() == [True, True, True, False, True]
