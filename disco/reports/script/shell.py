"""The script of a run as command lines. Names and cells of a table enter it as quoted words, whatever they contain."""

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from disco import __version__
from disco.fields import options
from disco.paper.settings import Settings
from disco.refine import Choice
from disco.reports.script.facts import Facts
from disco.runs.origin import FromDesign, FromFile, FromLahman, FromPortal, Source
from disco.table.edits import AsNumbers, Columns, LeaveOut, RowNames, Transpose

_OUT = "again"
_TAB = "\\t"  # as the option takes it


def shell(facts: Facts) -> str:
    """The command lines: the table, then the fit, the refinement and the other methods that the run has."""
    facts = facts.for_shell
    lines = [f"# {facts.run.name!r} with DISCO {__version__}."]
    counts, preparation = _source(facts.origin.source)
    lines += preparation
    table = [*_table(facts), *_files(facts, lines)]
    target: list[str] = []
    if facts.is_fitted:
        lines.append(_command("fit", counts, *table, *_settings(facts), "--out", _OUT))
        lines += [_command("graph", _OUT, *_graph(facts), "--out", "graph.csv")] if facts.chosen else []
        target = [_OUT]
    if facts.choice is not None:
        # Without the order of the fit, in a run of its own.
        where = f"{_OUT}-refined" if target and not facts.follows_fit else _OUT
        new = ["--counts", counts, *table, *_flags(Settings, facts.levels), "--out", where]
        lines.append(_command("refine", *([_OUT] if facts.follows_fit else new), *_flags(Choice, facts.choice)))
        lines += [] if facts.effect is None else [_command("effect", where, *_effect(facts.effect))]
        target = [_OUT]
    if facts.methods:
        new = [counts, *table, "--out", _OUT]
        options = [word for name in facts.methods for word in _options(facts, name)]
        methods = ["--methods", ",".join(facts.methods)]
        lines.append(_command("compare", *(["--run", _OUT] if target else new), *methods, *options))
    if not all(map(str.isprintable, lines)):  # pasted into a shell, such a character may act as a key
        lines = ["# A name or a value has control characters: use the Python script."]
    return "\n".join([*lines, ""])


def _source(source: Source) -> tuple[str, list[str]]:
    match source:
        case FromFile(name, digest):
            comment = [f"# The file {name!r} has the SHA-256 {digest}."] if digest.isalnum() else []
            return (f"./{name}" if name.startswith("-") else name), comment
        case FromLahman(first, last):
            return "counts.csv", _python(f"lahman.cohort({first}, {last})", "lahman")
        case FromPortal(_, species, comparison) if comparison:
            return "counts.csv", _python(f"portal.trial({comparison!r}, {list(species)!r})[0]", "portal")
        case FromPortal(plots, species):
            return "counts.csv", _python(f"portal.table({list(plots)!r}, {list(species)!r})", "portal")
        case FromDesign(design):
            lines = [
                *_file("design.json", design),
                _command("simulate", "--design", "design.json", "--out", "simulated"),
            ]
            return "simulated/counts.csv", lines


def _python(table: str, module: str) -> list[str]:
    lines = [f"from disco.subjects.studies import {module}", f'{table}.to_csv("counts.csv", index=False)']
    return ["python - <<'END'", *lines, "END"]


def _file(name: str, values: Mapping[str, Any]) -> list[str]:
    """Lines that write JSON, which is one line of ASCII, to a file."""
    return [f"cat > {name} <<'END'", json.dumps(values), "END"]


def _table(facts: Facts) -> list[str]:
    choices, edits = facts.reading
    words = [word for name, value in choices.items() if value is not None for word in _read(name, value)]
    for edit in edits:
        match edit:
            case RowNames(1):
                words.append("--row-names")
            case Transpose(most):
                words += ["--transpose"] if most is None else ["--transpose", "--most-varied", str(most)]
    rows = facts.run.rows_left_out if any(isinstance(edit, LeaveOut) for edit in edits) else ()
    texts = [name for edit in edits if isinstance(edit, AsNumbers) for name in edit.columns]
    stretches = ",".join(str(first) if first == last else f"{first}-{last}" for first, last in rows)
    words += ["--leave-out-rows", stretches] if rows else []
    words += _list("--as-numbers", texts)
    return words + _selection(facts, [edit for edit in edits if isinstance(edit, Columns)])


def _selection(facts: Facts, chosen: list[Columns]) -> list[str]:
    """Which columns are selected: the nodes if one choice names them, else all but those left out."""
    if any(edit.only is not None for edit in chosen):
        return _list("--columns", facts.run.nodes)
    return _list("--without", [name for edit in chosen for name in edit.without])


def _read(name: str, value: Any) -> list[str]:
    if name == "genes":
        return _option("--genes", value)
    if name == "obs":
        return _list("--obs", value)
    return ["--read", f"{name}={_TAB if value == chr(9) else value}"]


def _files(facts: Facts, lines: list[str]) -> list[str]:
    """Options for the roles, the knowledge and dismissed artefacts; more lines write their files."""
    words = []
    for name, content in (("roles", facts.roles), ("knowledge", facts.knowledge)):
        if content is not None:
            lines += _file(f"{name}.json", content.to_dict())
            words += [f"--{name}", f"{name}.json"]
    return words + [word for kind, why in facts.dismissed.items() for word in ("--dismiss", f"{kind}={why}")]


def _settings(facts: Facts) -> list[str]:
    settings = facts.run.settings
    changed = {"seed": settings.seed, **settings.changed()}
    if settings.parent_rule == "jackknife":
        changed.pop("tau_z", None)  # without effect, so that `disco fit` refuses it
    words = ["--preset", settings.preset, *_flags(Settings, changed)]
    return words + ([] if facts.run.device == "auto" else ["--device", facts.run.device])


def _graph(facts: Facts) -> list[str]:
    thresholds = {name: value for name, value in facts.chosen.items() if name != "parent_rule"}
    return [*(("--rule", facts.chosen["parent_rule"]) if facts.chosen else ()), *_flags(Settings, thresholds)]


def _flags(of: type, values: Mapping[str, Any]) -> list[str]:
    """The arguments for some options of a dataclass: their flags, or --set."""
    words = []
    for name, value in values.items():
        option = options(of)[name]
        if not option.flag:
            words += ["--set", f"{name}={option.write(value)}"]
        elif option.kind is bool:
            words += [option.flag] if value else []
        else:
            words += _option(option.flag, value)
    return words


def _effect(question: Mapping[str, Any]) -> list[str]:
    words = _option("--on", question["on"])
    for side in ("do", "against"):
        words += [
            word for node, value in question[side].items() for word in _option(f"--{side}", f"{node}={value:.12g}")
        ]
    return words + [word for level in question.get("where", {}).items() for word in _option("--where", "=".join(level))]


def _options(facts: Facts, method: str) -> list[str]:
    changed = facts.options(method).items()
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in changed}
    return [word for name, text in texts.items() for word in ("--set", f"{method}.{name}={text}")]


def _list(flag: str, names: Iterable[str]) -> list[str]:
    """An option with a list of names; nothing without names."""
    quoted = [_quoted(name) for name in names]
    return _option(flag, ",".join(quoted)) if quoted else []


def _quoted(name: str) -> str:
    is_odd = not name or name != name.strip() or any(sign in name for sign in ',"\r\n')
    return '"' + name.replace('"', '""') + '"' if is_odd else name


def _option(flag: str, value: Any) -> list[str]:
    """A flag and its value, which may begin like a flag."""
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]


def _command(*words: str) -> str:
    return shlex.join(["disco", *words])
