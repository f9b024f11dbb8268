"""disco check COUNTS: what must be fixed before a table can be fitted, and what stands out in it."""

import argparse
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd

from disco.cli import options
from disco.cli.progress_bar import Progress
from disco.cli.saying import say, say_json, sentence
from disco.cli.suggested_options import suggested_options
from disco.cli.table_options import read_part
from disco.errors import InputError
from disco.files import plain
from disco.hidden.all_artefacts import AT_ONCE, artefacts
from disco.subjects.table.dismissal import say_finding, say_options
from disco.table.artefacts import ARTEFACTS
from disco.table.cells import names_of
from disco.table.counts import problems
from disco.table.edits import as_json
from disco.table.finding import Finding, in_lines
from disco.table.guesses import guesses
from disco.table.prepared import prepare
from disco.table.quality import Quality, quality
from disco.table.roles import Roles
from disco.words import how_many

_MANY_CELLS = 2_000_000  # larger tables take seconds and show their progress


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("counts", type=Path, metavar="COUNTS", help=options.COUNTS)
    command.add_argument("--json", action="store_true", help="print all results as one JSON object")
    options.table(command)
    options.roles(command)


def run(arguments: argparse.Namespace) -> None:
    """Print problems, notes and findings, or all results as one JSON object; columns with a problem have no findings.

    Raises:
        InputError: the file cannot be read; or, after printing, the table cannot be fitted as it is.
    """
    chosen = read_part(arguments.counts, arguments)
    full_table, left_out, roles = chosen.table, chosen.rows_left_out, chosen.roles
    table = full_table if roles is None else roles.counts(full_table)
    findings = problems(table, left_out=left_out)
    findings += _of_roles(full_table, roles, is_counts=not any(problem.blocking for problem in findings))
    is_blocked = any(problem.blocking for problem in findings)
    bad = {name for problem in findings if problem.blocking for name in problem.columns}
    usable = table.loc[:, [name not in bad for name in names_of(table)]] if bad else table
    report = None
    if usable.size:
        is_whole = roles is not None and not is_blocked
        with Progress() as progress:
            prepared = prepare(full_table, roles, folds=None) if is_whole else usable
            report = quality(prepared, left_out, progress if usable.size > _MANY_CELLS else None)
    is_usable = bool(not is_blocked and usable.size)
    if report is not None and is_usable:
        report = _with_artefacts(full_table, roles, report)
    if arguments.json:
        say_json(plain(_everything(table, findings, report)))
    else:
        say(f"{arguments.counts.name}: {how_many(len(table), 'row')}, {how_many(table.shape[1], 'column')}.")
        _print(findings, report, suggested_options(full_table, roles) if is_blocked else "")
    if not is_usable:
        raise InputError("fix the problems above before fitting this table.")


def _with_artefacts(table: pd.DataFrame, roles: Roles | None, report: Quality) -> Quality:
    """All artefacts of the table in its roles, before the other findings."""
    with Progress() as progress:
        artefact_findings = artefacts(table, roles, callback=progress if table.size > AT_ONCE else None)
    remaining = [finding for finding in report.findings if finding.kind not in ARTEFACTS]
    return replace(report, findings=(*artefact_findings, *remaining))


def _of_roles(table: pd.DataFrame, roles: Roles | None, is_counts: bool) -> list[Finding]:
    """Problems of the roles once all nodes are counts; without roles, a guess for columns unlike counts."""
    if roles is None:
        names, guessed = names_of(table), guesses(table)
        if len(names) - len(guessed) < 2:
            return []  # these numbers are not counts
        return [
            Finding(
                "role",
                f'Column "{names[index]}" {guess.why}.',
                f"Is it {guess}? --tidy accepts such guesses, and --roles declares another. {guess.caution}".rstrip(),
                columns=(names[index],),
                roles=Roles({names[index]: guess.declaration}),
            )
            for index, guess in guessed.items()
            if guess.role != "ignore"
        ]
    try:
        if is_counts:
            prepare(table, roles, folds=3)
    except InputError as error:
        return [Finding("role", str(error), blocking=True)]
    return []


def _print(findings: list[Finding], report: Quality | None, cure: str) -> None:
    for word, is_blocking in (("Problem", True), ("Note", False)):
        lines = in_lines(problem for problem in findings if problem.blocking == is_blocking)
        say(*(sentence(f"{word}: {line}") for line in lines))
        say_options(cure if is_blocking else "")
    for finding in report.findings if report else ():
        say_finding(str(finding), finding)
    if not findings and report and not report.findings:
        say("Nothing stands out.")


def _everything(table: pd.DataFrame, findings: list[Finding], report: Quality | None) -> dict[str, Any]:
    result: dict[str, Any] = {"rows": len(table), "columns": table.shape[1], "problems": [*map(_as_json, findings)]}
    if report is None:
        return result
    depth, rows = report.depth, report.rows
    return {
        **result,
        "findings": [*map(_as_json, report.findings)],
        "by_column": report.columns.to_dict("records"),
        "depth": {name: value for name, value in vars(depth).items() if name not in ("columns", "rows")},
        "outlying_rows": rows[rows["is_out"]].drop(columns="is_out").to_dict("records"),
        "relations": [*map(_as_json, report.relations)],
        "near_copies": report.near.to_dict("records"),
    }


def _as_json(finding: Finding) -> dict[str, Any]:
    roles = None if finding.roles is None else finding.roles.to_dict()
    return {**asdict(replace(finding, roles=None)), "roles": roles, "edits": [*map(as_json, finding.edits)]}
