"""The tour: four steps, moved on by what the reader does; skipped for the session; begun again."""

from app_world import booted, csv, poisson, upload
from made_up import finished_run
from streamlit.testing.v1 import AppTest

from disco import runs


def step(at: AppTest) -> str | None:
    """The title of the step on the page; None without a card."""
    assert not at.exception, at.exception
    return next((text.value.split("**")[1] for text in at.markdown if text.value.startswith("**Step ")), None)


def has(at: AppTest, key: str) -> bool:
    return any(found.key == key for found in at.button)


def test_next_leads_through_all_four_to_the_example():
    at = booted()
    assert step(at) == "Step 1 of 4: Load a table."
    labels = [one.label for one in at.button]
    assert "Step 2" in labels and "Next" not in labels  # the page's own way on is called so
    at.button(key="tour_next").click().run()
    assert step(at) == "Step 2 of 4: Check the columns."
    at.button(key="tour_next").click().run()
    assert step(at) == "Step 3 of 4: Find the graph."
    at.button(key="tour_next").click().run()
    assert at.title[0].value == "Graph" and at.query_params["run"] == runs.example().id
    assert step(at) == "Step 4 of 4: Read the graph." and not has(at, "tour_skip")
    at.button(key="tour_done").click().run()
    assert step(at) is None and at.title[0].value == "Graph" and at.query_params["tour"] == "0"


def test_what_the_reader_does_leads_on_too():
    at = upload(booted(), "t.csv", csv(poisson()))
    assert step(at) == "Step 2 of 4: Check the columns."
    at.query_params["run"] = finished_run(4).id
    at.switch_page("pages/graph/page.py").run()
    assert step(at) == "Step 4 of 4: Read the graph."


def test_a_skipped_tour_stays_away_for_the_session_and_in_its_address():
    at = booted()
    at.button(key="tour_skip").click().run()
    assert step(at) is None and at.query_params["tour"] == "0"
    at.switch_page("pages/simulate/page.py").run()
    at.switch_page("pages/data/page.py").run()
    assert step(at) is None and step(booted(tour="0")) is None


def test_it_begins_by_itself_only_where_there_is_no_run():
    finished_run(4)
    assert step(booted()) is None
    at = booted(tour="1")
    assert step(at) == "Step 1 of 4: Load a table." and "tour" not in at.query_params
    at.button(key="tour_skip").click().run()
    at.query_params["tour"] = "1"  # as the sidebar's link
    assert step(at.run()) == "Step 1 of 4: Load a table."


def test_other_pages_have_no_card():
    assert step(booted("simulate")) is None and step(booted("train")) is None
