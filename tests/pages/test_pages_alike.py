"""What pages do alike: an empty one leads on, a start that is refused is said, and hostile names stay text."""

import pytest
from app_world import booted, box, button, drafted, poisson, press, texts
from made_up import HOSTILE, finished_run, refine_by_hand

from disco.errors import InputError
from disco.work import jobs


def test_a_run_that_is_missing_is_said_once_on_every_page():
    for page in ("data", "preprocess", "train", "ordering", "parents", "graph", "compare", "runs"):
        at = booted(page, run="gone-20200101-000000-000")
        assert len([one for one in at.warning if "There is no run" in one.value]) == 1, page


def test_the_way_on_stands_before_the_finished_runs():
    run = finished_run(4)
    for page in ("ordering", "parents", "graph", "compare"):
        keys = [found.key for found in booted(page).main.button if "empty_" in (found.key or "")]
        assert keys[0] == "empty_lead_on" and len(keys) == 2, page
    run.delete()
    assert [found.key for found in booted(page).main.button if "empty_" in (found.key or "")] == ["empty_lead_on"]


def test_a_page_without_a_table_leads_to_data():
    for page in ("preprocess", "train"):
        assert press(booted(page), "Go to Data").title[0].value == "What drives what?"


@pytest.mark.usefixtures("single_threaded")
@pytest.mark.parametrize(
    ("page", "label"),
    [
        *(("data", "Find the graph"), ("train", "Start the fit"), ("train", "Quick look")),
        *(("graph", "Start the search"), ("compare", "Run methods")),
    ],
)
def test_a_start_that_is_refused_is_one_sentence(monkeypatch, page, label):
    def refuse(*_, **__):
        raise InputError("The run <b> is already queued or running.")

    monkeypatch.setattr(jobs, "start", refuse)
    at = drafted(page, poisson()) if page in ("data", "train") else booted(page, run=finished_run(4).id)
    button(at, label).click().run()
    assert [error.value for error in at.error] == ["The run \\<b\\> is already queued or running\\."]
    assert at.title[0].value == page.capitalize() and not at.exception


@pytest.mark.parametrize(
    ("page", "pick", "name", "is_refined"),
    [
        *(("ordering", None, None, False), ("parents", None, None, False)),
        *(("graph", "graph_search", HOSTILE[1], False), ("graph", "graph_search", HOSTILE[1], True)),
        ("graph", "graph_edge", (HOSTILE[2], HOSTILE[1]), True),
    ],
)
def test_hostile_names_are_shown_as_text(page, pick, name, is_refined):
    """In markdown a name stands as code, or with every sign escaped; nodes with a misfit are named in a warning."""
    # Parents names the third node, which has two candidates.
    run = finished_run([HOSTILE[-1], *HOSTILE[:-1]] if page == "parents" else HOSTILE)
    if is_refined:
        refine_by_hand(run, HOSTILE[::-1], misfit=dict.fromkeys(HOSTILE, 50.0))
    at = booted(page, run=run.id)
    if pick:
        box(at, pick).set_value(name).run()
    assert not at.exception and "`<script>alert(1)</script>`" in texts(at)
    assert "<script>" not in texts(at).replace("`<script>alert(1)</script>`", "")
    assert not any(getattr(part, "allow_html", False) and "alert" in part.value for part in at.markdown)
