"""disco graph RUN: the DAG of a finished run as text."""

import argparse
from pathlib import Path

from disco.cli import options
from disco.cli.saying import write
from disco.errors import InputError
from disco.files import write_bytes
from disco.graph.dag import FORMATS, export, with_contexts, with_past
from disco.runs import open_run
from disco.subjects.graph.chosen_graph import chosen_graph
from disco.subjects.graph.provenance import about
from disco.subjects.refinement.refined import read_refined


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", metavar="RUN", help="folder or id of a finished run")
    options.which(command)
    command.add_argument("--format", choices=FORMATS, help="default: by the extension of --out, else csv")
    command.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")


def run(arguments: argparse.Namespace) -> None:
    """Write a run's graph: at the arguments' thresholds and selector, or the run's own, or refined.

    Raises:
        InputError: there is no such run or result, or the file has an unknown extension or cannot be written.
        FitStopped: the computation of parents was interrupted.
    """
    opened = open_run(arguments.run)
    graph = chosen_graph(opened, arguments)
    if arguments.graph == "refined" and opened.roles is not None:
        refined = read_refined(opened)
        graph = with_contexts(graph, opened.roles.named("context"), refined.contexts)
        graph = with_past(graph, refined.lagged, refined.directs_by_time)
    text = export(graph, arguments.format or _format_of(arguments.out), about(opened, **graph.graph))
    if arguments.out is None:
        write(text)
        return
    try:
        write_bytes(arguments.out, text.encode())
    except OSError as error:
        raise InputError(f"{arguments.out} cannot be written: {error.strerror}.") from error


def _format_of(path: Path | None) -> str:
    """The format for a file's extension; csv without a file or an extension."""
    ending = "" if path is None else path.suffix[1:].lower()
    if ending and ending not in FORMATS:
        raise InputError(f"{path} has no known extension ({', '.join(FORMATS)}): rename the file, or give --format.")
    return ending or "csv"
