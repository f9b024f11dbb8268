"""disco lahman --out DIR: the paper's batting counts, one run per seed, and the agreement with its references."""

import argparse
import sys
from pathlib import Path
from typing import Any

from disco.cli import options
from disco.cli.foreground import work_here
from disco.cli.saying import say, say_json
from disco.cli.table_options import FilePart
from disco.errors import InputError
from disco.metrics import a_top
from disco.paper.settings import PRESETS, Settings
from disco.runs import Run, create_run
from disco.subjects import FIT
from disco.subjects.fit.advice import advice
from disco.subjects.fit.command import resumed, tell_estimate
from disco.subjects.fit.results import StoredFit
from disco.subjects.studies.lahman import LEVELS, REFERENCES, cohort, group, parse_years

_FIXED = {"seed", "transform", "levels", "boundary"}  # these have separate flags


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("--years", default="2012-2018", metavar="FIRST-LAST", help="seasons (%(default)s)")
    command.add_argument("--levels", default="4", choices=LEVELS, help="quantile levels (%(default)s)")
    command.add_argument("--boundary", default="clipped", metavar="NAME", help="%(default)s (default) or admissible")
    command.add_argument("--seeds", default="0,1,2", metavar="0,1,2", help="one run per seed (%(default)s)")
    options.preset(command)
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the runs")
    options.where(command)
    options.add_set(command, Settings)


def run(arguments: argparse.Namespace) -> None:
    """Fit the missing runs in DIR, and print one JSON line; errors as `work_here`."""
    years, changes = parse_years(arguments.years), options.parsed(Settings, arguments.set)
    seeds = parse_seeds(arguments.seeds)
    for name in _FIXED & set(changes):
        raise InputError(f"{name} is no --set of this command; see disco lahman --help.")
    preset = arguments.preset or next(iter(PRESETS))
    fits = group(cohort(*years), years, arguments.levels, preset, seeds, arguments.boundary)
    levels = arguments.levels if arguments.levels == "raw" else f"q{arguments.levels}"
    label = f"{years[0]}-{years[1]}-{levels}-{arguments.boundary}-{preset}-seed"
    device = arguments.device or "auto"
    runs = [_run(arguments.out / f"{label}{fit['settings'].seed}", fit, changes, device) for fit in fits.values()]
    for name, fitted in zip(fits, runs, strict=True):
        if fitted.status(FIT).state != "done":
            go_on = "the same command continues from here."
            work_here(fitted, FIT, go_on, label=name, at_once=arguments.now)
        edges, settings = len(StoredFit(fitted).edges()), fitted.settings
        if words := advice(fitted, edges, settings.selector, settings.parent_rule):
            say(f"{name.capitalize()}: {words}", to=sys.stderr)
    say_json(summary(arguments, seeds, runs))


def summary(arguments: argparse.Namespace, seeds: list[int], runs: list[Run]) -> dict[str, object]:
    """The JSON line: the share of reference pairs that each seed's order respects, and the seconds of its fit."""
    orders = [StoredFit(run).order for run in runs]
    scores = {name.lower(): [a_top(order, pairs) for order in orders] for name, pairs in REFERENCES.items()}
    return {
        **{name: getattr(arguments, name) for name in ("years", "levels", "boundary")},
        "seeds": seeds,
        **scores,
        **{f"{name}_mean": sum(values) / len(values) for name, values in scores.items()},
        "seconds": [round(run.status(FIT).seconds, 1) for run in runs],
    }


def parse_seeds(text: str) -> list[int]:
    """Distinct seeds from a comma-separated list; InputError if it is not one."""
    try:
        seeds = [int(item) for item in text.split(",")]
    except ValueError as error:
        raise InputError(f"--seeds must be whole numbers with commas between, such as 0,1,2; got {text!r}.") from error
    if len(set(seeds)) < len(seeds):
        raise InputError(f"--seeds holds a seed twice: {text}.")
    return seeds


def _run(folder: Path, fit: dict[str, Any], changes: dict[str, object], device: str) -> Run:
    """The run in a folder, existing or new; `fit` holds the arguments of `create_run`, before `changes` of settings."""
    table, settings = fit["table"], fit["settings"].replace(**changes)
    selection = FilePart(table, (), None, fit["source"], fit["origin"])
    if (existing := resumed(folder, selection, settings.to_dict(), None)) is not None:
        return existing
    tell_estimate(table, settings, device)
    overrides = {"settings": settings, "name": f"Lahman {folder.name}", "folder": folder, "device": device}
    return create_run(**{**fit, **overrides})
