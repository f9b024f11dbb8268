"""Columns of a simulated table beside the counts: batch, age and sex, group, contexts, depth.

η_ij = η_j(parents of node j in row i) + Σ_c e_cj(value of column c in row i)

The effects e of batch, age, sex, group and contexts move a node's canonical parameter, or the logarithm of its mean,
outside whatever response the parents have. A depth multiplies the means of its row. Either counts cause counts, and a
mean is depth × f(parents), or rates cause rates, and it is depth × f(parents / depth).

A context is assigned to every row at random, so that its association with a node is its effect. It acts on a fifth of
the nodes, on chosen ones, or on none. With levels, the first is a control, and each other one shifts each of these
nodes up or down; a dose moves each in one direction, in proportion.

The effects, the rows' values and those of the calibration sample have separate random streams, one per column. So a
column changes nothing else, and a smaller table is the first rows of a larger one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from disco.simulate.design import Design
from disco.simulate.design_options import DOSE, RATES

SHARE = 1 / 3  # of the nodes that batches shift, each up or down
TOUCHED = 1 / 2  # of the nodes on which age acts, and of those on which sex does
SIZE = 0.6  # of the effects of age and sex
AGES = np.round(np.arange(20, 80.05, 0.1), 1)
REACHED = 1 / 5  # of the nodes, at least one, on which a context acts
DOSES = np.round(np.arange(0, 2.005, 0.01), 2)
WAVE = 0.75  # of a sine's period between the lowest and the highest age


@dataclass(frozen=True)
class ActingColumn:
    """A column with its levels, (levels,), and their effects on each node's canonical parameter, (levels, nodes)."""

    name: str
    levels: np.ndarray
    effects: np.ndarray


@dataclass(frozen=True)
class Surroundings:
    """Everything that affects the rows of a table and is not a node.

    Attributes:
        columns: those with effects.
        codes: the level code of every row, for each of them, (rows,).
        depth: of every row, (rows,); 1 if the design has none.
        rates: whether the children of a node depend on its count / depth.
        hidden: a factor on the means of every row, without a column for it, (rows,).
    """

    columns: Sequence[ActingColumn]
    codes: Sequence[np.ndarray]
    depth: np.ndarray
    rates: bool
    hidden: np.ndarray

    @property
    def factor(self) -> np.ndarray:
        """The factor on the means of every row, (rows,)."""
        return self.hidden * self.depth

    def seen(self, values: np.ndarray) -> np.ndarray:
        """The parents' values that act on the child, (parents, rows): counts or rates."""
        return values / self.depth if self.rates else values

    def effect(self, node: int) -> np.ndarray | None:
        """The effect on a node's canonical parameter, (rows,); None if no column affects it, as for latent causes."""
        if not self.columns or node >= self.columns[0].effects.shape[1]:
            return None
        return np.sum(
            [column.effects[codes, node] for column, codes in zip(self.columns, self.codes, strict=True)], axis=0
        )

    def reached(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """The nodes on which each of some columns acts, by its name; only columns with effects."""
        acts = {
            column.name: np.flatnonzero(column.effects.any(axis=0)) for column in self.columns if column.name in names
        }
        return {name: nodes for name, nodes in acts.items() if len(nodes)}

    def beside(self) -> dict[str, np.ndarray]:
        """The columns added to the table by name, and the depth, each (rows,)."""
        values = {column.name: column.levels[codes] for column, codes in zip(self.columns, self.codes, strict=True)}
        return values | {"depth": self.depth}


def columns(design: Design, stream: np.random.Generator) -> list[ActingColumn]:
    """The columns of a design that have effects, with the effects."""
    batch, age, sex, group = stream.spawn(4)
    acting = []
    if design.batches:
        signs = _signs(batch, (design.batches, design.nodes))
        effects = design.batch_effect * signs * (batch.random(design.nodes) < SHARE)
        acting.append(ActingColumn("batch", _numbered("b", design.batches), effects))
    if design.age_and_sex:
        start = age.random(design.nodes)
        waves = np.sin(2 * np.pi * (WAVE * np.linspace(0, 1, len(AGES))[:, None] + start))
        acting.append(ActingColumn("age", AGES, SIZE * waves * (age.random(design.nodes) < TOUCHED)))
        second = SIZE * _signs(sex, design.nodes) * (sex.random(design.nodes) < TOUCHED)
        acting.append(ActingColumn("sex", np.array(["f", "m"]), np.stack([np.zeros(design.nodes), second])))
    if design.groups:
        effects = design.group_effect * group.standard_normal((design.groups, design.nodes))
        acting.append(ActingColumn("group", _numbered("g", design.groups), effects))
    contexts = zip(design.context_names(), design.context_targets, strict=True)
    return acting + [
        _context(design, name, targets, source)
        for (name, targets), source in zip(contexts, stream.spawn(len(design.context_targets)), strict=True)
    ]


def _context(design: Design, name: str, targets: tuple[str, ...] | None, stream: np.random.Generator) -> ActingColumn:
    mark = np.zeros(design.nodes, dtype=bool)
    if targets is None:
        mark[stream.permutation(design.nodes)[: max(1, round(REACHED * design.nodes))]] = True
    else:
        mark[[design.names.index(node) for node in targets]] = True
    if design.context_kind == DOSE:
        return ActingColumn(name, DOSES, design.context_effect * np.outer(DOSES, _signs(stream, design.nodes) * mark))
    shifted_levels = design.context_levels - 1
    effects = design.context_effect * _signs(stream, (shifted_levels, design.nodes)) * mark
    levels = np.array(["control", *_numbered("level", shifted_levels)])
    return ActingColumn(name, levels, np.vstack([np.zeros(design.nodes), effects]))


def draw(
    design: Design,
    columns: Sequence[ActingColumn],
    rows: int,
    exposure: np.random.Generator,
    stream: np.random.Generator,
) -> Surroundings:
    """The surroundings of this number of rows; `exposure` is the stream of the hidden factor, `stream` of everything
    else."""
    *draws, deep = stream.spawn(4)
    streams = dict(zip(("batch", "age", "sex"), draws, strict=True))
    streams |= dict(zip(design.context_names(), stream.spawn(len(design.context_targets)), strict=True))
    codes = [
        streams[column.name].integers(len(column.levels), size=rows)
        if column.name in streams
        else np.arange(rows) % len(column.levels)  # groups of equal size, however many rows there are
        for column in columns
    ]
    depth, hidden = log_normal(design.depth, rows, deep), log_normal(design.exposure, rows, exposure)
    return Surroundings(columns, codes, depth, bool(design.depth) and design.depth_causes == RATES, hidden)


def log_normal(sd: float, rows: int, stream: np.random.Generator) -> np.ndarray:
    """A factor of mean 1 for each row, (rows,): log-normal, with this standard deviation of its logarithm."""
    return np.exp(sd * stream.standard_normal(rows) - sd**2 / 2)


def _signs(stream: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    return np.where(stream.random(shape) < 0.5, -1.0, 1.0)


def _numbered(letter: str, count: int) -> np.ndarray:
    return np.array([f"{letter}{number + 1}" for number in range(count)])
