"""The script of a run in Python. Names and cells of a table enter it as literals, whatever they contain."""

from collections.abc import Mapping
from dataclasses import fields
from pprint import pformat
from typing import Any

from disco import __version__
from disco.reports.script.facts import Facts
from disco.runs.folder import Run
from disco.runs.origin import FromDesign, FromFile, FromLahman, FromPortal, Source
from disco.subjects.fit import results
from disco.table.edits import EDITS, Edit
from disco.table.roles import Roles

_WIDTH = 100
_WHERE = {  # how a name begins in the script → the module that has it
    "DISCO": "disco",
    "Settings": "disco",
    "Knowledge": "disco.knowledge",
    "find": "disco.methods",
    "candidates": "disco.selectors.selection",
    "Choice": "disco.refine",
    "refine": "disco.refine",
    "Design": "disco.simulate",
    "simulate": "disco.simulate",
    "lahman": "disco.subjects.studies",
    "portal": "disco.subjects.studies",
    "read_table": "disco.table.read",
    "Roles": "disco.table.roles",
    **dict.fromkeys(("applied", *(kind.__name__ for kind in EDITS)), "disco.table.edits"),
}


def python(facts: Facts) -> str:
    """The script: the table, then the fit, the refinement and the other methods that the run has."""
    script = _Script()
    _table(facts, script)
    arguments = _arguments(facts, script)
    steps = [lambda: _fit(facts, script, arguments)] if facts.is_fitted else []
    if (choice := facts.choice) is not None:
        steps.insert(int(facts.follows_fit), lambda: _refinement(facts, script, arguments, choice))
    for step in steps:
        step()
    for method in facts.methods:
        _method(facts, script, method)
    return script.text(f"{facts.run.name!r} with DISCO {__version__}.")


class _Script:
    """Lines of Python, and the names that they import."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: set[str] = set()

    def add(self, *lines: str, uses: str = "") -> None:
        """Add lines, which use some names of `_WHERE`."""
        self.lines += lines
        self.names |= {*uses.split()}

    def text(self, title: str) -> str:
        modules: dict[str, list[str]] = {}
        for name in sorted(self.names):
            modules.setdefault(_WHERE[name], []).append(name)
        imports = [f"from {module} import {', '.join(names)}" for module, names in sorted(modules.items())]
        return "\n".join([f"# {title}", "", *imports, "", *self.lines, ""])


def _table(facts: Facts, script: _Script) -> None:
    choices, edits = facts.reading
    source, uses, note = _source(facts.origin.source, choices)
    script.add(*note, f"table = {source}", uses=uses)
    if edits:
        kinds = " ".join({type(edit).__name__ for edit in edits})
        script.add(f"table = applied(table, [{', '.join(map(_edit, edits))}])", uses=f"applied {kinds}")


def _edit(edit: Edit) -> str:
    changed = {item.name: getattr(edit, item.name) for item in fields(edit) if getattr(edit, item.name) != item.default}
    return f"{type(edit).__name__}({_call(**changed)})"


def _source(source: Source, choices: Mapping[str, Any]) -> tuple[str, str, list[str]]:
    """The initial table, the names to import for it, and a comment."""
    match source:
        case FromFile(name, digest):
            note = [f"# The file has the SHA-256 {digest}."] if digest.isalnum() else []
            return f"read_table({_call(name, **choices)})", "read_table", note
        case FromLahman(first, last):
            return f"lahman.cohort({first}, {last})", "lahman", []
        case FromPortal(_, species, comparison) if comparison:
            return f"portal.trial({_call(comparison, list(species))})[0]", "portal", []
        case FromPortal(plots, species):
            return f"portal.table({_call(list(plots), list(species))})", "portal", []
        case FromDesign(design):
            return f"simulate(Design.from_dict({_literal(design)})).whole", "simulate Design", []


def _arguments(facts: Facts, script: _Script) -> str:
    """Lines for the roles and the knowledge, and the arguments that pass them on."""
    arguments = []
    if (roles := facts.roles) is not None:
        usual = vars(Roles())
        declared = {name: value for name, value in vars(roles).items() if value != usual[name] and name != "columns"}
        if roles.targets:
            declared["targets"] = {label: list(nodes) for label, nodes in roles.targets.items()}
        script.add(f"roles = Roles({_call(dict(roles.columns), **declared)})", uses="Roles")
        arguments.append("roles=roles")
    if (knowledge := facts.knowledge) is not None:
        script.add(f"knowledge = Knowledge.from_dict({_literal(knowledge.to_dict())})", uses="Knowledge")
        arguments.append("knowledge=knowledge")
    return ", ".join(arguments)


def _fit(facts: Facts, script: _Script, shared_arguments: str) -> None:
    run, settings = facts.run, facts.run.settings
    changed = {"seed": settings.seed, **settings.changed()}
    device = {} if run.device == "auto" else {"device": run.device}
    arguments = ", ".join(filter(None, ["table", shared_arguments]))
    script.add(
        "",
        "# The fit",
        f"model = DISCO({_call(settings.preset, **device, **changed)}).fit({arguments})",
        "print(*model.order_)",
        'model.edges_.to_csv("edges.csv", index=False)',
        uses="DISCO",
    )
    if facts.chosen and facts.chosen["parent_rule"] == settings.parent_rule:
        thresholds = {name: facts.chosen[name] for name in ("tau_z", "pi_min")}
        script.add(f"graph = model.graph({_call(**thresholds)})", "print(*graph.edges)")
    for variant in results.variants(run)[1:]:
        criterion, boundary = variant.split("-")
        script.add(f"other = model.recover({boundary!r}, {criterion!r})", "print(*other.order)")
    for selector in _computed(run):
        with_roles = "knowledge=knowledge, " if facts.knowledge is not None else ""
        with_roles += "adjustment=roles, " if facts.roles is not None else ""
        call = f'"{selector}", table, model.order_, model.settings_, {with_roles}'.rstrip(", ")
        script.add(
            f"parents = candidates({call})",
            f'parents[parents["selected"]].to_csv("parents_{selector}.csv", index=False)',
            uses="candidates",
        )


def _computed(run: Run) -> list[str]:
    """The selectors whose candidates were computed after the fit."""
    from disco.selectors.selection import CUTS
    from disco.subjects.fit.candidates import read_candidates

    return [name for name in CUTS if name != run.settings.selector and read_candidates(run, name) is not None]


def _refinement(facts: Facts, script: _Script, shared_arguments: str, choice: Mapping[str, Any]) -> None:
    arguments = ["table", f"Choice({_call(**choice)})"]
    uses = "refine Choice"
    if facts.follows_fit:
        arguments += ["settings=model.settings_", "order=model.order_", "edges=model.edges_"]
    elif facts.levels:
        arguments.append(f"settings=Settings({_call(**facts.levels)})")
        uses += " Settings"
    arguments += [shared_arguments] if shared_arguments else []
    arguments += [f"dismissed={list(facts.dismissed)!r}"] if facts.dismissed else []
    script.add(
        "",
        "# The refinement",
        f"found = refine({', '.join(arguments)})",
        "print(*found.order)",
        'found.edges.to_csv("refined_edges.csv", index=False)',
        uses=uses,
    )
    if facts.effect is not None:
        question = ", ".join(filter(None, ["table", _call(**facts.effect), shared_arguments]))
        script.add("", "# The effect", f"answer = found.effect({question})", "print(answer.total.rate_ratio)")


def _method(facts: Facts, script: _Script, method: str) -> None:
    shared_arguments = ["roles=roles"] if facts.roles is not None else []
    shared_arguments += ["knowledge=knowledge"] if facts.knowledge is not None else []
    changed = facts.options(method)
    arguments = [repr(method), "table", *([_literal(changed)] if changed else []), *shared_arguments]
    script.add(
        "",
        f"# {facts.methods[method].method}",
        f"found = find({', '.join(arguments)})",
        f'found.edges.to_csv("{method}_edges.csv", index=False)',
        uses="find",
    )


def _call(*positional: Any, **named: Any) -> str:
    return ", ".join([*map(_literal, positional), *(f"{name}={_literal(value)}" for name, value in named.items())])


def _literal(value: Any) -> str:
    return pformat(value, width=_WIDTH, sort_dicts=False)
