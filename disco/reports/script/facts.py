"""What a script of a run has to say, in whatever language."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from disco.fields import changed
from disco.knowledge import Knowledge
from disco.paper.settings import WITHOUT_FIT, Settings
from disco.runs import artefacts, origin
from disco.runs.folder import Run
from disco.runs.origin import FromFile, Origin
from disco.subjects import FIT, stamps
from disco.subjects.comparison import compared
from disco.subjects.comparison.compared import MethodResult
from disco.subjects.fit import results
from disco.subjects.refinement.refined import choice_from, choice_of
from disco.table.edits import AsNumbers, Columns, Edit, LeaveOut, ReadAgain, RowNames, Transpose
from disco.table.roles import Roles

TABLE = "table.csv"  # of the run itself, for a run whose origin is not known
_READING = {"encoding": "utf-8", "separator": ",", "decimal": ".", "thousands": "", "above": 0, "names": 1, "below": 0}
_OF_SHELL = RowNames | Transpose | LeaveOut | AsNumbers | Columns  # changes with a flag of their own
_OWN = Origin(FromFile(TABLE, reading=_READING))


@dataclass(frozen=True)
class Facts:
    """A run as its script describes it.

    Attributes:
        origin: of its table; the run's own table as a CSV file, if how it came to be is not known.
        chosen: the rule and the thresholds of the graph shown, if the reader changed them.
        effect: a question about the graph of the refinement: on, do, against, where.
    """

    run: Run
    origin: Origin
    chosen: Mapping[str, Any] = field(default_factory=dict)
    effect: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, run: Run, graph: Mapping[str, Any] | None = None, effect: Mapping[str, Any] | None = None) -> "Facts":
        """The facts of a run. A truth that pages hide stays hidden: the design of such a table is left out.

        Args:
            graph: the choices that define the graph shown, by name.
            effect: a question about the graph of the refinement.
        """
        known_origin, graph = None if run.teaching else origin.of(run), graph or {}
        is_of_own_order = graph.get("order") == results.own_variant(run)
        chosen = {name: graph[name] for name in ("parent_rule", "tau_z", "pi_min") if name in graph}
        return cls(run, known_origin or _OWN, chosen if is_of_own_order else {}, effect)

    @property
    def for_shell(self) -> "Facts":
        """The same facts, from the run's own table if the command line cannot make the changes in their order.

        It exchanges rows and columns first, and once, and has no flag for some changes.
        """
        kinds = [isinstance(edit, RowNames | Transpose) for edit in self.reading[1]]
        exchanges = sum(isinstance(edit, Transpose) for edit in self.reading[1])
        is_in_turn = sorted(kinds, reverse=True) == kinds and exchanges < 2
        is_in_turn &= all(isinstance(edit, _OF_SHELL) for edit in self.reading[1])
        is_in_turn &= all(edit.columns == 1 for edit in self.reading[1] if isinstance(edit, RowNames))
        return self if is_in_turn else dataclasses.replace(self, origin=_OWN)

    @property
    def needs_table(self) -> bool:
        """Whether the script reads the run's own table."""
        return self.origin == _OWN

    @cached_property
    def reading(self) -> tuple[dict[str, Any], tuple[Edit, ...]]:
        """The choices with which the file was last read, and the changes since."""
        choices = self.origin.source.reading if isinstance(self.origin.source, FromFile) else {}
        since: tuple[Edit, ...] = ()
        for edit in self.origin.edits:
            choices, since = (edit.choices, ()) if isinstance(edit, ReadAgain) else (choices, (*since, edit))
        return choices, since

    @cached_property
    def roles(self) -> Roles | None:
        """The roles of all columns that are not counts, covariates and contexts with their kind; None without any."""
        declared, adjustment = self.run.roles or Roles(), self.run.adjustment
        kinds = (
            {}
            if adjustment is None
            else {term.name: term.kind for term in (*adjustment.covariates, *adjustment.contexts)}
        )
        columns = {
            name: (role, kinds[name]) if role in ("covariate", "context") else role
            for name, role in declared.columns.items()
        }
        ignored = dict.fromkeys((name for name in self.origin.ignored if name not in columns), "ignore")
        roles = dataclasses.replace(declared, columns={**columns, **ignored})
        return None if roles == Roles() else roles

    @cached_property
    def knowledge(self) -> Knowledge | None:
        """The rules that all results obey."""
        return self.run.knowledge()

    @cached_property
    def dismissed(self) -> Mapping[str, str]:
        """The reasons for dismissing artefacts, by kind."""
        return artefacts.of(self.run).dismissed

    @property
    def is_fitted(self) -> bool:
        """Whether the run has a fit."""
        return self.run.status(FIT).state == "done"

    @property
    def levels(self) -> dict[str, Any]:
        """The settings on which a refinement without a fit depends; empty with the default transform."""
        settings = self.run.settings
        unused = {"levels"} if settings.transform != "quantile" else set()
        chosen = {name: getattr(settings, name) for name in WITHOUT_FIT if name not in unused}
        return chosen if settings.transform != Settings().transform else {}

    @cached_property
    def choice(self) -> dict[str, Any] | None:
        """The options of its refinement that differ from the defaults; None without a refinement."""
        if not stamps.refinement(self.run):
            return None
        return changed(choice_from(choice_of(self.run)))

    @property
    def follows_fit(self) -> bool:
        """Whether the refinement began with the order and edges of the fit; one before the fit did not know them."""
        return self.is_fitted and (self.run.path / "refined_moves.csv").exists()

    @cached_property
    def methods(self) -> dict[str, MethodResult]:
        """The compared methods that succeeded, by name."""
        return {result.method: result for result in compared.read_all(self.run) if result.state == "done"}

    def options(self, method: str) -> dict[str, Any]:
        """The options of a compared method that differ from its defaults."""
        usual = compared.MethodsRequest({method: {}}).options(method)
        return {name: value for name, value in self.methods[method].options.items() if usual.get(name) != value}
