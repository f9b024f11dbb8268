"""/health: whether the server works, for supervisors; it reveals nothing about users."""

import os
import shutil
from typing import Any

import psutil
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from disco import __version__
from disco.errors import InputError
from disco.server import streamlit_internals
from disco.server.middleware import HEALTH
from disco.space import common_root
from disco.work import ahead, turns

_LEAST_FREE = 200 << 20  # bytes of disk and of memory below which work fails


def add(app: Starlette) -> None:
    """Answer at /health."""

    async def answer(_: Request) -> JSONResponse:
        health = await run_in_threadpool(state)
        return JSONResponse(health, 200 if health["ok"] else 503, {"Cache-Control": "no-store"})

    app.router.routes.insert(0, Route(HEALTH, answer, methods=["GET"]))


def state() -> dict[str, Any]:
    """Health status."""
    wrong = []
    try:
        root = common_root()
        disk = shutil.disk_usage(root).free
        if not os.access(root, os.W_OK):
            wrong.append("the folder of runs cannot be written")
        waiting = {device: len(turns.waiting(device)) for device in ("cpu", "cuda")}
    except (OSError, InputError) as error:
        return {"ok": False, "version": __version__, "wrong": [str(error)]}
    memory = psutil.virtual_memory().available
    wrong += [f"{name} is nearly full" for name, free in (("disk", disk), ("memory", memory)) if free < _LEAST_FREE]
    facts = {"sessions": streamlit_internals.active_sessions(), "queued": waiting, "compiled": ahead.is_done()}
    facts |= {"disk_free": disk, "memory_free": memory}
    return {"ok": not wrong, "version": __version__, "wrong": wrong, **facts}
