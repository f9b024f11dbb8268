"""A run as a folder: read, changed and deleted. `disco.runs.making` creates it, `disco.runs.listing` finds all."""

import contextlib
import os
import shutil
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from disco import columns, schema, space
from disco.errors import InputError
from disco.files import unwritten, write_frame
from disco.metrics.edges import known
from disco.runs import beside, digests
from disco.runs.counts import read_counts, read_nodes, read_shape
from disco.runs.head import read_head, read_name, write_name
from disco.runs.locks import Lock, held, note
from disco.runs.status import FIRST_WORK, Status, Work, read_status, write_status
from disco.schema import damaged
from disco.space import runs_root
from disco.table.adjustment import Adjustment
from disco.table.prepared import Prepared, prepare
from disco.table.roles import Roles

if TYPE_CHECKING:
    from disco.knowledge import Knowledge

_MOST_TRUE_EDGES = 1_000_000
_Status = TypeVar("_Status", bound=Status)


class Run:
    """One run on disk; an `InputError` if there is none, its format is newer, or its settings.json is damaged.

    Attributes:
        id: its name in a URL: that of its folder, of its link in the folder of runs, or of a link that shows it.
        created: date and time, with time zone.
        device: the requested device: auto, cpu or cuda.
        teaching: whether pages hide its truth until the reader asks for it.
        rows_left_out: rows of the loaded table that are not in its table, as stretches (`disco.table.rows`).
        settings: settings of its fit; a setting newer than the run has its former value.
        digests: of the files made with it (`disco.runs.digests`).
        checked: its table in its roles, in the process that checked it.
    """

    def __init__(self, path: Path, shown_as: str = "") -> None:
        self.path = path.resolve()
        head, self.settings = read_head(self.path)
        inside = Path(os.path.abspath(path))  # links are not followed: a link in the folder of runs names its run
        self.id = shown_as or (inside.name if inside.parent == runs_root() else head.id or self.path.name)
        self._is_shown = bool(shown_as)
        self._first_name, self.source = head.name or self.id, head.source
        self.device, self.teaching, self.created = head.device, head.teaching, head.moment
        self._shape, self.digests = (head.rows, head.nodes), head.digests
        self.rows_left_out = tuple((first, last) for first, last in head.rows_left_out)
        self.checked: Prepared | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether the current user may not change it: only its user and an admin who did not follow a link may."""
        return not space.current().may_write(self.path, self._is_shown)

    @property
    def key(self) -> str:
        """The run's key in a cache, which stores a run as shown to its first reader."""
        return f"{self.path}?{self.id}"

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def name(self) -> str:
        """The name given by its user, at creation or later."""
        return read_name(self.path) or self._first_name

    def rename(self, name: str) -> None:
        """Give it another name, even while it is in use; an empty one restores the original name."""
        self.check_own()
        write_name(self.path, name)

    def check_own(self) -> None:
        """Raise an InputError if it is another user's: only its user may change it."""
        if self.is_read_only:
            raise InputError(f"The run {self.name} is shown to you to read: copy it to your runs, and change the copy.")

    def _verified(self, name: str) -> Path:
        """The path of a file that was made with it; InputError if it is another one."""
        return digests.checked(self.path / name, self.digests, "create a new run of the table")

    def counts(self) -> pd.DataFrame:
        """The counts as given, (rows, nodes); InputError if they cannot be read."""
        return read_counts(self._verified(digests.TABLE), self._shape)

    def table(self) -> pd.DataFrame:
        """The counts of its results, (rows, nodes): in time, of the rows with a full past; errors as `counts`."""
        return self.counts() if self._in_time is None else self._in_time.counts

    def prepared(self, folds: int = 2) -> Prepared:
        """The table in its roles, checked unless this process has done so."""
        return self.checked or prepare(self.table(), self.adjustment, folds)

    @cached_property
    def nodes(self) -> list[str]:
        """The names of the table's columns; errors as `table`."""
        return read_nodes(self._verified(digests.TABLE), self._shape)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, nodes) of the table, without reading the counts; errors as `table`."""
        return read_shape(self.path / "table.parquet", self._shape)

    @cached_property
    def roles(self) -> Roles | None:
        """The roles of its columns that are neither counts nor ignored; None without any."""
        path = self._verified(beside.ROLES)
        return beside.read_roles(path) if os.path.lexists(path) else None

    def with_roles(self) -> pd.DataFrame:
        """The counts as given, followed by the columns with other roles; InputError if they cannot be read."""
        counts = self.counts()
        if self.roles is None:
            return counts
        return pd.concat([counts, beside.read_columns(self._verified(beside.BESIDE), self.roles, len(counts))], axis=1)

    @cached_property
    def adjustment(self) -> Adjustment | None:
        """The adjustment of its results, from those columns; None without roles."""
        if self.roles is None:
            return None
        if self._in_time is not None:
            return self._in_time.adjustment
        table = self.with_roles()
        try:
            return self.roles.split(table)[1]
        except (InputError, ValueError) as error:
            raise damaged(self.path / beside.ROLES, error, beside.REMEDY) from None

    @cached_property
    def _in_time(self) -> Prepared | None:
        """The rows with a full past; None without a time."""
        if self.roles is None or not self.roles.steps_back:
            return None
        table = self.with_roles()
        try:
            return prepare(table, self.roles)
        except (InputError, ValueError) as error:
            raise damaged(self.path / beside.ROLES, error, beside.REMEDY) from None

    def truth(self) -> pd.DataFrame | None:
        """The true edges (parent, child and, if recorded, direction); None if they are not known."""
        path = self.path / "truth.csv"
        return schema.read(path, columns.TRUTH, [], _MOST_TRUE_EDGES) if os.path.lexists(path) else None

    def set_truth(self, edges: pd.DataFrame | None) -> None:
        """Replace the true edges (parent, child and possibly direction), or remove them.

        No work reads them, so the run may be in use. An `InputError` if an edge has a name that is not a column.
        """
        self.check_own()
        path = self.path / "truth.csv"
        try:
            if edges is None:
                path.unlink(missing_ok=True)
            else:
                pairs = list(zip(edges["parent"], edges["child"], strict=True))
                known(pairs, set(self.nodes), "the table of the run", "The truth")
                write_frame(path, edges[[name for name in columns.TRUTH.kinds if name in edges]])
        except OSError as error:
            raise unwritten(self.path, error) from error

    def knowledge(self) -> "Knowledge | None":
        """The knowledge that its results obey; None without any."""
        path = self._verified(beside.KNOWLEDGE)
        return beside.read_knowledge(path, self.nodes, self.roles) if os.path.lexists(path) else None

    # State ------------------------------------------------------------------------------------------------------

    @property
    def lock_path(self) -> Path:
        """The file locked by the run's process."""
        return self.path / "lock"

    @property
    def alive(self) -> bool:
        """Whether a process holds its lock, queued or working."""
        return held(self.lock_path)

    def works_on(self, work: Work) -> bool:
        """Whether a process holds its lock for this kind of work."""
        return self.alive and work.name in str(note(self.lock_path).get("work", FIRST_WORK)).split()

    def take(self, words: dict[str, Any] | None = None) -> Lock:
        """Take its lock, with a note for other processes; an `InputError` if another process holds it."""
        self.check_own()
        lock = Lock.take(self.lock_path, words)
        if lock is None:
            raise InputError(f"The run {self.name} is already queued or running.")
        return lock

    def status(self, work: Work[_Status]) -> _Status:
        """The current status of a kind of work; unfinished work without a process counts as interrupted."""
        alive = self.works_on(work)  # first, because a process writes its final status before it releases the lock
        status = self.written_status(work)
        if status.active and not alive and not self.works_on(work):  # it may have started in between
            return replace(status, state="interrupted", eta=None)
        return status

    def written_status(self, work: Work[_Status]) -> _Status:
        """The content of its status file, whether or not the process is alive; a damaged file counts as failed."""
        return read_status(self.path, work)

    def update(self, work: Work[_Status], /, *, durable: bool = True, **changes: Any) -> _Status:
        """Change some fields of a status; only the holder of the lock may call this.

        A change that is not `durable` may be lost, as one of many progress reports.
        """
        self.check_own()
        status = replace(self.written_status(work), **changes)
        write_status(self.path, work, status, durable=durable)
        return status

    def delete(self, into: Path | None = None) -> None:
        """Delete its folder or move it to `into`, and delete its link; an `InputError` if it is queued or running."""
        self.check_own()
        lock = Lock.take(self.lock_path) if self.lock_path.is_file() and not self.lock_path.is_symlink() else None
        if lock is None and self.alive:
            raise InputError(f"The run {self.name} is queued or running; cancel it first.")
        try:
            if lock is not None:
                lock.free_folder()
            if into is None:
                shutil.rmtree(self.path)
            else:
                into.parent.mkdir(exist_ok=True)
                shutil.move(self.path, into)
        except OSError as error:
            raise InputError(f"{error.filename or self.path} cannot be removed ({error.strerror}).") from error
        finally:
            if lock is not None:
                lock.release()
        link = runs_root() / self.id
        with contextlib.suppress(OSError):
            if link.is_symlink() and not link.exists():
                link.unlink()
