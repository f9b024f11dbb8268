"""A run as one ZIP, and such a ZIP as a run again.

The ZIP has the finished results: table, truth, settings, fit, refinement and compared methods, in a folder named like
the run. Locks, logs and states of unfinished work are left out. A ZIP may come from a stranger: files that do not
belong to a run, or are too large when unpacked, are refused, and the usual readers check the rest before the folder
gets its name.
"""

import io
import json
import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from disco import space
from disco.errors import InputError, printable
from disco.files import linked, read_record, write_json
from disco.methods import FORMER
from disco.runs import artefacts, origin
from disco.runs.folder import Run
from disco.runs.head import Head, read_head
from disco.runs.making import id_of, make
from disco.runs.status import unasked
from disco.subjects import FIT, WORKS
from disco.subjects.comparison import compared
from disco.subjects.fit.results import NETWORKS
from disco.work.jobs import doing

MOST_PACKED = 200_000_000  # bytes; the app's upload limit (.streamlit/config.toml)
MOST_UNPACKED = 1_000_000_000
MOST_RATIO = 200  # CSV files of a run shrink to a tenth, deflate at best to a thousandth
_SMALL = 1_000_000  # bytes; smaller files may shrink more
_MOST_FILES = 500  # about three times as many as a run can have, with folders
_LIST_BYTES = 100_000  # largest list of files at the end of a ZIP
_BLOCK = 1 << 20

_HEAD = (
    *("settings.json", "name.txt", "table.parquet", "roles.json", "beside.parquet", "knowledge.json", "truth.csv"),
    *(artefacts.FILE, origin.FILE),
)
_FILES = frozenset((*_HEAD, *(name for work in WORKS for name in doing(work).files)))
_FOLDERS = frozenset(f"{folder}/" for name in _FILES for folder in list(PurePosixPath(name).parents)[:-1])
_FORMER = tuple(f"{compared.FOLDER}/{method}/" for method in FORMER)
_TOP = re.compile(r"[^/\\\0.][^/\\\0]{0,119}/")  # the one allowed top folder

_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError)


# A ZIP of a run ------------------------------------------------------------------------------------------------------


def pack(run: Run, *, networks: bool = True) -> bytes:
    """The finished results of a run as a ZIP; the bytes are reproducible.

    Without the fitted `networks`, no order can be recovered and no curvature drawn. An `InputError` if the run is in
    use, its files are too large, or one is damaged.
    """
    if run.alive:
        raise InputError(f"The run {run.name} is in use: wait until its work is done, or cancel it.")
    names = [name for name in _names(run) if networks or name != NETWORKS]
    buffer = io.BytesIO()
    try:
        if sum(_path(run, name).stat().st_size for name in names) > MOST_UNPACKED:
            raise _too_large(run)
        with zipfile.ZipFile(buffer, "w") as archive:
            for name in names:
                _add(archive, run, name, _path(run, name).read_bytes())
            if "status.json" not in names:
                _add(archive, run, "status.json", json.dumps(unasked(FIT).to_dict()).encode())
    except OSError as error:
        raise InputError(f"{error.filename or run.path} cannot be read ({error.strerror or error}).") from error
    if buffer.tell() > MOST_PACKED:
        raise _too_large(run)
    with tempfile.TemporaryDirectory(prefix="disco-") as folder:
        _extract(buffer, Path(folder))
        try:
            _read(Path(folder))
        except InputError as error:
            raise InputError(
                f"A ZIP of the run {run.name} could not be opened again: {str(error).rstrip('.')}. "
                f"To keep the run as it is, copy its folder {run.path}."
            ) from None
    return buffer.getvalue()


def _path(run: Run, name: str) -> Path:
    """The path of a run's file; a link could expose another file."""
    path = run.path / name
    if path.resolve() != path:
        raise linked(path)
    return path


def _too_large(run: Run) -> InputError:
    return InputError(
        f"A ZIP of the run {run.name} is too large to be opened again, with more than {MOST_PACKED / 1e6:,.0f} MB: "
        f"leave out the networks, or copy its folder {run.path}."
    )


def _names(run: Run) -> list[str]:
    names = list(_HEAD)
    for work in WORKS:
        is_done = run.status(work).state == "done"
        names += [name for name in doing(work).packed(run) if name != work.file or is_done]
    return [name for name in names if (run.path / name).is_file()]


def _add(archive: zipfile.ZipFile, run: Run, name: str, data: bytes) -> None:
    top = run.id.lstrip(".") or "run"
    entry = zipfile.ZipInfo(f"{top}/{name}", max(run.created.timetuple()[:6], (1980, 1, 1, 0, 0, 0)))
    entry.external_attr = 0o644 << 16
    is_dense = name.endswith((".parquet", ".safetensors"))
    entry.compress_type = zipfile.ZIP_STORED if is_dense else zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=9)


# A run of a ZIP ------------------------------------------------------------------------------------------------------


def unpack(file: BinaryIO) -> Run:
    """A new run in the folder of runs from a ZIP by `pack`; its id changes if another run has it.

    An `InputError` if it is not such a ZIP, is damaged or too large, or its run cannot be read or written.
    """

    def fill(folder: Path) -> dict[str, Any]:
        _extract(file, folder)
        try:
            head = _read(folder)
        except InputError as error:
            raise _refused(str(error).rstrip(".")) from None
        except OSError:  # reported by `make`, with the path that cannot be written
            raise
        except Exception as error:  # unexpected damage
            words = printable(" ".join(str(error).split()), 80).rstrip(".")
            raise _refused(f"its content is damaged ({type(error).__name__}: {words})") from error
        values = read_record(folder / "settings.json")
        if head.id != values.get("id"):
            values["id"] = id_of(head.name)
            write_json(folder / "settings.json", values)
        return values

    return make(fill)


def _read(folder: Path) -> Head:
    """Read everything in an unpacked folder; the message of an InputError omits the temporary folder."""
    try:
        _check(folder)
        return read_head(folder)[0]
    except InputError as error:
        raise InputError(str(error).replace(f"{folder}{os.sep}", "").replace(str(folder), "it")) from None


def run_id(path: Path) -> str:
    """The id of a ZIP's run, from its folder; an `InputError` if it is not the ZIP of a run."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _top(archive.namelist()).rstrip("/")
    except (OSError, *_UNREADABLE) as error:
        raise _refused(f"{path.name} cannot be read ({error})") from None


def _refused(why: str) -> InputError:
    return InputError(f"This run cannot be opened: {why}.")


def _check_list(file: BinaryIO) -> None:
    """Refuse a ZIP that is too large, or whose list of files is: reading that list takes memory per file."""
    size = file.seek(0, io.SEEK_END)
    if size > MOST_PACKED:
        raise _refused(f"it has {size / 1e6:,.0f} MB, more than {MOST_PACKED / 1e6:,.0f} MB")
    file.seek(max(size - (1 << 16) - 22, 0))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < 22:
        raise _refused("it is not a ZIP")
    if struct.unpack("<I", tail[at + 12 : at + 16])[0] > _LIST_BYTES or b"PK\6\7" in tail[max(at - 20, 0) : at]:
        raise _refused(f"it packs more than {_MOST_FILES} files")


def _extract(file: BinaryIO, folder: Path) -> None:
    """Write the run's files of a ZIP; `zipfile` never extracts more than the listed size."""
    try:
        _check_list(file)
        with zipfile.ZipFile(file) as archive:
            for name, entry in _inside(archive).items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as packed, open(path, "xb") as unpacked:
                    shutil.copyfileobj(packed, unpacked, _BLOCK)
    except InputError:
        raise
    except _UNREADABLE as error:
        raise _refused(f"it is not a ZIP, or it is damaged ({printable(str(error), 80).rstrip('.')})") from None


def _inside(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    entries, files = archive.infolist(), {}
    if len(entries) > _MOST_FILES:
        raise _refused(f"it packs {len(entries):,} files, more than {_MOST_FILES}")
    top = _top(archive.namelist())
    for entry in entries:
        name = entry.filename.removeprefix(top)
        if not name or name in _FOLDERS or name.startswith(_FORMER):
            continue
        if name not in _FILES or entry.is_dir():
            raise _refused(f"it has {printable(entry.filename, 80)!r}, which is not a file of a run")
        if name in files:
            raise _refused(f"it has {name} twice")
        _check_entry(name, entry)
        files[name] = entry
    if sum(entry.file_size for entry in files.values()) > MOST_UNPACKED:
        raise _refused(f"it unpacks to more than {MOST_UNPACKED / 1e6:,.0f} MB")
    return files


def _top(names: list[str]) -> str:
    """The common folder of all files in a ZIP; empty if there is none."""
    first = _TOP.match(names[0]) if names else None
    top = first[0] if first and first[0] not in _FOLDERS else ""
    return top if all(name.startswith(top) for name in names) else ""


def _check_entry(name: str, entry: zipfile.ZipInfo) -> None:
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        raise _refused(f"its {name} is a link or something else, not a file")
    if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise _refused(f"its {name} is encrypted, or its compression is not supported")
    if entry.file_size > max(_SMALL, MOST_RATIO * entry.compress_size):
        raise _refused(f"its {name} unpacks to more than {MOST_RATIO} times its size")


def _check(folder: Path) -> None:
    """Read everything in an unpacked folder; unreadable files that a run treats as absent are deleted."""
    run = Run(folder)
    space.current().limits().check_table(*run.table().shape)
    run.adjustment, run.knowledge(), run.truth()
    for work in WORKS:
        state = run.written_status(work).state
        if state not in ("done", work.unasked):
            raise InputError(f"its {work.noun} is {state}, not done")
        doing(work).check(run)
