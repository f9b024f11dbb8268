"""Files: reading regular files up to a size, and writing them completely or not at all.

A path from a user or a folder of runs may lead to anything: a named pipe or an endless file must not block its reader.
A run may come from a stranger, so links in it are never followed, for reading or writing. A file is written beside
its destination, then renamed.
"""

import contextlib
import csv
import errno
import io
import json
import math
import os
import stat
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from disco.errors import InputError, printable
from disco.system import open_handle, sync_folder

# The folder of app, datasets and docs: beside the package, or where an installation puts them.
HOMES = (Path(__file__).resolve().parents[1], Path(sys.prefix) / "share" / "disco")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_JSON_BYTES = 1 << 25
_RECORD_BYTES = 1 << 20  # largest size of a JSON file that every page reads
_FRAME_BYTES, _MOST_FRAME_BYTES = 1 << 27, 1 << 30  # largest size of a CSV file, and of one with many possible rows
_ROW_BYTES = 300  # of such a row
_LONGEST_NAME = 200  # characters of a file's name in a message
_LINE_BYTES = 1 << 16  # about the longest allowed line


class NotAFile(ValueError):
    """The path leads to something else, such as "a pipe"."""


def opened(path: str | Path, *, follow: bool = True) -> int:
    """A file descriptor of a regular file, opened for reading.

    A pipe would block its reader and a device may never end, so neither is read.

    Raises:
        OSError: the file does not exist or cannot be read, or it is a link that is not to be followed.
        NotAFile: it is not a regular file.
        ValueError: the path contains a NUL.
    """
    handle = open_handle(path, os.O_RDONLY, follow=follow)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise NotAFile(_KINDS.get(stat.S_IFMT(mode), "something else"))
    return handle


def read_regular(path: str | Path, limit: int) -> bytes:
    """The content of a regular file; an `InputError` if it cannot be read or is larger than `limit` bytes."""
    name = Path(path).name
    with open_regular(path, limit) as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise InputError(f"{name} cannot be read: {error.strerror or error}.") from None
    check_size(name, len(data), limit)
    return data


def open_regular(path: str | Path, limit: int) -> BinaryIO:
    """A regular file, opened for reading; an `InputError` if it cannot be read or is larger than `limit` bytes."""
    name = printable(Path(path).name, _LONGEST_NAME)
    try:
        file = open(opened(path), "rb")
    except FileNotFoundError:
        raise InputError(f"{printable(str(path))} does not exist: check the path.") from None
    except NotAFile as error:
        raise InputError(f"{name} cannot be read: it is {error}, not a file.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    try:
        check_size(name, os.fstat(file.fileno()).st_size, limit)
    except InputError:
        file.close()
        raise
    return file


def check_size(name: str, size: int, limit: int) -> None:
    """Refuse, with an `InputError`, a file of more bytes than `limit`."""
    if size > limit:
        raise InputError(f"{name} has {size / 1e6:,.0f} MB; the limit is {limit / 1e6:,.0f} MB: give a smaller one.")


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file, such as a run's; links are not followed.

    Raises:
        FileNotFoundError: it does not exist.
        OSError: it cannot be read.
        InputError: it is a link, not a regular file, or larger than `limit` bytes.
    """
    with os.fdopen(_opened(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(limit + 1) if size <= limit else b""
    if size > limit or len(data) > limit:
        raise _too_large(path, limit)
    return data


def _too_large(path: Path, limit: int) -> InputError:
    return InputError(f"{path} is larger than {limit >> 10:,} kB, the limit for this file; restore or delete it.")


def check_regular(path: Path, limit: int | None = None) -> None:
    """Refuse all but a regular file of at most `limit` bytes, before a library opens it; raises as `read_bytes`."""
    handle = _opened(path)
    size = os.fstat(handle).st_size
    os.close(handle)
    if limit is not None and size > limit:
        raise _too_large(path, limit)


def _opened(path: Path) -> int:
    try:
        return opened(path, follow=False)
    except NotAFile as error:
        raise InputError(f"{path} is {error}, not a regular file; restore or delete it.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise linked(path) from None
        raise
    except ValueError as error:
        raise InputError(f"{str(path)!r} is not a valid path: {error}.") from None


def linked(path: Path) -> InputError:
    """The error for a link in place of a run's own file or folder."""
    return InputError(f"{path} is a link: replace it by the file or folder itself, or delete it.")


def inside(folder: Path, *names: str) -> Path:
    """The path of a folder within a run's folder; an `InputError` if it, or a folder above it, is a link."""
    path = folder
    for name in names:
        path = path / name
        if path.is_symlink():
            raise linked(path)
    return path


def write_bytes(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace a file atomically; `durable` waits until the data are on the disk and survive a power cut."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):  # report the error above
            temporary.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def check_place(name: str, path: Path | str) -> None:
    """Refuse a path that cannot be written, before the work whose result is to be written there.

    An `InputError` if its folder does not exist or refuses files, or it is a folder or not a valid path; `name` is the
    argument that gave it.
    """
    path, why = Path(path), ""
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.stat()
        if not path.parent.is_dir():
            why = "its folder does not exist: create that"
        elif path.is_dir():
            why = "it is a folder: give a file in it"
        elif not os.access(path.parent, os.W_OK | os.X_OK):
            why = "its folder refuses files: give access"
    except (OSError, ValueError):  # too long, or with a NUL
        why = "this is not a valid path: give another"
    if why:
        raise InputError(f"The file of {name}, {printable(str(path), 200)!r}, cannot be written, since {why}.")


def append_bytes(path: Path, data: bytes) -> None:
    """Append to a file that nothing depends on; if that fails, the data are dropped."""
    with contextlib.suppress(OSError), open_to_append(path) as file:
        file.write(data)


def open_to_append(path: Path) -> BinaryIO:
    """A file opened for appending, created if needed; OSError if it cannot be written or is a link."""
    return os.fdopen(open_handle(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, follow=False), "ab")


def unwritten(path: Path, error: OSError) -> InputError:
    """The error for a folder, or the file in it that `error` names, that could not be written."""
    named = error.filename2 or error.filename  # for a rename, its target
    target = named if isinstance(named, str | Path) and not Path(named).name.startswith(".") else path
    return InputError(f"{target} cannot be written ({error.strerror or error}): {remedy(error)}, then try again.")


def remedy(error: OSError) -> str:
    """What to do about a file or folder that the system refuses to write."""
    remedies = {errno.ENAMETOOLONG: "give it a shorter name", errno.ELOOP: "delete the link"}
    return remedies.get(error.errno or 0, "free some space or give access")


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder; links are not followed."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_size
            except OSError:  # deleted meanwhile
                continue
    return total


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files that a killed writer left."""
    with contextlib.suppress(OSError):
        for path in folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)


def write_json(path: Path, value: Any, *, durable: bool = True) -> None:
    """Write readable JSON; non-finite numbers become null."""
    write_bytes(path, json.dumps(plain(value), indent=1, ensure_ascii=False).encode(), durable=durable)


def read_json(path: Path, limit: int = _JSON_BYTES) -> dict[str, Any]:
    """The JSON object of a file of at most `limit` bytes; an OSError if it cannot be read, a ValueError if it is not
    one.
    """
    value = parsed(read_bytes(path, limit), str(path))
    if not isinstance(value, dict):
        raise InputError(f"{path} does not contain a JSON object; restore or delete it.")
    return value


def read_record(path: Path) -> dict[str, Any]:
    """The JSON object of a small file; raises as `read_json`."""
    return read_json(path, _RECORD_BYTES)


def parsed(data: bytes, name: str) -> Any:
    """The value of a JSON text; an `InputError` if it is not JSON, is nested too deeply, or has a lone surrogate."""
    try:
        value = json.loads(data.decode("utf-8"))
        if b"\\ud" in data.lower():  # escapes can encode a lone surrogate, which cannot be displayed
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise InputError(f"{name} is nested too deeply; restore or delete it.") from None
    except ValueError as error:
        where = f" from line {error.lineno} on" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(f"{name} is not readable JSON{where}; restore or delete it.") from None
    return value


def plain(value: Any) -> Any:
    """The value in JSON types: arrays as lists, non-finite numbers as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # a NumPy or torch array or number
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_frame(path: Path, frame: pd.DataFrame) -> None:
    """Write a tidy frame as CSV."""
    write_bytes(path, frame_bytes(frame))


def frame_bytes(frame: pd.DataFrame) -> bytes:
    """A tidy frame as CSV; words are quoted, numbers keep every digit."""
    return frame.to_csv(index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").encode()


def read_frame(
    path: Path, words: Sequence[str], only: Sequence[str] | None = None, most: int | None = None
) -> pd.DataFrame:
    """Read a tidy frame; the columns in `words` contain names, read literally ("NA" is a name).

    Only the first `most` rows are read, and of the columns those in `only`, if present. An OSError if the file cannot
    be read, a ValueError if it is not such a file.
    """
    data = read_bytes(path, min(max(_FRAME_BYTES, _ROW_BYTES * (most or 0)), _MOST_FRAME_BYTES))
    first = data[:_LINE_BYTES].partition(b"\n")[0]
    if first.count(b'"') % 2:
        raise ValueError("its first line is not a list of names")
    for start in range(0, len(data) - _LINE_BYTES, _LINE_BYTES):  # every cell of a line takes memory
        if data.find(b"\n", start, start + _LINE_BYTES) < 0:
            raise ValueError("one of its lines is too long")
    # Without index_col=False the first column becomes an index if rows are longer than the list of names.
    names = pd.read_csv(io.BytesIO(data), nrows=0, index_col=False).columns
    selected = [name for name in names if only is None or name in only]
    return pd.read_csv(
        io.BytesIO(data),
        index_col=False,
        usecols=selected,
        nrows=most,
        dtype=dict.fromkeys(words, "str"),
        keep_default_na=False,
        na_values={name: [""] for name in selected if name not in words},
        low_memory=False,
    )
