"""disco evaluate --truth FILE (--run RUN | --edges FILE): compare a run or an edge list with the true edges."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from disco.cli import options
from disco.cli.saying import say_json
from disco.errors import InputError
from disco.files import plain
from disco.graph.dag import CONTEXT, between_nodes
from disco.metrics import evaluate
from disco.runs import open_run
from disco.simulate.edge_files import LARGEST_TEXT
from disco.simulate.identifiable import check as check_direction
from disco.simulate.random_graphs import LARGEST_GRAPH
from disco.subjects.graph.chosen_graph import chosen_graph
from disco.table.read import read_table, read_words


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "--truth", type=Path, required=True, metavar="FILE", help="CSV with parent, child and, optionally, direction"
    )
    estimate = command.add_mutually_exclusive_group(required=True)
    estimate.add_argument("--run", metavar="RUN", help="folder or id of a finished run")
    estimate.add_argument("--edges", type=Path, metavar="FILE", help="estimated edges: CSV with columns parent, child")
    options.which(command)
    command.add_argument("--order", type=Path, metavar="FILE", help="with --edges: CSV with columns position, node")
    command.add_argument(
        "--counts", type=Path, metavar="FILE", help="with --edges: the table, for the sorting controls"
    )


def run(arguments: argparse.Namespace) -> None:
    """Print every metric of `disco.metrics.evaluate` as one JSON object; null if undefined or not requested.

    Raises:
        InputError: a file cannot be used, its names differ from the others', or there is no such result.
        FitStopped: the computation of parents was interrupted.
    """
    truth = read_truth(arguments.truth)
    scores = _of_run(arguments, truth) if arguments.run else _of_files(arguments, truth)
    say_json(plain(scores))


def read_truth(path: Path) -> pd.DataFrame:
    """The true edges: parent, child and, if present, whether each direction can be known."""
    truth = read_names(path, ("parent", "child"))
    count = list(truth.columns).count("direction")
    if count > 1:
        raise InputError(f'{path} has {count} columns "direction": keep one.')
    for row, direction in enumerate(truth["direction"] if count else (), start=1):
        if direction != CONTEXT:
            check_direction(direction, f"{path}, row {row}")
    return between_nodes(truth)


def _of_run(arguments: argparse.Namespace, truth: pd.DataFrame) -> dict[str, object]:
    """The metrics of a finished run, at the arguments' thresholds or its own."""
    for name in ("order", "counts"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name} goes with --edges; a run has its own.")
    opened = open_run(arguments.run)
    graph = chosen_graph(opened, arguments)
    return evaluate(truth, list(graph), graph, opened.table())


def _of_files(arguments: argparse.Namespace, truth: pd.DataFrame) -> dict[str, object]:
    """The metrics of an edge list, and of an order and a table if the arguments name them."""
    for name in ("tau_z", "pi_min", "rule", "graph", "parents"):
        if getattr(arguments, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} goes with --run; an edge list is used as it is.")
    edges = read_names(arguments.edges, ("parent", "child"))
    order = None if arguments.order is None else _order(arguments.order)
    table = None if arguments.counts is None else _numbers(arguments.counts)
    return evaluate(truth, order, edges, table)


def read_names(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A CSV file of names, read literally ("NA" is a name).

    Raises:
        InputError: it cannot be read, lacks a column, has an empty name, or too many names.
    """
    frame = read_words(path, LARGEST_TEXT)
    header = list(frame.columns)
    for name in columns:
        if header.count(name) > 1:
            raise InputError(f'{path} has {header.count(name)} columns "{name}": keep one.')
        if name not in header:
            raise InputError(f'{path} has no column "{name}": it needs {" and ".join(columns)}, separated by commas.')
        empty = frame.index[frame[name] == ""]
        if len(empty):
            raise InputError(f"{path}, row {empty[0] + 1}: the {name} is empty; fill it in or leave the row out.")
    names = len(set().union(*(frame[name] for name in columns)))
    if names > LARGEST_GRAPH:  # the metrics store every pair of them
        raise InputError(f"{path} names {names:,} nodes; the limit is {LARGEST_GRAPH:,}.")
    return frame


def _order(path: Path) -> list[str]:
    frame = read_names(path, ("node",))
    has_one = list(frame.columns).count("position") == 1
    positions = pd.to_numeric(frame["position"], errors="coerce") if has_one else None
    if positions is None or positions.isna().any():
        raise InputError(f"{path} needs the columns position, 1 for the first source, and node.")
    return frame["node"].iloc[np.argsort(positions, kind="stable")].tolist()


def _numbers(path: Path) -> pd.DataFrame:
    """A table to sort by mean and variance: counts or continuous data."""
    table = read_table(path)
    for name, column in table.items():
        if not pd.api.types.is_numeric_dtype(column):
            raise InputError(f'{path}, column "{name}" has cells that are not numbers; leave it out.')
        if column.isna().any():
            raise InputError(f'{path}, column "{name}", row {int(column.isna().argmax()) + 1}: a number is missing.')
    return table
