"""The design of a simulated table: graph, families, size, seed, and options that make discovery harder."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from disco.errors import InputError
from disco.fields import a_thing, between, check, is_whole, require
from disco.files import plain
from disco.simulate.design_options import DOSE, LARGEST_TABLE, MOST_CONTEXTS, RATES, DesignOptions
from disco.simulate.mechanism_families import FAMILIES
from disco.simulate.random_graphs import own_graph
from disco.table.adjustment import CATEGORICAL, CONTINUOUS, MOST_LEVELS, RANDOMISED
from disco.table.interventions import CONTROLS
from disco.table.roles import Roles

LARGEST_DESIGN = 10_000_000  # bytes of a design.json: an own graph of half a million edges
LARGEST_ISING = 12  # nodes: 4,096 states
INTERVENTION = "intervention"  # the column that names the arms


@dataclass(frozen=True)
class Design(DesignOptions):
    """A complete description of one simulated table; checked when it is made, never changed. InputError if a value has
    the wrong type, is out of its range, or does not fit another value."""

    def __post_init__(self) -> None:
        check(self, "graph")
        # A design.json holds null for names that are not given.
        if self.names is not None and (isinstance(self.names, str) or not isinstance(self.names, Iterable)):
            raise InputError(f"names must be a list of names; got {self.names!r}.")
        if self.graph == "own":
            self._take_own_graph()
        elif self.edges is not None:
            raise InputError(f'Edges belong to graph "own"; graph "{self.graph}" draws them: leave them out.')
        check(self)
        self._take_names()
        self._take_interventions()
        self._take_contexts()
        cells = self.nodes * (self.rows + self.arms * self.intervention_rows)
        if cells > LARGEST_TABLE:
            raise InputError(f"The table would hold {cells:,} cells, more than {LARGEST_TABLE:,}: fewer rows or nodes.")
        self._check_families()
        self._check_parameters()
        self._check_shapes()
        self._check_beside()
        if self.unsortable:
            for name in ("random_signs", "equal_means", "equal_variances"):
                self._set(name, True)
        if self.equal_variances and not self.equal_means:
            raise InputError("Equal variances need equal means: set equal_means too.")

    def families(self, order: list[str]) -> dict[str, str]:
        """The family of each node. Several families share the causal order in consecutive parts of nearly equal length,
        longer ones first."""
        if isinstance(self.family, Mapping):
            return dict(self.family)
        keys = [key.strip() for key in self.family.split(",")]
        runs = np.array_split(np.arange(len(order)), len(keys))
        return {order[index]: key for key, run in zip(keys, runs, strict=True) for index in run}

    def keys(self) -> list[str]:
        """The families in use, each once."""
        named = self.family.values() if isinstance(self.family, Mapping) else self.family.split(",")
        return list(dict.fromkeys(key.strip() for key in named))

    @property
    def arms(self) -> int:
        """The number of interventions."""
        return len(self.interventions) if isinstance(self.interventions, tuple) else self.interventions

    @property
    def context_targets(self) -> tuple[tuple[str, ...] | None, ...]:
        """The nodes on which each context acts; empty for an idle one, None for random ones."""
        contexts = self.contexts
        acting = contexts if isinstance(contexts, tuple) else (None,) * contexts
        return (*acting, *((),) * self.idle_contexts)

    def context_names(self) -> tuple[str, ...]:
        """The columns of contexts."""
        return tuple(f"context{number + 1}" for number in range(len(self.context_targets)))

    def disturbing(self) -> tuple[str, ...]:
        """The columns beside the counts that affect nodes and were not set for one node alone."""
        contexts = zip(self.context_names(), self.context_targets, strict=True)
        return (*self._around(), *(name for name, targets in contexts if targets != ()))

    def _around(self) -> tuple[str, ...]:
        sizes = {"batch": self.batches, "age": self.age_and_sex, "sex": self.age_and_sex, "depth": self.depth}
        return tuple(name for name, present in (sizes | {"group": self.groups}).items() if present)

    def beside(self) -> tuple[str, ...]:
        """The columns added to the counts."""
        return (*self._around(), *self.context_names(), *([INTERVENTION] if self.arms else []))

    def roles(self) -> Roles | None:
        """The correct roles of the columns beside the counts; None if there are none.

        A depth is an exposure if rates cause rates; if counts cause counts, it acts like any covariate. Groups are also
        a covariate unless there are too many of them.
        """
        right: dict[str, str | tuple[str, str]] = {
            "batch": ("covariate", CATEGORICAL),
            "age": ("covariate", CONTINUOUS),
            "sex": ("covariate", CATEGORICAL),
            "depth": "exposure" if self.depth_causes == RATES else ("covariate", CONTINUOUS),
            "group": "group",
            INTERVENTION: (INTERVENTION, self.intervention_kind),
        }
        kind = CONTINUOUS if self.context_kind == DOSE else RANDOMISED
        right |= dict.fromkeys(self.context_names(), ("context", kind))
        names = self.beside()
        few = 0 < self.groups <= MOST_LEVELS
        return Roles({name: right[name] for name in names}, group_effects=few) if names else None

    def replace(self, **changes: Any) -> "Design":
        """The same design with some values changed."""
        return Design.from_dict(self.to_dict() | changes)

    def to_dict(self) -> dict[str, Any]:
        """The values as plain types, ready for JSON."""
        values = {item.name: plain(getattr(self, item.name)) for item in dataclasses.fields(self)}
        family = self.family if isinstance(self.family, str) else dict(self.family)
        names = None if self.names == self._default_names() else list(self.names)
        return values | {"names": names, "family": family, "parameters": dict(self.parameters)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Design":
        """The design with these values; InputError if a key is unknown or a value is not allowed."""
        options = [item.name for item in dataclasses.fields(cls)]
        unknown = [name for name in values if name not in options]
        if unknown:
            raise InputError(f'A design has no option "{str(unknown[0])[:40]}"; its options are {", ".join(options)}.')
        try:
            return cls(**values)
        except InputError:
            raise
        except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            # Only a JSON file can hold a value whose type no option has.
            raise InputError(f"This is not a design that this program wrote: {str(error)[:200]}.") from None

    @staticmethod
    def values_of(content: bytes) -> dict[str, Any]:
        """The values in a design.json, not yet checked; InputError if it is not a JSON object."""
        values, why = None, "not a JSON object"
        try:
            values = json.loads(content)
            json.dumps(values, ensure_ascii=False).encode()  # half a surrogate pair could not be written again
        except RecursionError:
            values, why = None, "nested too deeply"
        except ValueError as error:
            values, why = None, f"not JSON, {str(error)[:200]}"
        if not isinstance(values, dict):
            raise InputError(f"it is not a design ({why}): choose a design.json that this program wrote.")
        return values

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _take_own_graph(self) -> None:
        try:
            edges = tuple((str(parent), str(child)) for parent, child in (() if self.edges is None else self.edges))
        except (TypeError, ValueError):
            raise InputError("Each edge of an own graph is a pair (parent, child).") from None
        if not edges:
            raise InputError('Graph "own" needs its edges: give at least one pair (parent, child).')
        names = self.names or tuple(dict.fromkeys(node for edge in edges for node in edge))
        self._set("edges", edges)
        self._set("names", names)
        self._set("nodes", len(names))

    def _default_names(self) -> tuple[str, ...]:
        return tuple(f"x{index + 1}" for index in range(self.nodes))

    def _take_names(self) -> None:
        self._set("names", tuple(str(name) for name in self.names or self._default_names()))
        if len(self.names) != self.nodes:
            raise InputError(f"There are {self.nodes} nodes, but {len(self.names)} names: give each node one.")
        if not all(name.strip() for name in self.names):
            raise InputError("A node's name is empty: give each node a name.")
        repeated = [name for index, name in enumerate(self.names) if name in self.names[:index]]
        if repeated:
            raise InputError(f'Two nodes are called "{repeated[0]}": give each node a name of its own.')
        if self.edges is not None:
            own_graph(self.edges, list(self.names))

    def _take_interventions(self) -> None:
        interventions: Any = self.interventions
        if is_whole(interventions):
            require("interventions", interventions, between(0, self.nodes, whole=True))
            self._set("interventions", int(interventions))
            return
        if not isinstance(interventions, list | tuple):
            raise InputError(f"interventions must be a number or the names of nodes; got {a_thing(interventions)}.")
        chosen = tuple(str(name) for name in interventions)
        self._set("interventions", chosen)
        for at, name in enumerate(chosen):
            if name not in self.names:
                raise InputError(f'The intervention on "{name}" is on no node: choose nodes of the graph.')
            if name in chosen[:at]:
                raise InputError(f'"{name}" has two interventions: give it one.')
            if ";" in name or name.lower() in CONTROLS:
                raise InputError(f'A node called "{name}" cannot name an arm: rename it.')

    def _take_contexts(self) -> None:
        contexts: Any = self.contexts
        if is_whole(contexts):
            require("contexts", contexts, between(0, MOST_CONTEXTS, whole=True))
            self._set("contexts", int(contexts))
            return
        if not isinstance(contexts, list | tuple) or not all(isinstance(targets, list | tuple) for targets in contexts):
            raise InputError(f"contexts must be a number or, for each, a list of nodes; got {a_thing(contexts)}.")
        if len(contexts) > MOST_CONTEXTS:
            raise InputError(f"There are {len(contexts)} contexts; at most {MOST_CONTEXTS} are drawn.")
        chosen = tuple(tuple(str(name) for name in targets) for targets in contexts)
        self._set("contexts", chosen)
        for which, names in enumerate(chosen, start=1):
            for at, name in enumerate(names):
                if name not in self.names:
                    raise InputError(
                        f'Context {which} acts on "{name}", which is not a node: choose nodes of the graph.'
                    )
                if name in names[:at]:
                    raise InputError(f'Context {which} names "{name}" twice: name each node once.')

    def _check_families(self) -> None:
        if isinstance(self.family, Mapping):
            odd = sorted(set(self.family) ^ set(self.names))
            if odd:
                what = "has no family" if odd[0] in self.names else "is not a node"
                raise InputError(f'"{odd[0]}" {what}: give every node, and only nodes, a family.')
        elif not isinstance(self.family, str):
            raise InputError(f"family must be a key, several with commas, or one per node; got {self.family!r}.")
        unknown = [key for key in self.keys() if key not in FAMILIES]
        if unknown:
            raise InputError(f'There is no family "{unknown[0]}"; the families are {", ".join(FAMILIES)}.')
        if isinstance(self.family, str) and self.family.count(",") >= self.nodes:
            families = self.family.count(",") + 1
            raise InputError(f"{families} families for {self.nodes} nodes: give at most one per node.")
        if len({FAMILIES[key].law.continuous for key in self.keys()}) > 1:
            raise InputError("A table holds counts or continuous values, not both: choose families of one kind.")
        unscalable = [key for key in self.keys() if not FAMILIES[key].law.scalable]
        for article, name in (("An", "exposure"), ("A", "depth")):
            if getattr(self, name) and unscalable:
                why = f'{article} {name} multiplies a mean, which "{unscalable[0]}" does not allow'
                raise InputError(f"{why}: set {name} to 0.")
        processes = [key for key in self.keys() if FAMILIES[key].index.feature is None]
        if self.interactions and processes:
            raise InputError(f'The functions of "{processes[0]}" are not additive anyway: set interactions to 0.')

    def _check_shapes(self) -> None:
        shaped = self.sources != "family" or self.spread != 1
        calibrated = self.unsortable or self.equal_means
        if shaped and calibrated:
            raise InputError("Equal means fix the sources and the spread: leave both at their defaults.")
        if self.sources != "family" and any(FAMILIES[key].law.continuous for key in self.keys()):
            raise InputError(f'Sources "{self.sources}" are counts: choose families of counts.')
        combined = shaped or calibrated or self.interactions or self.latent or self.disturbing() or self.context_names()
        if "ising" in self.keys() and (
            self.keys() != ["ising"] or self.graph != "complete" or self.nodes > LARGEST_ISING or combined
        ):
            raise InputError(
                f'Family "ising" is one distribution of all nodes: use it alone, on graph "complete" of at most '
                f"{LARGEST_ISING} nodes, without the options that make a table harder."
            )

    def _check_beside(self) -> None:
        if duplicates := [name for name in self.beside() if name in self.names]:
            raise InputError(f'A node is called "{duplicates[0]}", as the column beside the counts: rename the node.')
        if self.beside() and any(FAMILIES[key].law.continuous for key in self.keys()):
            raise InputError(f"The column {self.beside()[0]} stands beside counts: choose families of counts.")
        if self.batches == 1:
            raise InputError("batches must be 0, or at least 2; got 1, which has nothing to differ from.")
        if self.groups == 1 or self.groups > self.rows // 2:
            raise InputError(
                f"groups must be 0, or from 2 to half as many as the {self.rows:,} rows; got {self.groups:,}."
            )

    def _check_parameters(self) -> None:
        if not isinstance(self.parameters, Mapping):
            raise InputError(f"parameters must be a mapping of names to numbers; got {self.parameters!r}.")
        families = [FAMILIES[key] for key in self.keys()]
        for name in self.parameters:
            if not any(name in family.parameters for family in families):
                parameters = ", ".join(dict.fromkeys(item for family in families for item in family.parameters))
                raise InputError(f'"{name}" is not a parameter of {", ".join(self.keys())}: choose from {parameters}.')
        for family in families:
            family.values(self.parameters)
