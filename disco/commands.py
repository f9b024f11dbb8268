"""The commands, each with its module: its arguments are added by `add`, it is run by `run`."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from disco import __version__
from disco.cli.saying import say, sentence

COMMANDS = {
    "check": ("check the quality of a table of counts", "subjects.table.command"),
    "fit": ("fit a table of counts as a new run", "subjects.fit.command"),
    "graph": ("export a run's DAG", "subjects.graph.command"),
    "refine": (
        "search for the order of highest likelihood, with evidence for every edge",
        "subjects.refinement.command",
    ),
    "effect": ("what happens to a node if others are set, or what drives it most", "subjects.effects.command"),
    "next": (
        "which node to set in the next experiment, to settle the most open directions",
        "subjects.experiments.command",
    ),
    "compare": ("run other methods on the same table and compare their results", "subjects.comparison.command"),
    "simulate": ("simulate a table with a known graph", "subjects.simulation.command"),
    "evaluate": ("compare a run or an edge list with the true edges", "subjects.evaluation.command"),
    "lahman": ("the paper's case study on batting counts", "subjects.studies.command"),
    "script": (
        "print the Python, or the command lines, that give a run's results again",
        "reports.script.command",
    ),
    "pack": ("save a run as a ZIP", "reports.pack"),
    "unpack": ("open a run's ZIP", "reports.unpack"),
    "app": ("open the app in the browser", "server.app_command"),
    "serve": ("serve the app to many users, each with runs of their own", "server.serve_command"),
}


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors in one sentence, without the usage lines."""

    def error(self, message: str) -> NoReturn:
        say(sentence(f"{self.prog}: {message}; see {self.prog} --help."), to=sys.stderr)
        sys.exit(2)


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The arguments of a command line, by default this process's; `run_command` is the command's function."""
    words = sys.argv[1:] if argv is None else argv
    top = _Parser(prog="disco", description="Causal order, parents and a DAG from a table of counts.")
    top.add_argument("--version", action="version", version=f"disco {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, (about, module) in COMMANDS.items():
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        if name in words:  # only this command's module, since imports are slow
            functions = import_module(f"disco.{module}")
            functions.add(command)
            command.set_defaults(run_command=functions.run)
    return top.parse_args(words)
