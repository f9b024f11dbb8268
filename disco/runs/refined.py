"""A refinement, stored beside a run's own result; neither replaces the other.

refined_order.csv   position from 1, node; source first
refined_edges.csv   parent, child and the evidence for each edge, strongest first; decided and source as shown
refined_starts.csv  start, sweep, score
refined_orders.csv start, position, node: every search's final order
refined_tables.csv table, parent, child: the graph of every bootstrap table; missing in older ones
refined_nodes.csv   node, levels, misfit_nats, misfit_per_row, is_poor; missing in older ones
refined_contexts.csv context, level, node and the evidence for this effect; only with contexts
refined_moves.csv   node, its position before and after, gain_nats; only with an earlier order
refined.json        the choice, the best start, its score; written last
refined_check.json the refinement's model check, if any

`disco.work.refining` stores the state of an unfinished refinement.
"""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pandas as pd

from disco import columns, found, schema
from disco.columns import REFINE_AGAIN, Schema
from disco.errors import InputError, printable
from disco.files import frame_bytes, read_json, read_record, unwritten, write_bytes, write_frame, write_json
from disco.graph import CLASS, FREE, KNOWLEDGE, NO_SOURCE
from disco.refine import Choice, Refined
from disco.refine.limits import MISFIT, MOST_PARENTS
from disco.refine.result import EARLY, EDGE_COLUMNS, METHOD, POOR, withheld
from disco.runs import artefacts, digests, stamps
from disco.runs.folder import Run
from disco.schema import check_order, damaged, fits, read, record, shown

if TYPE_CHECKING:
    from disco.likelihood.check import Check

PREFIX = "refined_"
FRAMES = ("nodes", "moves", "orders", "tables", "contexts")  # attributes of a refinement that may be missing
FILES = tuple(f"{PREFIX}{name}.csv" for name in ("order", "edges", "starts", *FRAMES))
_MOST_SWEEPS, _MOST_SEARCHES = 1_000_000, 10_000
_MOST_EFFECTS = 10_000  # of contexts on a node
_MOST_NOTES, _LONGEST_NOTE = 1000, 1000
_OLDER_WORDS = {EARLY: "The search was ended early", POOR: "poorly fitted"}  # of notes without kinds
_CHECK_BYTES = 1 << 24


@dataclass(frozen=True)
class _Head:
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
    for name in ("refined.json", "refined_check.json"):  # old and new files must not be mixed
        (folder / name).unlink(missing_ok=True)
    found.write(folder, result.found, PREFIX)
    write_frame(folder / "refined_starts.csv", result.starts)
    for name in FRAMES:
        frame = getattr(result, name)
        (folder / f"refined_{name}.csv").unlink(missing_ok=True)
        if frame is not None:
            write_frame(folder / f"refined_{name}.csv", frame)
    told = {"best": result.best, "score": result.score, "candidates": result.candidates, "fits": result.fits}
    head = {"choice": dataclasses.asdict(choice), **told, "edges": len(result.edges), **_notes(result)}
    own = {**digests.of_files(folder, FILES), digests.TABLE: digests.of_table(folder)}
    write_json(folder / "refined.json", {**head, "digests": own})


def read_refined(run: Run) -> Refined:
    """The refinement of a run; while its table has artefacts, no direction is decided by the class.

    Raises:
        InputError: it has none, or one of its files is damaged.
    """
    path = run.path / "refined.json"
    if not os.path.lexists(path):
        raise InputError(f"The run {run.name} has no refinement yet; run disco refine.")
    try:
        head = record(_Head, read_record(path))
        choice_from(head.choice)
        if min(head.candidates, head.fits) < 0:
            raise ValueError(f"candidates is {head.candidates}, fits is {head.fits}")
    except (OSError, ValueError) as error:
        raise damaged(path, str(error).rstrip("."), REFINE_AGAIN) from None
    nodes, folder = run.nodes, run.path
    digests.check_table(path, head.digests, run.digests, REFINE_AGAIN)
    for name in FILES:
        digests.checked(folder / name, head.digests, REFINE_AGAIN)
    graph = found.read(folder, nodes, columns.REFINED_ORDER, columns.REFINED_EDGES, prefix=PREFIX)
    if head.edges not in (None, len(graph.edges)):
        what = f"it has {len(graph.edges):,} edges, but refined.json says {head.edges:,}"
        raise damaged(folder / "refined_edges.csv", what, REFINE_AGAIN)
    graph = dataclasses.replace(
        graph,
        edges=_edges(graph.edges),
        method=METHOD,
        choices=head.choice,
        notes=tuple(starmap(found.Note, zip(_printable(head.notes), _kinds(head), strict=False))),
        misfit=_misfit(folder / "refined_nodes.csv", nodes),
    )
    result = Refined(
        graph,
        read(folder / "refined_starts.csv", columns.REFINED_STARTS, nodes, _MOST_SWEEPS),
        printable(head.best, 100),
        head.score,
        head.candidates,
        head.fits,
        _every(folder / "refined_moves.csv", columns.REFINED_MOVES, nodes),
        _ends(run),
        _tables(run, head),
        _contexts(run),
    )
    return withheld(result, artefacts.of(run).standing)


def dismiss(run: Run, reasons: Mapping[str, str]) -> None:
    """Dismiss artefacts of a run's table, or restore them (`artefacts.dismiss`), in its refinement's file too.

    Raises:
        InputError: it is another user's, the run has no artefact of a kind, or it cannot be written.
    """
    run.check_own()
    artefacts.dismiss(run, reasons)
    agree(run)


def agree(run: Run) -> None:
    """Let the file of a refinement's edges say which directions are decided as long as what was dismissed stays so.

    Without effect on a run without a readable refinement.

    Raises:
        InputError: it cannot be written.
    """
    path, head = run.path / "refined_edges.csv", run.path / "refined.json"
    try:
        artefacts.of(run)  # writes what the file of an older version lacks, before its time is taken
        stamp, shown = (head.stat().st_mtime_ns, stamps.artefacts(run)), read_refined(run).edges
        written = read(path, columns.REFINED_EDGES, run.nodes, len(shown))
        is_same = shown.equals(written.reindex(columns=shown.columns))
        if not is_same and stamp == (head.stat().st_mtime_ns, stamps.artefacts(run)):
            _rewrite(path, head, shown)
    except (InputError, FileNotFoundError):
        return
    except OSError as error:
        raise unwritten(run.path, error) from error


def _rewrite(path: Path, head: Path, edges: pd.DataFrame) -> None:
    """Replace the file of the edges; the head allows the old file and the new one, so that no stop parts them."""
    values, data = read_record(head), frame_bytes(edges)
    if "digests" in values:
        values["digests"][path.name] = f"{digests.of(path)} {digests.of_bytes(data)}"
        write_json(head, values)
    write_bytes(path, data)


def _notes(result: Refined) -> dict[str, list[str]]:
    return {"notes": list(result.notes), "kinds": [getattr(note, "kind", "") for note in result.notes]}


def _printable(notes: Sequence[str]) -> list[str]:
    return [printable(note, _LONGEST_NOTE) for note in notes[:_MOST_NOTES]]


def _kinds(head: _Head) -> list[str]:
    """The kind of every note; older refinements have their words alone."""
    if len(head.kinds) == len(head.notes):
        return head.kinds
    return [next((kind for kind, words in _OLDER_WORDS.items() if words in note), "") for note in head.notes]


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


def _misfit(path: Path, nodes: Sequence[str]) -> pd.DataFrame | None:
    """The misfit of the nodes; in older refinements, a poor fit did not depend on the evidence."""
    told = _every(path, columns.REFINED_NODES, nodes)
    if told is None or "is_poor" in told:
        return told
    return told.assign(is_poor=~(told["misfit_nats"] < MISFIT))


def _every(path: Path, schema: Schema, nodes: Sequence[str]) -> pd.DataFrame | None:
    """A frame with one row per node; None if there is none: it is not written by older versions, or without an order
    before.
    """
    if not os.path.lexists(path):
        return None
    told = read(path, schema, nodes, len(nodes))
    if len(told) < len(nodes):
        raise damaged(path, "it lacks a column of the table", REFINE_AGAIN)
    return told


def _ends(run: Run) -> pd.DataFrame | None:
    """Every search's final order; None in older refinements, which did not store them."""
    path, nodes = run.path / "refined_orders.csv", run.nodes
    if not os.path.lexists(path):
        return None
    told = read(path, columns.REFINED_ORDERS, nodes, len(nodes) * _MOST_SEARCHES)
    for _, frame in told.groupby("start", sort=False):
        check_order(path, frame, nodes, REFINE_AGAIN)
    return told


def _tables(run: Run, head: _Head) -> pd.DataFrame | None:
    """The graphs of the bootstrap tables; None in older refinements, which did not store them."""
    path, made = run.path / "refined_tables.csv", int(head.choice.get("bootstrap", 0))
    if not os.path.lexists(path):
        return None
    told = read(path, columns.REFINED_TABLES, run.nodes, made * len(run.nodes) * MOST_PARENTS)
    if not told["table"].between(1, made).all():
        raise damaged(path, f"it has tables other than 1 to {made}", REFINE_AGAIN)
    for _, edges in told.groupby("table"):
        graph = nx.DiGraph(list(zip(edges["parent"], edges["child"], strict=True)))
        if not nx.is_directed_acyclic_graph(graph):
            raise damaged(path, "a table's graph has a cycle", REFINE_AGAIN)
    return told


def _contexts(run: Run) -> pd.DataFrame | None:
    """The effects of contexts; None without any."""
    path = run.path / "refined_contexts.csv"
    if not os.path.lexists(path):
        return None
    return read(path, columns.REFINED_CONTEXTS, run.nodes, len(run.nodes) * _MOST_EFFECTS)


def choice_from(values: dict[str, Any]) -> Choice:
    """The choice in a file.

    Raises:
        InputError: a name or value is not allowed in a choice.
    """
    kinds = {item.name: item.type for item in dataclasses.fields(Choice)}
    for name, value in values.items():
        if name not in kinds or not fits(value, kinds[name]):
            raise InputError(f"A refinement cannot have {printable(name, 40)} {shown(value)}.")
    return Choice(**values)


def save_check(run: Run, check: "Check") -> None:
    """Save the model check of a run's own refinement, until the next refinement; nothing of another user's run.

    Raises:
        InputError: it cannot be written.
    """
    if run.is_read_only:
        return
    told = {field.name: getattr(check, field.name) for field in dataclasses.fields(check)}
    frames = {name: value.to_dict("list") for name, value in told.items() if isinstance(value, pd.DataFrame)}
    try:
        write_json(run.path / "refined_check.json", digests.sealed({**told, **frames}, run.path))
    except OSError as error:
        raise unwritten(run.path, error) from error


def read_check(run: Run) -> "Check | None":
    """The model check of a run's refinement; None if there is none or it is unreadable."""
    from disco.likelihood.check import Check  # imports torch

    try:
        told = read_json(run.path / "refined_check.json", _CHECK_BYTES)
        if not digests.is_sealed(told, run.path):
            return None
        frames = {name: _frame_of(told[name], frame, set(run.nodes)) for name, frame in columns.CHECK.items()}
        others = {
            field.name: told[field.name]
            for field in dataclasses.fields(Check)
            if field.name not in frames and field.name in told
        }
        check = Check(**frames, **others)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return check if _is_whole(check, len(run.nodes)) else None


def _is_whole(check: "Check", nodes: int) -> bool:
    """Whether a check covers every column and pair, and held-out rows or the reason for none."""
    from disco.likelihood.check import STATISTICS

    is_told = fits(check.unseen, float) and fits(check.simulations, int) and isinstance(check.note, str)
    seen = set(zip(check.columns["statistic"], check.columns["node"], strict=True))
    is_full = len(seen) == len(check.columns) == len(STATISTICS) * nodes
    is_full = is_full and len(check.pairs) == nodes * (nodes - 1) // 2
    has_held_out = bool(check.note) or (len(check.scores) >= 2 and len(check.differences) >= 1)
    return is_told and is_full and has_held_out and check.simulations > 0 and check.margins["node"].nunique() == nodes


def _frame_of(values: Any, frame: Schema, nodes: set[str]) -> pd.DataFrame:
    """A frame from JSON; ValueError if its columns are not of their kinds."""
    if not isinstance(values, dict) or not all(isinstance(values.get(name), list) for name in frame.kinds):
        raise ValueError("columns are missing")
    return schema.checked(pd.DataFrame(values), frame, nodes, _MOST_SWEEPS)


def choice_of(run: Run) -> dict[str, Any]:
    """The choice of the run's refinement; empty if missing."""
    try:
        told = read_record(run.path / "refined.json").get("choice", {})
        choice_from(told)
    except (OSError, ValueError, AttributeError):
        return {}
    return dict(told)
