"""disco simulate --out DIR: simulate a table, with its true edges, causal order and design."""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from disco.cli import options
from disco.cli.roles import names_in
from disco.cli.saying import say
from disco.cli.table_options import as_numbers
from disco.errors import InputError
from disco.files import read_regular, write_frame, write_json
from disco.simulate import FAMILIES, Design, Simulated, identifiable, read_edges, simulate
from disco.simulate.design import LARGEST_DESIGN
from disco.table.spreadsheets import harmless_frame
from disco.words import how_many


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the files, new or empty")
    options.add(command, Design)
    command.add_argument("--edges", type=Path, metavar="FILE", help="own graph: CSV with parent,child, or GraphML")
    command.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of a family, such as size=3"
    )
    command.add_argument("--design", type=Path, metavar="FILE", help="a design.json; other options override it")
    command.epilog = f"Families: {', '.join(FAMILIES)}."


def run(arguments: argparse.Namespace) -> None:
    """Draw the table and write its files.

    Raises:
        InputError: the design is impossible, its means explode, or the folder is not empty or cannot be written.
    """
    design = Design.from_dict(given_design(arguments))
    folder: Path = arguments.out
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty; choose another folder.")
    drawn = simulate(design)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write(folder, drawn)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from error
    rows, columns = drawn.whole.shape
    edges = how_many(len(drawn.truth), "true edge")
    files = ["counts.csv", "truth.csv", "order.csv", "design.json", *(["roles.json"] if design.beside() else [])]
    say(f"{how_many(rows, 'row')} × {how_many(columns, 'column')} with {edges}, in {folder}: {', '.join(files)}.")
    if len(drawn.truth):
        say(f"{identifiable.words(drawn.truth['direction'])} {identifiable.reservation(design)}".rstrip())


def given_design(arguments: argparse.Namespace) -> dict[str, Any]:
    """A design's values from options, which override a design file; InputError if they conflict or it is unreadable."""
    values: dict[str, Any] = {}
    if arguments.design is not None:
        content = read_regular(arguments.design, LARGEST_DESIGN)
        try:
            values = Design.values_of(content)
        except InputError as error:
            raise InputError(f"{arguments.design} cannot be read: {error}") from None
    values |= options.specified(arguments, Design)
    if arguments.interventions is not None:
        text = arguments.interventions.strip()
        values["interventions"] = int(text) if text.isdecimal() else names_in(text)
    if arguments.contexts is not None:
        text = arguments.contexts.strip()
        values["contexts"] = int(text) if text.isdecimal() else [names_in(item) for item in text.split(";")]
    if arguments.nodes is not None:
        values.pop("names", None)  # a design file has as many names as nodes
    if arguments.param:
        parameters = values.get("parameters", {})
        if not isinstance(parameters, dict):
            raise InputError(f"parameters must map names to numbers; got {str(parameters)[:40]}.")
        values["parameters"] = parameters | as_numbers("--param", arguments.param)
    if arguments.edges is not None:
        if arguments.nodes is not None:
            raise InputError("--d conflicts with --edges: the file sets the graph's nodes.")
        edges, names = read_edges(arguments.edges)
        values |= {"graph": arguments.graph or "own", "edges": edges, "names": names, "nodes": len(names)}
    return values


def write(folder: Path, drawn: Simulated) -> None:
    """Write a table's files, safe for spreadsheets, with the roles of columns that are not counts.

    order.csv is as in a run: position from 1, node, sources first.
    """
    write_frame(folder / "counts.csv", harmless_frame(drawn.whole))
    write_frame(folder / "truth.csv", harmless_frame(drawn.told))
    positions = range(1, len(drawn.order) + 1)
    write_frame(folder / "order.csv", harmless_frame(pd.DataFrame({"position": positions, "node": drawn.order})))
    write_json(folder / "design.json", drawn.design.to_dict())
    roles = drawn.design.roles()
    if roles is not None:
        write_json(folder / "roles.json", roles.to_dict())
