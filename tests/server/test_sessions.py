"""Whom a thread of the server works for, who may read a file made for a download, and what /health tells."""

import asyncio
import shutil
import threading
from types import SimpleNamespace

import pytest
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner_utils.script_run_context import SCRIPT_RUN_CONTEXT_ATTR_NAME
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from user_world import apart

from disco.errors import InputError
from disco.server import health
from disco.server.sessions import Downloads, asking, bound_uploads
from disco.users import roots
from disco.users.roots import User
from disco.work import ahead

ADA, EVE = User("a" * 32), User("e" * 32)


@pytest.fixture
def session(monkeypatch) -> dict[str, str]:
    """What Streamlit knows of the user of the session."""
    told: dict[str, str] = {}
    now = SimpleNamespace(user_info=told, session_id="1")
    monkeypatch.setattr(threading.current_thread(), SCRIPT_RUN_CONTEXT_ATTR_NAME, now, raising=False)
    return told


def test_the_user_is_the_one_whom_the_door_named(session):
    for told in ({}, {"disco_user": None}, {"disco_role": "admin"}, {"email": "ada@lab.org"}):
        session.clear()
        session.update(told)
        with pytest.raises(InputError, match="Nobody is logged in"):
            asking()
    session.update({"disco_user": ADA.id, "disco_role": "admin"})
    assert asking() == User(ADA.id, is_admin=True)
    session["disco_role"] = None
    assert asking() == ADA


@pytest.fixture
def files(monkeypatch) -> tuple[Downloads, MediaFileManager, MemoryMediaFileStorage]:
    """Streamlit's files, watched for the time of a test."""
    for name in ("load_and_get_id", "delete_file"):
        monkeypatch.setattr(MemoryMediaFileStorage, name, getattr(MemoryMediaFileStorage, name))
    monkeypatch.setattr(MediaFileManager, "add_deferred", MediaFileManager.add_deferred)
    monkeypatch.setattr(roots, "_asks", asking)
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
    button = manager.add_deferred(lambda: seen.append(roots.user()) or b"x", "text/csv", "here")
    made = apart(asyncio.to_thread(manager.execute_deferred, button))  # a thread without a session
    assert seen == [ADA] and roots._acting_for.get() is None
    file = made.removeprefix("/media/")
    assert downloads._readers and downloads.may_read(ADA, file) and not downloads.may_read(EVE, file)


def test_health_tells_what_is_wrong_and_of_nobody(monkeypatch, lab):
    monkeypatch.setattr(health, "_sessions", lambda: 3)
    monkeypatch.setattr(ahead, "is_done", lambda: False)
    well = health.state()
    assert well["ok"] and well["wrong"] == [] and well["sessions"] == 3 and well["queued"] == {"cpu": 0, "cuda": 0}
    assert well["compiled"] is False
    disk = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: disk._replace(free=1))
    assert health.state()["wrong"] == ["disk is nearly full"]
    monkeypatch.setenv("DISCO_RUNS", "/proc/nothing")
    ill = health.state()
    assert not ill["ok"] and "cannot be created" in ill["wrong"][0]
    assert roots.is_served()


def test_the_oldest_uploads_of_all_sessions_go_first(monkeypatch):
    monkeypatch.setattr(MemoryUploadedFileManager, "add_file", MemoryUploadedFileManager.add_file)
    bound_uploads(100)
    manager = MemoryUploadedFileManager("/upload")

    def kept() -> list[str]:
        return sorted(file for files in manager.file_storage.values() for file in files)

    def upload(session: str, name: str, size: int) -> list[str]:
        manager.add_file(session, UploadedFileRec(name, name, "text/csv", bytes(size)))
        return kept()

    upload("ada", "a1", 40)
    upload("eve", "e1", 40)
    assert upload("ada", "a2", 20) == ["a1", "a2", "e1"]  # exactly as much as there may be
    assert upload("ada", "a3", 1) == ["a2", "a3", "e1"]
    manager.remove_file("eve", "e1")
    assert upload("eve", "e2", 79) == ["a2", "a3", "e2"]  # what was taken away does not count
    manager.remove_session_files("ada")
    assert upload("eve", "e3", 21) == ["e2", "e3"]
    assert upload("bob", "b1", 500) == ["b1"]  # the last one stays, whatever its size
    assert upload("ada", "a4", 1) == ["a4"]
