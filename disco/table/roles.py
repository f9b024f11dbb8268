"""The role of every column: count, covariate, context, exposure, group, intervention, or to be ignored.

`disco.table.prepared` checks a table for them; `disco.table.guesses` guesses them.

    Roles({"site": "group", "depth": "exposure", "age": "covariate", "sex": ("covariate", "categorical")})

As a file, roles.json:

    {"columns": {"site": "group", "age": {"role": "covariate", "kind": "continuous"}, "guide": "intervention"},
     "exposure": "total", "group_effects": true, "targets": {"sgKLF1": ["KLF1"]}}

If the order of the rows carries something that no column does, such as time, "row_number": true adjusts for the number
of the row, and "blocks": 50 makes groups of 50 blocks of consecutive rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.fields import a_thing, is_whole, shown
from disco.files import parsed, read_regular
from disco.table import role_columns
from disco.table.adjustment import CATEGORICAL, CONTEXT_KINDS, KINDS, RANDOMISED, Adjustment
from disco.table.cells import names_of, numbers_of
from disco.table.clock import unreadable
from disco.table.interventions import INTERVENTION_KINDS, SET, Interventions, Targets
from disco.table.role_columns import kind_of, plain
from disco.words import how_many

ROLES = ("count", "covariate", "context", "exposure", "group", "intervention", "time", "ignore")
_SINGLE = ("exposure", "group", "intervention")  # roles of at most one column
_KINDS_OF = {"covariate": KINDS, "context": CONTEXT_KINDS, "intervention": INTERVENTION_KINDS}
_ENTRIES = ("columns", "exposure", "group_effects", "targets", "row_number", "blocks", "lags", "season", "trend")
TOTAL, RATIOS = "total", "median of ratios"
COMPUTED = (TOTAL, RATIOS)  # exposures computed from the counts
COMPUTED_BY = {spelling: which for which in COMPUTED for spelling in (which, which.replace(" ", "-"))}
ROW_NUMBER = "row number"  # the name of the computed covariate
_COMPUTED_WORDS = {TOTAL: "the row totals", RATIOS: "the median of ratios", ROW_NUMBER: "the row number"}
MOST_BYTES = 1 << 20
MOST_LAGS = 60


@dataclass(frozen=True)
class Roles:
    """Roles by column; columns not named are counts."""

    # the role of columns, by name; a covariate, a context and an intervention may come with their kind, as
    # ("covariate", "ordinal"), ("context", "randomised") or ("intervention", "shift")
    columns: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    # "total" or "median of ratios" if the exposure is computed from the counts, or with hyphens, as on the command
    # line; None otherwise
    exposure: str | None = None
    group_effects: bool = False  # whether every group is also a level of a categorical covariate
    # the nodes that a label of the intervention sets, if it is not the name of one; none for a control
    targets: Targets = field(default_factory=dict)
    row_number: bool = False  # whether the number of the row, from 1, is a continuous covariate
    blocks: int | None = None  # number of blocks of consecutive rows that are the groups; None if they are not
    # with a time: how many rows before, of the same group, are possible causes; 1 if None, and 0 ignores the time
    lags: int | None = None
    season: int | None = None  # with a time: the steps of a period to adjust for
    trend: bool = True  # with a time: whether to adjust for a smooth trend along it

    def __post_init__(self) -> None:
        if isinstance(self.exposure, str):
            object.__setattr__(self, "exposure", COMPUTED_BY.get(self.exposure, self.exposure))
        _check(self)
        object.__setattr__(self, "targets", {label: tuple(nodes) for label, nodes in self.targets.items()})

    @classmethod
    def from_dict(cls, values: Any) -> "Roles":
        """From the content of roles.json; InputError for another form."""
        if not isinstance(values, dict) or not isinstance(values.get("columns", {}), dict):
            raise InputError("The roles must be a JSON object with columns, exposure or group_effects.")
        for name in values:
            if name not in _ENTRIES:
                raise InputError(f'The roles have an unknown entry "{name}"; {", ".join(_ENTRIES)} are read.')
        columns = {name: _from_json(name, declaration) for name, declaration in values.get("columns", {}).items()}
        return cls(columns, **{name: values[name] for name in _ENTRIES[1:] if name in values})

    def to_dict(self) -> dict[str, Any]:
        """The content of roles.json."""
        columns = {
            name: declaration if isinstance(declaration, str) else {"role": declaration[0], "kind": declaration[1]}
            for name, declaration in self.columns.items()
        }
        targets = {label: list(nodes) for label, nodes in self.targets.items()}
        optional = {"targets": targets, "row_number": self.row_number, "blocks": self.blocks, "season": self.season}
        result: dict[str, Any] = {"columns": columns, "exposure": self.exposure, "group_effects": self.group_effects}
        result |= {name: value for name, value in optional.items() if value}
        lags = {} if self.lags is None else {"lags": self.lags}
        return result | lags | ({} if self.trend else {"trend": False})

    def __str__(self) -> str:
        """What results are adjusted for, as: adjusted for batch, age; exposure depth; groups by site."""
        exposure, group, interventions, time = (self.named(role) for role in (*_SINGLE, "time"))
        computed = (*([ROW_NUMBER] if self.row_number else []), *([self.exposure] if self.exposure else []))
        adjusted = [*self.named("covariate"), *(_COMPUTED_WORDS[name] for name in computed)]
        group = group or ([f"{self.blocks} blocks of rows"] if self.blocks else [])
        effects = ", each with its effect" if self.group_effects else ""
        words = [
            f"adjusted for {', '.join(adjusted)}" if adjusted else "",
            f"exposure {exposure[0]}" if exposure else "",
            f"groups by {group[0]}{effects}" if group else "",
            f"contexts {', '.join(contexts)}" if (contexts := self.named("context")) else "",
            f"interventions in column {interventions[0]}" if interventions else "",
            f"in time by {' and '.join(time)}, {how_many(self.steps_back, 'lag')}" if self.steps_back else "",
            f"season of {self.season} steps" if self.season else "",
            "without a trend" if time and not self.trend else "",
        ]
        return "; ".join(filter(None, words)) or "no adjustment"

    @property
    def steps_back(self) -> int:
        """How many rows before a row are possible causes: the lags if a column is the time, else 0."""
        return 0 if not self.named("time") else 1 if self.lags is None else self.lags

    def needed(self) -> "Roles | None":
        """The roles without counts and ignored columns, on which no result depends; None if nothing is left."""
        columns = {name: role for name, role in self.columns.items() if _role(role) not in ("count", "ignore")}
        is_needed = columns or self.exposure or self.row_number or self.blocks or self.season
        return replace(self, columns=columns) if is_needed else None

    def with_roles(self, changes: Mapping[str, str | tuple[str, str]]) -> "Roles":
        """The roles with changes; a column whose role moves to another column, such as the exposure's, is ignored."""
        new, columns = {_role(role) for role in changes.values()}, {**self.columns, **changes}
        for role in new & {*_SINGLE}:
            columns |= dict.fromkeys((name for name in self.named(role) if name not in changes), "ignore")
        exposure = None if "exposure" in new else self.exposure
        roles = self.in_order(False, None) if "time" in new else self  # which orders the rows itself
        return roles._having(columns, exposure, None if "group" in new else roles.blocks)

    def _having(
        self, columns: Mapping[str, str | tuple[str, str]], exposure: str | None, blocks: int | None
    ) -> "Roles":
        """The roles of other columns, without the options of a group or an intervention if there is none."""
        roles = {_role(declaration) for declaration in columns.values()}
        targets = self.targets if "intervention" in roles else {}
        effects = self.group_effects and ("group" in roles or blocks is not None)
        lags, season, trend = (self.lags, self.season, self.trend) if "time" in roles else (None, None, True)
        return Roles(columns, exposure, effects, targets, self.row_number, blocks, lags, season, trend)

    def computing(self, exposure: str | None) -> "Roles":
        """The roles with an exposure computed from the counts, or without one; a former exposure column is ignored."""
        columns = {**self.columns, **dict.fromkeys(self.named("exposure"), "ignore")}
        return replace(self, columns=columns, exposure=exposure)

    def declaring(self, computed: "Roles") -> "Roles":
        """The roles with what another set of roles computes from the rows: exposure, row number, blocks as groups."""
        roles = self if computed.exposure is None else self.computing(computed.exposure)
        roles = replace(roles, season=computed.season or roles.season)
        is_of_order = computed.row_number or computed.blocks
        return roles.in_order(computed.row_number, computed.blocks) if is_of_order else roles

    def in_order(self, row_number: bool, blocks: int | None) -> "Roles":
        """The roles with or without the row number as covariate and blocks with effects as the groups."""
        former = self.named("group") if blocks else []
        columns = {**self.columns, **dict.fromkeys(former, "ignore")}
        effects = blocks is not None or (self.group_effects and self.blocks is None)
        return replace(self, columns=columns, row_number=row_number, blocks=blocks, group_effects=effects)

    def among(self, names: Sequence[str]) -> "Roles":
        """The roles of some columns, whose names are unique."""
        times = Counter(names)
        columns = {name: declaration for name, declaration in self.columns.items() if times[name] == 1}
        return self._having(columns, self.exposure, self.blocks)

    def role(self, name: str) -> str:
        """The role of a column, without its kind."""
        return _role(self.columns.get(name, "count"))

    def named(self, role: str) -> list[str]:
        """The columns that have a role by name, in their order."""
        return [name for name, declaration in self.columns.items() if _role(declaration) == role]

    def counts(self, table: pd.DataFrame) -> pd.DataFrame:
        """The columns of a table that are counts, as they are."""
        return table.loc[:, [self.role(name) == "count" for name in names_of(table)]]

    def split(self, table: pd.DataFrame) -> tuple[pd.DataFrame, Adjustment | None]:
        """The count columns, not yet checked, and the adjustment from the others, if any.

        Raises:
            InputError: a role names an unknown column, or a column cannot have its role.
        """
        table = table.set_axis(names_of(table), axis=1)
        times = Counter(table.columns)
        for name in self.columns:
            if not times[name]:
                raise InputError(f'The roles name "{name}", which is not a column of the table: correct or remove it.')
            if times[name] > 1:
                raise InputError(f'The roles name "{name}", but several columns have that name: rename them.')
        counts = self.counts(table)
        as_covariate, as_context = role_columns.covariate, role_columns.context
        covariates = [as_covariate(plain(table[name]), self.columns[name]) for name in self.named("covariate")]
        contexts = [as_context(plain(table[name]), self.columns[name]) for name in self.named("context")]
        exposure, group = None, None
        levels: list[str] = []
        if self.row_number:
            covariates.append(role_columns.row_number(table.columns, len(table), ROW_NUMBER))
        if names := self.named("exposure"):
            exposure = role_columns.exposure(plain(table[names[0]]))
        elif self.exposure is not None:
            exposure = computed(counts, self.exposure)
        if names := self.named("group"):
            group, levels = role_columns.group(plain(table[names[0]]))
        elif self.blocks is not None:
            names, (group, levels) = [f"{self.blocks} blocks of rows"], role_columns.blocks(len(table), self.blocks)
        if group is not None and self.group_effects:
            covariates.append(role_columns.levels_as_covariate(names[0], group, levels))
        interventions = None
        if names := self.named("intervention"):
            declaration = self.columns[names[0]]
            kind = SET if isinstance(declaration, str) else declaration[1]
            roles = {name: self.role(name) for name in self.columns if self.role(name) != "count"}
            interventions = Interventions.of(plain(table[names[0]]), list(counts.columns), kind, self.targets, roles)
        adjustment = Adjustment(len(table), tuple(covariates), exposure, group, interventions, tuple(contexts))
        return counts, None if adjustment.is_only_arms and interventions is None else adjustment


Given = Roles | Mapping[str, str | tuple[str, str]] | Adjustment


def read(path: Path | str) -> Roles:
    """The roles of a JSON file; InputError if it cannot be read, or a role in it is not of its form."""
    return Roles.from_dict(parsed(read_regular(path, MOST_BYTES), Path(path).name))


def computed(counts: pd.DataFrame, which: str) -> np.ndarray:
    """An exposure computed from counts, (n,): every row's total, or its size factor.

    The size factor is the median over the columns of count / geometric mean of the column, among the columns without a
    zero (Anders and Huber, Genome Biology 2010); with fewer than ten of those, over the row's counts above zero, with
    geometric means of the column's counts above zero.

    Raises:
        InputError: a row has only zeros, so that no exposure can be computed.
    """
    if not counts.shape[1]:
        raise InputError(f"No column is left as a count, so there is no {which}: give fewer columns another role.")
    values = np.column_stack([numbers_of(counts.iloc[:, index])[0] for index in range(counts.shape[1])])
    total = np.nansum(values, axis=1)
    if (total <= 0).any():
        row = int(np.argmax(total <= 0)) + 1
        raise InputError(
            f"Row {row} has no count above zero, so it has no {which}: leave that row out, or choose a column as "
            "exposure."
        )
    if which == TOTAL:
        return total
    logarithm = np.log(np.where(values > 0, values, np.nan))
    positive = ~np.isnan(logarithm).any(axis=0)
    if positive.sum() >= _WHOLE:
        logarithm = logarithm[:, positive]
    return np.exp(np.nanmedian(logarithm - np.nanmean(logarithm, axis=0), axis=1))


_WHOLE = 10  # columns without a zero from which on only those give a size factor


def _role(declaration: str | tuple[str, str]) -> str:
    return declaration if isinstance(declaration, str) else declaration[0]


def _from_json(name: str, declaration: Any) -> str | tuple[str, str]:
    if isinstance(declaration, dict) and set(declaration) == {"role", "kind"}:
        return declaration["role"], declaration["kind"]
    if isinstance(declaration, str):
        return declaration
    raise InputError(f'The role of "{name}" must be a word, or an object with role and kind.')


def _check(roles: Roles) -> None:
    if not isinstance(roles.columns, Mapping):
        raise InputError(f"Roles map the names of columns to their roles; got {a_thing(roles.columns)}.")
    for name, declaration in roles.columns.items():
        pair = (declaration,) if isinstance(declaration, str) else declaration
        if not isinstance(pair, tuple) or not isinstance(name, str) or not pair or pair[0] not in ROLES:
            raise InputError(f'The role of "{name}" must be one of {", ".join(ROLES)}; got {shown(declaration)}.')
        if isinstance(declaration, tuple) and (len(pair) != 2 or pair[1] not in _KINDS_OF.get(pair[0], ())):
            what = {"context": "A context", "intervention": "An intervention"}.get(pair[0], "A covariate")
            kinds = ", ".join(_KINDS_OF.get(pair[0], KINDS))
            raise InputError(f'{what} is {kinds}; "{name}" is given as {shown(declaration)}.')
    _check_targets(roles)
    _check_time(roles)
    for role in _SINGLE:
        if len(names := roles.named(role)) > 1:
            quoted = " and ".join(f'"{name}"' for name in names[:2])
            raise InputError(f"Only one column can be the {role}, and {quoted} are: choose one of them.")
    if roles.exposure is not None and not (isinstance(roles.exposure, str) and roles.exposure in COMPUTED):
        raise InputError(f"A computed exposure is {' or '.join(COMPUTED)}; got {shown(roles.exposure)}.")
    if roles.exposure is not None and roles.named("exposure"):
        raise InputError(
            f'The exposure is "{roles.named("exposure")[0]}" and the {roles.exposure}: choose one of them.'
        )
    if not isinstance(roles.group_effects, bool):
        raise InputError(f"group_effects must be true or false; got {shown(roles.group_effects)}.")
    if roles.group_effects and not (roles.named("group") or roles.blocks):
        raise InputError("The roles request group effects, but no column is the group: choose one.")
    if not isinstance(roles.row_number, bool):
        raise InputError(f"row_number must be true or false; got {shown(roles.row_number)}.")
    if roles.blocks is not None and (not is_whole(roles.blocks) or roles.blocks < 2):
        raise InputError(f"blocks must be a number of blocks of rows, at least 2; got {shown(roles.blocks)}.")
    if roles.blocks is not None and roles.named("group"):
        raise InputError(f'The group is "{roles.named("group")[0]}" and {roles.blocks} blocks of rows: choose one.')


def _check_time(roles: Roles) -> None:
    """InputError if what belongs to a time has no form, or there is no time."""
    if roles.lags is not None and (not is_whole(roles.lags) or not 0 <= roles.lags <= MOST_LAGS):
        raise InputError(f"lags must be a number of rows from 0 to {MOST_LAGS}; got {shown(roles.lags)}.")
    if roles.season is not None and (not is_whole(roles.season) or roles.season < 2):
        raise InputError(f"season must be a number of steps, at least 2; got {shown(roles.season)}.")
    if not isinstance(roles.trend, bool):
        raise InputError(f"trend must be true or false; got {shown(roles.trend)}.")
    if roles.steps_back and (roles.row_number or roles.blocks):
        raise InputError(f'The rows are ordered by "{roles.named("time")[0]}": adjust for a trend along it instead.')


def _check_targets(roles: Roles) -> None:
    """InputError if targets are not lists of names by label, or belong to no intervention."""
    if not isinstance(roles.targets, Mapping):
        raise InputError(f"The targets map labels to lists of count columns; got {a_thing(roles.targets)}.")
    if roles.targets and not roles.named("intervention"):
        raise InputError("The roles have targets, but no column is an intervention: choose one.")
    for label, nodes in roles.targets.items():
        is_list = isinstance(nodes, list | tuple) and all(isinstance(node, str) for node in nodes)
        if not isinstance(label, str) or not is_list:
            raise InputError(
                f'The targets of "{label}" must be a list of names of count columns; got {a_thing(nodes)}.'
            )


def unusable_rows(table: pd.DataFrame, roles: Roles) -> dict[str, np.ndarray]:
    """The rows in which a column cannot have its role: name → mask, (rows,); columns without such rows are left out.

    Such a row has a missing cell, a cell that is not a number where one is needed (of a time, neither a number nor a
    date), an exposure that is not above zero, or a level that no other row has. A computed exposure has the name of
    its kind.
    """
    names, unusable = names_of(table), {}
    times = Counter(names)
    needed = roles.columns if roles.exposure is None else {*names}
    columns = {name: table.iloc[:, at] for at, name in enumerate(names) if times[name] == 1 and name in needed}
    for name, declaration in roles.columns.items():
        if name in columns and roles.role(name) not in ("count", "intervention", "ignore"):
            kind = kind_of(columns[name]) if isinstance(declaration, str) else declaration[1]
            unusable[name] = _unusable(columns[name], roles.role(name), kind, roles.group_effects)
    if roles.exposure is not None:
        nodes = [numbers_of(column)[0] for name, column in columns.items() if roles.role(name) == "count"]
        if nodes:
            unusable[roles.exposure] = np.nansum(nodes, axis=0) <= 0
    return {name: rows for name, rows in unusable.items() if rows.any()}


def why_unusable(table: pd.DataFrame, roles: Roles, name: str, row: int) -> str:
    """Why a column cannot have its role in a row of `unusable_rows`, by position: a part of a sentence."""
    if name == roles.exposure:
        return "the counts of the row are all 0"
    column = table.iloc[:, names_of(table).index(name)]
    cell, declaration, role = column.iloc[row], roles.columns[name], roles.role(name)
    if pd.isna(cell) or not str(cell).strip():
        return "the cell is blank"
    kind = kind_of(column) if isinstance(declaration, str) else declaration[1]
    if role == "time":
        return f'"{cell}" is neither a number nor a date'
    if role == "group" or (role != "exposure" and kind in (CATEGORICAL, RANDOMISED)):
        return f'no other row has "{cell}"'
    return f'"{cell}" is not a number' + (" above 0" if role == "exposure" else "")


def _unusable(column: pd.Series, role: str, kind: str, group_effects: bool) -> np.ndarray:
    column = plain(column)
    values, invalid = numbers_of(column)
    missing = np.isnan(values) & ~invalid
    if role == "group" and not group_effects:
        return missing
    if role == "time":
        return unreadable(column)
    if role == "group" or (role in ("covariate", "context") and kind in (CATEGORICAL, RANDOMISED)):
        levels = column.astype(str)
        return missing | (levels.map(levels[~missing].value_counts()) == 1).to_numpy(dtype=bool)
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    is_usable = np.isfinite(values) & ((values > 0) | (role != "exposure"))
    return ~is_usable
