"""Empty and nearly empty results: whatever a reader does on a page, something is shown and nothing breaks.

No edge in the fit, the refinement or the truth; one edge; two nodes; a refinement without a fit.
"""

import pytest
from app_world import texts
from made_up import finished_run, refine_by_hand
from streamlit.testing.v1 import AppTest
from test_pages_lahman import PAGE as LAHMAN
from test_pages_lahman import batting, finished  # noqa: F401 - a fixture
from test_pages_ordering import opened

from disco.runs import Run, create_run
from disco.settings import Settings

NAMES = ["x1", "x2", "x3"]
CHAIN = [("x1", "x2"), ("x2", "x3")]
NEVER = 1000.0  # a τ_Z that no candidate passes


def made(nodes: int = 3, tau_z: float = 1.0, refined: int | None = None, truth: int | None = None) -> Run:
    """A finished run; its refinement and truth have this many edges of the chain, or are missing if None."""
    settings = Settings.of("paper", joint_epochs=1, projection_epochs=1, width=8, tau_z=tau_z)
    known = None if truth is None else CHAIN[:truth]
    run = finished_run(NAMES[:nodes], settings=settings, truth=known)
    return run if refined is None else refine_by_hand(run, edges=CHAIN[:refined])


def boxes(app: AppTest) -> dict[str, object]:
    """Every box of the page that offers options, by its key."""
    return {box.key: box for kind in ("selectbox", "button_group", "select_slider") for box in app.main.get(kind)}


def choose(app: AppTest, box: object, label: str) -> None:
    """Choose an option by its label, as a browser does."""
    states = app._tree.get_widget_states()
    (state,) = [state for state in states.widgets if state.id == box.id]
    if box.type == "selectbox":
        state.string_value = label
    else:
        state.string_array_value.data[:] = [label]
    app._run(states)


def poke(app: AppTest) -> None:
    """Flip every switch and choose every option of every box, one after the other."""
    for key in [toggle.key for toggle in app.toggle]:
        if any(toggle.key == key and not toggle.disabled for toggle in app.toggle):
            app.toggle(key=key).set_value(not app.toggle(key=key).value).run()
            assert not app.exception, (key, app.exception)
    for key, box in boxes(app).items():
        for label in box.options[1:] if box.type == "button_group" else box.options[-1:] + box.options[:1]:
            if label in getattr(boxes(app).get(key), "options", ()):
                choose(app, boxes(app)[key], label)
                assert not app.exception, (key, label, app.exception)


@pytest.mark.parametrize("given", [{"tau_z": NEVER, "truth": 0}, {"nodes": 2, "truth": 1}])
@pytest.mark.parametrize("page", ["ordering", "parents", "graph"])
def test_a_fit_of_next_to_nothing(page, given):
    poke(opened(made(**given), f"pages/{page}/page.py"))


@pytest.mark.parametrize(
    "given",
    [
        {"tau_z": NEVER, "refined": 2, "truth": 1},
        {"tau_z": NEVER, "refined": 0, "truth": 0},
        {"refined": 0, "truth": 2},
        {"refined": 1},
        {"nodes": 2, "refined": 1, "truth": 1},
    ],
)
def test_a_refinement_of_next_to_nothing(given):
    poke(opened(made(**given), "pages/refine/page.py"))


def test_a_refinement_without_a_fit_and_without_edges():
    run = refine_by_hand(create_run(finished_run(NAMES).table(), Settings(), name="bare"), edges=[])
    app = opened(run, "pages/refine/page.py")
    poke(app)
    assert "**0 of 0 edges** shown" in texts(app)
    assert any(part.value.startswith("**0 edges**") for part in opened(run, "pages/graph/page.py").markdown)
    for page in ("ordering", "parents"):
        assert "has not been fitted" in texts(opened(run, f"pages/{page}/page.py"))


def test_what_changed_against_a_fit_without_edges():
    app = opened(made(tau_z=NEVER, refined=2), "pages/refine/page.py")
    app.segmented_control(key="refine_lines").set_value("changes").run()
    assert not app.exception
    assert {metric.label: metric.value for metric in app.metric}["New"] == "2"


def test_lahman_without_edges(batting):  # noqa: F811
    order = list(batting.columns)
    for refined in ([], [(order[0], order[1])]):
        refine_by_hand(finished(batting, len(refined)), edges=refined)
        app = opened(page=LAHMAN)
        poke(app)
