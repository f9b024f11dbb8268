"""The arguments of the commands. Heavy modules are imported only when a command runs."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from disco import __version__
from disco.cli.saying import say, sentence
from disco.settings import CHOICES

_COUNTS = (
    "CSV, TSV, XLSX, ODS, Parquet or Stata, one column per node; h5ad, 10x .h5, or the folder or ZIP of a matrix.mtx"
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
    command.add_argument(
        "--stress", action="store_true", help="how many edges of a quick search are found again after halving the depth"
    )
    _table(command)
    _roles(command)


def _fit(command: argparse.ArgumentParser) -> None:
    command.add_argument("counts", type=Path, metavar="COUNTS", help=_COUNTS)
    command.add_argument("--out", type=Path, required=True, metavar="RUN", help="folder of the run, new or empty")
    command.add_argument("--preset", metavar="NAME", help="tuned (default) or paper")
    command.add_argument("--seed", type=int)
    command.add_argument("--folds", type=int, help="cross-fitting folds (3)")
    command.add_argument(
        "--folds-by", metavar="NAME", help="rows (default), or counts: every count is split in two; needs --folds 2"
    )
    command.add_argument("--transform", metavar="NAME", help="rank (default), quantile or none")
    command.add_argument("--levels", type=int, help="levels per column, with --transform quantile (4)")
    command.add_argument("--boundary", metavar="NAME", help="clipped (default) or admissible")
    command.add_argument("--criterion", metavar="NAME", help="ccs (default) or constant")
    command.add_argument(
        "--parents", dest="selector", metavar="NAME", help="selector of parents: ocs (default), cam, pcm or evidence"
    )
    command.add_argument(
        "--disjoint-rows", action="store_true", default=None, help="half of the rows for the order, half for parents"
    )
    _thresholds(command, "2; the rule jackknife computes its own", "1")
    _table(command)
    _roles(command)
    _knowledge(command)
    command.add_argument("--device", metavar="NAME", help="auto (default), cpu or cuda")
    _now(command)
    command.add_argument("--resume", action="store_true", help="resume the unfinished run in RUN")
    _set(command)


def _now(command: argparse.ArgumentParser) -> None:
    command.add_argument("--now", action="store_true", help="begin beside work that is running, without waiting for it")


def _table(command: argparse.ArgumentParser, when: str = "") -> None:
    """How to read the table, and what to leave out."""
    command.add_argument("--columns", metavar="A,B", help=f"{when}use only these columns; quote a name with a comma")
    command.add_argument("--without", metavar="A,B", help=f"{when}leave out these columns")
    command.add_argument(
        "--read",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{when}override how the file is read: encoding, separator, decimal, thousands, sheet, above, "
        "names, below, layer, by",
    )
    command.add_argument(
        "--genes",
        metavar="200|A,B*",
        help=f"{when}h5ad, 10x and matrix.mtx: number of genes to use as columns (50), or names and patterns",
    )
    command.add_argument("--obs", metavar="A,B", help=f"{when}h5ad: columns of obs to include, each with a role")
    command.add_argument("--transpose", action="store_true", help=f"{when}rows are variables, columns are observations")
    command.add_argument(
        "--most-varied", type=int, metavar="1000", help=f"{when}with --transpose: only the rows that vary most"
    )
    command.add_argument("--row-names", action="store_true", help=f"{when}the first column has row names")
    command.add_argument(
        "--complete-rows", action="store_true", help=f"{when}leave out rows with a cell that is not a count"
    )
    command.add_argument("--leave-out-rows", metavar="3,17-19", help=f"{when}leave out these rows, counted from 1")
    command.add_argument("--as-numbers", metavar="A,B", help=f"{when}read numbers that these columns store as text")


def _roles(command: argparse.ArgumentParser, when: str = "") -> None:
    """The roles of columns that are not counts (docs/roles.md)."""
    command.add_argument(
        "--roles", type=Path, metavar="FILE", help=f"{when}the columns' roles, as in roles.json; stored in the run"
    )
    command.add_argument("--covariates", metavar="A,B", help=f"{when}covariates; A=ordinal sets the kind")
    command.add_argument(
        "--contexts",
        metavar="A,B",
        help=f"{when}treatments, sites or seasons whose effects are to be found; A=randomised if assigned by chance",
    )
    command.add_argument(
        "--exposure", metavar="NAME", help=f"{when}the exposure: a column, or the counts' total or median-of-ratios"
    )
    command.add_argument("--group", metavar="NAME", help=f"{when}column of groups; rows of a group stay together")
    command.add_argument(
        "--group-effects", action="store_true", help=f"{when}adjust for the group, as for a categorical covariate"
    )
    command.add_argument(
        "--intervention",
        metavar="NAME",
        help=f"{when}column of the nodes that were set from outside, by row; NAME=shift if their mechanism was changed",
    )
    command.add_argument("--ignore", metavar="A,B", help=f"{when}columns to ignore")


def _knowledge(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--knowledge",
        type=Path,
        metavar="FILE",
        help="tiers, required and forbidden edges, as knowledge.json or Tetrad's text format; stored in the run",
    )
    command.add_argument(
        "--dismiss",
        action="append",
        default=[],
        metavar="KIND=REASON",
        help="why a warning about the table is none, as depth=REASON; stored in the run",
    )


def _graph(command: argparse.ArgumentParser) -> None:
    from disco.graph import FORMATS

    command.add_argument("run", metavar="RUN", help="folder or id of a finished run")
    _which(command)
    command.add_argument("--format", choices=FORMATS, help="default: by the extension of --out, else csv")
    command.add_argument("--out", type=Path, metavar="FILE", help="default: stdout")


def _refine(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", nargs="?", metavar="RUN", help="folder or id of a run")
    command.add_argument("--counts", type=Path, metavar="COUNTS", help=f"instead of RUN: {_COUNTS}")
    command.add_argument("--out", type=Path, metavar="RUN", help="with --counts: folder of the run, new or empty")
    _table(command, "with --counts: ")
    _roles(command, "with --counts: ")
    command.add_argument("--transform", metavar="NAME", help="with --counts: rank (default), quantile or none")
    command.add_argument("--levels", type=int, help="with --counts: levels per column, with --transform quantile (4)")
    command.add_argument("--starts", type=int, help="number of orders to search from (4)")
    command.add_argument("--restarts", type=int, help="most searches restarted near the best order so far (16)")
    command.add_argument(
        "--time", dest="seconds", type=float, metavar="SECONDS", help="end the search then, with the best graph so far"
    )
    command.add_argument("--bootstrap", type=int, help="number of bootstrap tables (50); 0 for none")
    command.add_argument("--folds", type=int, help="number of parts of the rows, left out in turn (3); 0 for none")
    command.add_argument("--bound", type=float, metavar="NATS", help="least evidence of a decided direction (10)")
    command.add_argument(
        "--margin", type=float, metavar="SHARE", help="with experiments: a change of a rate that counts as none (.1)"
    )
    command.add_argument("--redone", action="store_true", help="repeat the whole search on each bootstrap table (slow)")
    command.add_argument("--seed", type=int, help="seed of the random orders and of the bootstrap (0)")
    _knowledge(command)
    command.add_argument("--device", metavar="NAME", help="auto (default), cpu or cuda")
    _now(command)


def _next(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="folder or id of a run with a refinement")
    command.add_argument("--nodes", metavar="A,B", help="the nodes that can be set (all); quote a name with a comma")
    _format(command)


def _effect(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", metavar="RUN", help="folder or id of a run with a refinement")
    command.add_argument("--on", metavar="NAME", help="the node asked about")
    command.add_argument("--hidden-causes", action="store_true", help="instead of --on: signs of hidden causes")
    do, where = "set a node; without it, all effects on the node", "over rows with this level of a covariate or context"
    for option, about in (("--do", do), ("--against", "compare with"), ("--where", where)):
        command.add_argument(option, action="append", default=[], metavar="NAME=3", help=f"{about}; repeatable")
    command.add_argument("--curve", metavar="NAME", help="instead of --do: the mean over the range of a node")
    command.add_argument("--distribution", action="store_true", help="with --do: how often it has at least each count")
    _format(command)


def _format(command: argparse.ArgumentParser) -> None:
    formats = ("text", "json", "csv")
    command.add_argument("--format", choices=formats, default="text", help="text (default), json or csv")


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("counts", type=Path, nargs="?", metavar="COUNTS", help=_COUNTS)
    command.add_argument("--run", metavar="RUN", help="instead of COUNTS: folder or id of a run")
    command.add_argument("--out", type=Path, metavar="RUN", help="with COUNTS: folder of the run, new or empty")
    command.add_argument("--methods", metavar="A,B", help="methods to run; see --list")
    command.add_argument("--list", action="store_true", help="list all methods with their assumptions and times")
    command.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS", help="time limit per method (600)")
    command.add_argument("--truth", type=Path, metavar="FILE", help="CSV with parent, child and, optionally, direction")
    command.add_argument(
        "--set", action="append", default=[], metavar="METHOD.OPTION=VALUE", help="an option of a method; repeatable"
    )
    _table(command, "with COUNTS: ")
    _roles(command, "with COUNTS: ")
    _knowledge(command)
    _now(command)


def _simulate(command: argparse.ArgumentParser) -> None:
    from disco.simulate import FAMILIES

    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the files, new or empty")
    command.add_argument(
        "--graph", metavar="NAME", help="er (default), er-exact, sf, chain, fork, collider, complete or own"
    )
    command.add_argument("--edges", type=Path, metavar="FILE", help="own graph: CSV with parent,child, or GraphML")
    command.add_argument("--k", type=float, help="er, er-exact: expected parents per node; sf: edges per new node (3)")
    command.add_argument("--d", type=int, metavar="NODES", help="nodes (20)")
    command.add_argument("--n", type=int, metavar="ROWS", help="rows (2000)")
    command.add_argument(
        "--family", metavar="A,B", help="poisson-softplus (default); several: consecutive parts of the order"
    )
    command.add_argument(
        "--param", action="append", default=[], metavar="NAME=VALUE", help="parameter of a family, such as size=3"
    )
    command.add_argument("--seed", type=int, help="seed (0); the same seed repeats the same table")
    for name, about in (
        ("--unsortable", "the three options below, so that sorting the columns reveals almost nothing"),
        ("--random-signs", "half of the effects are negative"),
        ("--equal-means", "all nodes have the same marginal mean"),
        ("--equal-variances", "all nodes have the same marginal variance; needs --equal-means"),
    ):
        command.add_argument(name, action="store_true", default=None, help=about)
    command.add_argument(
        "--sources",
        metavar="SHAPE",
        help="distribution of nodes without parents: bimodal, trimodal, heaped or zero-inflated (family)",
    )
    command.add_argument(
        "--spread", type=float, metavar="RATIO", help="about the largest standard deviation / the smallest (1)"
    )
    command.add_argument("--exposure", type=float, metavar="SD", help="sd of each row's log exposure (0)")
    command.add_argument("--interactions", type=float, metavar="SHARE", help="share of effects by pairs of parents (0)")
    command.add_argument("--latent", type=int, metavar="COUNT", help="hidden common causes, each of two nodes (0)")
    _beside(command)
    command.add_argument("--design", type=Path, metavar="FILE", help="a design.json; other options override it")
    command.epilog = f"Families: {', '.join(FAMILIES)}."


def _beside(command: argparse.ArgumentParser) -> None:
    """The options of a simulated table for further columns beside the counts, and so a roles.json."""
    command.add_argument("--batches", type=int, metavar="COUNT", help="batches; each shifts a third of the nodes (0)")
    command.add_argument("--batch-effect", type=float, metavar="SIZE", help="shift of log mean or logit (0.7)")
    command.add_argument("--depth", type=float, metavar="SD", help="sd of each row's log depth, a column (0)")
    command.add_argument(
        "--depth-causes", metavar="WHAT", help="rates (default): parents act by count / depth; counts: by their counts"
    )
    command.add_argument(
        "--age-and-sex", action="store_true", default=None, help="age affects half of the nodes in waves, sex half"
    )
    command.add_argument("--groups", type=int, metavar="COUNT", help="groups of rows with effects on every node (0)")
    command.add_argument("--group-effect", type=float, metavar="SD", help="sd of these effects (0.5)")
    command.add_argument(
        "--interventions",
        metavar="COUNT|A,B",
        help="random nodes, or these, each set in an arm of its own after the rows of --n (0)",
    )
    command.add_argument("--intervention-rows", type=int, metavar="COUNT", help="rows of an arm (250)")
    command.add_argument(
        "--intervention-kind", metavar="KIND", help="set (default): one value; shift: another mean, the same parents"
    )
    command.add_argument("--intervention-effect", type=float, metavar="SIZE", help="shift of log mean or logit (1)")
    command.add_argument(
        "--contexts",
        metavar="COUNT|A,B;C",
        help="columns assigned by chance, each acting on random nodes, or on these, one list per context (0)",
    )
    command.add_argument("--idle-contexts", type=int, metavar="COUNT", help="further ones that act on nothing (0)")
    command.add_argument("--context-kind", metavar="KIND", help="categorical (default) or dose, from 0 to 2")
    command.add_argument("--context-levels", type=int, metavar="COUNT", help="levels, one of them the control (3)")
    command.add_argument(
        "--context-effect", type=float, metavar="SIZE", help="shift of log mean or logit, or per unit of dose (0.7)"
    )


def _evaluate(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--truth", type=Path, required=True, metavar="FILE", help="CSV with parent, child and, optionally, direction"
    )
    estimate = command.add_mutually_exclusive_group(required=True)
    estimate.add_argument("--run", metavar="RUN", help="folder or id of a finished run")
    estimate.add_argument("--edges", type=Path, metavar="FILE", help="estimated edges: CSV with columns parent, child")
    _which(command)
    command.add_argument("--order", type=Path, metavar="FILE", help="with --edges: CSV with columns position, node")
    command.add_argument(
        "--counts", type=Path, metavar="FILE", help="with --edges: the table, for the sorting controls"
    )


def _lahman(command: argparse.ArgumentParser) -> None:
    from disco.studies.lahman import LEVELS

    command.add_argument("--years", default="2012-2018", metavar="FIRST-LAST", help="seasons (2012-2018)")
    command.add_argument("--levels", default="4", choices=LEVELS, help="quantile levels (4)")
    command.add_argument("--boundary", default="clipped", metavar="NAME", help="clipped (default) or admissible")
    command.add_argument("--seeds", default="0,1,2", metavar="0,1,2")
    command.add_argument("--preset", default="tuned", metavar="NAME", help="tuned (default) or paper")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the runs")
    command.add_argument("--device", default="auto", metavar="NAME", help="auto (default), cpu or cuda")
    _set(command)


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


def _thresholds(command: argparse.ArgumentParser, tau_z: str, pi_min: str) -> None:
    """The options of the two thresholds.

    Args:
        tau_z, pi_min: their defaults in words.
    """
    command.add_argument("--tau-z", type=float, metavar="Z", help=f"ocs: an edge needs Z above this ({tau_z})")
    command.add_argument(
        "--pi-min", type=float, metavar="SHARE", help=f"ocs: in at least this share of folds ({pi_min})"
    )


def _which(command: argparse.ArgumentParser) -> None:
    _thresholds(command, "the run's own", "the run's own")
    rules, selectors = CHOICES["parent_rule"], CHOICES["selector"]
    command.add_argument("--rule", choices=rules, help="rule of the ocs: the paper's iqr, or jackknife (the run's own)")
    command.add_argument("--graph", choices=("disco", "refined"), help="which graph of the run (disco)")
    command.add_argument(
        "--parents", choices=selectors, help="the edges of this selector (the run's own); computed if missing"
    )


def _set(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting; repeatable"
    )
