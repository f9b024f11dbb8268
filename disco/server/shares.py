"""Read-only links to runs, and the examples that an admin shows to all.

A link holds a secret, of which only the hash is stored: nobody who reads the folder of runs can make the link again.
"""

import contextlib
import hashlib
import re
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from disco.errors import InputError
from disco.files import read_json, unwritten, write_json
from disco.runs import Run, open_run
from disco.server import users
from disco.server.users import User
from disco.space import USER_ID, owner_of

SHARED, EXAMPLE = "shared~", "example~"  # before the secret of a link, and before the name of an example
_SECRET = re.compile(r"[\w-]{20,40}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,110}")
_MOST_BYTES = 1 << 12
_UNFINISHED = ("lock", "worker.log", "checkpoint.safetensors", "refining*", "*.tmp")


@dataclass(frozen=True)
class Share:
    """A link to a run: ids of its owner and of the run, an ISO time with zone; removing `file` ends the link."""

    owner: str
    run: str
    created: str
    file: Path


def share(run_path: Path) -> str:
    """A new link to a run of the current user: the id that opens it, for `?run=`. It cannot be shown again.

    Raises:
        InputError: the run belongs to another user, or the link cannot be written.
    """
    from datetime import datetime

    owner = users.current()
    if owner is None or owner_of(run_path) != owner.id:
        raise InputError("Only your own runs can be shared.")
    secret = secrets.token_urlsafe(18)
    created = datetime.now().astimezone().isoformat(timespec="seconds")
    try:
        _folder().mkdir(parents=True, exist_ok=True)
        write_json(_file(secret), {"owner": owner.id, "run": run_path.name, "created": created})
    except OSError as error:
        raise unwritten(_folder(), error) from error
    return SHARED + secret


def shares_of(run_path: Path) -> list[Share]:
    """The links to a run of the current user, oldest first."""
    owner = users.current()
    if owner is None or owner_of(run_path) != owner.id or not _folder().is_dir():
        return []
    links = [link for path in _folder().glob("*.json") if (link := _read(path)) is not None]
    of_run = [link for link in links if (link.owner, link.run) == (owner.id, run_path.name)]
    return sorted(of_run, key=lambda link: link.created)


def revoke(run_path: Path) -> None:
    """End all links to a run of the current user."""
    for link in shares_of(run_path):
        with contextlib.suppress(OSError):
            link.file.unlink()


def linked(run_id: str) -> Path | None:
    """The folder of a link `shared~SECRET` or an example `example~NAME`; None if there is none."""
    if run_id.startswith(SHARED) and _SECRET.fullmatch(secret := run_id.removeprefix(SHARED)):
        link = _read(_file(secret))
        return None if link is None else User(link.owner).folder / link.run
    if run_id.startswith(EXAMPLE) and _NAME.fullmatch(example := run_id.removeprefix(EXAMPLE)):
        return examples_root() / example
    return None


def examples_root() -> Path:
    """The folder of examples."""
    return users.users_root() / "examples"


def examples() -> list[Run]:
    """The runs that an admin shows to all, by name."""
    runs = []
    for path in examples_root().iterdir() if examples_root().is_dir() else ():
        with contextlib.suppress(InputError):
            runs.append(open_run(EXAMPLE + path.name))
    return sorted(runs, key=lambda run: run.name)


def publish(run_path: Path) -> str:
    """Show a copy of a run to all users, as an example; returns its id. Unfinished work is left out.

    Raises:
        InputError: the current user is not an admin, there is such an example, or it cannot be written.
    """
    _check_admin()
    name = run_path.name.lower()
    target, staging = examples_root() / name, examples_root() / f".making-{secrets.token_hex(8)}"
    if not _NAME.fullmatch(name) or target.exists():
        raise InputError("There is an example of this name: withdraw it first.")
    try:
        examples_root().mkdir(parents=True, exist_ok=True)
        shutil.copytree(run_path, staging, ignore=shutil.ignore_patterns(*_UNFINISHED), symlinks=True)
        staging.rename(target)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(staging, ignore_errors=True)
        raise InputError(f"The example could not be written: {error}.") from error
    return EXAMPLE + name


def withdraw(example_id: str) -> None:
    """Delete an example; InputError if the current user is not an admin, or it cannot be removed."""
    _check_admin()
    folder = linked(example_id)
    if folder is None or folder.parent != examples_root():
        raise InputError("There is no such example.")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise InputError(f"The example cannot be removed ({error.strerror}).") from error


def _check_admin() -> None:
    admin = users.current()
    if admin is None or not admin.is_admin:
        raise InputError("Only an admin shows examples to all.")


def _folder() -> Path:
    return users.users_root() / "shares"


def _file(secret: str) -> Path:
    return _folder() / f"{hashlib.sha256(secret.encode()).hexdigest()}.json"


def _read(path: Path) -> Share | None:
    """A link; None if there is none, or its file is damaged."""
    try:
        values = read_json(path, _MOST_BYTES)
        owner, run, created = (values[name] for name in ("owner", "run", "created"))
    except (OSError, ValueError, KeyError):
        return None
    if not all(isinstance(text, str) for text in (owner, run, created)):
        return None
    if not run or Path(run).name != run or run.startswith(".") or not USER_ID.fullmatch(owner):
        return None
    return Share(owner, run, created, path)
