"""Create a run's folder: filled under a hidden name, then renamed, so that it is complete or absent.

    .making-…    beside the future folder; its lock is held while it is filled

A killed process leaves its hidden folder; the next one in the same place removes it, because its lock is free.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from disco import space
from disco.columns import TRUTH
from disco.errors import InputError
from disco.files import unwritten, write_frame, write_json
from disco.hidden.all_artefacts import Artefacts, looked_for
from disco.paper.settings import Settings
from disco.runs import artefacts, beside, digests
from disco.runs import origin as origins
from disco.runs.counts import write_counts
from disco.runs.folder import Run
from disco.runs.head import FORMAT
from disco.runs.locks import Lock, held
from disco.runs.origin import Origin
from disco.schema import check_kept
from disco.space import runs_root
from disco.table.artefacts import ignored
from disco.table.cells import names_of
from disco.table.counts import as_they_are
from disco.table.prepared import Prepared, Table, prepare
from disco.table.roles import Roles
from disco.table.rows import Stretches

if TYPE_CHECKING:
    from disco.knowledge import Knowledge

_BOUND = (digests.TABLE, beside.ROLES, beside.BESIDE, beside.KNOWLEDGE, origins.FILE)  # made with a run, never changed
_MAKING = ".making-"
_LOCK_SECONDS = 60.0  # longest time from creating the folder to taking its lock


def create_run(
    table: pd.DataFrame,
    settings: Settings,
    *,
    name: str,
    folder: Path | None = None,
    source: str = "",
    truth: pd.DataFrame | None = None,
    device: str = "auto",
    teaching: bool = False,
    rows_left_out: Stretches = (),
    knowledge: "Knowledge | None" = None,
    roles: Roles | None = None,
    aside: pd.DataFrame | None = None,
    dismissed: Mapping[str, str] | None = None,
    spoilt: Artefacts | None = None,
    origin: Origin | None = None,
    prepared: Prepared | None = None,
) -> Run:
    """A new run, not yet started, in the folder of runs, or in `folder` with a link in the folder of runs.

    Args:
        table: all columns with a role.
        rows_left_out: rows of the loaded table that are not in this one (`disco.table.rows`); they are recorded.
        knowledge: rules that its fit and its refinement obey.
        roles: roles of the columns that are not counts.
        aside: columns of the loaded table that are neither counts nor adjusted for.
        dismissed: why kinds of artefacts (`disco.table.artefacts`) do not apply to this table.
        spoilt: its artefacts with the reasons, if already computed; its first work completes them.
        origin: how the table came to be, if known; ignored columns are added to it.
        prepared: the table in its roles, if already checked for these folds.

    Raises:
        InputError: a column does not contain counts or does not suit its role, the rows are too few, the knowledge does
            not match, or the folder is not empty or cannot be written.
    """
    check_kept(settings.to_dict())
    space.current().limits().check_table(*table.shape)
    prepared = _checked(table if prepared is None else prepared, settings, knowledge, roles)
    is_in_time = roles is not None and bool(roles.steps_back)
    counts = as_they_are(roles.counts(table), np.int64) if roles and is_in_time else prepared.counts
    request = {"source": source, "device": device, "teaching": teaching, "settings": settings.to_dict()}
    head = {**_head(name, counts, rows_left_out), **request}
    ignored_columns = ignored(table, roles) if aside is None else aside
    findings = spoilt or looked_for(
        prepared.with_rows(table.index), aside=ignored_columns, reasons=dismissed, left_out=rows_left_out
    )

    def fill(folder: Path) -> dict[str, Any]:
        write_counts(folder / "table.parquet", counts)
        if truth is not None:
            write_frame(folder / "truth.csv", truth[[column for column in TRUTH.kinds if column in truth]])
        if knowledge is not None:
            write_json(folder / beside.KNOWLEDGE, knowledge.to_dict())
        if roles is not None:
            beside.write(folder, table, roles)
        artefacts.write(folder, findings)
        if origin is not None:
            origins.write(folder, replace(origin, ignored=tuple(names_of(ignored_columns))))
        head["digests"] = digests.of_files(folder, _BOUND)
        write_json(folder / "settings.json", head)
        return head

    run = make(fill, folder)
    run.checked = prepared
    return run


def _head(name: str, counts: pd.DataFrame, rows_left_out: Stretches) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "id": id_of(name),
        "name": name,
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        "rows_left_out": [list(stretch) for stretch in rows_left_out],
        "rows": len(counts),
        "nodes": counts.shape[1],
    }


def _checked(table: Table, settings: Settings, knowledge: "Knowledge | None", roles: Roles | None) -> Prepared:
    """The checked table; InputError if a fit with these settings, knowledge and roles would refuse it."""
    from disco.paper.ranks import check_split
    from disco.table.counts import least_rows

    required = least_rows(settings.folds)
    if settings.max_rows is not None and settings.max_rows < required:
        raise InputError(f"max_rows is {settings.max_rows}, but {settings.folds} folds need at least {required} rows.")
    prepared = prepare(table, None if isinstance(table, Prepared) else roles, settings.folds)
    counts = prepared.counts
    if knowledge is not None:
        knowledge.resolve(list(counts.columns), roles)
    check_split(counts, settings)
    if settings.selector != "ocs" or settings.disjoint_rows:
        from disco.selectors import selection

        selection.check(settings.selector, counts, settings, prepared.adjustment)
    return prepared


def make(fill: Callable[[Path], dict[str, Any]], folder: Path | None = None) -> Run:
    """A new run from the files that `fill` writes into a hidden folder, all or none.

    It is in the folder of runs, or in `folder`, which must be empty, with a link in the folder of runs. `fill` returns
    the content of settings.json, whose id changes if another run has it.
    """
    space.current().limits().check_new_run()
    where = runs_root() if folder is None else _place_for(Path(folder))
    try:
        path = _filled(where, None if folder is None else Path(folder).resolve(), fill)
    except OSError as error:
        raise unwritten(where, error) from error
    run = Run(path)
    if path.parent != runs_root():
        with contextlib.suppress(OSError):  # without links on this system, the run is found only by its path
            (runs_root() / run.id).symlink_to(path)
    return run


def id_of(name: str) -> str:
    """An id from a name, in characters allowed in paths and URLs, and the time."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:40].strip("-")
    return f"{slug or 'run'}-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() // 1_000_000 % 1000:03d}"


def remove_unfinished(where: Path) -> None:
    """Delete hidden folders of killed processes, except those still being filled."""
    for path in where.glob(f"{_MAKING}*"):
        try:
            is_young = time.time() - path.stat().st_mtime < _LOCK_SECONDS
        except OSError:
            continue
        lock = path / "lock"
        if not held(lock) and (lock.exists() or not is_young):
            shutil.rmtree(path, ignore_errors=True)


def _filled(where: Path, target: Path | None, fill: Callable[[Path], dict[str, Any]]) -> Path:
    """The run's folder, filled under a hidden name and renamed into its place."""
    remove_unfinished(where)
    hidden = where / f"{_MAKING}{secrets.token_hex(8)}"
    hidden.mkdir()
    lock = None
    try:
        lock = Lock.take(hidden / "lock")
        head = fill(hidden)
        Run(hidden)  # refuses a run that could not be read back
        if lock is not None:
            lock.free_folder()
        return _placed(hidden, target, head)
    finally:
        if lock is not None:
            lock.release()
        shutil.rmtree(hidden, ignore_errors=True)


def _placed(hidden: Path, target: Path | None, head: dict[str, Any]) -> Path:
    """The finished folder under its final name: the given one, or a new one in the folder of runs."""
    if hidden.parent == target:
        for name in sorted(os.listdir(hidden), key="settings.json".__eq__):  # last, because it makes the folder a run
            os.rename(hidden / name, target / name)
        return target
    while True:
        path = target or hidden.parent / head["id"]
        try:
            os.rename(hidden, path)  # replaces an empty folder, never a full one
            return path
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):  # the last: a link has the name
                raise
        if target is not None:
            raise _full(path)
        time.sleep(0.002)
        head["id"] = id_of(head["name"])
        write_json(hidden / "settings.json", head)


def _place_for(folder: Path) -> Path:
    """Where to create a new or empty folder: beside it or, if that is impossible, inside it."""
    path = folder.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            return path.parent
        if path.is_dir():
            remove_unfinished(path)
        if not path.is_dir() or any(path.iterdir()):
            raise _full(folder)
    except OSError as error:
        raise InputError(f"The folder {folder} cannot be created ({error.strerror}).") from error
    return path if os.path.ismount(path) or not os.access(path.parent, os.W_OK) else path.parent


def _full(folder: Path) -> InputError:
    return InputError(f"{folder} is not empty; choose another folder, or resume the run in it.")
