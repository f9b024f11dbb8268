"""What a refinement has done already, so that the same call goes on after an interruption."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from disco.runs.files import read_json, write_json

if TYPE_CHECKING:
    from disco.refine.choice import Choice

_FORMAT = 7  # of what is kept, and of the scores in it


@dataclass
class Memory:
    """What is done already, on disk if a path is given.

    Attributes:
        path: the file.
        key: what it belongs to.
        first: the first search's order and parents, and the prior, prices and candidates fitted to it.
        starts: every search's start, order, parents, score and sweeps.
        drawn: edges found on other rows, by the name of the draw.
        made: fits made, by the piece of work.
    """

    path: Path | None
    key: str
    first: dict | None = None
    starts: list[dict] = field(default_factory=list)
    drawn: dict[str, list] = field(default_factory=dict)
    made: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path | None, key: str, names: Sequence[str]) -> "Memory":
        """What a file holds for a table of these columns; empty where it holds nothing that can be used."""
        memory = cls(path, key)
        if path is None or not path.exists():
            return memory
        try:
            kept = read_json(path)
            if kept.get("key") == key and _fits(kept, list(names)):
                memory.first, memory.starts = kept["first"], kept["starts"]
                memory.drawn, memory.made = kept["drawn"], kept["made"]
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls(path, key)  # damaged: the searches are made again
        return memory

    def write(self) -> None:
        if self.path is not None:
            names = ("key", "first", "starts", "drawn", "made")
            write_json(self.path, {name: getattr(self, name) for name in names})


def _fits(kept: dict, names: list[str]) -> bool:
    """Whether graphs, draws and numbers are such as a refinement of these columns leaves."""
    first, starts = kept["first"], kept["starts"]
    if not isinstance(starts, list):
        return False
    graphs = [*([] if first is None else [first]), *starts]
    if not all(_is_graph(one["order"], one["parents"], names) for one in graphs):
        return False
    numbers = [one["score"] for one in starts] + [score for one in starts for score in one["sweeps"]]
    if first is not None:
        numbers += [*first["prior"], first["price"], first["against"]]
        candidates = first["candidates"]
        if len(candidates) != len(names) or not all(_are_nodes(nodes, names) for nodes in candidates):
            return False
    edges = [edge for drawn in kept["drawn"].values() for edge in drawn]
    return (
        all(isinstance(number, int | float) and math.isfinite(number) for number in numbers)
        and all(isinstance(one["start"], str) for one in starts)
        and all(len(edge) == 2 and _are_nodes(edge, names) for edge in edges)
        and all(isinstance(count, int) for count in kept["made"].values())
    )


def _is_graph(order: list, parents: list, names: list[str]) -> bool:
    place = {name: at for at, name in enumerate(order)}
    return (
        sorted(order) == sorted(names)
        and len(parents) == len(names)
        and all(_are_nodes(nodes, names) for nodes in parents)
        and all(place[names[other]] < place[names[node]] for node, nodes in enumerate(parents) for other in nodes)
    )


def _are_nodes(numbers: list, names: list[str]) -> bool:
    return all(type(number) is int and 0 <= number < len(names) for number in numbers)


def key_of(
    ranks: np.ndarray,
    choice: "Choice",
    order: Sequence[str] | None,
    candidates: Sequence,
    offset: np.ndarray | None = None,
) -> str:
    """What finished searches belong to; a digest of the table, what was asked for, and this way of keeping it."""
    asked = {**asdict(choice), "bootstrap": 0, "starts": 0, "restarts": 0, "redone": False}
    text = json.dumps([_FORMAT, asked, list(order or ()), [list(nodes) for nodes in candidates]])
    digest = hashlib.sha256(np.ascontiguousarray(ranks).tobytes() + text.encode())
    if offset is not None:
        digest.update(np.asarray(offset, dtype="<f8").tobytes())
    return digest.hexdigest()
