"""What a refinement has done already, so that the same call goes on after an interruption."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from disco.runs.files import read_json, write_json

if TYPE_CHECKING:
    from disco.refine.refinement import Choice

_FORMAT = 5  # of what is kept, and of the scores in it


@dataclass
class Memory:
    """What is done already, on disk if a path is given."""

    path: Path | None
    key: str
    first: dict | None = None
    starts: list[dict] = field(default_factory=list)
    drawn: dict[str, list] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path | None, key: str) -> "Memory":
        memory = cls(path, key)
        if path is not None and path.exists():
            kept = read_json(path)
            if kept.get("key") == key:
                memory.first, memory.starts, memory.drawn = kept["first"], kept["starts"], kept["drawn"]
        return memory

    def write(self) -> None:
        if self.path is not None:
            write_json(self.path, {"key": self.key, "first": self.first, "starts": self.starts, "drawn": self.drawn})


def key_of(ranks: np.ndarray, choice: "Choice", order: Sequence[str] | None, candidates: Sequence) -> str:
    """What finished searches belong to."""
    asked = {**asdict(choice), "bootstrap": 0, "starts": 0, "restarts": 0}
    text = json.dumps([_FORMAT, asked, list(order or ()), [list(nodes) for nodes in candidates]])
    return hashlib.sha256(np.ascontiguousarray(ranks).tobytes() + text.encode()).hexdigest()
