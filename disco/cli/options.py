"""Options that several commands have."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from disco.settings import CHOICES
from disco.table.kinds import KINDS


class _Joined(argparse.Action):
    """A list that grows each time its option is given."""

    def __call__(
        self,
        _: argparse.ArgumentParser,
        to: argparse.Namespace,
        values: str | Sequence[object] | None,
        __: object = None,
    ) -> None:
        before = getattr(to, self.dest)
        setattr(to, self.dest, values if before is None else f"{before},{values}")


def _listed(command: argparse.ArgumentParser, option: str, text: str, metavar: str = "A,B") -> None:
    command.add_argument(option, action=_Joined, metavar=metavar, help=text)


def table(command: argparse.ArgumentParser, when: str = "") -> None:
    """How to read the table, and what to leave out."""
    _listed(command, "--columns", f"{when}use only these columns; quote a name with a comma")
    _listed(command, "--without", f"{when}leave out these columns")
    command.add_argument(
        "--read",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"{when}override how the file is read: encoding, separator, decimal, thousands, sheet, hidden, strand, "
        "above, names, below, layer, by",
    )
    command.add_argument(
        "--genes",
        metavar="200|A,B*",
        help=f"{when}h5ad, 10x and matrix.mtx: number of genes to use as columns (50), or names and patterns",
    )
    _listed(command, "--obs", f"{when}h5ad: columns of obs to include, each with a role")
    command.add_argument("--transpose", action="store_true", help=f"{when}rows are variables, columns are observations")
    command.add_argument(
        "--most-varied", type=int, metavar="1000", help=f"{when}with --transpose: only the rows that vary most"
    )
    command.add_argument(
        "--tidy",
        nargs="?",
        const=",".join(KINDS),
        metavar="A,B",
        help=f"{when}take account of what the table holds besides counts, such as genes in rows, totals or lines of "
        f"sightings: all of {', '.join(KINDS)}, or some; none to read it as it is",
    )
    command.add_argument("--row-names", action="store_true", help=f"{when}the first column has row names")
    command.add_argument(
        "--complete-rows", action="store_true", help=f"{when}leave out rows with a cell that is not a count"
    )
    command.add_argument("--unique-rows", action="store_true", help=f"{when}leave out rows whose counts repeat a row")
    command.add_argument("--without-codes", action="store_true", help=f"{when}leave out rows with a code such as 99")
    _listed(command, "--leave-out-rows", f"{when}leave out these rows, counted from 1", "3,17-19")
    command.add_argument(
        "--samples", type=Path, metavar="SHEET", help=f"{when}join a sheet of samples by the names of the rows"
    )
    command.add_argument("--by", metavar="NAME", help=f"{when}with --samples: its column of names (detected)")
    command.add_argument("--blank", choices=["0"], help=f"{when}blank cells of counts mean 0")
    _listed(command, "--as-numbers", f"{when}read numbers that these columns store as text")


def roles(command: argparse.ArgumentParser, when: str = "") -> None:
    """The roles of columns that are not counts (docs/roles.md)."""
    command.add_argument(
        "--roles", type=Path, metavar="FILE", help=f"{when}the columns' roles, as in roles.json; stored in the run"
    )
    _listed(command, "--covariates", f"{when}covariates; A=ordinal sets the kind")
    _listed(
        command,
        "--contexts",
        f"{when}treatments, sites or seasons whose effects are to be found; A=randomised if assigned by chance",
    )
    command.add_argument(
        "--exposure", metavar="NAME", help=f"{when}the exposure: a column, or the counts' total or median-of-ratios"
    )
    command.add_argument("--group", metavar="NAME", help=f"{when}column of groups; rows of a group stay together")
    command.add_argument(
        "--group-effects", action="store_true", help=f"{when}adjust for the group, as for a categorical covariate"
    )
    command.add_argument(
        "--row-number", action="store_true", help=f"{when}adjust for the number of the row, as for a time"
    )
    command.add_argument(
        "--blocks", type=int, metavar="50", help=f"{when}make groups of this number of blocks of consecutive rows"
    )
    command.add_argument(
        "--intervention",
        metavar="NAME",
        help=f"{when}column of the nodes that were set from outside, by row; NAME=shift if their mechanism was changed",
    )
    command.add_argument(
        "--kinds", action="store_true", help=f"{when}adjust for kinds of rows, which are computed from the counts"
    )
    _listed(command, "--ignore", f"{when}columns to ignore")


def knowledge(command: argparse.ArgumentParser) -> None:
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


def where(command: argparse.ArgumentParser) -> None:
    """Where and when to work."""
    command.add_argument("--device", metavar="NAME", help="auto (default), cpu or cuda")
    now(command)
    cluster(command)


def cluster(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cluster", metavar="ADDRESS", help="send the work to a Dask scheduler, as tcp://host:8786")


def now(command: argparse.ArgumentParser) -> None:
    command.add_argument("--now", action="store_true", help="begin beside work that is running, without waiting for it")


def thresholds(command: argparse.ArgumentParser, tau_z: str, pi_min: str) -> None:
    """The options of the two thresholds.

    Args:
        tau_z, pi_min: their defaults in words.
    """
    command.add_argument("--tau-z", type=float, metavar="Z", help=f"ocs: an edge needs Z above this ({tau_z})")
    command.add_argument(
        "--pi-min", type=float, metavar="SHARE", help=f"ocs: in at least this share of folds ({pi_min})"
    )


def which(command: argparse.ArgumentParser) -> None:
    thresholds(command, "the run's own", "the run's own")
    rules, selectors = CHOICES["parent_rule"], CHOICES["selector"]
    command.add_argument("--rule", choices=rules, help="rule of the ocs: the paper's iqr, or jackknife (the run's own)")
    command.add_argument("--graph", choices=("disco", "refined"), help="which graph of the run (disco)")
    command.add_argument(
        "--parents", choices=selectors, help="the edges of this selector (the run's own); computed if missing"
    )


def settings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other setting; repeatable"
    )


def formats(command: argparse.ArgumentParser) -> None:
    formats = ("text", "json", "csv")
    command.add_argument("--format", choices=formats, default="text", help="text (default), json or csv")
