"""disco pack RUN: the finished parts of a run as a ZIP."""

import argparse
from pathlib import Path

from disco.cli.saying import say
from disco.errors import InputError
from disco.files import write_bytes
from disco.reports.packing import pack
from disco.runs import open_run


def add(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("run", metavar="RUN", help="folder or id of a run")
    command.add_argument("--out", type=Path, metavar="FILE", help="a new file; default: the run's id.zip, here")
    command.add_argument("--without-networks", action="store_true", help="leave out the fitted networks")


def run(arguments: argparse.Namespace) -> None:
    """Write the ZIP and print its path.

    Raises:
        InputError: there is no such run, it is in use or too large, or the file exists or cannot be written.
    """
    opened = open_run(arguments.run)
    path = arguments.out or Path(f"{opened.id}.zip")
    if path.exists():
        raise InputError(f"{path} already exists; choose another file with --out.")
    data = pack(opened, networks=not arguments.without_networks)
    try:
        write_bytes(path, data)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    say(str(path))
