"""disco unpack FILE: open a run's ZIP as a run in the folder of runs."""

import argparse
import io

from disco.cli.saying import say
from disco.files import read_regular
from disco.reports.packing import MOST_PACKED, unpack


def run(arguments: argparse.Namespace) -> None:
    """Open the ZIP and print the path of its run; InputError if it cannot be read or does not contain a run."""
    opened = unpack(io.BytesIO(read_regular(arguments.file, MOST_PACKED)))
    say(f"Run: {opened.path}")
