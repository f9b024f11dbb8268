"""Artefacts in a run's table, which create edges or weaken results: printed with every result; and --dismiss."""

import argparse
import sys

from disco.cli.saying import say, sentence
from disco.errors import InputError
from disco.runs import Run, artefacts
from disco.subjects.refinement import refined
from disco.table.artefacts import ARTEFACTS
from disco.table.finding import Finding

_MOST_DOUBTS = 3
LONGEST = 1000  # letters of options in a line


def reasons(arguments: argparse.Namespace) -> dict[str, str]:
    """Why warnings about artefacts do not apply, by kind, from --dismiss KIND=REASON; InputError if one is missing."""
    by_kind = {}
    for text in arguments.dismiss:
        kind, _, why = text.partition("=")
        if kind not in ARTEFACTS or not why.strip():
            raise InputError(f"--dismiss needs a kind and a reason, as depth=REASON; kinds are {', '.join(ARTEFACTS)}.")
        by_kind[kind] = why
    return by_kind


def dismiss(run: Run, arguments: argparse.Namespace) -> None:
    """Store the reasons of --dismiss in an existing run; errors as `reasons` and `refined.dismiss`."""
    if by_kind := reasons(arguments):
        refined.dismiss(run, by_kind)


def tell(run: Run) -> None:
    """Print the artefacts of a run's table, as warnings or with the reason for dismissal, and its doubts on stderr."""
    findings = artefacts.of(run)
    for finding in findings.standing:
        say_finding(f"Warning: {finding}", finding, "Options of a new run")
    if findings.standing:
        kinds = " or ".join(f"--dismiss {finding.kind}=REASON" for finding in findings.standing)
        say(f"Until this is cured or dismissed ({kinds}), no direction is decided.")
    for kind, why in findings.dismissed.items():
        say(sentence(f"Dismissed, {kind}: {why}"))
    say(*(sentence(f"Note: {finding}") for finding in findings.doubts[:_MOST_DOUBTS]), to=sys.stderr)
    if (remaining := len(findings.doubts) - _MOST_DOUBTS) > 0:
        say(f"Note: disco check lists {remaining} more.", to=sys.stderr)


def say_finding(words: str, finding: Finding, of: str = "Options") -> None:
    """Print a finding in these words, with the options that cure it, which `of` describes."""
    say(sentence(words))
    say_options(finding.flag, of)


def say_options(flag: str, of: str = "Options") -> None:
    """Print options that cure something, but never part of them: none if they are too long for a line."""
    if 0 < len(flag) <= LONGEST:
        say(f"  {of}: {flag}")
