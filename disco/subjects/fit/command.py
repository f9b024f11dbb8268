"""disco fit COUNTS --out RUN: fit a table of counts as a new run."""

import argparse
import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from disco.cli import options
from disco.cli.foreground import work_here
from disco.cli.roles import check_roles
from disco.cli.saying import say, sentence, short
from disco.cli.table_options import FilePart, read_counts
from disco.columns import REQUIRED
from disco.errors import InputError
from disco.hidden.all_artefacts import looked_for
from disco.knowledge import Knowledge
from disco.knowledge.knowledge_files import read
from disco.paper.settings import Settings
from disco.runs import Run, create_run, open_run
from disco.runs.artefacts import check_there
from disco.subjects import FIT
from disco.subjects.fit.advice import advice
from disco.subjects.fit.results import StoredFit
from disco.subjects.table import dismissal
from disco.table.artefacts import ignored
from disco.words import how_many


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("counts", type=Path, metavar="COUNTS", help=options.COUNTS)
    command.add_argument("--out", type=Path, required=True, metavar="RUN", help="folder of the run, new or empty")
    options.preset(command)
    options.add(command, Settings)
    options.table(command)
    options.roles(command)
    options.knowledge(command)
    options.where(command)
    command.add_argument("--resume", action="store_true", help="resume the unfinished run in RUN")
    options.add_set(command, Settings)


def run(arguments: argparse.Namespace) -> None:
    """Fit the table, or resume its unfinished run, and print the result; errors as `work_here`."""
    values = options.specified(arguments, Settings) | ({"preset": arguments.preset} if arguments.preset else {})
    selection = read_counts(arguments.counts, arguments, folds_of(arguments.out, values))
    knowledge = None if arguments.knowledge is None else read(arguments.knowledge)
    fitted = None
    if arguments.resume:
        fitted = resumed(arguments.out, selection, values, arguments.device, knowledge)
    if fitted is None:
        settings = Settings.of(**values)
        if "tau_z" in values and settings.parent_rule == "jackknife":
            raise InputError(
                "--tau-z has no effect on the rule jackknife, which computes its own threshold: use --set fdr=0.2 for "
                "fewer edges, or --set parent_rule=iqr for the paper's rule."
            )
        device = arguments.device or "auto"
        reasons = dismissal.reasons(arguments)
        fitted = new_run(selection, settings, arguments.out, device, knowledge=knowledge, dismissed=reasons)
    else:
        dismissal.dismiss(fitted, arguments)
    if fitted.status(FIT).state != "done":
        work_here(fitted, FIT, "the same command with --resume continues from here.", at_once=arguments.now)
    print_result(fitted)


def new_run(
    selection: FilePart,
    settings: Settings,
    folder: Path,
    device: str,
    *,
    knowledge: Knowledge | None = None,
    dismissed: Mapping[str, str] | None = None,
    fits: bool = True,
) -> Run:
    """A run for a table, in a new or empty folder.

    Args:
        dismissed: why kinds of artefacts do not apply to this table.
        fits: whether it will be fitted; if so, print the expected time, and refuse a table that needs too much memory.

    Raises:
        InputError: the folder is not empty, the table cannot be fitted, the knowledge or the roles do not match it, or
            it has no artefact of a dismissed kind.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        remedy = "; add --resume to resume the run in it, or" if (folder / "settings.json").exists() else ":"
        raise InputError(f"{folder} is not empty{remedy} choose another folder.")
    prepared = selection.prepared(settings.folds)
    counts = prepared.counts
    if knowledge is not None:
        knowledge.resolve(list(counts.columns), selection.roles)
    if fits:
        tell_estimate(counts, settings, device)
    unused = ignored(selection.table, selection.roles)
    table_artefacts = looked_for(
        prepared.with_rows(selection.table.index), aside=unused, reasons=dismissed, left_out=selection.rows_left_out
    )
    check_there(dismissed or (), table_artefacts)
    return create_run(
        selection.table,
        settings,
        name=folder.resolve().name,
        folder=folder,
        source=selection.source,
        device=device,
        rows_left_out=selection.rows_left_out,
        knowledge=knowledge,
        roles=selection.roles,
        spoilt=table_artefacts,
        origin=selection.origin,
        prepared=prepared,
    )


def folds_of(folder: Path, values: Mapping[str, Any]) -> int:
    """The number of folds of the run in a folder, or of a new one with these settings."""
    if (folder / "settings.json").exists():
        with contextlib.suppress(InputError):  # reported where the run is opened
            return open_run(folder).settings.folds
    return Settings.of(**values).folds


def tell_estimate(counts: pd.DataFrame, settings: Settings, device: str) -> None:
    """Print the expected time and memory of the fit; InputError if memory is too small."""
    from disco.paper.operations import check_memory
    from disco.paper.plan import Plan
    from disco.subjects.fit.forecast import about, estimate

    rows, nodes = counts.shape
    forecast = estimate(rows, nodes, settings, device)
    check_memory(Plan.of(rows, settings), nodes, forecast.device)
    say(
        f"{rows:,} rows × {nodes:,} columns on {forecast.device}: about {about(forecast.low, forecast.high)} "
        f"and {forecast.bytes / 1e9:.1f} GB.",
        to=sys.stderr,
    )


def resumed(
    folder: Path, selection: FilePart, values: dict[str, Any], device: str | None, knowledge: Knowledge | None = None
) -> Run | None:
    """The run in a folder, or None; InputError if its table, settings, knowledge or roles differ from these."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return None
    existing = open_run(folder)
    # the values count, whatever a preset is called
    values = vars(Settings.of(**values)) if "preset" in values else values
    stored = {**vars(existing.settings), "device": existing.device}
    for name, value in {**values, **({"device": device} if device else {})}.items():
        if stored[name] != value:
            raise InputError(f"The run in {folder} has {name} {stored[name]}, not {value}; choose another folder.")
    check_knowledge(existing, knowledge)
    check_roles(existing, selection.roles)
    prepared = selection.prepared(existing.settings.folds, existing.roles)
    adjustment = prepared.adjustment
    is_same = existing.adjustment is None if adjustment is None else adjustment.equals(existing.adjustment)
    if not existing.table().equals(prepared.counts) or not is_same:
        raise InputError(f"The run in {folder} has another table; choose another folder.")
    existing.checked = prepared
    return existing


def check_knowledge(run: Run, knowledge: Knowledge | None) -> None:
    """InputError if knowledge differs from the run's own."""
    stored = run.knowledge()
    if knowledge is not None and knowledge != stored:
        how = "without knowledge" if stored is None else f"with other knowledge ({stored})"
        raise InputError(f"{run.path} was created {how}, which is fixed: create a new run of its table.")


def print_result(run: Run) -> None:
    """Print the order and the edges of a finished run."""
    settings, status, edges = run.settings, run.status(FIT), StoredFit(run).graph_result.edges
    dismissal.tell(run)
    say(f"Causal order, source first: {', '.join(map(short, StoredFit(run).order))}")
    count = how_many(len(edges), "edge")
    if settings.selector != "ocs":
        _print_selected(settings.selector, count, edges)
    else:
        _print_ocs(run, count, edges)
    if words := advice(run, len(edges), settings.selector, settings.parent_rule):
        say(words)
    if run.roles is not None:
        say(sentence(f"Roles: {run.roles}."))
    if (knowledge := run.knowledge()) is not None:
        _print_knowledge(run, knowledge)
    for note in status.notes:
        say(sentence(note))
    if settings.disjoint_rows:
        say("One half of the rows was used for the networks and the order, the other half for the parents.")
    changed = ", ".join(f"{name} {value}" for name, value in settings.changed().items())
    say(f"Preset {settings.preset}{f' with {changed}' if changed else ''}.")
    if status.rows_used is not None and status.rows_used < len(run.table()):
        say(f"{status.rows_used} of {len(run.table())} rows were used (max_rows).")
    say(f"Run: {run.path}")


def _print_knowledge(run: Run, knowledge: Knowledge) -> None:
    from disco.paper.ordering import forced

    say(sentence(f"Knowledge: {knowledge}."))
    cost, steps = forced(StoredFit(run).ccs), len(StoredFit(run).order) - 1
    if len(cost):
        worst = cost.loc[cost["rank"].idxmax()]
        say(
            f"At {len(cost)} of {steps} steps the order follows the knowledge against the scores, most at step "
            f"{worst['step']}, where {short(worst['node'])} had rank {worst['rank']} and {short(worst['first'])} was "
            "first."
        )


def _print_ocs(run: Run, count: str, edges: pd.DataFrame) -> None:
    settings, (tau_z, pi_min) = run.settings, StoredFit(run).thresholds
    if settings.parent_rule == "jackknife":
        say(f"{count} with jackknife Z > {tau_z:.3g}, a local false discovery rate of {settings.fdr:g}:")
    else:
        say(f"{count} with Z > {tau_z:g} in at least {pi_min:.0%} of {settings.folds} folds:")
    for edge in edges.itertuples():
        required = ", required" if getattr(edge, "rule", "") == REQUIRED else ""
        numbers = f"OCS {edge.ocs:.4g}, Z {edge.z:.3g}, frequency {edge.frequency:.3g}{required}"
        say(f"  {short(edge.parent)} {'->' if edge.decided else '--'} {short(edge.child)}  {numbers}")


def _print_selected(selector: str, count: str, edges: pd.DataFrame) -> None:
    from disco.selectors.selection import CUTS, WORDS

    words = WORDS[selector]
    say(f"{count} by {words.name}, {words.rule.format(cut=CUTS[selector])}:")
    for edge in edges.to_dict("records"):
        p_value = f", p {edge['p_value']:.2g}" if "p_value" in edge else ""
        required = ", required" if edge.get("rule") == REQUIRED else ""
        numbers = f"{words.score} {edge['score']:.4g}{p_value}, OCS {edge['ocs']:.4g}{required}"
        say(f"  {short(edge['parent'])} {'->' if edge['decided'] else '--'} {short(edge['child'])}  {numbers}")
