"""A refinement, stored beside a run's own result; neither replaces the other.

docs/refine.md lists the files, `disco.columns` their columns. `disco.subjects.refinement.refining` stores the state of
an unfinished refinement.
"""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

from disco import columns, schema
from disco.columns import CLASS, FREE, KNOWLEDGE, NO_SOURCE, REFINE_AGAIN
from disco.errors import InputError, printable
from disco.files import frame_bytes, read_json, read_record, unwritten, write_bytes, write_frame, write_json
from disco.graph import result as graph_result
from disco.refine import Choice, Refined
from disco.refine.bounds import MISFIT, MOST_PARENTS
from disco.refine.refinement_result import EARLY, EDGE_COLUMNS, METHOD, POOR, SIMILAR, withheld
from disco.runs import artefacts, digests, file_times
from disco.runs.folder import Run
from disco.schema import check_order, damaged, fits, read, record, shown

if TYPE_CHECKING:
    from disco.likelihood.model_check import Check

PREFIX = "refined_"
FRAMES = ("nodes", "moves", "orders", "tables", "contexts", "lagged")  # attributes of a refinement that may be missing
FILES = tuple(f"{PREFIX}{name}.csv" for name in ("order", "edges", "starts", *FRAMES))
CHECK = "refined_check.json"  # of the model
_MOST_SWEEPS, _MOST_SEARCHES = 1_000_000, 10_000
_MOST_EFFECTS = 10_000  # of contexts on a node
_MOST_NOTES, _LONGEST_NOTE = 1000, 1000
_OLDER_WORDS = {
    EARLY: "The search was ended early",
    POOR: "poorly fitted",
    SIMILAR: "rows within groups",
}  # of notes without kinds
_CHECK_BYTES = 1 << 24


@dataclass(frozen=True)
class _RefinedHead:
    """The content of refined.json."""

    choice: dict[str, Any]
    best: str
    score: float
    candidates: int
    fits: int
    edges: int | None = None  # missing in older refinements
    notes: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)  # of the notes; missing in older refinements
    digests: dict[str, str] = field(default_factory=dict)  # of the files and the table; missing in older refinements


def save(folder: Path, result: Refined, choice: Choice) -> None:
    """Write a refinement into a run's folder."""
    for name in ("refined.json", CHECK):  # old and new files must not be mixed
        (folder / name).unlink(missing_ok=True)
    graph_result.write(folder, result.found, PREFIX)
    write_frame(folder / "refined_starts.csv", result.starts)
    for name in FRAMES:
        frame = getattr(result, name)
        (folder / f"refined_{name}.csv").unlink(missing_ok=True)
        if frame is not None:
            write_frame(folder / f"refined_{name}.csv", frame)
    head = {name: getattr(result, name) for name in ("best", "score", "candidates", "fits", "notes")}
    head |= {"choice": dataclasses.asdict(choice), "edges": len(result.edges)}
    head["kinds"] = [getattr(note, "kind", "") for note in result.notes]
    head["digests"] = {**digests.of_files(folder, FILES), digests.TABLE: digests.of_table(folder)}
    write_json(folder / "refined.json", head)


def read_refined(run: Run) -> Refined:
    """The refinement of a run; while its table has artefacts, no direction is decided by the class."""
    path = run.path / "refined.json"
    if not os.path.lexists(path):
        raise InputError(f"The run {run.name} has no refinement yet; run disco refine.")
    try:
        head = record(_RefinedHead, read_record(path))
        choice_from(head.choice)
        if min(head.candidates, head.fits) < 0:
            raise ValueError(f"candidates is {head.candidates}, fits is {head.fits}")
    except (OSError, ValueError) as error:
        raise damaged(path, error, REFINE_AGAIN) from None
    nodes, folder = run.nodes, run.path
    digests.check_table(path, head.digests, run.digests, REFINE_AGAIN)
    for name in FILES:
        digests.checked(folder / name, head.digests, REFINE_AGAIN)
    graph = graph_result.read(folder, nodes, columns.REFINED_ORDER, columns.REFINED_EDGES, prefix=PREFIX)
    if head.edges not in (None, len(graph.edges)):
        what = f"it has {len(graph.edges):,} edges, but refined.json says {head.edges:,}"
        raise damaged(folder / "refined_edges.csv", what, REFINE_AGAIN)
    frames = _frames(run, int(head.choice.get("bootstrap", 0)))
    words = [printable(note, _LONGEST_NOTE) for note in head.notes[:_MOST_NOTES]]
    graph = dataclasses.replace(
        graph,
        edges=_edges(graph.edges),
        method=METHOD,
        choices=head.choice,
        notes=tuple(starmap(graph_result.Note, zip(words, _kinds(head), strict=False))),
        misfit=frames.pop("nodes"),
    )
    starts = read(folder / "refined_starts.csv", columns.REFINED_STARTS, nodes, _MOST_SWEEPS)
    result = Refined(graph, starts, printable(head.best, 100), head.score, head.candidates, head.fits, **frames)
    judged = artefacts.of(run) if run.alive else artefacts.complete(run)  # the work on a run makes what is due
    return withheld(result, judged.standing, bool(judged.due))


def searched_edges(run: Run) -> pd.DataFrame | None:
    """The edges of a run's refinement; None without a readable one."""
    try:
        return read_refined(run).edges
    except InputError:
        return None


def dismiss(run: Run, reasons: Mapping[str, str]) -> None:
    """Dismiss artefacts of a run's table, or restore them (`artefacts.dismiss`), in its refinement's file too.

    An `InputError` if the run is another user's, or has no artefact of a kind.
    """
    run.check_own()
    artefacts.dismiss(run, reasons)
    agree(run)


def agree(run: Run) -> None:
    """Update the decided directions in the file of a refinement's edges after artefacts were dismissed or restored.

    Without effect on a run without a readable refinement, or if the refinement or the dismissals change meanwhile.
    """
    path, head = run.path / "refined_edges.csv", run.path / "refined.json"
    try:
        artefacts.of(run)  # writes what the file of an older version lacks, before its time is taken
        stamp, edges = (head.stat().st_mtime_ns, file_times.artefacts(run)), read_refined(run).edges
        written = read(path, columns.REFINED_EDGES, run.nodes, len(edges))
        is_same = edges.equals(written.reindex(columns=edges.columns))
        if not is_same and stamp == (head.stat().st_mtime_ns, file_times.artefacts(run)):
            _rewrite(path, head, edges)
    except (InputError, FileNotFoundError):
        return
    except OSError as error:
        raise unwritten(run.path, error) from error


def _rewrite(path: Path, head: Path, edges: pd.DataFrame) -> None:
    """Replace the file of the edges; the head allows the old file and the new one, so that an interruption between the
    two writes does no harm.
    """
    values, data = read_record(head), frame_bytes(edges)
    if "digests" in values:
        values["digests"][path.name] = f"{digests.of(path)} {digests.of_bytes(data)}"
        write_json(head, values)
    write_bytes(path, data)


def _kinds(head: _RefinedHead) -> list[str]:
    """The kind of every note; older refinements have only their words."""
    kinds = head.kinds if len(head.kinds) == len(head.notes) else [""] * len(head.notes)
    guesses = [next((kind for kind, words in _OLDER_WORDS.items() if words in note), "") for note in head.notes]
    return [kind or guess for kind, guess in zip(kinds, guesses, strict=True)]


def _edges(edges: pd.DataFrame) -> pd.DataFrame:
    """The edges with all columns of evidence; in older refinements, none is decided without direction evidence."""
    if "robust_nats" not in edges:
        edges["decided"] &= edges["direction_nats"].notna()
    if "source" not in edges:
        by_rule = edges["rule"] != FREE if "rule" in edges else np.zeros(len(edges), dtype=bool)
        edges["source"] = np.select([by_rule, edges["decided"]], [KNOWLEDGE, CLASS], NO_SOURCE)
    if "class_decides" not in edges:
        edges["class_decides"] = edges["source"] == CLASS
    return edges.reindex(columns=[*EDGE_COLUMNS, *(["rule"] if "rule" in edges else [])])


def _frames(run: Run, drawn: int) -> dict[str, pd.DataFrame | None]:
    """The frames of `FRAMES`, None if not stored; `drawn` is the number of bootstrap tables."""
    nodes, frames, paths = run.nodes, dict[str, pd.DataFrame | None](), dict[str, Path]()
    limits = {
        "nodes": 1,
        "moves": 1,
        "orders": _MOST_SEARCHES,
        "tables": drawn * MOST_PARENTS,
        "contexts": _MOST_EFFECTS,
        "lagged": MOST_PARENTS,
    }
    for name, per_node in limits.items():
        path, frame = run.path / f"{PREFIX}{name}.csv", getattr(columns, f"REFINED_{name.upper()}")
        frames[name] = read(path, frame, nodes, len(nodes) * per_node) if os.path.lexists(path) else None
        paths[name] = path
    for name in ("nodes", "moves"):
        if (frame := frames[name]) is not None and len(frame) < len(nodes):
            raise damaged(paths[name], "it lacks a column of the table", REFINE_AGAIN)
    if (
        judged := frames["nodes"]
    ) is not None and "is_poor" not in judged:  # in older versions, it did not depend on the evidence
        frames["nodes"] = judged.assign(is_poor=~(judged["misfit_nats"] < MISFIT))
    if frames["orders"] is not None:
        for _, order in frames["orders"].groupby("start", sort=False):
            check_order(paths["orders"], order, nodes, REFINE_AGAIN)
    if (tables := frames["tables"]) is not None:
        if not tables["table"].between(1, drawn).all():
            raise damaged(paths["tables"], f"it has tables other than 1 to {drawn}", REFINE_AGAIN)
        for _, edges in tables.groupby("table"):
            graph = nx.DiGraph(list(zip(edges["parent"], edges["child"], strict=True)))
            if not nx.is_directed_acyclic_graph(graph):
                raise damaged(paths["tables"], "a table's graph has a cycle", REFINE_AGAIN)
    return frames


def choice_from(values: dict[str, Any]) -> Choice:
    """The choice in a file; an `InputError` if a name or value is not allowed."""
    kinds = {item.name: item.type for item in dataclasses.fields(Choice)}
    for name, value in values.items():
        if name not in kinds or not fits(value, kinds[name]):
            raise InputError(f"A refinement cannot have {printable(name, 40)} {shown(value)}.")
    return Choice(**values)


def save_check(run: Run, check: "Check") -> None:
    """Save the model check of a run's own refinement, until the next refinement; nothing of another user's run."""
    if run.is_read_only:
        return
    content = {field.name: getattr(check, field.name) for field in dataclasses.fields(check)}
    frames = {name: value.to_dict("list") for name, value in content.items() if isinstance(value, pd.DataFrame)}
    try:
        write_json(run.path / CHECK, digests.sealed({**content, **frames}, run.path))
    except OSError as error:
        raise unwritten(run.path, error) from error


def read_check(run: Run) -> "Check | None":
    """The model check of a run's refinement; None if there is none or it is unreadable."""
    from disco.likelihood.model_check import Check  # imports the compiler

    try:
        content = read_json(run.path / CHECK, _CHECK_BYTES)
        if not digests.is_sealed(content, run.path):
            return None
        frames = {}
        for name, frame in columns.CHECK.items():
            values = {column: content[name][column] for column in frame.kinds}
            if not all(isinstance(value, list) for value in values.values()):
                return None
            frames[name] = schema.checked(pd.DataFrame(values), frame, set(run.nodes), _MOST_SWEEPS)
        scalars = {
            field.name: content[field.name]
            for field in dataclasses.fields(Check)
            if field.name not in frames and field.name in content
        }
        check = Check(**frames, **scalars)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return check if _is_whole(check, len(run.nodes)) else None


def _is_whole(check: "Check", nodes: int) -> bool:
    from disco.likelihood.model_check import STATISTICS

    is_told = fits(check.unseen, float) and fits(check.simulations, int) and isinstance(check.note, str)
    seen = set(zip(check.columns["statistic"], check.columns["node"], strict=True))
    is_full = len(seen) == len(check.columns) == len(STATISTICS) * nodes
    is_full = is_full and len(check.pairs) == nodes * (nodes - 1) // 2
    has_held_out = bool(check.note) or (len(check.scores) >= 2 and len(check.differences) >= 1)
    return is_told and is_full and has_held_out and check.simulations > 0 and check.margins["node"].nunique() == nodes


def choice_of(run: Run) -> dict[str, Any]:
    """The choice of the run's refinement; empty if missing."""
    try:
        choice = read_record(run.path / "refined.json").get("choice", {})
        choice_from(choice)
    except (OSError, ValueError, AttributeError):
        return {}
    return dict(choice)
