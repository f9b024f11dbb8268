"""Results of other methods on a run's table; `disco.subjects.comparison.comparing` runs them."""

import contextlib
import dataclasses
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from disco import fields
from disco.columns import COMPARED_EDGES, COMPARED_ORDER, COMPARED_SCORES, RUN_AGAIN
from disco.errors import InputError, printable
from disco.fields import number, require
from disco.files import inside, plain, read_record, unwritten, write_frame, write_json
from disco.graph.result import MOST_SCORES, GraphResult, write
from disco.graph.result import read as read_found
from disco.methods import METHODS, options_of
from disco.metrics import evaluate
from disco.metrics.adjustment_distance import cycle
from disco.metrics.edges import read as read_edges
from disco.runs import artefacts, digests
from disco.runs.folder import Run
from disco.schema import damaged, read
from disco.schema import record as read_as

FOLDER, TABLE, ASKED = "compare", "compare.csv", "comparing.json"
FILES = ("order.csv", "edges.csv", "scores.csv", "result.json")
STATES = ("done", "failed", "timeout")
METRICS = ("a_top", "precision", "recall", "f1", "skeleton_f1", "shd", "class_shd")
WHOLE = ("edges", "undirected", "shd", "class_shd")  # columns of the table with whole numbers
_MOST_NOTES, _LONGEST_TEXT = 100, 2000
_BY_CLASS = (
    "Its directions are those of the model class; the run decides none, since something in its table creates edges."
)


@dataclass(frozen=True)
class MethodsRequest:
    """The requested methods, each with the options that differ from its defaults; an `InputError` if one is invalid."""

    methods: Mapping[str, Mapping[str, Any]]
    limit: float = number(
        600.0,
        "Time limit per method, seconds",
        "A method that takes longer is stopped, and the next one starts.",
        within=(1, 1e6),
        flag="--timeout",
        metavar="SECONDS",
    )

    def __post_init__(self) -> None:
        require("The time limit in seconds", self.limit, *fields.options(MethodsRequest)["limit"].demands)
        if not self.methods:
            raise InputError("Choose at least one method to compare.")
        for name, options in self.methods.items():
            if not isinstance(options, Mapping):
                raise InputError(f"The options of {name} must map names to values; got {options!r}.")
            self.options(name)

    def options(self, name: str) -> dict[str, Any]:
        """All options of a method, in JSON types."""
        return plain(dataclasses.asdict(options_of(name, self.methods[name])))


@dataclass(frozen=True)
class MethodResult:
    """The outcome of a method on a run's table.

    Attributes:
        method: a key of `disco.methods.METHODS`.
        state: done, failed, or timeout.
        options: all of its options.
        limit: its time limit, in seconds.
        error: one sentence unless done.
        notes: caveats on its result.
        found: its result; None unless done.
    """

    method: str
    state: str
    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    limit: float = 0.0
    error: str = ""
    notes: Sequence[str] = ()
    found: GraphResult | None = None

    @property
    def note(self) -> str:
        """Its error or its notes, in one line."""
        return " ".join([self.error, *self.notes]).strip()


@dataclass(frozen=True)
class _ComparedHead:
    """The content of result.json."""

    state: str
    options: dict[str, Any]
    seconds: float
    limit: float
    error: str = ""
    notes: list[str] = field(default_factory=list)
    edges: int | None = None  # missing in older results
    digests: dict[str, str] = field(default_factory=dict)  # of the files and the table; missing in older results


def folder_of(run: Run, name: str) -> Path:
    """The folder of a method; InputError if the method is unknown or the folder is a link."""
    if name not in METHODS:
        raise InputError(f"There is no method {printable(name, 40)!r}.")
    return inside(run.path, FOLDER, name)


def make_folder(run: Run, name: str) -> Path:
    """The folder of a method, created if needed; a link or file in its place, or a folder as its log, is removed.

    A run may come from a stranger, and the target of a link does not belong to the run.
    """
    folder = run.path / FOLDER / name
    for path in (folder.parent, folder):
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
        path.mkdir(exist_ok=True)
    for path in (*(folder / name for name in FILES), folder / "log.txt"):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
    return folder


def save(run: Run, ended: MethodResult) -> None:
    """Write a method's outcome. Without a new result, an earlier one is kept, with a note."""
    folder = make_folder(run, ended.method)
    earlier = None
    if ended.found is None:
        with contextlib.suppress(InputError):
            earlier = read_one(run, ended.method)
    if earlier is not None and earlier.found is not None:
        error = f"It found nothing with the new options, so this is its earlier result. {ended.error}"
        ended = dataclasses.replace(earlier, error=error)
    else:
        for name in reversed(FILES):
            (folder / name).unlink(missing_ok=True)
        if ended.found is not None:
            write(folder, ended.found)
    head = {item.name: getattr(ended, item.name) for item in dataclasses.fields(_ComparedHead)[:-2]}
    edges = 0 if ended.found is None else len(ended.found.edges)
    written = {**digests.of_files(folder, FILES[:-1]), digests.TABLE: digests.of_table(run.path)}
    write_json(folder / "result.json", {**head, "edges": edges, "digests": written})


def names(run: Run) -> list[str]:
    """The methods that have ended, in the order of the registry."""
    return [name for name in METHODS if os.path.lexists(run.path / FOLDER / name / "result.json")]


def read_one(run: Run, name: str) -> MethodResult:
    """The outcome of a method that has ended."""
    folder = folder_of(run, name)
    path = folder / "result.json"
    try:
        head = read_as(_ComparedHead, read_record(path))
        if head.state not in STATES or head.seconds < 0:
            raise ValueError(f"state is {printable(head.state, 40)!r}, seconds {head.seconds}")
    except (OSError, ValueError) as reason:
        raise damaged(path, reason, RUN_AGAIN) from None
    error = printable(head.error, _LONGEST_TEXT)
    notes = tuple(printable(note, _LONGEST_TEXT) for note in head.notes[:_MOST_NOTES] if note != _BY_CLASS)
    if METHODS[name].changes.get("by") == "likelihood" and artefacts.of(run).standing:
        notes = (_BY_CLASS, *notes)
    ended = MethodResult(name, head.state, head.options, head.seconds, head.limit, error, notes)
    if head.state != "done":
        return ended
    digests.check_table(path, head.digests, run.digests, RUN_AGAIN)
    for file in FILES[:-1]:
        digests.checked(folder / file, head.digests, RUN_AGAIN)
    result = read_found(folder, run.nodes, COMPARED_ORDER, COMPARED_EDGES)
    if head.edges not in (None, len(result.edges)):
        what = f"it has {len(result.edges):,} edges, but result.json says {head.edges:,}"
        raise damaged(folder / "edges.csv", what, RUN_AGAIN)
    result = dataclasses.replace(
        result, method=METHODS[name].label, choices=head.options, seconds=head.seconds, notes=notes
    )
    return dataclasses.replace(ended, found=result)


def read_all(run: Run) -> list[MethodResult]:
    """The outcome of every method; one with damaged files counts as failed, with the reason."""
    outcomes = []
    for name in names(run):
        try:
            outcomes.append(read_one(run, name))
        except InputError as error:
            outcomes.append(MethodResult(name, "failed", error=str(error)))
    return outcomes


def read_scores(run: Run, name: str) -> pd.DataFrame | None:
    """The scores of a method: parent, child, score and possibly p_value; None if not stored."""
    path = folder_of(run, name) / "scores.csv"
    return read(path, COMPARED_SCORES, run.nodes, MOST_SCORES) if os.path.lexists(path) else None


def asked(run: Run) -> MethodsRequest | None:
    """The last request; None if there is none or it cannot be read."""
    try:
        values = read_record(run.path / ASKED)
        return MethodsRequest(values["methods"], values["limit"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def table(run: Run, ended: list[MethodResult], truth: pd.DataFrame | None) -> pd.DataFrame:
    """One row per method: method, state, seconds, edges, undirected, the metrics, note.

    The metrics are empty without a `truth`, the true edges; those with names that are not columns are ignored.
    """
    nodes = set(run.nodes)
    if truth is not None:
        truth = truth[truth["parent"].isin(nodes) & truth["child"].isin(nodes)].reset_index(drop=True)
        truth = None if looped(truth) else truth
    rows = []
    for outcome in ended:
        row = {name: getattr(outcome, name) for name in ("method", "state", "seconds", "note")}
        if (result := outcome.found) is not None:
            row |= {"edges": len(result.edges), "undirected": len(result.undirected)}
            row |= {} if truth is None else evaluate(truth, result.order, result.likelier) | row
        rows.append(row)
    columns = ["method", "state", "seconds", "edges", "undirected", *METRICS, "note"]
    kinds = {**dict.fromkeys(("seconds", *METRICS), "float64"), **dict.fromkeys(WHOLE, "Int64")}
    return pd.DataFrame(rows, columns=columns).astype(kinds)


def looped(truth: pd.DataFrame) -> str:
    """Why no method is compared with a truth: the truth has a cycle; empty without one."""
    loop = cycle(read_edges(truth)[0])
    return f"The true edges have the cycle {loop}, so nothing is compared: a causal graph has none." if loop else ""


def set_truth(run: Run, edges: pd.DataFrame | None) -> None:
    """Replace a run's true edges, or remove them, and recompute its methods' metrics.

    An `InputError` if an edge has a name that is not a column of the table.
    """
    run.set_truth(edges)
    try:
        write_table(run)
    except OSError as error:
        raise unwritten(run.path, error) from error


def write_table(run: Run) -> None:
    """Rewrite compare.csv, or delete it if no method has ended."""
    ended, truth = read_all(run), None
    if not ended:
        (run.path / TABLE).unlink(missing_ok=True)
        return
    with contextlib.suppress(InputError):  # a damaged truth is reported where it is shown
        truth = run.truth()
    write_frame(run.path / TABLE, table(run, ended, truth))
