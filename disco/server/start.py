"""Start Streamlit with the app's pages; only pages of the app itself may connect."""

import socket
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from disco.errors import InputError
from disco.files import HOMES
from disco.server import streamlit_internals
from disco.server.streamlit_internals import Change

if TYPE_CHECKING:
    from starlette.applications import Starlette

HERE = "127.0.0.1"
FIRST_PORT, PORTS = 8501, 50
_GRACE = 5  # seconds to finish sending when the server stops
# All pages lie in one folder, from which index.html also takes its scripts.
HEAD = '<head><script>window.__streamlit = {BACKEND_BASE_URL: new URL(".", location.href).href}</script>'


def serve(
    script: Path, address: str, port: int, announce: Callable[[], None], *changes: Change, **options: Any
) -> None:
    """Serve the app until it is stopped by Ctrl-C or SIGTERM.

    Args:
        script: app.py.
        announce: called when the server is about to start.
        changes: of the web application, made when it is created.
        options: of Streamlit, with `_` for the dot.
    """
    from disco.server import middleware
    from disco.server.slow_clients import InTime

    def add_headers(app: "Starlette") -> None:
        app.add_middleware(middleware.SecurityHeaders, policy=middleware.policy(HEAD + streamlit_internals.index()))

    streamlit_internals.refuse_other_origins()
    streamlit_internals.bound_uploads()
    # A sleeping laptop no longer reads its answer, and must not keep the server from stopping.
    streamlit_internals.configure_uvicorn(timeout_graceful_shutdown=_GRACE, http=InTime)
    streamlit_internals.change_app([_page_routes(script), *changes, add_headers])
    settings = {
        "server.address": address,
        "server.port": port,
        "client.allowedOrigins": [],  # no page around the app may control it
        "server.fileWatcherType": "none",  # a reloaded module would lose the loaded networks
        "browser.gatherUsageStats": False,
        "logger.hideWelcomeMessage": True,
        # Otherwise every click visits all objects of all sessions, which stops all pages meanwhile.
        "runner.postScriptGC": False,
        **{name.replace("_", ".", 1): value for name, value in options.items()},
    }

    def announce_and_load() -> None:
        announce()
        # The browser takes a second to open; meanwhile the imports of the first page are read.
        threading.Thread(target=import_module, args=("disco.runs",), name="disco-imports", daemon=True).start()

    streamlit_internals.run(script, settings, announce_and_load)


def _page_routes(script: Path) -> Change:
    """Serve each page's address with the address of the app's root in it.

    Otherwise the browser does not know whether /graph is a page or an app mounted there: it asks for
    /graph/_stcore/health and /graph/_stcore/host-config first, and each such link ends in two 404s.
    """
    from starlette.requests import Request
    from starlette.responses import HTMLResponse
    from starlette.routing import Route

    index = streamlit_internals.index().replace("<head>", HEAD, 1)

    # A new response for every request: compression changes the headers of the one that it sends.
    async def answer(_: Request) -> HTMLResponse:
        return HTMLResponse(index, headers={"Cache-Control": "no-cache"})

    def change(app: "Starlette") -> None:
        for page in script.parent.glob("pages/*/page.py"):
            app.router.routes.insert(0, Route(f"/{page.parent.name}", answer, methods=["GET"]))

    return change


def find_app() -> Path:
    """app.py with its pages; InputError if it does not exist."""
    for folder in HOMES:
        if (folder / "app.py").is_file() and (folder / "pages" / "shared").is_dir():
            return folder / "app.py"
    raise InputError("The app's pages are not installed: run `make app` in DISCO's repository.")


def free_port(requested: int | None, address: str = HERE) -> int:
    """The requested port, or the first free one from 8501 on.

    Raises:
        InputError: it is taken, or the address does not belong to this machine.
    """
    if requested is not None and not 1 <= requested <= 65535:
        raise InputError(f"--port must lie between 1 and 65535; got {requested}.")
    for port in [requested] if requested is not None else range(FIRST_PORT, FIRST_PORT + PORTS):
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                continue
        return port
    subject = (
        f"Port {requested} is" if requested is not None else f"The ports {FIRST_PORT} to {FIRST_PORT + PORTS - 1} are"
    )
    hint = "" if address == HERE else f", or {address} is no address of this machine: choose another with --host"
    raise InputError(f"{subject} taken or not allowed; choose another with --port{hint}.")
