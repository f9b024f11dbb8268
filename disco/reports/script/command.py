"""disco script RUN: the Python, or the command lines, that give a run's results again."""

import argparse
import sys

from disco.cli.saying import say, write
from disco.reports.script import TABLE, Facts, python, shell
from disco.runs import open_run


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", metavar="RUN", help="folder or id of a run")
    command.add_argument("--shell", action="store_true", help="command lines instead of Python")


def run(arguments: argparse.Namespace) -> None:
    """Print the script; InputError if the run does not exist or cannot be read."""
    facts = Facts.of(open_run(arguments.run))
    write((shell if arguments.shell else python)(facts))
    if (facts.for_shell if arguments.shell else facts).needs_table:
        say(f"Save the table of this run from the page Runs as {TABLE}, beside the script.", to=sys.stderr)
