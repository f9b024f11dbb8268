"""The user of a thread, the readers of a download, and what /health reports."""

import asyncio
import shutil

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from user_world import apart

from disco import space
from disco.errors import InputError
from disco.server import health, streamlit_internals, users
from disco.server.sessions import Downloads, session_user
from disco.server.users import User
from disco.work import ahead

ADA, EVE = User("a" * 32), User("e" * 32)


@pytest.fixture
def session(monkeypatch) -> dict[str, str]:
    """What Streamlit knows of the user of the session."""
    info: dict[str, str] = {}
    monkeypatch.setattr(streamlit_internals, "session_user", lambda: info)
    monkeypatch.setattr(users, "_identify", session_user)
    return info


def test_the_user_is_the_one_whom_the_middleware_named(session):
    for info in ({}, {"disco_user": None}, {"disco_role": "admin"}, {"email": "ada@lab.org"}):
        session.clear()
        session.update(info)
        with pytest.raises(InputError, match="Nobody is logged in"):
            session_user()
    session.update({"disco_user": ADA.id, "disco_role": "admin"})
    assert session_user() == User(ADA.id, is_admin=True)
    session["disco_role"] = None
    assert session_user() == ADA


@pytest.fixture
def files(monkeypatch) -> tuple[Downloads, MediaFileManager, MemoryMediaFileStorage]:
    """Streamlit's files, watched for the time of a test."""
    for name in ("load_and_get_id", "delete_file"):
        monkeypatch.setattr(MemoryMediaFileStorage, name, getattr(MemoryMediaFileStorage, name))
    monkeypatch.setattr(MediaFileManager, "add_deferred", MediaFileManager.add_deferred)
    downloads, storage = Downloads(), MemoryMediaFileStorage("/media")
    downloads.watch()
    return downloads, MediaFileManager(storage), storage


def test_a_file_is_read_by_those_for_whom_it_was_made_until_it_is_gone(session, files):
    downloads, manager, storage = files
    session["disco_user"] = ADA.id
    file = manager.add(b"a,b", "text/csv", "here").removeprefix("/media/")
    assert downloads.may_read(ADA, file) and not downloads.may_read(EVE, file)
    session["disco_user"] = EVE.id
    assert manager.add(b"a,b", "text/csv", "there").endswith(file)  # the same content, the same address
    assert downloads.may_read(EVE, file) and downloads.may_read(ADA, file)
    storage.delete_file(file.partition(".")[0])
    assert not downloads.may_read(ADA, file) and not downloads.may_read(EVE, file)


def test_a_file_made_at_the_click_is_for_the_user_of_the_button(session, files):
    downloads, manager, _ = files
    session["disco_user"] = ADA.id
    seen = []
    button = manager.add_deferred(lambda: seen.append(users.current()) or b"x", "text/csv", "here")
    session.clear()  # a thread without a session
    made = apart(asyncio.to_thread(manager.execute_deferred, button))
    assert seen == [ADA] and users._acting_for.get() is None
    file = made.removeprefix("/media/")
    assert downloads.may_read(ADA, file) and not downloads.may_read(EVE, file)


def test_health_reports_what_is_wrong_and_nobody(monkeypatch, lab):
    monkeypatch.setattr(streamlit_internals, "active_sessions", lambda: 3)
    monkeypatch.setattr(ahead, "is_done", lambda: False)
    healthy = health.state()
    assert healthy["ok"] and healthy["wrong"] == [] and healthy["queued"] == {"cpu": 0, "cuda": 0}
    assert healthy["sessions"] == 3 and healthy["compiled"] is False
    disk = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: disk._replace(free=1))
    assert health.state()["wrong"] == ["disk is nearly full"]
    monkeypatch.setenv("DISCO_RUNS", "/proc/nothing")
    broken = health.state()
    assert not broken["ok"] and "cannot be created" in broken["wrong"][0]
    assert space.current().is_shared
