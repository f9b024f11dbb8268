"""Rules for another run, collected on Graph, and the search that keeps to them."""

import numpy as np
import pandas as pd
import pytest
from app_world import poisson
from made_up import HOSTILE, finished_run, refine_by_hand
from test_pages_ordering import opened

from disco.knowledge import Knowledge
from disco.paper.settings import Settings
from disco.refine import QUICK
from disco.runs import create_run
from disco.subjects import REFINE
from disco.table.roles import Roles
from pages.shared.widgets.names import plain

GRAPH = "pages/graph/page.py"
EDGE = ("x1", "x2")


def picked(run, edge=EDGE):
    """A page with an edge picked."""
    at = opened(run, GRAPH)
    at.session_state["shared_picked_edge"] = {run.id: edge}
    return at.run()


def press(at, *keys):
    for key in keys:
        at.button(key=f"rules_{key}").click().run()
        assert not at.exception
    return at


def rules(at):
    """What the buttons that remove a rule say."""
    return [found.label for found in at.button if str(found.key).startswith("rules_drop")]


@pytest.mark.parametrize(
    ("key", "required", "forbidden"),
    [
        ("require", [EDGE], []),
        ("forbid", [], [EDGE]),
        ("apart", [], [EDGE, EDGE[::-1]]),
        ("reverse", [EDGE[::-1]], [EDGE]),
    ],
)
def test_a_rule_on_the_picked_edge_is_kept_by_another_run(started, key, required, forbidden):
    run = refine_by_hand(finished_run(6))
    at = press(picked(run), key)
    assert at.button(key=f"rules_{key}").disabled  # it is there already
    press(at, "search")
    assert at.title[0].value == "Graph"
    ((other, work, choice),) = started
    assert at.query_params["run"] == other.id != run.id and (work, choice) == (REFINE, QUICK)
    assert other.knowledge() == Knowledge(required=required, forbidden=forbidden) and run.knowledge() is None
    pd.testing.assert_frame_equal(other.table(), run.table())
    assert other.settings == run.settings and other.truth().equals(run.truth()) and other.source == run.source
    assert other.name == "made up · 2, preset paper, 3 settings changed, with rules"


def test_two_nodes_without_an_edge_get_a_rule():
    at = opened(refine_by_hand(finished_run(6)), GRAPH)
    assert "rules_require" not in [found.key for found in at.button] and at.button(key="rules_search").disabled
    at.selectbox(key="rules_from").set_value("x5").run()
    at.selectbox(key="rules_to").set_value("x5").run()
    assert "rules_require" not in [found.key for found in at.button]
    at.selectbox(key="rules_to").set_value("x1").run()
    assert rules(press(at, "require")) == [plain("Required: x5 → x1")]


def test_rules_that_contradict_are_said_at_once_and_one_can_be_removed(started):
    edge = (HOSTILE[1], HOSTILE[2])
    at = press(picked(refine_by_hand(finished_run(HOSTILE)), edge=edge), "require", "forbid")
    (error,) = at.error
    text = " → ".join(edge)
    assert plain(f'"{text}" is required and "{text}" is forbidden.') in error.value
    assert at.button(key="rules_search").disabled
    assert rules(at) == [plain(f"Required: {text}"), plain(f"Forbidden: {text}")]
    press(at, "drop_0")
    assert not at.error and rules(at) == [plain(f"Forbidden: {text}")]
    press(at, "search")
    assert started[0][0].knowledge() == Knowledge(forbidden=[edge])


def test_rules_are_added_to_those_of_the_run_which_can_be_removed(started):
    own = Knowledge(tiers=[["x1"], ["x2", "x3"]], forbidden=["x* → x4"], closed=[2])
    run = create_run(poisson(names=("x1", "x2", "x3", "x4")), Settings(), name="r", knowledge=own)
    at = picked(refine_by_hand(run))
    assert rules(at) == [plain("Forbidden: x* → x4"), "2 tiers"] and at.button(key="rules_search").disabled
    press(at, "reverse")
    assert plain('"x2" is in tier 2, after "x1" in tier 1') in at.error[0].value
    press(at, "drop_tiers", "search")
    assert started[0][0].knowledge() == Knowledge(required=["x2 → x1"], forbidden=["x* → x4", EDGE])
    assert run.knowledge() == own


def test_a_run_whose_last_rule_is_removed_is_searched_without_any_and_with_the_same_roles(started):
    table, roles = poisson(names=("x1", "x2", "site")).assign(site=np.arange(90) % 3), Roles({"site": "covariate"})
    run = create_run(table, Settings(), name="r · 2, with rules", knowledge=Knowledge([["x1"]]), roles=roles)
    press(picked(refine_by_hand(run)), "drop_tiers", "search")
    next_run = started[0][0]
    assert next_run.knowledge() is None and next_run.name == "r · 3, adjusted for site"
    assert next_run.roles == run.roles and next_run.nodes == ["x1", "x2"]
    pd.testing.assert_frame_equal(next_run.with_roles(), run.with_roles())
