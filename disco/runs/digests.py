"""Digests of a run's files, so that a file that was changed or comes from another run is refused.

Each is the size and the SHA-256 of a file, stored by whatever wrote it:

    settings.json   of the files made with the run: table, roles and their columns, knowledge, origin
    digests.json    in the folder of a fit or a variant: of its files
    refined.json, compare/METHOD/result.json   of the files of that result
    artefacts.json, refined_check.json   of their own content

All but the first also have the digest of the table, so that a result of another table is refused. Older versions stored
none, and are read as before; an additional file beside those that were written is another run's. Not bound are name.txt
and truth.csv, which the owner of a run may replace at any time; statuses, logs and unfinished work, which change all
the time and are not results; and compare.csv, which is never read.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from disco.columns import FIT_AGAIN
from disco.files import NotAFile, opened, plain, read_record, write_json
from disco.schema import damaged, fits, missing

FILE = "digests.json"
TABLE = "table.parquet"
_MOST_BYTES = 1 << 32  # no file of a run is larger
_MOST_KEPT = 10_000


def of(path: Path) -> str:
    """The digest of a file, as size:SHA-256; computed once until the file changes.

    An OSError if it cannot be read, is a link, or is larger than any file of a run.
    """
    status = os.lstat(path)
    if status.st_size > _MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return f"{status.st_size}:{_of(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)}"


@lru_cache(_MOST_KEPT)
def _of(path: Path, *stamp: int) -> str:
    with os.fdopen(opened(path, follow=False), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_bytes(data: bytes) -> str:
    """The digest of a file with this content."""
    return f"{len(data)}:{hashlib.sha256(data).hexdigest()}"


def of_table(run: Path) -> str:
    """The digest of the table in a run's folder, from its head if stored there, else computed."""
    try:
        return str(read_record(run / "settings.json")["digests"][TABLE])
    except (OSError, ValueError, KeyError, TypeError):  # of an older version, or a run that is being made
        return of(run / TABLE)


def of_files(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The digests of those of the files that a folder has, by name; OSError if one cannot be read."""
    return {name: of(folder / name) for name in names if os.path.lexists(folder / name)}


def checked(path: Path, digests: Mapping[str, str], remedy: str = FIT_AGAIN) -> Path:
    """The path of a file, refused with an `InputError` if it was changed, is another run's, or is missing.

    Args:
        digests: by name; several with blanks between them are all allowed. Without that of the table they are not all
            known, as after a result of an older version, and a file without one passes.
    """
    written, is_there = digests.get(path.name, "").split(), os.path.lexists(path)
    if written and not is_there:
        raise missing(path, remedy)
    if is_there and (written or TABLE in digests) and not _is_one_of(path, written):
        raise damaged(path, "it was changed, or belongs to another run", remedy)
    return path


def _is_one_of(path: Path, written: list[str]) -> bool:
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):  # its reader says what is there
            return True
        return any(digest.startswith(f"{status.st_size}:") for digest in written) and of(path) in written
    except (OSError, NotAFile):
        return True


def check_table(
    path: Path, digests: Mapping[str, str], run_digests: Mapping[str, str], remedy: str = FIT_AGAIN
) -> None:
    """Refuse, with an `InputError`, a result of another table: its digest and the one in the run's head differ."""
    if {TABLE} <= digests.keys() & run_digests.keys() and digests[TABLE] != run_digests[TABLE]:
        raise damaged(path, "it belongs to the table of another run", remedy)


def read(folder: Path) -> dict[str, str]:
    """The digests of a fit or a variant; none in older ones."""
    path = folder / FILE
    if not os.path.lexists(path):
        return {}
    try:
        digests = read_record(path)
    except (OSError, ValueError) as error:
        raise damaged(path, error) from None
    if not fits(digests, dict[str, str]):
        raise damaged(path, "it does not map files to digests")
    return digests


def write(folder: Path, digests: Mapping[str, str]) -> None:
    """Store the digests of a fit or a variant; OSError if they cannot be written."""
    write_json(folder / FILE, digests)


def sealed(values: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """The content of a JSON file with its own digest; OSError if the run's table cannot be read."""
    content = plain(dict(values))
    return {**content, "digest": _of_content(content, run)}


def is_sealed(values: Mapping[str, Any], run: Path) -> bool:
    """Whether the content of such a file is as it was written for the run; true without a digest, as in older files."""
    content = {name: value for name, value in values.items() if name != "digest"}
    return "digest" not in values or values["digest"] == _of_content(content, run)


def _of_content(values: Mapping[str, Any], run: Path) -> str:
    return hashlib.sha256(f"{json.dumps(values, sort_keys=True)}{of_table(run)}".encode()).hexdigest()
