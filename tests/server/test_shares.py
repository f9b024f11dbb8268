"""A link shows a run to others, who can read and copy it, until it is ended."""

import io
from datetime import datetime

import pandas as pd
import pytest
from made_up import finished_run, refine_by_hand

from disco.errors import InputError
from disco.refine import Choice
from disco.reports.packing import pack, unpack
from disco.runs import Run, find_runs, is_kept, open_run
from disco.server import shares, users
from disco.server.users import User
from disco.subjects import FIT, REFINE
from disco.subjects.fit.results import StoredFit
from disco.subjects.refinement import refined, refining
from disco.work import jobs


@pytest.fixture
def shared(lab) -> tuple[Run, str]:
    """A run of Ada's, and the id of its link."""
    with lab.asked_by("ada"):
        run = refine_by_hand(finished_run(5))
        return run, shares.share(run.path)


def test_whoever_has_the_link_reads_the_run(lab, shared):
    run, link = shared
    with lab.asked_by("bob"):
        assert is_kept(link) and find_runs() == ([], [])
        seen = open_run(link)
        assert seen == run and seen.id == link and seen.is_read_only
        assert (
            StoredFit(seen).order == StoredFit(run).order
            and refined.read_refined(seen).order == refined.read_refined(run).order
        )


def test_no_reader_changes_anything(lab, shared):
    run, link = shared
    before = {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}
    edges = pd.DataFrame({"parent": [run.nodes[0]], "child": [run.nodes[1]]})
    with lab.asked_by("bob"):
        seen = open_run(link)
        for change in (
            lambda: seen.rename("mine"),
            lambda: seen.set_truth(edges),
            lambda: seen.take(),
            lambda: seen.delete(),
            lambda: seen.update(FIT, state="failed"),
            lambda: jobs.start(seen, REFINE, Choice()),
            lambda: jobs.cancel(seen, FIT),
            lambda: jobs.start_at_once(seen, FIT),
            lambda: refining.stop_here(seen),
            lambda: shares.share(seen.path),
        ):
            with pytest.raises(InputError, match="shown to you to read|Only your own"):
                change()
        shares.revoke(seen.path)
        assert is_kept(link)
    assert {path: path.read_bytes() for path in run.path.rglob("*") if path.is_file()} == before


def test_a_copy_is_the_readers_own(lab, shared):
    _, link = shared
    with lab.asked_by("bob"):
        copy = unpack(io.BytesIO(pack(open_run(link))))
        assert not copy.is_read_only and copy.path.parent == User(lab.ids["bob"]).folder
        copy.rename("mine")
        assert StoredFit(copy).order == StoredFit(open_run(link)).order


def test_a_link_ends_when_its_owner_says_so_or_the_run_is_gone(lab, shared):
    run, link = shared
    with lab.asked_by("ada"):
        other = shares.share(run.path)
        assert [one.run for one in shares.shares_of(run.path)] == [run.id] * 2
        assert all(datetime.fromisoformat(one.created).tzinfo for one in shares.shares_of(run.path))
        shares.revoke(run.path)
        assert shares.shares_of(run.path) == []
        third = shares.share(run.path)
        run.delete()
    with lab.asked_by("bob"):
        assert not any(map(is_kept, (link, other, third)))


def test_the_folder_of_links_does_not_give_them_away(lab, shared):
    _, link = shared
    secret = link.removeprefix(shares.SHARED)
    files = list((users.users_root() / "shares").iterdir())
    assert len(files) == 1 and secret not in files[0].name and secret not in files[0].read_text()
    with lab.asked_by("bob"):
        assert not is_kept(shares.SHARED + files[0].stem)


@pytest.mark.parametrize("run", ["..", "../x", ".queue", "a/b", "", 5, None])
@pytest.mark.parametrize("is_owner_damaged", [False, True])
def test_a_damaged_link_leads_nowhere(lab, shared, run, is_owner_damaged):
    import json

    _, link = shared
    (file,) = (users.users_root() / "shares").iterdir()
    owner = "../.." if is_owner_damaged else lab.ids["ada"]
    file.write_text(json.dumps({"owner": owner, "run": run, "created": "now"}))
    with lab.asked_by("bob"):
        assert not is_kept(link)


def test_examples_are_shown_to_all_and_changed_by_nobody(lab, shared):
    run, _ = shared
    place = shares.examples_root() / run.id
    place.parent.mkdir(parents=True)
    run.path.rename(place)
    with lab.asked_by("bob"):
        seen = open_run(f"example~{run.id}")
        assert seen.is_read_only
        with pytest.raises(InputError, match="shown to you to read"):
            seen.rename("mine")


def test_an_admin_shows_a_copy_to_all_and_withdraws_it(lab, shared):
    run, _ = shared
    with lab.asked_by("ada"):
        for refused in (lambda: shares.publish(run.path), lambda: shares.withdraw("example~x")):
            with pytest.raises(InputError, match="Only an admin"):
                refused()
    with lab.asked_by("root", is_admin=True):
        own = refine_by_hand(finished_run(4))
        (own.path / "worker.log").write_text("private")
        name = shares.publish(own.path)
        with pytest.raises(InputError, match="withdraw it first"):
            shares.publish(own.path)
        own.delete()
    with lab.asked_by("bob"):
        (seen,) = shares.examples()
        assert seen.id == name and seen.is_read_only and len(StoredFit(seen).order) == 4 and is_kept(name)
        assert not (seen.path / "worker.log").exists() and not (seen.path / "lock").exists()
    with lab.asked_by("root", is_admin=True):
        for wrong in ("example~../../x", "shared~x", run.id, "example~"):
            with pytest.raises(InputError, match="no such example"):
                shares.withdraw(wrong)
        shares.withdraw(name)
        assert shares.examples() == [] and not is_kept(name)
