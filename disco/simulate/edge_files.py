"""Read a user's own DAG from text: an edge list or GraphML."""

import csv
import io
import re
from pathlib import Path
from xml.etree.ElementTree import ParseError

import networkx as nx
import pandas as pd

from disco.errors import InputError
from disco.files import check_size, read_regular
from disco.graph.dag import CONTEXT
from disco.metrics.edges import known
from disco.simulate.identifiable import check as check_direction
from disco.simulate.random_graphs import own_graph
from disco.table import spreadsheets
from disco.table.formats.limits import NotATable
from disco.table.formats.pieces import ends_of_pieces

LARGEST_TEXT = 10_000_000  # bytes or characters: parsing XML takes about 100 times as much memory
LARGEST_LIST = 500_000  # lines: all pairs of 1,000 nodes
HEADERS = (("parent", "child"), ("source", "target"), ("from", "to"), ("cause", "effect"))

OwnGraph = tuple[list[tuple[str, str]], list[str]]


def read_edges(source: str | Path) -> OwnGraph:
    """The edges (parent, child) and the nodes, in the order in which they are first mentioned, from a text or a file.

    An edge list has one edge per line: `parent,child`, also with a tab or semicolon, or `parent -> child`; a name alone
    is a node without edges. A first line such as `parent,child` names the columns; any further columns are ignored.
    GraphML must be directed. The apostrophe that an export puts before a name such as "=a"
    (disco/table/spreadsheets.py) is removed.

    InputError if the file or a line cannot be read, there are no edges, an edge is repeated, or there is a cycle.
    """
    text = _read(source) if isinstance(source, Path) else source
    if len(text) > LARGEST_TEXT:
        raise InputError(f"The graph is larger than {LARGEST_TEXT:,} characters: give its edges only.")
    edges, names = _graphml(text) if _is_graphml(text) else _edge_list(text)
    if not edges:
        raise InputError("There are no edges: give one per line, as in parent,child.")
    own_graph(edges, names)
    return edges, names


def read_truth(text: str) -> tuple[pd.DataFrame, list[str]]:
    """The true edges and the nodes; edges have columns parent, child and, if an edge list has it, direction. InputError
    as for `read_edges`, or if a direction is not in `disco.graph.dag.DIRECTIONS`."""
    edges, names = read_edges(text)
    truth = pd.DataFrame(edges, columns=["parent", "child"], dtype="str")
    rows, header = ([], []) if _is_graphml(text) else _rows(text)
    if "direction" in header:
        index = header.index("direction")
        truth["direction"] = [
            check_direction(cells[index] if index < len(cells) else "", f"line {number}")
            for number, _, child, cells in rows
            if child
        ]
    return truth, names


def truth_of(data: bytes, columns: set[str]) -> pd.DataFrame:
    """The true edges of a table from the bytes of a file: parent, child and, if the file has it, direction. InputError
    as for `read_truth`, or if the file is too large or not text, or names something that is not a column."""
    check_size("it", len(data), LARGEST_TEXT)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("it is not UTF-8 text; save it as CSV UTF-8.") from None
    truth, names = read_truth(text)
    known([(name, name) for name in names], columns, "the table", "The truth")
    return truth


def _read(path: Path) -> str:
    try:
        return read_regular(path, LARGEST_TEXT).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path.name} cannot be read: it is not UTF-8 text.") from None


def _edge_list(text: str) -> OwnGraph:
    rows, _ = _rows(text)
    names = dict.fromkeys(node for _, parent, child, _ in rows for node in (parent, child) if node)
    return [(parent, child) for _, parent, child, _ in rows if child], list(names)


def _rows(text: str) -> tuple[list[tuple[int, str, str, list[str]]], list[str]]:
    """Every non-empty line, as (number, parent, child or "", all cells), and the column names if there are any."""
    lines = _lines(text)
    first = [cell.lower() for cell in lines[0]] if lines else []
    names = next((pair for pair in HEADERS if set(pair) <= set(first)), None)
    header = first if names else []
    directed = header.index("direction") if "direction" in header else None
    columns = [header.index(end) for end in names] if names else (0, 1)
    rows = []
    for number, cells in enumerate(lines, start=1):
        if not any(cells) or (header and number == 1):
            continue
        if directed is not None and cells[directed : directed + 1] == [CONTEXT]:
            continue  # a simulated context, which is not a node
        parent, child = (cells[column] if column < len(cells) else "" for column in columns)
        if not parent or (not header and len(cells) > 2):
            raise InputError(f"Line {number} is not an edge: write parent,child; quote a name that has a comma.")
        rows.append((number, parent, child, cells))
    return rows, header


def _lines(text: str) -> list[list[str]]:
    if max(text.count("\n"), text.count("\r")) > LARGEST_LIST:
        raise InputError(f"The graph has more than {LARGEST_LIST:,} lines: give its edges only.")
    text = spreadsheets.without_notes(text.encode()).decode()
    text = re.sub(r"(?<![ \t])[ \t]*(?:->|→)[ \t]*", ",", text)
    delimiter = max(",;\t", key=text.count)
    try:
        ends_of_pieces(text.encode(), delimiter)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except NotATable as reason:
        raise InputError(f"The graph{reason}") from None
    except csv.Error as error:
        raise InputError(f"The edges cannot be read as lines of parent,child: {error}.") from None
    return [[spreadsheets.plain(cell.strip()) for cell in row] for row in rows]


def _is_graphml(text: str) -> bool:
    return text.lstrip().startswith("<")


def _graphml(text: str) -> OwnGraph:
    """A directed GraphML graph; nodes are named by their labels if these are complete and unique, else by their ids."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError("The GraphML declares entities, which are not read: remove the DOCTYPE.")
    try:
        graph = nx.parse_graphml(text)
    except (ParseError, nx.NetworkXError, LookupError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"The GraphML cannot be read: {str(error)[:200] or 'it holds no graph'}.") from None
    if not graph.is_directed():
        raise InputError('The edges of the GraphML have no direction: give edgedefault="directed".')
    labels = [str(label) for _, label in graph.nodes(data="label") if label]
    named = len(set(labels)) == len(graph)
    called = dict(zip(graph, labels, strict=True)) if named else {node: str(node) for node in graph}
    return [(called[parent], called[child]) for parent, child in graph.edges()], list(called.values())
