"""On the path of a Python process, it takes away from `disco` on Linux what Windows lacks.

Modules of the engine see an `os`, a `signal` and a `subprocess` without the names of POSIX, no `fcntl` and no
`resource`, and a stand-in for `msvcrt` whose locks no child inherits. All other packages see the real ones.
"""

import builtins
import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import psutil

_LACKS = {
    os: "O_NOFOLLOW O_NONBLOCK O_CLOEXEC killpg getpgrp getpgid setpriority getpriority PRIO_PROCESS PRIO_PGRP "
    "sched_getaffinity sched_setaffinity pwrite pread fork setsid getuid fchmod uname mkfifo",
    signal: "SIGKILL SIGHUP SIGXCPU SIGUSR1 SIGALRM",
}
_ABSENT = {"fcntl", "resource", "pwd", "grp"}


def _popen(*arguments: object, creationflags: int = 0, **more: object) -> subprocess.Popen:
    assert "pass_fds" not in more and "start_new_session" not in more
    return subprocess.Popen(*arguments, start_new_session=True, **more)


def _unless_open(move: Callable) -> Callable:
    """It refuses a folder in which this process has a file open."""

    def moved(path: Path, *more: object, **named: object) -> None:
        if any(Path(file.path).is_relative_to(os.path.realpath(path)) for file in psutil.Process().open_files()):
            raise PermissionError(13, "A file in it is open", str(path))
        move(path, *more, **named)

    return moved


_HAS = {
    os: {"O_BINARY": 0, "O_NOINHERIT": os.O_CLOEXEC, "rename": _unless_open(os.rename)},
    shutil: {"rmtree": _unless_open(shutil.rmtree)},
    signal: {"SIGTERM": signal.SIGKILL, "SIGBREAK": signal.SIGTERM, "CTRL_BREAK_EVENT": signal.SIGTERM},
    subprocess: {"CREATE_NEW_PROCESS_GROUP": 512, "Popen": _popen},
    psutil: {"BELOW_NORMAL_PRIORITY_CLASS": 5},
    sys: {"platform": "win32"},
}


class _Windows(ModuleType):
    """A module as on Windows."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__)
        self._real, self._lacks = real, set(_LACKS.get(real, "").split())
        vars(self).update(_HAS[real])

    def __getattr__(self, name: str) -> object:
        if name in self._lacks:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)


def _locking(handle: int, mode: int, count: int) -> None:
    fcntl.flock(handle, mode)


_msvcrt = ModuleType("msvcrt")
vars(_msvcrt).update(LK_NBLCK=fcntl.LOCK_EX | fcntl.LOCK_NB, LK_UNLCK=fcntl.LOCK_UN, locking=_locking)
_modules = {real.__name__: _Windows(real) for real in _HAS} | {"msvcrt": _msvcrt}
_import = builtins.__import__


def _imported(name: str, globals: dict | None = None, *more: object, **named: object) -> object:
    importer = (globals or {}).get("__name__", "")
    if importer.startswith("disco") or importer == "__main__":
        if name in _ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
        if name in _modules:
            return _modules[name]
    return _import(name, globals, *more, **named)


builtins.__import__ = _imported
