"""The arguments of the commands. Heavy modules are imported only when a command runs."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from disco import __version__
from disco.cli import options
from disco.cli.saying import say, sentence
from disco.paper.settings import WITHOUT_FIT, Settings

_COUNTS = (
    "CSV, TSV, XLSX, ODS, Parquet or Stata, one column per node; h5ad, 10x .h5, BIOM, or the folder, ZIP or "
    "tar of a matrix.mtx; each also packed, as .csv.gz"
)


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
    for name, about, add in (
        ("check", "check the quality of a table of counts", _check),
        ("fit", "fit a table of counts as a new run", _fit),
        ("graph", "export a run's DAG", _graph),
        ("refine", "search for the order of highest likelihood, with evidence for every edge", _refine),
        ("effect", "what happens to a node if others are set, or what drives it most", _effect),
        ("next", "which node to set in the next experiment, to settle the most open directions", _next),
        ("compare", "run other methods on the same table and compare their results", _compare),
        ("simulate", "simulate a table with a known graph", _simulate),
        ("evaluate", "compare a run or an edge list with the true edges", _evaluate),
        ("lahman", "the paper's case study on batting counts", _lahman),
        ("script", "print the Python, or the command lines, that give a run's results again", _script),
        ("pack", "save a run as a ZIP", _pack),
        ("unpack", "open a run's ZIP", _unpack),
        ("app", "open the app in the browser", _app),
        ("serve", "serve the app to many users, each with runs of their own", _serve),
    ):
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        command.set_defaults(run_command=_command(name))
        if name in words:  # only this command's: some read their choices from slow modules
            add(command)
    return top.parse_args(words)


def _command(name: str) -> Callable[[argparse.Namespace], None]:
    return lambda arguments: import_module(f"disco.cli.{name}").run(arguments)


def _check(command: argparse.ArgumentParser) -> None:
    command.add_argument("counts", type=Path, metavar="COUNTS", help=_COUNTS)
    command.add_argument("--json", action="store_true", help="print all results as one JSON object")
    options.table(command)
    options.roles(command)


def _fit(command: argparse.ArgumentParser) -> None:
    command.add_argument("counts", type=Path, metavar="COUNTS", help=_COUNTS)
    command.add_argument("--out", type=Path, required=True, metavar="RUN", help="folder of the run, new or empty")
    options.preset(command)
    options.add(command, Settings)
    options.table(command)
    options.roles(command)
    options.knowledge(command)
    options.where(command)
    command.add_argument("--resume", action="store_true", help="resume the unfinished run in RUN")
    options.add_set(command, Settings)


def _graph(command: argparse.ArgumentParser) -> None:
    from disco.graph.dag import FORMATS

    command.add_argument("run", metavar="RUN", help="folder or id of a finished run")
    options.which(command)
    command.add_argument("--format", choices=FORMATS, help="default: by the extension of --out, else csv")
    command.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")


def _refine(command: argparse.ArgumentParser) -> None:
    from disco.refine.choice import Choice

    command.add_argument("run", nargs="?", metavar="RUN", help="folder or id of a run")
    command.add_argument("--counts", type=Path, metavar="COUNTS", help=f"instead of RUN: {_COUNTS}")
    command.add_argument("--out", type=Path, metavar="RUN", help="with --counts: folder of the run, new or empty")
    options.table(command, "with --counts: ")
    options.roles(command, "with --counts: ")
    options.add(command, Settings, *WITHOUT_FIT, when="with --counts: ")
    options.add(command, Choice)
    options.add_set(command, Choice)
    options.knowledge(command)
    options.at_once(command)
    options.cluster(command)


def _next(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="folder or id of a run with a refinement")
    command.add_argument("--nodes", metavar="A,B", help="the nodes that can be set (all); quote a name with a comma")
    options.formats(command)


def _effect(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="folder or id of a run with a refinement")
    command.add_argument("--on", metavar="NAME", help="the node asked about")
    command.add_argument("--hidden-causes", action="store_true", help="instead of --on: signs of hidden causes")
    do, where = "set a node; without it, all effects on the node", "over rows with this level of a covariate or context"
    for option, about in (("--do", do), ("--against", "compare with"), ("--where", where)):
        command.add_argument(option, action="append", default=[], metavar="NAME=3", help=f"{about}; repeatable")
    command.add_argument("--curve", metavar="NAME", help="instead of --do: the mean over the range of a node")
    command.add_argument("--distribution", action="store_true", help="with --do: how often it has at least each count")
    options.formats(command)


def _compare(command: argparse.ArgumentParser) -> None:
    from disco.runs.compared import MethodsRequest

    command.add_argument("counts", type=Path, nargs="?", metavar="COUNTS", help=_COUNTS)
    command.add_argument("--run", metavar="RUN", help="instead of COUNTS: folder or id of a run")
    command.add_argument("--out", type=Path, metavar="RUN", help="with COUNTS: folder of the run, new or empty")
    command.add_argument("--methods", metavar="A,B", help="methods to run; see --list")
    command.add_argument("--list", action="store_true", help="list all methods with their assumptions and times")
    command.add_argument("--options", metavar="METHOD", help="list the options of a method")
    options.add(command, MethodsRequest)
    command.add_argument("--truth", type=Path, metavar="FILE", help="CSV with parent, child and, optionally, direction")
    command.add_argument(
        "--set", action="append", default=[], metavar="METHOD.OPTION=VALUE", help="an option of a method; repeatable"
    )
    options.table(command, "with COUNTS: ")
    options.roles(command, "with COUNTS: ")
    options.knowledge(command)
    options.at_once(command)
    options.cluster(command)


def _simulate(command: argparse.ArgumentParser) -> None:
    from disco.simulate import FAMILIES, Design

    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the files, new or empty")
    options.add(command, Design)
    command.add_argument("--edges", type=Path, metavar="FILE", help="own graph: CSV with parent,child, or GraphML")
    command.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of a family, such as size=3"
    )
    command.add_argument("--design", type=Path, metavar="FILE", help="a design.json; other options override it")
    command.epilog = f"Families: {', '.join(FAMILIES)}."


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--truth", type=Path, required=True, metavar="FILE", help="CSV with parent, child and, optionally, direction"
    )
    estimate = command.add_mutually_exclusive_group(required=True)
    estimate.add_argument("--run", metavar="RUN", help="folder or id of a finished run")
    estimate.add_argument("--edges", type=Path, metavar="FILE", help="estimated edges: CSV with columns parent, child")
    options.which(command)
    command.add_argument("--order", type=Path, metavar="FILE", help="with --edges: CSV with columns position, node")
    command.add_argument(
        "--counts", type=Path, metavar="FILE", help="with --edges: the table, for the sorting controls"
    )


def _lahman(command: argparse.ArgumentParser) -> None:
    from disco.studies.lahman import LEVELS

    command.add_argument("--years", default="2012-2018", metavar="FIRST-LAST", help="seasons (%(default)s)")
    command.add_argument("--levels", default="4", choices=LEVELS, help="quantile levels (%(default)s)")
    command.add_argument("--boundary", default="clipped", metavar="NAME", help="%(default)s (default) or admissible")
    command.add_argument("--seeds", default="0,1,2", metavar="0,1,2", help="one run per seed (%(default)s)")
    options.preset(command)
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the runs")
    options.where(command)
    options.add_set(command, Settings)


def _script(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="folder or id of a run")
    command.add_argument("--shell", action="store_true", help="command lines instead of Python")


def _pack(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="folder or id of a run")
    command.add_argument("--out", type=Path, metavar="FILE", help="a new file; default: the run's id.zip, here")
    command.add_argument("--without-networks", action="store_true", help="leave out the fitted networks")


def _unpack(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, metavar="FILE", help="a ZIP written by disco pack or the app")


def _app(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, help="default: 8501, or the next free one")
    command.add_argument("--headless", action="store_true", help="do not open a browser")
    options.cluster(command)


def _serve(command: argparse.ArgumentParser) -> None:
    from disco.cli import serve

    serve.add_arguments(command)
