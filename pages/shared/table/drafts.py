"""The table and settings being prepared, stored on the server so a refresh loses nothing.

A session holds its own draft; a copy is stored under a random token in the page's address (`?draft=…`). The oldest
copies are dropped first when there are too many or they take too much memory.
"""

import hashlib
import io
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import pandas as pd
import streamlit as st

from disco import space
from disco.fields import options
from disco.knowledge import Knowledge
from disco.paper.settings import Settings
from disco.runs.origin import FromFile, Origin
from disco.table.cells import names_of
from disco.table.edits import Edit, choice
from disco.table.read import read_table
from disco.table.roles import Roles
from disco.table.rows import Stretches
from disco.words import listed, shortened

LAYOUT, TURN = "layout", "transposed"  # the questions what a table holds, and whether its rows are variables
QUESTIONS = frozenset({LAYOUT, TURN})
_MOST_DRAFTS = 32
_MOST_BYTES = 1 << 30
_MARKS = re.compile(  # at the end of the default name of a run, before its settings; the last part is of older runs
    r"(?: · (\d{1,6}))?(?:, adjusted(?: for .*?)?)?(?:, experiment)?(?:, with rules)?"
    r"(?:, (?:ranks|counts|\d+ levels), (?:tuned|paper).*)?$"
)
_MOST_TOLD, _LONGEST = 2, 16  # columns, or changed settings, in a name, and letters of each: the list cuts long names


@dataclass(frozen=True)
class File:
    """An uploaded file, stored so it can be read differently."""

    name: str
    data: bytes

    def read(self, **choices: Any) -> pd.DataFrame:
        """Its table; arguments and errors as `read_table`."""
        return read_table(io.BytesIO(self.data), self.name, **choices)

    def source(self, **choices: Any) -> FromFile:
        """The file as the source of a table that was read with these choices."""
        return FromFile(self.name, hashlib.sha256(self.data).hexdigest(), choices)


@dataclass(frozen=True)
class Step:
    """One change of the loaded table, which can be undone.

    Attributes:
        words: what was done, one sentence.
        edits: make the new table of the previous one; none if only the choice or the roles of columns changed.
        columns, rows_left_out, roles, key: of the previous draft, or of the next one if the step was undone.
    """

    words: str
    edits: tuple[Edit, ...]
    columns: tuple[int, ...]
    rows_left_out: Stretches
    roles: Roles
    key: str

    def at(self, state: "Draft | Step") -> "Step":
        """The step with the columns, rows left out, roles and key of another state."""
        fields = {"columns": state.columns, "rows_left_out": state.rows_left_out, "roles": state.roles}
        return replace(self, **fields, key=state.key)


@dataclass(frozen=True)
class Draft:
    """A fit in preparation.

    Attributes:
        table: as loaded, and changed by `steps`; an index other than a range holds row names.
        source: where it came from, one sentence.
        origin: the same for a script, before `steps`; None if it is not known.
        truth: the known edges (parent, child, and possibly direction), for simulated tables.
        columns: positions of the chosen columns, which are counts; names may repeat in a faulty table.
        run: id of the run this draft was started as or taken from, until something is changed.
        is_of_run: taken from that run, so nothing is lost when another run replaces it.
        teaching: pages hide the truth until the reader reveals it; runs of the draft inherit this.
        key: stands for the table in caches, so a large table is not hashed at every access.
        loaded: the table before `steps`, if there are any.
        undone: the steps taken back since then, the next one to take again first.
        rows_left_out: of the loaded table, as stretches (`disco.table.rows`).
        knowledge: the rules that the draft's runs follow.
        roles: given to columns by the reader, including count and ignore; those columns get no further guess.
        dismissed: why kinds of artefacts are not artefacts in this table.
        denied: the questions about the table that the reader answered with no.
    """

    table: pd.DataFrame
    name: str
    source: str = ""
    origin: Origin | None = None
    truth: pd.DataFrame | None = None
    columns: tuple[int, ...] = ()
    settings: Settings = field(default_factory=Settings)
    run: str | None = None
    is_of_run: bool = False
    teaching: bool = False
    key: str = field(default_factory=lambda: new_token())
    file: File | None = None
    loaded: pd.DataFrame | None = None
    steps: tuple[Step, ...] = ()
    undone: tuple[Step, ...] = ()
    rows_left_out: Stretches = ()
    knowledge: Knowledge | None = None
    roles: Roles = field(default_factory=Roles)
    dismissed: Mapping[str, str] = field(default_factory=dict)
    denied: frozenset[str] = frozenset()

    @cached_property
    def adjusted(self) -> tuple[int, ...]:
        """Positions of the covariates, the exposure and the group."""
        needed = self.roles.needed()
        return () if needed is None else with_names(self.table, needed.columns)

    @property
    def description(self) -> str:
        """Where the table came from and how it was changed, in words, for its runs."""
        return " ".join([self.source, *(step.words for step in self.steps)])

    @cached_property
    def sizes(self) -> dict[int, int]:
        """The bytes of its file and of its tables, each by its identity, since several drafts may share it."""
        tables = [table for table in (self.table, self.loaded) if table is not None]
        sizes = {id(table): int(table.memory_usage(index=False).sum()) for table in tables}
        return sizes if self.file is None else {**sizes, id(self.file): len(self.file.data)}

    def origin_for(self, positions: Collection[int]) -> Origin | None:
        """The origin for a script, restricted to the columns at these positions; None if it is not known."""
        names = names_of(self.table)
        chosen = {names[position] for position in positions}
        is_ambiguous = sum(name in chosen for name in names) > len({*positions})  # another column has a chosen name
        if self.origin is None or is_ambiguous:
            return None
        edits = chain.from_iterable(step.edits for step in self.steps)
        return replace(self.origin, edits=(*self.origin.edits, *edits, *choice(names, chosen)))


def with_names(table: pd.DataFrame, names: Collection[str]) -> tuple[int, ...]:
    """The positions of the columns with these names."""
    return tuple(position for position, name in enumerate(names_of(table)) if name in names)


def run_name(
    name: str, settings: Settings, roles: Roles | None = None, knowledge: Knowledge | None = None, number: int = 1
) -> str:
    """The default name of a run of a table: its number, then what most often differs from its other runs."""
    marks = (f" · {number}" if number > 1 else "") + _suffix(settings)
    roles = roles or Roles()
    adjusted = [name for role in ("covariate", "exposure", "group", "context") for name in roles.named(role)]
    adjusted += ["depth"] * (roles.exposure is not None) + ["row number"] * roles.row_number
    adjusted += ["blocks of rows"] * (roles.blocks is not None)
    if adjusted:
        marks += f", adjusted for {listed([shortened(column, _LONGEST) for column in adjusted], _MOST_TOLD)}"
    marks += ", experiment" if roles.named("intervention") else ""
    return name + marks + (", with rules" if knowledge is not None else "")


def table_name(run_name: str, settings: Settings) -> str:
    """The table's name within a run's name."""
    return _split_name(run_name, settings)[0]


def next_number(name: str, named: Iterable[tuple[str, Settings]]) -> int:
    """The number of a table's next run, given the names and settings of all runs."""
    splits = [_split_name(*named_run) for named_run in named]
    return max((number + 1 for table, number in splits if table == name), default=1)


def _split_name(run_name: str, settings: Settings) -> tuple[str, int]:
    start, _, end = run_name.rpartition(suffix) if (suffix := _suffix(settings)) else ("", "", run_name)
    text = start + end
    marks = _MARKS.search(text)
    return text[: marks.start()] or run_name, int(marks[1] or 1)


def _suffix(settings: Settings) -> str:
    levels = {"rank": [], "none": ["counts as they are"]}.get(settings.transform, [f"{settings.levels} levels"])
    preset = [] if settings.preset == Settings().preset else [f"preset {settings.preset}"]
    changed = {name: value for name, value in settings.changed().items() if name not in ("transform", "levels")}
    words = [f"{name.replace('_', ' ')} {value}" for name, value in changed.items()]
    words = words if len(words) <= _MOST_TOLD else [f"{len(words)} settings changed"]
    return ", ".join(["", *levels, *preset, *words, *([f"seed {settings.seed}"] if settings.seed else [])])


def own_settings(settings: Settings) -> dict[str, Any]:
    """The settings in the boxes of Train that the reader changed from the preset's."""
    return {name: value for name, value in settings.changed().items() if options(Settings)[name].group}


class DraftStore:
    """Drafts by user and token, shared by all sessions of a user, bounded in number for each and in bytes for all."""

    def __init__(self) -> None:
        self._drafts: OrderedDict[tuple[str, str], Draft] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, token: str, draft: Draft) -> None:
        """Store a draft, replacing the token's former one."""
        user, key = space.current().user_id(), (space.current().user_id(), token)
        with self._lock:
            self._drafts[key] = draft
            self._drafts.move_to_end(key)
            for old in [key_of for key_of in self._drafts if key_of[0] == user][:-_MOST_DRAFTS]:
                del self._drafts[old]
            while len(self._drafts) > 1 and self._bytes() > _MOST_BYTES:
                self._drafts.popitem(last=False)

    def get(self, token: str) -> Draft | None:
        """The draft of a token, or None if it is unknown or gone."""
        key = space.current().user_id(), token
        with self._lock:
            return self._drafts.get(key)

    def _bytes(self) -> int:
        used = {identity: size for draft in self._drafts.values() for identity, size in draft.sizes.items()}
        return sum(used.values())


@st.cache_resource(show_spinner=False)
def store() -> DraftStore:
    """The server's drafts."""
    return DraftStore()


def new_token() -> str:
    """A token nobody can guess."""
    return secrets.token_urlsafe(9)
