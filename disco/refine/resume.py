"""The finished parts of a refinement, from which the same call continues after an interruption."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from disco.fields import fingerprint
from disco.knowledge import Knowledge
from disco.likelihood.rank_design import Prior
from disco.refine.choice import Choice
from disco.refine.order_search import Optimum
from disco.refine.stepwise import Parents
from disco.table.adjustment import Adjustment

WIDER_SCREEN = "wider screen"  # the searches under one, which an interrupted refinement makes again
_FORMAT = 9  # of the file, and of the scores in it


@dataclass(frozen=True)
class First:
    """The graph of the first search and the prior fitted to it; `odds` and `against` in nats, `made` the number of node
    fits.
    """

    order: list[int]
    parents: list[Parents]
    prior: Prior
    odds: float
    against: float
    candidates: list[tuple[int, ...]]
    made: int


@dataclass(frozen=True)
class End:
    """The end of one search from a named order; its node fits include all parallel searches if it is the first of them,
    otherwise 0.
    """

    start: str
    found: Optimum
    made: int


class Drawn(NamedTuple):
    """Edges (parent, child) of a graph of other rows, and its number of node fits."""

    edges: list[list[int]]
    made: int


@dataclass
class Memory:
    """The finished parts, written to disk after every piece of work if there is a path.

    `key` identifies the refinement (`key_of`). In the file, the table's columns (`names`) are the names of nodes.
    `ends` has the searches after the first, by start, in the order of finishing; `drawn` edges on other rows, by the
    draw's name.
    """

    path: Path | None = None
    key: str = ""
    names: Sequence[str] = ()
    first: First | None = None
    ends: dict[str, End] = field(default_factory=dict)
    drawn: dict[str, Drawn] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path | None, key: str, names: Sequence[str]) -> "Memory":
        """The content of a file for a table with these columns; empty if it cannot be used."""
        if path is None or not path.exists():
            return cls(path, key, names)
        from disco.files import read_json  # here, since `disco.runs` imports this package, and psutil

        try:
            stored = read_json(path)
            if stored.get("key") == key and _fits(stored, list(names)):
                return cls(path, key, names, *_read(stored, list(names)))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass  # damaged: the searches are repeated
        return cls(path, key, names)

    def keep(self, optima: Sequence[End], is_cut: bool = False) -> None:
        """Store the results of searches, and write the file unless there are none or they were cut short."""
        self.ends.update((end.start, end) for end in optima)
        if optima and not is_cut:
            self.write()

    def write(self) -> None:
        """Write the file."""
        if self.path is not None:
            from disco.files import write_json

            write_json(self.path, {"key": self.key, **self._values()})

    def _values(self) -> dict[str, Any]:
        named = lambda order: [self.names[node] for node in order]  # noqa: E731
        first = None if self.first is None else {**asdict(self.first), "order": named(self.first.order)}
        fit_counts = {} if first is None else {"first": first.pop("made")}
        starts = []
        for start, end in self.ends.items():
            order, graph = named(end.found.order), {"score": end.found.score, "parents": end.found.parents}
            starts.append({"start": start, "order": order, **graph, "sweeps": end.found.sweeps})
            fit_counts[start] = end.made
        for name, drawn in self.drawn.items():
            fit_counts[name] = drawn.made
        return {
            "first": first,
            "starts": starts,
            "drawn": {k: v.edges for k, v in self.drawn.items()},
            "made": fit_counts,
        }


def _read(stored: dict[str, Any], names: list[str]) -> tuple[First | None, dict[str, End], dict[str, Drawn]]:
    """The content of a file that `_fits`."""
    index, fit_counts = {name: node for node, name in enumerate(names)}, stored["made"]
    sets = lambda lists: [tuple(nodes) for nodes in lists]  # noqa: E731
    first, optima = None, {}
    if entry := stored["first"]:
        first = First(
            [index[name] for name in entry["order"]],
            sets(entry["parents"]),
            Prior(**dict(zip(Prior._fields, [*entry["prior"][:-1], tuple(entry["prior"][-1])], strict=True))),
            entry["odds"],
            entry["against"],
            sets(entry["candidates"]),
            fit_counts["first"],
        )
    for entry in stored["starts"]:
        if not entry["start"].startswith(WIDER_SCREEN):
            order = [index[name] for name in entry["order"]]
            optimum = Optimum(order, sets(entry["parents"]), entry["score"], entry["sweeps"])
            optima[entry["start"]] = End(entry["start"], optimum, fit_counts.get(entry["start"], 0))
    return first, optima, {name: Drawn(edges, fit_counts[name]) for name, edges in stored["drawn"].items()}


def _fits(stored: dict, names: list[str]) -> bool:
    """Whether graphs, draws and numbers have the form written by a refinement of these columns."""
    first, starts = stored["first"], stored["starts"]
    if not isinstance(starts, list):
        return False
    graphs = [*([] if first is None else [first]), *starts]
    if not all(_is_graph(entry["order"], entry["parents"], names) for entry in graphs):
        return False
    numbers = [entry["score"] for entry in starts] + [score for entry in starts for score in entry["sweeps"]]
    if first is not None:
        *numbers_of_prior, precisions = first["prior"]
        numbers += [*numbers_of_prior, *precisions, first["odds"], first["against"]]
        candidates = first["candidates"]
        if len(candidates) != len(names) or not all(_are_nodes(nodes, names) for nodes in candidates):
            return False
    edges = [edge for drawn in stored["drawn"].values() for edge in drawn]
    return (
        all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(entry["start"], str) for entry in starts)
        and all(len(edge) == 2 and _are_nodes(edge, names) for edge in edges)
        and all(isinstance(count, int) for count in stored["made"].values())
    )


def _is_graph(order: list, parents: list, names: list[str]) -> bool:
    index = {name: at for at, name in enumerate(order)}
    return (
        sorted(order) == sorted(names)
        and len(parents) == len(names)
        and all(_are_nodes(nodes, names) for nodes in parents)
        and all(index[names[parent]] < index[names[node]] for node, nodes in enumerate(parents) for parent in nodes)
    )


def _are_nodes(numbers: list, names: list[str]) -> bool:
    return all(type(number) is int and 0 <= number < len(names) for number in numbers)


def key_of(
    ranks: np.ndarray,
    choice: Choice,
    order: Sequence[str] | None,
    candidates: Sequence,
    adjustment: Adjustment | None = None,
    knowledge: Knowledge | None = None,
) -> str:
    """The key of finished searches: a digest of table, adjustment, choices, knowledge and the file's format."""
    text = json.dumps([_FORMAT, fingerprint(choice), list(order or ()), [list(nodes) for nodes in candidates]])
    digest = hashlib.sha256(np.ascontiguousarray(ranks).tobytes() + text.encode())
    if adjustment is not None:
        digest.update(adjustment.digest().encode())
    if knowledge is not None:
        digest.update(json.dumps(knowledge.to_dict()).encode())
    return digest.hexdigest()
