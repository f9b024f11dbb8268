"""Every user has runs of their own, which nobody else reaches by any name."""

import threading
from pathlib import Path

import pytest
from made_up import finished_run

from disco.errors import InputError
from disco.runs import find_runs, is_kept, list_runs, open_run, runs_root
from disco.users import roots
from disco.users.roots import User, common_root

NAMES = ("ada@lab.org", "../../etc", "", "users", "a\n/b", "ADA@lab.org", "shares", "examples", "é" * 300)


def test_a_folder_is_made_safely_of_any_identity(lab):
    ids = {roots.enter(way, name, name) for name in NAMES for way in ("header", "openid")}
    assert len(ids) == 2 * len(NAMES)  # the same name by another way is somebody else
    assert all(len(one) == 32 and set(one) <= set("0123456789abcdef") for one in ids)
    assert sorted(ids) == roots.everyone()
    assert {path.parent for path in common_root().rglob("user.json")} == {common_root() / "users" / one for one in ids}


def test_a_user_returns_to_the_same_folder_under_the_first_name(lab):
    first = roots.enter("header", "ada", "Ada")
    assert roots.enter("header", "ada", "Eve\x1b[2J") == first and roots.name_of(first) == "Ada"
    assert roots.name_of(roots.enter("header", "eve", "Eve\x1b[2J")) == "Eve\N{REPLACEMENT CHARACTER}[2J"
    (common_root() / "users" / first / "user.json").write_text("[")
    assert roots.name_of(first) == f"user {first[:6]}"


def test_a_guest_chooses_a_name_that_is_not_somebody_elses(lab):
    one, two = (User(roots.enter("invite-user", secret, "Guest")) for secret in "ab")
    for own in (one, two):
        roots.rename(own, "  Ada\x1b \n Lovelace ")
    assert one.name != two.name and one.name == f"Ada\N{REPLACEMENT CHARACTER} Lovelace ({one.id[:4]})"
    roots.rename(one, "x" * 1000)
    assert len(one.name) < 60 and roots.is_guest(one.id)
    with pytest.raises(InputError, match="at least one letter"):
        roots.rename(one, " \n")
    ada = User(roots.enter("header", "ada", "Ada"))
    with pytest.raises(InputError, match="where you logged in"):
        roots.rename(ada, "Eve")
    assert ada.name == "Ada" and not roots.is_guest(ada.id)


def test_nobody_reaches_the_runs_of_another_user_by_any_name(lab):
    with lab.asked_by("ada"):
        run = finished_run(4)
        assert list_runs() == [run] and open_run(run.id) == run and not run.is_read_only
    owner = lab.ids["ada"]
    tries = [
        run.id,
        str(run.path),
        f"../{owner}/{run.id}",
        f"users/{owner}/{run.id}",
        f"{owner}/{run.id}",
        owner,
        "users",
    ]
    tries += [f"shared~{run.id}", f"example~{run.id}", f"example~../{owner}/{run.id}", f"shared~{'a' * 24}", "~", ".."]
    with lab.asked_by("bob"):
        assert find_runs() == ([], [])
        for name in tries:
            assert not is_kept(name), name
            with pytest.raises(InputError, match="There is no run"):
                open_run(name)
        with pytest.raises(InputError, match="There is no run"):
            open_run(Path(run.path))


def test_a_thread_that_works_for_nobody_reaches_no_runs(lab):
    with pytest.raises(InputError, match="Nobody is logged in"):
        runs_root()
    with lab.asked_by("ada"):
        found = []
        thread = threading.Thread(target=lambda: found.append(runs_root()))
        thread.start()
        thread.join()
    assert found == [common_root() / "users" / lab.ids["ada"]]


def test_a_process_works_for_the_user_in_its_environment(monkeypatch):
    assert roots.user() is None and not roots.is_served() and runs_root() == common_root()
    for user in (User("a" * 32), User("b" * 32, is_admin=True)):
        for name, value in roots.told(user).items():
            monkeypatch.setenv(name, value)
        assert roots.user() == user and roots.is_served()
        assert runs_root() == common_root() / "users" / user.id
    for bad in ("..", "../x", "A" * 32, "a" * 31, "a" * 32 + "/x"):
        monkeypatch.setenv(roots.VARIABLE, bad)
        with pytest.raises(InputError, match="no such user"):
            runs_root()


def test_the_users_are_no_runs_of_whoever_works_without_a_server(lab, monkeypatch):
    with lab.asked_by("ada"):
        finished_run(3)
    monkeypatch.setattr(roots, "_asks", None)
    run = finished_run(3)
    assert find_runs() == ([run], [])


def test_the_folder_of_users_is_closed_to_other_accounts(monkeypatch):
    monkeypatch.setattr(roots, "_asks", None)
    (common_root() / "users").mkdir(mode=0o755)  # made before, as with the invitations
    roots.serve(lambda: User("a" * 32))
    assert (common_root() / "users").stat().st_mode & 0o077 == 0
    assert runs_root() == common_root() / "users" / ("a" * 32)


def test_an_admin_may_change_the_run_of_another_user_but_not_by_a_link(lab):
    with lab.asked_by("ada"):
        run = finished_run(3)
    with lab.asked_by("root", is_admin=True):
        assert not type(run)(run.path).is_read_only and type(run)(run.path, "shared~x").is_read_only
    with lab.asked_by("bob"):
        assert type(run)(run.path).is_read_only
