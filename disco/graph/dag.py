"""The causal graph: one edge convention, a small vocabulary, layout and exports.

An edge points from parent to child: `adjacency[parent, child]` is 1 if there is an edge, so rows are parents. A graph
is a `networkx.DiGraph` with its nodes in causal order, sources first, each with its `position` from 1. Its edges have
the numbers it was built with: `ocs`, `z` and `frequency` (paper, DAG Recovery), the `score` and `p_value` of another
selector of parents, or a refinement's evidence; with knowledge also the word `rule` (`disco.knowledge.resolved`), and
if refined the word `source` of their direction. A union of both methods' graphs adds the word `found_by`; a graph of
several methods adds `methods`, the number of methods with this edge, and `is_open` if its direction is open
(`disco.metrics.consensus`). The nodes of a refined graph also have `misfit_nats` and `is_poor`, whether that counts as
a poor fit. A context (`with_contexts`) has `context` and no position.
"""

import json
import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from disco.columns import EDGE_FLAGS, EDGE_NUMBERS, EDGE_WORDS, NO_SOURCE, NODE_FACTS, TIME
from disco.errors import InputError
from disco.table import spreadsheets

BOTH, LIKELIHOOD, DISCO = FOUND_BY = ("both", "likelihood", "DISCO")  # in a union of both methods' graphs
CONTEXT = "context"  # of a node that is one, the source of its edges, and in a truth in place of their direction
CONTEXTS = "contexts"  # of a graph: how many nodes are contexts
FORMATS = ("csv", "json", "graphml", "dot")
About = Mapping[str, float | int | str]  # a graph's provenance, by name
# Characters that XML 1.0 does not allow, even escaped.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build(order: Sequence[str], edges: pd.DataFrame, nodes: pd.DataFrame | None = None) -> nx.DiGraph:
    """The graph of an order of all nodes, sources first, and its edges.

    `edges` has the columns parent and child, and any of `EDGE_NUMBERS` and `EDGE_WORDS`; `nodes`, if the misfit was
    measured, node and any of `NODE_FACTS`. InputError if a node appears twice in the order, or an edge names an unknown
    node or runs against the order.
    """
    position = positions(order)
    graph = nx.DiGraph()
    graph.add_nodes_from((node, {"position": index + 1}) for node, index in position.items())
    if nodes is not None:
        facts = nodes.set_index("node")
        for name, kind in NODE_FACTS.items():
            if name in facts:
                nx.set_node_attributes(graph, facts[name].astype(kind)[list(graph)].to_dict(), name)
    numbers = [name for name in EDGE_NUMBERS if name in edges]
    values = edges[numbers].to_numpy(dtype=float).tolist()
    for parent, child, row in zip(edges["parent"].tolist(), edges["child"].tolist(), values, strict=True):
        if parent not in position or child not in position:
            unknown = child if parent in position else parent
            raise InputError(f'The edge from "{parent}" to "{child}" names "{unknown}", which is not in the order.')
        if position[parent] >= position[child]:
            raise InputError(f'The edge from "{parent}" to "{child}" runs against the order.')
        graph.add_edge(parent, child, **dict(zip(numbers, row, strict=True)))
    for name in [name for name in EDGE_WORDS if name in edges]:
        words = zip(edges["parent"], edges["child"], edges[name], strict=True)
        facts = {(parent, child): word for parent, child, word in words if isinstance(word, str) and word}
        nx.set_edge_attributes(graph, facts, name)
    return graph


def between_nodes(truth: pd.DataFrame) -> pd.DataFrame:
    """The true edges without those from a context, from a simulation's truth.csv."""
    if "direction" not in truth or not (of_context := truth["direction"] == CONTEXT).any():
        return truth
    return truth[~of_context].reset_index(drop=True)


def union(refined: nx.DiGraph, fitted: nx.DiGraph) -> nx.DiGraph:
    """All edges of two graphs, with `found_by`: both, likelihood (the refinement alone) or DISCO (the fit).

    The nodes are in the refined order, with their numbers there; InputError if the two graphs have different nodes. If
    the graphs join two nodes in opposite directions, the union has one edge, in the refinement's direction, with
    `reversed` set and its direction undecided. An edge of both is decided if it is in both graphs, so the directions of
    DISCO's edges are those of `fitted`. One of DISCO alone may run against the refined order, so the union may have
    cycles.
    """
    if set(refined) != set(fitted):
        odd = sorted(set(refined) ^ set(fitted))[0]
        raise InputError(f'Only one of the two graphs has the node "{odd}"; both must come from the same table.')
    joint = nx.DiGraph()
    joint.add_nodes_from(refined.nodes(data=True))
    undecided = {"decided": 0.0, "source": NO_SOURCE}
    for parent, child, numbers in refined.edges(data=True):
        edge = {**numbers, "found_by": LIKELIHOOD}
        if fitted.has_edge(parent, child):
            by_disco = fitted.edges[parent, child]
            edge = {**by_disco, **edge, "found_by": BOTH, **({} if has_direction(by_disco) else undecided)}
        elif fitted.has_edge(child, parent):
            edge |= {"found_by": BOTH, "reversed": True, **undecided}
        joint.add_edge(parent, child, **edge)
    for parent, child, numbers in fitted.edges(data=True):
        if not joint.has_edge(parent, child) and not joint.has_edge(child, parent):
            joint.add_edge(parent, child, **numbers, found_by=DISCO)
    return joint


def with_contexts(graph: nx.DiGraph, names: Sequence[str], effects: pd.DataFrame | None) -> nx.DiGraph:
    """The graph with a node for every context, and an edge to each node it acts on, for the level with the clearest
    effect.

    `effects` has the columns context, level, node, gain_nats, p_value (`disco.refine.Refined.contexts`); those on nodes
    that the graph lacks are left out.
    """
    extended = nx.DiGraph(**graph.graph, **({CONTEXTS: len(names)} if names else {}))
    extended.add_nodes_from(names, **{CONTEXT: True})
    extended.update(graph)
    if effects is None:
        return extended
    seen = effects[effects["node"].isin(list(graph))].sort_values("gain_nats", ascending=False, kind="stable")
    for (context, node), rows in seen.groupby(["context", "node"], sort=False):
        levels = {"levels": "; ".join(rows["level"])} if rows["level"].any() else {}
        numbers = rows.iloc[0][["gain_nats", "p_value"]].astype(float)
        extended.add_edge(context, node, **numbers, source=CONTEXT, **levels)
    return extended


def with_past(graph: nx.DiGraph, lagged: pd.DataFrame | None, is_directed: bool = True) -> nx.DiGraph:
    """The summary graph: also an edge for every parent in rows before, with `lags`, how many rows later it acts.

    `lagged` is `disco.refine.Refined.lagged`; rows that name a node the graph lacks are left out. An edge of the
    same row in this sense only gets `lags`; a new edge has the numbers of its strongest lag and `is_lagged`. A node's
    own past is its `own_past`. The result may have cycles. Unless `is_directed`, as while the table has artefacts, the
    direction of new edges is open.
    """
    extended = graph.copy()
    if lagged is None:
        return extended
    seen = lagged[lagged["parent"].isin(list(graph)) & lagged["child"].isin(list(graph))]
    for (parent, child), rows in seen.groupby(["parent", "child"], sort=False):
        lags = ", ".join(str(lag) for lag in sorted(rows["lag"]))
        if parent == child:
            extended.nodes[child]["own_past"] = lags
        elif graph.has_edge(parent, child):
            extended.edges[parent, child]["lags"] = lags  # an open direction in the same row stays open
        else:
            strongest = rows.sort_values("gain_nats", ascending=False, kind="stable").iloc[0]
            numbers = strongest[["gain_nats", "p_value"]].astype(float)
            direction = {"source": TIME} if is_directed else {"source": NO_SOURCE, "decided": 0.0}
            extended.add_edge(parent, child, **numbers, **direction, lags=lags, is_lagged=True)
    return extended


def has_direction(edge: Mapping[str, Any]) -> bool:
    """Whether the direction of an edge is known, by its numbers in a graph; a missing or NaN number means known."""
    return edge.get("is_open") != 1 and edge.get("decided") != 0


def positions(names: Sequence[str], where: str = "order") -> dict[str, int]:
    """Each name's position, from 0; InputError if a name appears twice or this is not a list of names."""
    is_list = isinstance(names, Sequence | np.ndarray | pd.Index | pd.Series)
    if not is_list or not all(isinstance(name, Hashable) for name in names):
        raise InputError(f"The {where} must be a list of names; got {names!r:.60}.")
    index = {name: number for number, name in enumerate(names)}
    repeated = [name for number, name in enumerate(names) if index[name] != number]
    if repeated:
        raise InputError(f'"{repeated[0]}" appears twice in the {where}; every node must appear there once.')
    return index


def check_order(order: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse an order that does not contain each of a table's columns exactly once."""
    listed, present = positions(order), positions(columns, "table")
    for names, expected, what in (
        (listed, present, "is in the order but is not a column of the table"),
        (present, listed, "is a column of the table but is not in the order"),
    ):
        if odd := [name for name in names if name not in expected]:
            raise InputError(f'"{odd[0]}" {what}: give both the same names.')


def order(graph: nx.DiGraph) -> list[str]:
    """All nodes, sources first."""
    return list(graph.nodes)


def parents(graph: nx.DiGraph, node: str) -> list[str]:
    """The node's parents, in causal order."""
    return _in_order(graph, graph.predecessors(node))


def children(graph: nx.DiGraph, node: str) -> list[str]:
    """The node's children, in causal order."""
    return _in_order(graph, graph.successors(node))


def ancestors(graph: nx.DiGraph, node: str) -> list[str]:
    """All nodes with a directed path to the node, in causal order."""
    return _in_order(graph, nx.ancestors(graph, node))


def descendants(graph: nx.DiGraph, node: str) -> list[str]:
    """All nodes at the end of a directed path from the node, in causal order."""
    return _in_order(graph, nx.descendants(graph, node))


def directed(graph: nx.DiGraph) -> nx.DiGraph:
    """A view of the graph with all its nodes and only the edges whose direction is known."""
    return nx.subgraph_view(graph, filter_edge=lambda parent, child: has_direction(graph.edges[parent, child]))


def joined(graph: nx.DiGraph, node: str) -> list[str]:
    """The nodes at the other end of the node's edges of unknown direction, in causal order."""
    unknown = {parent for parent, _, edge in graph.in_edges(node, data=True) if not has_direction(edge)}
    unknown |= {child for _, child, edge in graph.out_edges(node, data=True) if not has_direction(edge)}
    return _in_order(graph, unknown)


def sources(graph: nx.DiGraph) -> list[str]:
    """The nodes without parents, in causal order; none with an edge of unknown direction, which may hide a parent."""
    return [node for node in graph if graph.in_degree(node) == 0 and not joined(graph, node)]


def sinks(graph: nx.DiGraph) -> list[str]:
    """The nodes without children, in causal order; none with an edge of unknown direction, which may hide a child."""
    return [node for node in graph if graph.out_degree(node) == 0 and not joined(graph, node)]


def find_cycle(graph: nx.DiGraph) -> list:
    """The nodes of a cycle, each a parent of the next and the last a parent of the first; empty if acyclic."""
    if nx.is_directed_acyclic_graph(graph):
        return []
    # In a strongly connected component the first walk already closes a cycle. In the whole graph the search would take
    # quadratic time, because it visits all descendants of every node again.
    components = nx.strongly_connected_components(graph)
    nodes = next(nodes for nodes in components if len(nodes) > 1 or graph.has_edge(*2 * tuple(nodes)))
    return [parent for parent, _ in nx.find_cycle(graph.subgraph(nodes))]


def require_dag(graph: nx.DiGraph, names: Collection[str]) -> None:
    """Refuse a graph that has a node outside these names, or a cycle."""
    for node in graph:
        if node not in names:
            raise InputError(f'The graph names "{node}", which is not a column of the table.')
    if around := find_cycle(graph):
        raise InputError(f"The graph has a cycle through {', '.join(around)}; a DAG has none.")


def cycle_words(cycle: Sequence[str]) -> str:
    """A cycle as "a → b → a", shortened in the middle if long; empty without nodes."""
    shortened = cycle if len(cycle) <= 8 else [*cycle[:4], "…", *cycle[-3:]]
    return " → ".join([*shortened, *cycle[:1]])


def _in_order(graph: nx.DiGraph, nodes: Iterable[str]) -> list[str]:
    chosen = set(nodes)
    return [node for node in graph if node in chosen]


def adjacency(graph: nx.DiGraph) -> pd.DataFrame:
    """The 0/1 matrix of the graph in causal order, (nodes, nodes): rows are parents, columns are children."""
    names = order(graph)
    matrix = nx.to_numpy_array(graph, nodelist=names, weight=None, dtype=np.int64)
    return pd.DataFrame(matrix, index=names, columns=names)


def edges(graph: nx.DiGraph) -> pd.DataFrame:
    """One row per edge: parent, child, and the edge's words and numbers; children in causal order. `decided` and
    `is_open` are true, false, or NaN where missing."""
    empty = dict.fromkeys(EDGE_WORDS, "") | dict.fromkeys(EDGE_NUMBERS, math.nan)
    names = [name for name in empty if any(name in data for *_, data in graph.edges(data=True))]
    rows = [
        (parent, child, *(graph.edges[parent, child].get(name, empty[name]) for name in names))
        for child in graph
        for parent in parents(graph, child)
    ]
    table = pd.DataFrame(rows, columns=["parent", "child", *names])
    for name in table.columns.intersection(EDGE_FLAGS):
        table[name] = table[name].map({1.0: True, 0.0: False})
    return table


def export(graph: nx.DiGraph, format: str, about: About | None = None) -> str:
    """The graph as text; InputError if the format is unknown or does not allow a name.

    `csv` has one row per edge, without isolated nodes (names as in `disco.table.spreadsheets`); `json` is networkx's
    node-link form, read by `networkx.node_link_graph(json.loads(text), edges="edges")`; `graphml` is read by
    `networkx.parse_graphml`; `dot` is for Graphviz. Names are escaped as each format requires.

    `about` is its provenance. JSON, GraphML and DOT store it as attributes of the graph.
    CSV has a line `# DISCO name: value` per fact above the header, since a column would repeat it on every row and look
    like a number of the edge. `pandas.read_csv(file, comment="#")`, R's `comment.char = "#"` and every reader of edges
    here skip these lines.
    """
    check_exports(graph, format)
    return {"csv": _csv, "json": _json, "graphml": _graphml, "dot": _dot}[format](graph, about or {})


def check_exports(graph: nx.DiGraph, format: str) -> None:
    """Refuse, without writing it, what `export` cannot write: an unknown format, or a name that it does not allow."""
    if format not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}; got {format!r}.")
    for node in graph if format == "graphml" else ():
        if NOT_XML.search(node):
            raise InputError(f"GraphML does not allow the name {node!r}: rename the column, or choose another format.")


def _csv(graph: nx.DiGraph, about: About) -> str:
    return spreadsheets.with_notes(spreadsheets.to_csv(edges(graph)), about)


def _json(graph: nx.DiGraph, about: About) -> str:
    data = nx.node_link_data(graph, edges="edges")
    data["graph"] = dict(about)
    for item in (*data["nodes"], *data["edges"]):
        item.update({key: None for key, value in item.items() if isinstance(value, float) and not math.isfinite(value)})
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _graphml(graph: nx.DiGraph, about: About) -> str:
    """GraphML without missing values: most readers do not accept `nan` as a number."""
    copy = graph.copy()
    copy.graph = {
        name: NOT_XML.sub("\ufffd", value) if isinstance(value, str) else value for name, value in about.items()
    }
    for values in (*dict(copy.nodes).values(), *(data for *_, data in copy.edges(data=True))):
        for name in [name for name, value in values.items() if isinstance(value, float) and not math.isfinite(value)]:
            del values[name]
    return "\n".join(nx.generate_graphml(copy)) + "\n"


def _dot(graph: nx.DiGraph, about: About) -> str:
    lines = ["digraph causal {", "  rankdir=TB;"]
    if about:
        lines.append(f"  graph [{', '.join(f'{_quoted(name)}={_quoted(str(fact))}' for name, fact in about.items())}];")
    for node, values in graph.nodes(data=True):
        misfit = values.get("misfit_nats", math.nan)
        suffix = f", misfit_nats={_quoted(format(misfit, '.9g'))}" if math.isfinite(misfit) else ""
        placement = "shape=hexagon" if CONTEXT in values else f"position={values['position']}"
        lines.append(f"  {_quoted(node)} [label={_quoted(node)}, {placement}{suffix}];")
    for row in edges(graph).to_dict("records"):
        attributes = [f"{name}={_quoted(row[name])}" for name in EDGE_WORDS if row.get(name)]
        numbers = [name for name in EDGE_NUMBERS if math.isfinite(row.get(name, math.nan))]
        attributes += [f"{name}={_quoted(format(row[name], '.9g'))}" for name in numbers]
        attributes += [] if has_direction(row) else ["dir=none"]
        suffix = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"  {_quoted(row['parent'])} -> {_quoted(row['child'])}{suffix};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A DOT string; in quotes only backslashes, quotes and line breaks are special."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n") + '"'
