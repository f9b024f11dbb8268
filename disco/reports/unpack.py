"""disco unpack FILE: open a run's ZIP as a run in the folder of runs."""

import argparse
import io
from pathlib import Path

from disco.cli.saying import say
from disco.files import read_regular
from disco.reports.packing import MOST_PACKED, unpack


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("file", type=Path, metavar="FILE", help="a ZIP written by disco pack or the app")


def run(arguments: argparse.Namespace) -> None:
    """Open the ZIP and print the path of its run; InputError if it cannot be read or does not contain a run."""
    opened = unpack(io.BytesIO(read_regular(arguments.file, MOST_PACKED)))
    say(f"Run: {opened.path}")
