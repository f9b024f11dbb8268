"""Interventions: which nodes were set from outside in which rows.

A column has one label per row: empty, `none` or `control` for none, the name of a node, or several between semicolons.
A mapping says which nodes a label stands for if it is not the name of one:

    {"Long-term Krat Exclosure": ["DM", "DO", "DS"]}

What a node has in a row in which it was *set* is not caused by its parents there. Under a *shift* its mechanism is
another one there, with the same parents.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd

from disco.errors import InputError
from disco.words import how_many, series

SET, SHIFT = "set", "shift"
INTERVENTION_KINDS = (SET, SHIFT)
FEWEST = 10  # rows of an arm
MARGIN = 0.1  # a change of the rate by less than this share, up or down, counts as none
CONTROLS = {"", "none", "control"}  # labels of rows without an intervention, in any case
LIKE_CONTROLS = CONTROLS | {  # labels that usually mean a control, for guesses
    *("ctrl", "ctl", "controls", "placebo", "untreated", "vehicle", "sham", "mock", "dmso", "wild type", "wt"),
    *("nt", "ntc", "non-targeting", "nontargeting", "non targeting", "negative control", "scramble", "scrambled"),
}
_SEPARATOR = ";"
_PARTS, _WORDS = re.compile(r"[;,+&|]"), re.compile(r"[-_ .:()]+")
_BEFORE = re.compile(r"^(?:sg|si|sh|anti|ko|kd|oe|delta|Δ)[-_ ]?", re.IGNORECASE)  # of the name of a gene
_AFTER = re.compile(r"[-_ ]?(?:ko|kd|oe|null|g?\d{1,2})$", re.IGNORECASE)
_MOST_ARMS = 1000
_LISTED = 5

Targets = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Interventions:
    """The interventions of n rows."""

    name: str  # of their column
    kind: str  # one of `INTERVENTION_KINDS`
    arms: tuple[str, ...]  # the labels, without that of the controls
    targets: tuple[tuple[str, ...], ...]  # the nodes that each arm sets
    arm: np.ndarray  # every row's arm, from 1; 0 for a control, (n,)

    @classmethod
    def of(
        cls,
        column: pd.Series,
        nodes: Sequence[str],
        kind: str = SET,
        targets: Targets | None = None,
        roles: Mapping[str, str] = MappingProxyType({}),
    ) -> "Interventions":
        """The interventions of a column of labels; InputError if an arm has too few rows, or no row is a control.

        Args:
            nodes: the names that a label may have.
            targets: the nodes of labels that are not names of nodes.
            roles: the roles of columns that are not nodes.
        """
        codes, labels = pd.factorize(_texts(column), sort=True)
        named = [meant(str(label), str(column.name), nodes, targets or {}, roles) for label in labels]
        arms = [number for number, result in enumerate(named) if result]
        number_of = np.zeros(len(labels), dtype=np.int64)
        number_of[arms] = np.arange(1, len(arms) + 1)
        result = cls(
            str(column.name),
            kind,
            tuple(str(labels[number]) for number in arms),
            tuple(named[number] for number in arms),
            number_of[codes],
        )
        result._check()
        return result

    def _check(self) -> None:
        """InputError without arms or controls, with too many arms, or an arm of few rows."""
        sizes = np.bincount(self.arm, minlength=len(self.arms) + 1)
        if not self.arms:
            raise InputError(f'Every row of "{self.name}" is a control, so nothing was set: ignore the column.')
        if not sizes[0]:
            raise InputError(
                f'No row of "{self.name}" is a control, so there is nothing to compare with: leave its cell empty, or '
                'write "control", where nothing was set.'
            )
        if len(self.arms) > _MOST_ARMS:
            raise InputError(f'"{self.name}" has {len(self.arms):,} arms; at most {_MOST_ARMS:,} are read.')
        if (few := np.flatnonzero(sizes[1:] < FEWEST)).size:
            label, rows = self.arms[few[0]], int(sizes[1 + few[0]])
            raise InputError(
                f'The arm "{label}" of "{self.name}" has {how_many(rows, "row")}, and at least {FEWEST} are needed: '
                "leave these rows out, or map the label to no node."
            )

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that were set in some row, each once."""
        return tuple(dict.fromkeys(node for of_arm in self.targets for node in of_arm))

    def was_set(self, node: str) -> np.ndarray:
        """Whether a node was set, by row, (n,) bool."""
        of_arm = np.array([False, *(node in of_arm_nodes for of_arm_nodes in self.targets)])
        return of_arm[self.arm]

    def take(self, rows: np.ndarray) -> "Interventions":
        """The interventions of some rows, by number or by mask; arms keep their numbers."""
        return replace(self, arm=self.arm[rows])

    def update(self, digest: "hashlib._Hash") -> None:
        """Add all fields to a digest."""
        digest.update(repr((self.name, self.kind, self.arms, self.targets)).encode() + self.arm.astype("<i8").tobytes())


def _texts(column: pd.Series) -> pd.Series:
    return column.where(column.notna(), "").astype(str).str.strip()


def targets_named(labels: Iterable[object]) -> set[str]:
    """The names in labels, except those of controls."""
    names = {name.strip() for label in labels for name in str(label).split(_SEPARATOR)}
    return {name for name in names if name.lower() not in CONTROLS}


def labels(column: pd.Series) -> dict[str, int]:
    """The number of rows with each label of an intervention, in alphabetical order; empty cells are one label."""
    return {str(label): int(rows) for label, rows in _texts(column).value_counts().sort_index().items()}


def found_in(label: str, nodes: Collection[str]) -> tuple[str, ...]:
    """The nodes whose names are in a label, such as sgKLF1, KLF1-KO or sgKLF1_2+GATA1; none if a word is not one.

    Names are compared whole, ignoring case.
    """
    named, matches = {node.lower(): node for node in nodes}, []
    for word in filter(None, map(str.strip, _PARTS.split(label))):
        bare = _BEFORE.sub("", word)
        spellings = [word, bare, _AFTER.sub("", word), _AFTER.sub("", bare), *_WORDS.split(word), *_WORDS.split(bare)]
        node = next((named[spelling.lower()] for spelling in spellings if spelling.lower() in named), None)
        if node is None:
            return ()
        matches.append(node)
    return tuple(dict.fromkeys(matches))


def meant(
    label: str, name: str, nodes: Sequence[str], targets: Targets, roles: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """The nodes that a label of the intervention `name` sets, or InputError; none for a control.

    Args:
        nodes, targets, roles: as in `Interventions.of`.
    """
    if label in targets:
        result = tuple(targets[label])
    elif label.lower() in CONTROLS:
        return ()
    elif label in nodes:
        return (label,)
    else:
        words = [word.strip() for word in label.split(_SEPARATOR)]
        if len(words) > 1:
            return tuple(dict.fromkeys(node for word in words for node in meant(word, name, nodes, targets, roles)))
        if label in roles:
            raise InputError(
                f'The intervention "{name}" sets "{label}", whose role is {roles[label]}: make that column a count, '
                f'or "{name}" a context.'
            )
        raise InputError(
            f'"{label}" in the intervention "{name}" is not a count column: say which count columns it sets, or that '
            "it is a control (under Arms on the page Data, or as targets in a file of roles)."
        )
    if unknown := [node for node in result if node not in nodes]:
        among = series([f'"{node}"' for node in nodes[:_LISTED]]) + " …" * (len(nodes) > _LISTED)
        raise InputError(
            f'The label "{label}" of "{name}" sets "{unknown[0]}", which is not a count column (they are {among}): '
            "correct its targets."
        )
    return tuple(dict.fromkeys(result))
