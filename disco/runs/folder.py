"""A run as a folder: made, found, read and deleted."""

import io
import os
import re
import shutil
import time
import unicodedata
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import platformdirs

from disco.errors import InputError
from disco.runs import results
from disco.runs.events import read_events, read_tail
from disco.runs.files import read_frame, read_json, write_bytes, write_frame, write_json
from disco.runs.locks import Lock, held, note
from disco.runs.status import UNFINISHED, Status
from disco.settings import Settings

if TYPE_CHECKING:
    import networkx as nx

    from disco.estimator import Recovery

FORMAT = 1  # of a run folder; raised when an older DISCO could no longer read it

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def runs_root() -> Path:
    """The folder of all runs: $DISCO_RUNS, or a per-user data folder; made if need be.

    Raises:
        InputError: it cannot be made.
    """
    chosen = os.environ.get("DISCO_RUNS")
    root = Path(chosen).expanduser() if chosen else Path(platformdirs.user_data_dir("disco", appauthor=False)) / "runs"
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder of runs {root} cannot be made ({error.strerror}); set DISCO_RUNS.") from error
    return root.resolve()


class Run:
    """One run on disk.

    Attributes:
        path: its folder.
        id: its name in a URL: the folder's name, or that of its link in the folder of runs.
        name: what its maker called it.
        source: where its table came from.
        created: when, with time zone.
        device: the device asked for: auto, cpu or cuda.
        teaching: pages keep its truth to themselves until the reader asks for it.

    Raises:
        InputError: the folder holds no run, or one of a newer format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        try:
            head = read_json(self.path / "settings.json")
            self._format = int(head["format"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} is not a run of DISCO: it has no readable settings.json.") from error
        if self._format > FORMAT:
            raise InputError(
                f"{path} was written by a newer DISCO (run format {self._format}, this one reads up to {FORMAT}); "
                "upgrade DISCO to open it."
            )
        inside = self.path.parent == runs_root()
        self.id = self.path.name if inside else str(head.get("id", self.path.name))
        self.name = str(head.get("name", self.id))
        self.source = str(head.get("source", ""))
        self.device = str(head.get("device", "auto"))
        self.teaching = bool(head.get("teaching", False))
        self.created = datetime.fromisoformat(head["created"]) if "created" in head else datetime.fromtimestamp(0)
        self._settings: dict[str, Any] = head.get("settings", {})

    def __repr__(self) -> str:
        return f"Run({self.id!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Run) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def settings(self) -> Settings:
        """Its settings; those unknown when it was made have their present default."""
        return Settings.from_dict(self._settings)

    def table(self) -> pd.DataFrame:
        """The counts as given, (rows, nodes)."""
        return pd.read_parquet(self.path / "table.parquet")

    def truth(self) -> pd.DataFrame | None:
        """The true edges (parent, child), where known."""
        path = self.path / "truth.csv"
        return read_frame(path, ("parent", "child")) if path.exists() else None

    # State ------------------------------------------------------------------------------------------------------

    @property
    def lock_path(self) -> Path:
        """The file that its process keeps locked."""
        return self.path / "lock"

    @property
    def checkpoint_path(self) -> Path:
        """Where an unfinished fit can go on from."""
        return self.path / "checkpoint.safetensors"

    @property
    def alive(self) -> bool:
        """Whether a process holds it, waiting or working."""
        return held(self.lock_path)

    def works_on(self, work: str) -> bool:
        """Whether a process holds it for a `fit`, or to `refine` it."""
        return self.alive and note(self.lock_path).get("work", "fit") == work

    def take(self, words: dict[str, Any] | None = None) -> Lock:
        """Its lock, with a note for those who find it held.

        Raises:
            InputError: another process holds it.
        """
        lock = Lock.take(self.lock_path, words)
        if lock is None:
            raise InputError(f"The run {self.name} is already waiting or running.")
        return lock

    def status(self) -> Status:
        """Where it stands; a queued or running one whose process is gone reads as interrupted."""
        alive = self.works_on("fit")  # asked first: a process writes its end before it lets go
        status = self.written_status()
        if status.state in UNFINISHED and not alive and not self.works_on("fit"):  # it may have begun between the two
            return Status.from_dict({**status.to_dict(), "state": "interrupted", "eta": None})
        return status

    def written_status(self) -> Status:
        """What status.json says, alive or not."""
        try:
            return Status.from_dict(read_json(self.path / "status.json"))
        except (OSError, ValueError):
            return Status(state="interrupted")

    def update(self, *, durable: bool = True, **changes: Any) -> Status:
        """Change some of its status; for the holder of its lock."""
        status = Status.from_dict({**self.written_status().to_dict(), **changes})
        write_json(self.path / "status.json", status.to_dict(), durable=durable)
        return status

    # Losses -----------------------------------------------------------------------------------------------------

    @property
    def events_path(self) -> Path:
        """The losses, one line a fold an epoch."""
        return self.path / "events.jsonl"

    def events(self) -> pd.DataFrame:
        """All losses: epoch, stage, fold, train, validation (NaN: not measured)."""
        return read_events(self.events_path)

    def events_tail(self, offset: int = 0) -> tuple[pd.DataFrame, int]:
        """The losses written after `offset` and the next offset; start anew at 0 when it is less than given."""
        return read_tail(self.events_path, offset)

    # Results ----------------------------------------------------------------------------------------------------

    def order(self, variant: str | None = None) -> list[str]:
        """The causal order, source first."""
        return results.order(self.result_path(variant))

    def ccs(self, variant: str | None = None) -> pd.DataFrame:
        """step, remaining, node, fold, score, chosen."""
        return read_frame(self.result_path(variant) / "ccs.csv", ("node",))

    def criteria(self, variant: str | None = None) -> pd.DataFrame:
        """step, node, fold and each criterion's score (NaN: unavailable) along the run's own removals."""
        return read_frame(self.result_path(variant) / "criteria.csv", ("node",))

    def ocs(self, variant: str | None = None) -> pd.DataFrame:
        """fold, parent, child, ocs, curvature, z: every candidate."""
        return read_frame(self.result_path(variant) / "ocs.csv", ("parent", "child"))

    def edges(
        self, tau_z: float | None = None, pi_min: float | None = None, variant: str | None = None
    ) -> pd.DataFrame:
        """parent, child, ocs, z, frequency: the fit's edges, with score and p_value by another selector than ocs; or
        the OCS's edges at some thresholds. The edges of a variant recovered later are the OCS's.
        """
        if tau_z is None and pi_min is None:
            return results.stored_edges(self.result_path(variant))
        own_tau_z, own_pi_min = self.thresholds(variant)
        tau_z, pi_min = own_tau_z if tau_z is None else tau_z, own_pi_min if pi_min is None else pi_min
        return results.select(self.ocs(variant), tau_z, pi_min)

    def thresholds(self, variant: str | None = None) -> tuple[float, float]:
        """Its own (τ_Z, π_min): those of its settings, or what its false discovery rate gives."""
        return results.own_thresholds(self.ocs(variant), self.settings)

    def graph(
        self, tau_z: float | None = None, pi_min: float | None = None, variant: str | None = None
    ) -> "nx.DiGraph":
        """The DAG of `edges`, all nodes in causal order."""
        from disco.graph import build

        return build(self.order(variant), self.edges(tau_z, pi_min, variant))

    def training(self) -> dict[str, Any]:
        """What training.json tells of each stage."""
        return read_json(self.path / "training.json")

    @property
    def own_variant(self) -> str:
        """The criterion and boundary it was fitted with, as a variant's name."""
        return f"{self.settings.criterion}-{self.settings.boundary}"

    def variants(self) -> list[str]:
        """The orders it holds, its own first, then those recovered later."""
        saved = sorted(path.name for path in (self.path / "variants").glob("*-*") if (path / "edges.csv").exists())
        return [self.own_variant, *saved]

    def save_recovery(self, recovery: "Recovery", variant: str) -> None:
        """Keep an order, scores and edges recovered from its networks.

        Raises:
            InputError: the variant's name is not a criterion and a boundary.
        """
        if variant == self.own_variant:
            return
        results.save(self._variant_path(variant), recovery, self.settings)

    def result_path(self, variant: str | None) -> Path:
        """The folder of a variant's frames, the run's own unless given.

        Raises:
            InputError: there are none.
        """
        folder = self.path if variant in (None, self.own_variant) else self._variant_path(str(variant))
        if not (folder / "edges.csv").exists():
            what = "no result yet" if folder == self.path else f"no result for {variant} yet"
            raise InputError(f"The run {self.name} has {what}.")
        return folder

    def _variant_path(self, variant: str) -> Path:
        if variant not in results.VARIANTS:
            raise InputError(f"A variant must be one of {', '.join(results.VARIANTS)}; got {variant!r}.")
        return self.path / "variants" / variant

    def delete(self) -> None:
        """Remove its folder and its link.

        Raises:
            InputError: it is waiting or running.
        """
        lock = Lock.take(self.lock_path)
        if lock is None:
            raise InputError(f"The run {self.name} is waiting or running; cancel it first.")
        try:
            shutil.rmtree(self.path)
        finally:
            lock.release()
        link = runs_root() / self.id
        if link.is_symlink() and not link.exists():
            link.unlink()


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
) -> Run:
    """A new run of a table, not yet started.

    Without `folder` it lies in the folder of runs; else there, with a link in the folder of runs.

    Raises:
        InputError: the table is not of counts, its rows are too few for the settings, or the folder holds something
            already.
    """
    from disco.counts import as_counts

    counts = as_counts(table, settings.folds)
    if settings.selector != "ocs" or settings.disjoint_rows:
        from disco.parents import selectors

        selectors.check(settings.selector, counts, settings)
    path = _new_folder(name) if folder is None else _empty_folder(Path(folder))
    buffer = io.BytesIO()
    counts.to_parquet(buffer, index=False)
    write_bytes(path / "table.parquet", buffer.getvalue())
    if truth is not None:
        write_frame(path / "truth.csv", truth[["parent", "child"]])
    write_json(path / "status.json", Status().to_dict())
    head = {
        "format": FORMAT,
        "id": path.name if folder is None else _id_of(name),
        "name": name,
        "source": source,
        "created": datetime.now().astimezone().isoformat(timespec="seconds"),
        "device": device,
        "teaching": teaching,
        "rows": len(counts),
        "nodes": counts.shape[1],
        "settings": settings.to_dict(),
    }
    write_json(path / "settings.json", head)  # last: what has it is a run
    run = Run(path)
    _link(run)
    return run


def open_run(path_or_id: str | Path) -> Run:
    """A run by the id of a URL, or by its folder.

    Raises:
        InputError: there is none.
    """
    if isinstance(path_or_id, str) and _ID.fullmatch(path_or_id):
        inside = runs_root() / path_or_id
        if inside.exists():
            return Run(inside)
    path = Path(path_or_id)
    if not path.is_dir():
        raise InputError(f"There is no run {path_or_id}.")
    return Run(path)


def list_runs(root: Path | None = None) -> list[Run]:
    """All readable runs of a folder, newest first."""
    found: dict[Path, Run] = {}
    for path in (runs_root() if root is None else Path(root)).iterdir():
        if path.name.startswith(".") or not path.is_dir():
            continue
        try:
            run = Run(path)
        except (InputError, ValueError):  # a folder that is no run, or no longer one
            continue
        found[run.path] = run
    return sorted(found.values(), key=lambda run: (run.created.timestamp(), run.id), reverse=True)


def _id_of(name: str) -> str:
    """A name as letters a path and a URL can hold, and the time."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:40].strip("-")
    return f"{slug or 'run'}-{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() // 1_000_000 % 1000:03d}"


def _new_folder(name: str) -> Path:
    """An own folder in the folder of runs, whoever else makes one now."""
    while True:
        path = runs_root() / _id_of(name)
        try:
            path.mkdir()
            return path
        except FileExistsError:
            time.sleep(0.002)
        except OSError as error:
            raise InputError(f"{path.parent} cannot be written ({error.strerror}); set DISCO_RUNS.") from error


def _empty_folder(path: Path) -> Path:
    """The folder asked for, made or found empty."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(path.iterdir()):
            raise InputError(f"{path} is not empty; choose another folder, or resume the run it holds.")
    except OSError as error:
        raise InputError(f"The folder {path} cannot be made ({error.strerror}).") from error
    return path.resolve()


def _link(run: Run) -> None:
    """Let the folder of runs show a run that lies elsewhere."""
    if run.path.parent == runs_root():
        return
    try:
        (runs_root() / run.id).symlink_to(run.path)
    except OSError:  # no links here: the run works, but only by its path
        return
