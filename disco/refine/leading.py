"""Contexts and the past in a search: leading columns, into which no edge may point and whose effects are searched.

A row of the past has a column for every node. A categorical context has a column for every level but one, 1 in the rows
of that level: one node with several effects. The others are compared with that level: that of controls, or the most
frequent one. A continuous context is cut into intervals with about equally many rows. In every order these columns come
first. The result has no such nodes: the effects of contexts are a table, and so are the edges from the rows before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from disco.columns import REFINED_CONTEXTS, REFINED_LAGGED
from disco.errors import InputError
from disco.knowledge import Resolved
from disco.refine.refinement_result import Refined
from disco.schema import Schema
from disco.table.past import column_name
from disco.table.prepared import Prepared

_PARTS, _MEMORY = 20, 64  # of a continuous context, of a memory


class Effects(NamedTuple):
    """The column of a context; `level` is that of the rows with a 1, empty for a continuous context."""

    context: str
    level: str


class Earlier(NamedTuple):
    """The column of a node in the rows `lag` steps before; of its own memory if that is 0 (`disco.table.past`)."""

    parent: str
    lag: int


Leading: TypeAlias = Mapping[str, Effects | Earlier]  # what the columns are that come first


def past_as_columns(prepared: Prepared) -> tuple[Prepared, dict[str, Earlier]]:
    """The table with a column for every node in each row of the past, the earliest first, and these columns."""
    past = None if prepared.adjustment is None else prepared.adjustment.past
    if prepared.adjustment is None or past is None:
        return prepared, {}
    back = range(past.lags, 0, -1)
    columns = {column_name(name, lag): Earlier(name, lag) for lag in (0, *back) for name in past.names}
    if duplicates := [name for name in columns if name in prepared.counts]:
        raise InputError(f'A count column is called "{duplicates[0]}", as a row of the past: rename it.')
    memory = np.column_stack([np.searchsorted(memory_cuts(column), column) for column in past.memory.T])
    values = np.concatenate([memory, *(past.counts[:, lag - 1] for lag in back)], axis=1)
    added = pd.DataFrame(values, index=prepared.counts.index, columns=[*columns])
    counts = pd.concat([added, prepared.counts], axis=1)
    return replace(prepared, counts=counts), columns


def contexts_as_columns(prepared: Prepared) -> tuple[Prepared, dict[str, Effects]]:
    """The table with a column for every effect of a context instead of contexts, and these effects by column."""
    values, columns, around = {}, {}, prepared.adjustment
    if around is None:
        return prepared, {}
    for context in around.contexts:
        if not context.levels:
            cuts = np.unique(np.quantile(context.values, np.arange(1, _PARTS) / _PARTS))
            values[context.name] = np.searchsorted(cuts, context.values)
            columns[context.name] = Effects(context.name, "")
            continue
        seen = np.bincount(context.values, minlength=len(context.levels))
        for code, level in enumerate(context.levels):
            if seen[code] and code != context.compared_with:
                name = f"{context.name} = {level}"
                values[name], columns[name] = (context.values == code).astype(np.int64), Effects(context.name, level)
    if duplicates := [name for name in columns if name in prepared.counts]:
        raise InputError(f'A count column is called "{duplicates[0]}", as an effect of a context: rename it.')
    if not columns:
        return prepared, {}
    added = pd.DataFrame(values, index=prepared.counts.index)
    counts = pd.concat([added, prepared.counts], axis=1)
    return replace(prepared, counts=counts, adjustment=replace(around, contexts=())), columns


def memory_cuts(values: np.ndarray) -> np.ndarray:
    """The limits between the intervals of a memory, a node's column in the search."""
    return np.unique(np.quantile(values, np.arange(1, _MEMORY) / _MEMORY))


def first(names: Sequence[str], columns: Leading, rules: Resolved | None) -> Resolved | None:
    """The rules of knowledge, and that leading columns have no causes and come first; None without any.

    A memory is a cause of its own node alone.
    """
    if not columns:
        return rules
    mark = np.array([name in columns for name in names])
    none = np.zeros((len(names),) * 2, dtype=bool)
    start = rules or Resolved(none, none, none)
    into = np.outer(np.ones_like(mark), mark)
    for at, name in enumerate(names):
        if isinstance(column := columns.get(name), Earlier) and not column.lag:
            into[at] = [child != column.parent for child in names]
    return Resolved(start.forbidden | into, start.required, start.before | np.outer(mark, ~mark))


def without_leading(result: Refined, columns: Leading, has_rules: bool) -> Refined:
    """The result without leading columns; their edges are tables of their own, strongest first.

    Without rules of knowledge (`has_rules`), the edges have no column for them.
    """
    if not columns:
        return result
    edges = result.edges
    is_leading = edges["parent"].isin(columns)
    remaining = edges[~is_leading].reset_index(drop=True)
    tables = result.tables
    return replace(
        result.having(
            nodes=[node for node in result.order if node not in columns],
            edges=remaining if has_rules else remaining.drop(columns="rule", errors="ignore"),
        ),
        moves=None if result.moves is None else _without(result.moves, columns),
        orders=None if result.orders is None else _without(result.orders, columns),
        tables=None if tables is None else tables[~tables["parent"].isin(columns)].reset_index(drop=True),
        contexts=_edges_of(edges, columns, Effects, REFINED_CONTEXTS, child="node"),
        lagged=_edges_of(edges, columns, Earlier, REFINED_LAGGED, child="child"),
    )


def _edges_of(
    edges: pd.DataFrame, columns: Leading, kind: type[Effects] | type[Earlier], schema: Schema, child: str
) -> pd.DataFrame | None:
    """The edges from leading columns of one kind, with what these are; None without such columns."""
    of_kind = {name: column for name, column in columns.items() if isinstance(column, kind)}
    if not of_kind:
        return None
    chosen = edges[edges["parent"].isin(of_kind)].rename(columns={"child": child}).reset_index(drop=True)
    labels = pd.DataFrame([of_kind[name] for name in chosen["parent"]], columns=kind._fields)
    return pd.concat([labels, chosen.drop(columns="parent")], axis=1)[list(schema.kinds)]


def _without(frame: pd.DataFrame, columns: Leading) -> pd.DataFrame:
    """A frame of nodes and positions, from 1, without nodes that come first."""
    remaining = frame[~frame["node"].isin(columns)].reset_index(drop=True)
    shifted = {name: remaining[name] - len(columns) for name in ("position", "before", "after") if name in remaining}
    return remaining.assign(**shifted)
