"""On a server no page shows another user's run, by any id; a shared one is read, and copied."""

from dataclasses import replace

import pandas as pd
import pytest
from app_world import booted, button, press, texts
from made_up import finished_run, refine_by_hand

from disco.errors import InputError
from disco.runs import Run, list_runs, open_run
from disco.server import shares, users
from pages.shared.result import fit, refinement
from pages.shared.table import drafts
from pages.shared.table.drafts import Draft, DraftStore

PAGES = (
    "data", "preprocess", "train", "ordering", "parents", "refine", "graph", "effects", "experiments", "compare",
    "runs", "simulate", "lahman", "portal",
)  # fmt: skip # a table
NAME = "unheard-of"


@pytest.fixture
def adas(lab) -> Run:
    """A run of Ada's, of which nobody else knows the name."""
    with lab.asked_by("ada"):
        run = refine_by_hand(finished_run(5))
        run.rename(NAME)
        return run


def test_no_page_shows_another_users_run_by_any_id(lab, adas):
    with lab.asked_by("ada"):
        link = shares.share(adas.path)
        shares.revoke(adas.path)
        at = booted("train", run=adas.id)
        draft = at.query_params["draft"]
        assert at.query_params["run"] == adas.id
    theirs, owner = adas.id, lab.ids["ada"]
    ids = (link, str(adas.path), f"../{owner}/{theirs}", f"{owner}/{theirs}", f"example~{theirs}")
    with lab.asked_by("bob"):
        for page, run in [*((page, theirs) for page in PAGES), *(("graph", run) for run in ids)]:
            at = booted(page, run=run, draft=draft)
            shown = texts(at) + "".join(str(one.options) for one in at.selectbox)
            assert NAME not in shown and "Guest" not in shown, page
            assert "shared_run" not in at.session_state and "shared_draft" not in at.session_state, page
        assert list_runs() == []


def test_a_draft_is_found_again_by_its_user_alone(lab):
    store, draft = DraftStore(), Draft(pd.DataFrame({"a": [1]}), "mine")
    with lab.asked_by("ada"):
        store.put("token", draft)
        assert store.get("token") is draft
    with lab.asked_by("bob"):
        assert store.get("token") is None
        for number in range(drafts._MOST_DRAFTS + 5):
            store.put(f"{number}", replace(draft, name="other"))
        assert store.get("4") is None and store.get("5") is not None
    with lab.asked_by("ada"):
        assert store.get("token") is draft  # many drafts of one user drop none of another's


def test_a_shared_run_is_read_on_every_page_with_its_owner_named_and_changed_on_none(lab, adas):
    with lab.asked_by("ada"):
        link = shares.share(adas.path)
    with lab.asked_by("bob"):
        for page in PAGES[2:10]:
            at = booted(page, run=link)
            assert f"**{NAME.replace('-', chr(92) + '-')}** is shown to you by ada" in texts(at), page
            assert not [one for one in at.button if one.key and one.key.startswith("share_")], page
        at.button(key="start_comparison").click().run()
        assert not at.exception and len(at.error) == 1
        at = press(booted("graph", run=link), "Copy to my runs")
        (copy,) = list_runs()
        assert at.query_params["run"] == copy.id and "is shown to you" not in texts(at)
        assert copy.name == NAME and not copy.is_read_only


def test_the_owner_makes_a_link_and_ends_it(lab, adas):
    with lab.asked_by("ada"):
        at = press(booted("graph", run=adas.id), "Make a link")
        (shown,) = [one.value for one in at.code if "shared~" in one.value]
        link = shown.partition("?run=")[2]
        assert len(shares.shares_of(adas.path)) == 1 and "/graph?run=" in shown
        press(at, "End all links")
        assert shares.shares_of(adas.path) == []
    with lab.asked_by("bob"):
        assert NAME not in texts(booted("graph", run=link))


def test_whoever_is_not_logged_in_is_asked_to(lab):
    at = booted("graph")
    assert [one.label for one in at.button] == ["Log in"] and len(at.sidebar) == 0
    with pytest.raises(InputError):
        users.current()


def test_only_an_admin_says_where_work_runs(lab):
    for is_admin in (False, True):
        with lab.asked_by("root" if is_admin else "ada", is_admin):
            at = booted("runs")
            labels = [one.label for one in at.text_input]
            assert ("Dask scheduler" in labels) == is_admin
            assert button(at, "Go to Data")


def test_everybody_finds_an_example_and_only_an_admin_withdraws_it(lab):
    with lab.asked_by("root", is_admin=True):
        run = refine_by_hand(finished_run(4))
        press(booted("graph", run=run.id), "Show to all as an example")
        labels = {one.label for one in booted("runs").button}
        assert "Withdraw" in labels
    with lab.asked_by("bob"):
        at = booted("runs")
        assert "Withdraw" not in {one.label for one in at.button}
        press(at, "made up")
        assert at.query_params["run"] == f"example~{run.id}" and "is an example" in texts(at)
    with lab.asked_by("root", is_admin=True):
        press(booted("runs"), "Withdraw")
        assert shares.examples() == []


def test_the_page_of_the_server_is_for_admins(lab, adas):
    with lab.asked_by("bob"):
        at = booted("admin")
        assert NAME not in texts(at) and "ada" not in texts(at)
    with lab.asked_by("root", is_admin=True):
        at = booted("admin")
        users = next(one.value for one in at.dataframe if "folder" in one.value)
        assert set(users["user"]) == {"ada", "bob", "root"} and set(users["runs"]) == {0, 1}
        at.selectbox(key="admin_user").select(lab.ids["ada"]).run()
        press(at, "Delete")
    with lab.asked_by("ada"):
        assert list_runs() == []


def test_what_is_cached_of_a_run_is_cached_apart_for_a_reader(lab, adas):
    """The pages' results hold the run, and the first to open it must not lend it to the second."""
    with lab.asked_by("ada"):
        link = shares.share(adas.path)
        mine = refinement.of(open_run(adas.id)), fit.current(open_run(adas.id))
    with lab.asked_by("bob"):
        theirs = refinement.of(open_run(link)), fit.current(open_run(link))
        assert all(one.run.is_read_only and one.run.id == link for one in theirs)
        assert all(one.run.is_read_only for one in mine)  # whoever asks counts, not whoever opened it
    with lab.asked_by("ada"):
        assert not any(one.run.is_read_only for one in (*mine, *theirs))
