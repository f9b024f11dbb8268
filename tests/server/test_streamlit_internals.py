"""Streamlit has each name that the server relies on, and behaves as expected: one test per name, without a server."""

import asyncio
import inspect
import json
import pkgutil
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
import uvicorn
from starlette.applications import Starlette
from streamlit import config
from streamlit.logger import get_logger
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.session_manager import SessionManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest
from streamlit.web import bootstrap
from streamlit.web.server.starlette import starlette_app_utils, starlette_server, starlette_websocket
from user_world import apart as in_a_thread

from disco.server import streamlit_internals
from disco.server.streamlit_internals import NAMES

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", NAMES)
def test_streamlit_still_has_the_name(name):
    try:
        pkgutil.resolve_name(name)
    except (ImportError, AttributeError):
        pytest.fail(f"Streamlit {streamlit.__version__} has no {name}, which the server needs: {NAMES[name]}.")


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """Whatever the server replaces in Streamlit is as before at the end."""
    for name in NAMES:
        owner, _, attribute = name.replace(":", ".").rpartition(".")
        monkeypatch.setattr(pkgutil.resolve_name(owner), attribute, pkgutil.resolve_name(name))


def test_the_server_starts_with_our_options_and_the_app_s_configuration(monkeypatch, tmp_path):
    calls, script = [], tmp_path / "app.py"
    inspect.signature(bootstrap.run).bind(str(script), False, [], {})
    inspect.signature(bootstrap.load_config_options).bind({"server.port": 1})
    monkeypatch.setattr(bootstrap, "load_config_options", lambda options: calls.append(options))
    monkeypatch.setattr(bootstrap, "run", lambda *arguments: calls.append(arguments))
    streamlit_internals.run(script, {"server.port": 1}, lambda: calls.append("announced"))
    assert calls == [{"server.port": 1}, "announced", (str(script), False, [], {"server.port": 1})]
    assert str(tmp_path / ".streamlit" / "config.toml") in config.get_config_files("config.toml")
    PagesManager(str(ROOT / "app.py"))  # beside a folder pages/
    assert PagesManager.uses_pages_directory is False


def test_only_pages_of_the_app_connect_and_nobody_outside_is_asked(monkeypatch):
    monkeypatch.setattr(streamlit.net_util, "get_external_ip", lambda: 1 / 0)
    streamlit_internals.refuse_other_origins()
    for origin, is_allowed in (
        ("http://127.0.0.1:8501", True),
        ("http://127.0.0.1:1", False),
        ("http://localhost:8501", False),
        ("http://evil.example", False),
        ("null", False),
    ):
        assert starlette_websocket._is_origin_allowed(origin, "127.0.0.1:8501") == is_allowed, origin


def test_the_web_server_takes_our_options_and_our_application(monkeypatch):
    class Stopped(Exception):
        pass

    def stop(app, **options):
        seen.extend((app, options))
        raise Stopped

    seen, changed, app = [], [], Starlette()
    monkeypatch.setattr(starlette_server, "create_starlette_app", lambda runtime: app)
    monkeypatch.setattr(uvicorn, "Config", stop)
    streamlit_internals.configure_uvicorn(timeout_graceful_shutdown=7)
    streamlit_internals.change_app([changed.append])

    async def start() -> None:
        await starlette_server.UvicornServer(None).start()

    with pytest.raises(Stopped):
        in_a_thread(start())
    assert changed == [app] and seen[0] is app and seen[1]["timeout_graceful_shutdown"] == 7


def test_every_page_has_a_root_a_head_and_a_script_that_reads_where_the_root_is():
    index = streamlit_internals.index()
    assert index.count("<head>") == 1 and 'id="root"' in index
    static = Path(pkgutil.resolve_name("streamlit.file_util:get_static_dir")())
    assert any("BACKEND_BASE_URL" in path.read_text(encoding="utf-8") for path in static.rglob("*.js"))


@pytest.mark.parametrize(
    ("text", "secret", "is_logged_in"),
    [
        (json.dumps({"is_logged_in": True, "email": "ada"}), "right", True),
        (json.dumps({"is_logged_in": True, "email": "ada"}), "forged", False),
        (json.dumps({"is_logged_in": False}), "right", False),
        (json.dumps({"is_logged_in": 1}), "right", False),
        (json.dumps(["is_logged_in"]), "right", False),
        ("{", "right", False),
    ],
)
def test_the_signed_cookie_says_who_is_logged_in(monkeypatch, text, secret, is_logged_in):
    monkeypatch.setattr(starlette_websocket, "get_cookie_secret", lambda: "right")
    name = pkgutil.resolve_name("streamlit.web.server.starlette.starlette_server_config:USER_COOKIE_NAME")
    cookie = starlette_app_utils.create_signed_value(secret, name, text).decode()
    claims = streamlit_internals.openid_claims({name: cookie})
    assert claims == (json.loads(text) if is_logged_in else {}) and streamlit_internals.openid_claims({}) == {}


def test_streamlit_s_loggers_are_listed():
    assert get_logger("streamlit.test") in streamlit_internals.loggers()


def test_the_sessions_of_the_runtime_are_counted(monkeypatch):
    assert "self._session_mgr = " in inspect.getsource(Runtime.__init__)
    assert callable(SessionManager.num_active_sessions)
    manager = SimpleNamespace(num_active_sessions=lambda: 3)
    monkeypatch.setattr(Runtime, "instance", lambda: SimpleNamespace(_session_mgr=manager))
    assert streamlit_internals.active_sessions() == 3


def test_a_header_of_the_server_is_known_to_the_session():
    assert "server.trustedUserHeaders" in config.get_config_options()
    app = AppTest.from_string(
        "import streamlit as st\nfrom disco.server import streamlit_internals\n"
        "st.write(sorted(streamlit_internals.session_user()))"
    ).run(timeout=60)
    assert not app.exception and app.json  # a mapping, with what the test gives of the user
    assert streamlit_internals.session_user() == {}


def test_files_are_observed_as_they_are_stored_and_deleted():
    events = []

    def bound(create):
        events.append("bound")
        return lambda: create() + b"!"

    streamlit_internals.watch_files(
        lambda file: events.append(f"+{file}"), lambda file: events.append(f"-{file}"), bound
    )
    storage = MemoryMediaFileStorage("/media")
    manager = MediaFileManager(storage)
    file = storage.load_and_get_id(b"a", "text/csv", "media", "a.csv")
    storage.delete_file(file)
    assert events == [f"+{file}", f"-{file}"]
    button = manager.add_deferred(lambda: b"x", "text/csv", "here")
    made = in_a_thread(asyncio.to_thread(manager.execute_deferred, button)).removeprefix("/media/").partition(".")[0]
    assert events[2:] == ["bound", f"+{made}"] and storage.get_file(f"{made}.csv").content == b"x!"


def test_the_oldest_uploads_of_all_sessions_are_removed_first():
    streamlit_internals.bound_uploads(100)
    manager = MemoryUploadedFileManager("/upload")

    def upload(session: str, name: str, size: int) -> list[str]:
        manager.add_file(session, UploadedFileRec(name, name, "text/csv", bytes(size)))
        return sorted(file for files in manager.file_storage.values() for file in files)

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


def test_a_page_runs_within_a_turn():
    events = []

    @contextmanager
    def turn():
        events.append("begins")
        yield
        events.append("ends")

    streamlit_internals.run_pages_in(turn)
    assert script_runner.exec_func_with_error_handling.__name__ == "exec_func_with_error_handling"
    assert not AppTest.from_string("import streamlit as st\nst.title('page')").run(timeout=60).exception
    assert events == ["begins", "ends"]


@dataclass(eq=False)
class Session:
    """What of a session of Streamlit's is used."""

    _event_loop: asyncio.AbstractEventLoop
    name: str


def test_what_a_page_draws_arrives_together_and_in_order():
    assert "self._event_loop = " in inspect.getsource(AppSession.__init__)
    streamlit_internals.send_together()
    wakes, received = [], []

    async def serve() -> None:
        loop, done = asyncio.get_running_loop(), asyncio.Event()
        wake = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *call: (wakes.append(call), wake(*call))  # type: ignore[assignment]
        sessions = [Session(loop, name) for name in ("first", "second")]

        def draw() -> None:
            for number in range(200):
                for session in sessions:
                    AppSession._call_soon_on_event_loop(
                        session, lambda session=session, number=number: received.append((session.name, number))
                    )
            wake(loop.call_later, 5 * streamlit_internals.TOGETHER, done.set)

        thread = threading.Thread(target=draw)
        thread.start()
        await done.wait()
        thread.join()

    in_a_thread(serve())
    for name in ("first", "second"):
        assert [number for receiver, number in received if receiver == name] == list(range(200))
    assert len(wakes) < 100
