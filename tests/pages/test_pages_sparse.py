"""Empty and nearly empty results: whatever a reader does on a page, something is shown and nothing breaks.

No edge in the fit, the refinement or the truth; one edge; two nodes; a refinement without a fit.
"""

from copy import deepcopy

import pytest
from app_world import texts, unfold
from made_up import finished_run, refine_by_hand
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest
from test_pages_ordering import opened

from disco.paper.settings import Settings
from disco.runs import Run, create_run
from disco.words import how_many

NAMES = ["x1", "x2", "x3"]
CHAIN = [("x1", "x2"), ("x2", "x3")]
NEVER = 1000.0  # a τ_Z that no candidate passes
EDGES = ("parent_rule", "selector")  # names of the widgets that choose which edges are kept


def made(nodes: int = 3, tau_z: float = 1.0, refined: int | None = None, truth: int | None = None) -> Run:
    """A finished run; its refinement and truth have this many edges of the chain, or are missing if None."""
    settings = Settings.of("paper", joint_epochs=1, projection_epochs=1, width=8, tau_z=tau_z)
    known = None if truth is None else CHAIN[:truth]
    run = finished_run(NAMES[:nodes], settings=settings, truth=known)
    return run if refined is None else refine_by_hand(run, edges=CHAIN[:refined])


def boxes(app: AppTest) -> dict[str, object]:
    """Every box of the page that offers options, by its key."""
    return {box.key: box for kind in ("selectbox", "button_group", "select_slider") for box in app.main.get(kind)}


def everything(app: AppTest) -> str:
    """All that a reader sees: words, numbers, and the names of figures and buttons."""
    numbers = [f"{metric.label}: {metric.value}" for metric in app.metric]
    figures = [f"figure {chart.proto.id.rpartition('-')[2]}" for chart in app.get("plotly_chart")]
    return "\n".join([texts(app), *numbers, *figures, *(f"button {button.key}" for button in app.button), ""])


def choose(app: AppTest, states: WidgetStates, box: object, label: str) -> bool:
    """Choose an option by its label, as a browser does, with all else as given; whether that is a change."""
    (state,) = [state for state in states.widgets if state.id == box.id]
    chosen = [state.string_value] if box.type == "selectbox" else list(state.string_array_value.data)
    if chosen == [label]:
        return False
    if box.type == "selectbox":
        state.string_value = label
    else:
        state.string_array_value.data[:] = [label]
    app._run(states)
    return True


def poke(app: AppTest) -> dict[str, str]:
    """What is seen at first, and after each flip of a switch and each choice in a box of the page as it was opened.

    The boxes that choose which edges are kept come last, for what they chose stays. The two nodes of a rule
    are left out: one alone does nothing.
    """
    seen, at_first = {"at first": everything(app)}, app._tree.get_widget_states()

    def note(key: str, label: object) -> None:
        assert not app.exception, (key, label, app.exception)
        seen[f"{key.split('_made-up-')[0]}: {label}"] = everything(app)  # without the run that the key ends with

    for toggle in [toggle for toggle in app.toggle if not toggle.disabled]:
        states = deepcopy(at_first)
        (state,) = [state for state in states.widgets if state.id == toggle.id]
        state.bool_value = not state.bool_value
        app._run(states)
        note(toggle.key, state.bool_value)
    chosen_from = {key: box for key, box in boxes(app).items() if not key.startswith("rules_")}
    for key, box in sorted(chosen_from.items(), key=lambda item: item[0].startswith(EDGES)):
        for label in box.options[1:] if box.type == "button_group" else box.options[-1:] + box.options[:1]:
            if choose(app, deepcopy(at_first), box, label):
                note(key, label)
    return seen


def assert_always(seen: dict[str, str], expected: list[str]) -> None:
    """Some words were there at first and after every choice, except of which edges are kept."""
    pages = {choice: words for choice, words in seen.items() if not choice.startswith(EDGES)}
    lacking = {choice: [part for part in expected if part not in words] for choice, words in pages.items()}
    assert {choice: parts for choice, parts in lacking.items() if parts} == {}


# What a page shows as long as no edge is kept: the result, what to try instead, and the page to its end.
EMPTY = {
    "ordering": ["`x1`, `x2`", "figure order_ranking\n"],
    "parents": ["**0 of", "button sparse_jackknife\n", "**It does not mean**"],
    "graph": ["**0 edges** among", "button sparse_jackknife\n", "**It does not mean**"],
}


@pytest.mark.parametrize("given", [{"tau_z": NEVER, "truth": 0}, {"nodes": 2, "truth": 1}])
@pytest.mark.parametrize("page", ["ordering", "parents", "graph"])
def test_a_fit_of_next_to_nothing(page, given):
    app = opened(made(**given), f"pages/{page}/page.py")
    assert_always(seen := poke(app), EMPTY[page])
    edges = given.get("nodes", 3) - 1
    kept = {"parents": f"**{edges} of", "graph": f"**{how_many(edges, 'edge')}** among", "ordering": ""}[page]
    assert kept in seen.get(f"parent_rule_{page}: Agreement of the folds (parts of the rows)", "") and len(seen) > 4


@pytest.mark.parametrize("given", [{"tau_z": NEVER, "refined": 2, "truth": 1}, {"refined": 0, "truth": 2}])
def test_a_refinement_of_next_to_nothing(given):
    app, edges = unfold(opened(made(**given), "pages/graph/page.py"), "search_again"), given["refined"]
    assert ("supports no edge" in texts(app)) == (edges == 0)
    assert "SHD: " in everything(app)
    assert_always(seen := poke(app), ["figure graph_slope\n", "button start_search\n"])
    assert "figure refined_kind\n" in seen["graph_search: x1"]
    assert not edges or "figure refined_response\n" in seen["graph_edge: 1. x1 → x2"]


def test_a_refinement_without_a_fit_and_without_edges():
    run = refine_by_hand(create_run(finished_run(NAMES).table(), Settings(), name="bare"), edges=[])
    app = opened(run, "pages/graph/page.py")
    assert_always(poke(app), ["**0 edges** among", "figure graph_slope\n"])
    for page in ("ordering", "parents"):
        assert "has not been fitted" in texts(opened(run, f"pages/{page}/page.py"))
