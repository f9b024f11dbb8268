"""Every user has runs of their own, which nobody else reaches by any name."""

import json
import threading
from pathlib import Path

import pytest
from made_up import finished_run

from disco import space
from disco.errors import InputError
from disco.runs import find_runs, is_kept, list_runs, open_run, runs_root
from disco.server import many_users, users
from disco.server.user_limits import UserLimits
from disco.server.users import User, users_root
from disco.space import Space

NAMES = ("ada@lab.org", "../../etc", "", "users", "a\n/b", "ADA@lab.org", "shares", "examples", "é" * 300)


def test_a_folder_is_made_safely_of_any_identity(lab):
    ids = {users.enter(way, name, name) for name in NAMES for way in ("header", "openid")}
    assert len(ids) == 2 * len(NAMES)  # the same name by another way is somebody else
    assert all(len(one) == 32 and set(one) <= set("0123456789abcdef") for one in ids)
    assert sorted(ids) == [user.id for user in users.everybody()]
    assert {path.parent for path in users_root().rglob("user.json")} == {users_root() / one for one in ids}


def test_a_user_returns_to_the_same_folder_under_the_first_name(lab):
    first = users.enter("header", "ada", "Ada")
    assert users.enter("header", "ada", "Eve\x1b[2J") == first and User(first).name == "Ada"
    assert User(users.enter("header", "eve", "Eve\x1b[2J")).name == "Eve\N{REPLACEMENT CHARACTER}[2J"
    (users_root() / first / "user.json").write_text("[")
    assert User(first).name == f"user {first[:6]}"


def test_a_guest_chooses_a_name_that_is_not_somebody_elses(lab):
    one, two = (User(users.enter("invite-user", secret, "Guest")) for secret in "ab")
    for guest in (one, two):
        guest.rename("  Ada\x1b \n Lovelace ")
    assert one.name != two.name and one.name == f"Ada\N{REPLACEMENT CHARACTER} Lovelace ({one.id[:4]})"
    one.rename("x" * 1000)
    assert len(one.name) < 60 and one.is_guest
    with pytest.raises(InputError, match="at least one letter"):
        one.rename(" \n")
    ada = User(users.enter("header", "ada", "Ada"))
    with pytest.raises(InputError, match="where you logged in"):
        ada.rename("Eve")
    assert ada.name == "Ada" and not ada.is_guest


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
    assert found == [users_root() / lab.ids["ada"]]


@pytest.fixture
def alone(monkeypatch):
    """This process without users, whatever a test installs."""
    monkeypatch.setattr(users, "_identify", None)
    monkeypatch.setattr(space, "_current", Space())


def test_a_process_works_for_the_user_in_its_environment(alone, monkeypatch):
    assert users.current() is None and not space.current().is_shared and runs_root() == space.common_root()
    assert space.current().environment() == {"DISCO_RUNS": str(space.common_root())}
    limits = UserLimits(runs=5, disk=0.5)
    for user in (User("a" * 32), User("b" * 32, is_admin=True)):
        many_users.serve(lambda user=user: user, limits)
        for name, value in space.current().environment().items():
            monkeypatch.setenv(name, value)
        users.identify_by(lambda: 1 / 0)
        many_users.work_for_one()
        assert users.current() == user and runs_root() == users_root() / user.id
        assert space.current().limits().may_skip_queue == user.is_admin and space.current().user_limits == limits
    for wrong in ("..", "../x", "A" * 32, "a" * 31, "a" * 32 + "/x", "a" * 32 + "\n"):
        monkeypatch.setenv(many_users.VARIABLE, json.dumps({"id": wrong, "is_admin": False, "limits": {}}))
        with pytest.raises(InputError, match="no such user"):
            many_users.work_for_one()


def test_the_users_are_no_runs_of_whoever_works_without_a_server(lab, monkeypatch):
    with lab.asked_by("ada"):
        finished_run(3)
    monkeypatch.setattr(space, "_current", Space())
    run = finished_run(3)
    assert find_runs() == ([run], [])


def test_the_folder_of_users_is_closed_to_other_accounts(alone):
    users_root().mkdir(parents=True, mode=0o755)  # made before, as with the invitations
    many_users.serve(lambda: User("a" * 32), UserLimits())
    assert users_root().stat().st_mode & 0o077 == 0
    assert runs_root() == users_root() / ("a" * 32)


def test_an_admin_may_change_the_run_of_another_user_but_not_by_a_link(lab):
    with lab.asked_by("ada"):
        run = finished_run(3)
    with lab.asked_by("root", is_admin=True):
        assert not type(run)(run.path).is_read_only and type(run)(run.path, "shared~x").is_read_only
    with lab.asked_by("bob"):
        assert type(run)(run.path).is_read_only
