"""All that the engine takes from, or replaces in, Streamlit beyond its documented functions.

`NAMES` lists it. `tests/server/test_streamlit_internals.py` has a test for each, which fails if another version of
Streamlit lacks the name or does not use it as expected.
"""

import json
import logging
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from starlette.applications import Starlette

P = ParamSpec("P")
T = TypeVar("T")
Change = Callable[["Starlette"], None]

MOST_UPLOADED = 1 << 30  # bytes of all sessions' uploads
TOGETHER = 0.02  # seconds
NAMES = {
    "streamlit.web.bootstrap:load_config_options": "options for the server without its command line",
    "streamlit.web.bootstrap:run": "starts the server in this process",
    "streamlit.config:_main_script_path": "reads .streamlit/config.toml in the app's folder, not in the current one",
    "streamlit.runtime.pages_manager:PagesManager.uses_pages_directory": "a deep link may be the first page opened",
    "streamlit.web.server.server_util:is_allowed_origin": "refuses pages of other origins, without asking the internet",
    "streamlit.web.server.starlette.starlette_websocket:is_url_from_allowed_origins": "replaced by is_allowed_origin",
    "streamlit.web.server.starlette.starlette_server:_get_uvicorn_config_kwargs": "limits slow clients",
    "streamlit.web.server.starlette.starlette_server:create_starlette_app": "adds routes and middleware",
    "streamlit.web.server.starlette.starlette_websocket:_get_signed_cookie_with_chunks": "who logged in by OpenID",
    "streamlit.web.server.starlette.starlette_server_config:USER_COOKIE_NAME": "the cookie of the same",
    "streamlit.file_util:get_static_dir": "index.html, sent for every page, and its inline scripts",
    "streamlit.logger:_loggers": "loggers that write their own lines instead of JSON",
    "streamlit.runtime:Runtime.instance": "the running server, to count its sessions",
    "streamlit.runtime.scriptrunner:get_script_run_ctx": "the user of a thread's session",
    "streamlit.runtime.memory_media_file_storage:MemoryMediaFileStorage.load_and_get_id": "a download has an owner",
    "streamlit.runtime.memory_media_file_storage:MemoryMediaFileStorage.delete_file": "until it is deleted",
    "streamlit.runtime.media_file_manager:MediaFileManager.add_deferred": "also if it is created at the click",
    "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.add_file": "limits the bytes of uploads",
    "streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.remove_file": "drops the oldest of them",
    "streamlit.runtime.scriptrunner.script_runner:exec_func_with_error_handling": "pages run one after the other",
    "streamlit.runtime.app_session:AppSession._call_soon_on_event_loop": "sends what a page draws together",
}


def run(script: Path, settings: dict[str, Any], announce: Callable[[], None]) -> None:
    """Run the server until it is stopped; `announce` is called when it is about to start."""
    from streamlit import config
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.web import bootstrap

    # Otherwise a deep link opened first shows "Page not found": Streamlit takes the folder pages/ for its
    # old automatic menu until st.navigation has run once.
    PagesManager.uses_pages_directory = False
    config._main_script_path = str(script)
    bootstrap.load_config_options(settings)
    announce()
    sys.stdout.flush()
    bootstrap.run(str(script), False, [], settings)


def refuse_other_origins() -> None:
    """Accept a connection only from pages of the app itself, or those in `server.corsAllowedOrigins`.

    Any page that the user visits can try to connect. Streamlit would accept pages from other ports of this machine, and
    at every attempt it would ask a server on the internet for this machine's addresses.
    """
    from streamlit.web.server import server_util
    from streamlit.web.server.starlette import starlette_websocket

    # Only the name of the argument differs.
    starlette_websocket.is_url_from_allowed_origins = server_util.is_allowed_origin  # type: ignore[assignment]


def configure_uvicorn(**options: Any) -> None:
    """Add options of the web server."""
    from streamlit.web.server.starlette import starlette_server

    plain = starlette_server._get_uvicorn_config_kwargs
    starlette_server._get_uvicorn_config_kwargs = lambda: {**plain(), **options}


def change_app(changes: Iterable[Change]) -> None:
    """Change the web application when it is created."""
    from streamlit.runtime import Runtime
    from streamlit.web.server.starlette import starlette_server

    plain = starlette_server.create_starlette_app

    def create(runtime: Runtime) -> "Starlette":
        app = plain(runtime)
        for change in changes:
            change(app)
        return app

    starlette_server.create_starlette_app = create


def index() -> str:
    """The first file that the server sends."""
    from streamlit import file_util

    return Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")


def openid_claims(cookies: Mapping[str, str]) -> dict[str, object]:
    """The claims in Streamlit's signed cookie; empty if nobody is logged in."""
    from streamlit.web.server.starlette import starlette_websocket
    from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

    signed = starlette_websocket._get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    try:
        claims = json.loads(signed or b"{}")
    except ValueError:
        return {}
    return claims if isinstance(claims, dict) and claims.get("is_logged_in") is True else {}


def session_user() -> Mapping[str, Any]:
    """What Streamlit stores of the user of this thread's session; empty without one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    return {} if context is None else context.user_info


def active_sessions() -> int:
    """The number of connected sessions."""
    from streamlit.runtime import Runtime

    return Runtime.instance()._session_mgr.num_active_sessions()


def loggers() -> list[logging.Logger]:
    """Streamlit's loggers, each with a handler of its own."""
    from streamlit import logger

    return list(logger._loggers.values())


def watch_files(
    stored: Callable[[str], None], deleted: Callable[[str], None], bound: Callable[[Callable[[], Any]], Any]
) -> None:
    """Observe the files that Streamlit stores for buttons and figures.

    Args:
        stored, deleted: called with the id of each file, the first in the thread of its session.
        bound: returns a function that creates a file at the click, bound to the user of this thread. Streamlit calls
            it in a separate thread, without a session.
    """
    from streamlit.runtime.media_file_manager import MediaFileManager as Manager
    from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage as Storage

    load, delete, defer = Storage.load_and_get_id, Storage.delete_file, Manager.add_deferred

    def load_and_get_id(storage: Storage, *args: Any, **kwargs: Any) -> str:
        file = load(storage, *args, **kwargs)
        stored(file)
        return file

    def delete_file(storage: Storage, file: str) -> None:
        deleted(file)
        delete(storage, file)

    def add_deferred(manager: Manager, data: Callable[[], Any], *args: Any, **kwargs: Any) -> str:
        return defer(manager, bound(data), *args, **kwargs)

    Storage.load_and_get_id, Storage.delete_file = load_and_get_id, delete_file  # type: ignore[assignment, method-assign]
    Manager.add_deferred = add_deferred  # type: ignore[assignment, method-assign]


def bound_uploads(limit: int = MOST_UPLOADED) -> None:
    """Limit the bytes of all sessions' uploads together; the oldest are removed first, but never the last one.

    Streamlit stores each upload until its session ends, even when the page has read it and shows an empty box.
    """
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager as Manager
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec as File

    add = Manager.add_file
    arrived: dict[tuple[str, str], None] = {}  # (session, file), in this order

    def add_file(manager: Manager, session_id: str, file: File) -> None:
        add(manager, session_id, file)
        arrived.pop((session_id, file.file_id), None)
        arrived[session_id, file.file_id] = None
        sizes = {
            (session, upload.file_id): len(upload.data)
            for session, files in list(manager.file_storage.items())
            for upload in list(files.values())
        }
        total = sum(sizes.values())
        for oldest in list(arrived)[:-1]:
            if total > limit:
                manager.remove_file(*oldest)
            elif oldest in sizes:
                break
            total -= sizes.get(oldest, 0)
            del arrived[oldest]

    Manager.add_file = add_file  # type: ignore[assignment, method-assign]


def run_pages_in(turn: Callable[[], AbstractContextManager[None]]) -> None:
    """Run each page, and each fragment, within a context."""
    from streamlit.runtime.scriptrunner import script_runner

    def within_turn(run: Callable[P, T]) -> Callable[P, T]:
        @wraps(run)
        def waits(*args: P.args, **kwargs: P.kwargs) -> T:
            with turn():
                return run(*args, **kwargs)

        return waits

    script_runner.exec_func_with_error_handling = within_turn(script_runner.exec_func_with_error_handling)


def send_together() -> None:
    """Send what a page draws within a moment to the server's event loop at once, instead of element by element."""
    from streamlit.runtime.app_session import AppSession

    waiting: defaultdict[AppSession, list[Callable[[], None]]] = defaultdict(list)
    lock = threading.Lock()

    def call_soon(session: AppSession, callback: Callable[[], None]) -> None:
        with lock:
            waiting[session].append(callback)
            if len(waiting[session]) > 1:
                return
        loop = session._event_loop
        with suppress(RuntimeError):  # the server ends
            loop.call_soon_threadsafe(loop.call_later, TOGETHER, call, session)

    def call(session: AppSession) -> None:
        with lock:
            callbacks = waiting.pop(session)
        for callback in callbacks:
            session._event_loop.call_soon(callback)

    AppSession._call_soon_on_event_loop = call_soon  # type: ignore[assignment, method-assign]
