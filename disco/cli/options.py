"""Options of the commands: those declared by dataclasses (`disco.fields`), and those that several commands share."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from disco.cli.saying import say
from disco.errors import InputError
from disco.fields import Option
from disco.fields import options as declared
from disco.paper.settings import CHOICES, PRESETS, Settings
from disco.table.formats.catalogue import MATRIX_NAMES, PLAIN_NAMES
from disco.table.formats.reading import USUAL_GENES, Reading
from disco.table.kinds import KINDS

READ = {name: option for name, option in declared(Reading).items() if name not in ("genes", "obs")}  # by --read
_TERMS = re.compile(r"(\w+: )?\{[^}]*\} ?")  # of the glossary, with which the app explains an option


class _Listing(argparse.Action):
    def __call__(self, *_: object) -> None:
        say(*listing(self.const))
        sys.exit(0)


COUNTS = (
    f"{PLAIN_NAMES}, one column per node; {MATRIX_NAMES}, or the folder, ZIP or tar of a matrix.mtx; each also packed, "
    "as .csv.gz"
)


def listing(of: type) -> list[str]:
    """One line per option of a dataclass: its name, default, range and meaning."""
    return [
        f"{option.name}={_number(option.default)}  {option.range or 'see the documentation'}. {_brief(option)}"
        for option in declared(of).values()
    ]


def add(command: argparse._ActionsContainer, of: type, *names: str, when: str = "", default: str = "") -> None:
    """A flag for each option of a dataclass that has one, or only for `names`.

    Args:
        when: a condition, before the help.
        default: in words, in place of the option's own.
    """
    for option in declared(of).values():
        if option.flag and option.name in (names or [option.name]):
            about: dict[str, Any] = {"dest": option.name, "help": f"{when}{_help(option, default)}".replace("%", "%%")}
            if option.kind is bool:
                command.add_argument(option.flag, action="store_true", default=None, **about)
            else:
                metavar = option.metavar or {int: "N", float: "X"}.get(option.kind, "NAME")
                kind = option.kind if option.kind in (int, float) else str
                command.add_argument(option.flag, type=kind, metavar=metavar, **about)


def add_set(command: argparse.ArgumentParser, of: type) -> None:
    """--set for the options of a dataclass, and a list of them."""
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any option of --options; repeatable"
    )
    command.add_argument("--options", action=_Listing, nargs=0, const=of, help="list all options of --set, and exit")


def specified(arguments: argparse.Namespace, of: type, *names: str) -> dict[str, Any]:
    """The options of a dataclass from flags and --set; with `names`, only these, from flags; errors as `parsed`."""
    options = declared(of)
    flags = {name: getattr(arguments, name, None) for name in names or options}
    flags = {name: value for name, value in flags.items() if value is not None}
    by_set = {} if names else parsed(of, getattr(arguments, "set", []))
    for name in flags.keys() & by_set.keys():
        raise InputError(f"{name} is given twice, as {options[name].flag} and by --set.")
    return flags | by_set


def parsed(of: type, texts: Sequence[str]) -> dict[str, Any]:
    """Values of a dataclass's options from texts such as "width=64"; InputError if one is unknown or occurs twice."""
    options, values = declared(of), dict[str, Any]()
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set needs name=value; got {text!r:.80}.")
        if name == "preset":
            raise InputError("set the preset by --preset, not by --set.")
        if name not in options:
            raise InputError(f"unknown setting {name!r}; the settings are {', '.join(options)}.")
        if name in values:
            raise InputError(f"{name} is given twice by --set.")
        values[name] = options[name].parse(value)
    return values


def _brief(option: Option) -> str:
    """What an option does, without terms of the glossary."""
    is_named = option.label == option.name.replace("_", " ").capitalize()
    return f"{'' if is_named else option.label + '. '}{_TERMS.sub('', option.help)}".strip()


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


def _help(option: Option, default: str) -> str:
    """What an option does, as a clause, with its choices and its default."""
    text = _TERMS.sub("", option.help).strip().rstrip(".")
    text = text if text[1:2].isupper() else f"{text[:1].lower()}{text[1:]}"
    if option.kind is bool:
        return text
    if not option.words:
        return f"{text} ({default or _number(option.default)})"
    choices = [f"{word} (default)" if word == option.default and not default else word for word in option.words]
    return f"{', '.join(choices[:-1])} or {choices[-1]}{f' ({default})' if default else ''}: {text}"


class _Joined(argparse.Action):
    """A list that grows each time its option is given."""

    def __call__(
        self,
        _: argparse.ArgumentParser,
        to: argparse.Namespace,
        values: str | Sequence[object] | None,
        __: object = None,
    ) -> None:
        previous = getattr(to, self.dest)
        setattr(to, self.dest, values if previous is None else f"{previous},{values}")


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
        help=f"{when}override how the file is read: {', '.join(READ)}",
    )
    command.add_argument(
        "--genes",
        metavar="200|A,B*",
        help=f"{when}h5ad, 10x and matrix.mtx: number of genes to use ({USUAL_GENES}), or names and patterns",
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
    _listed(
        command,
        "--time",
        f"{when}column of times, or a year and a column that counts within it: rows before, of the same group, are "
        "possible causes",
        "week",
    )
    command.add_argument("--lags", type=int, metavar="2", help=f"{when}with --time: how many rows before (1)")
    command.add_argument(
        "--season", type=int, metavar="12", help=f"{when}with --time: adjust for a season of so many steps"
    )
    command.add_argument(
        "--no-trend", action="store_true", help=f"{when}with --time: do not adjust for a smooth trend along it"
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
    at_once(command)
    cluster(command)


def cluster(command: argparse.ArgumentParser) -> None:
    command.add_argument("--cluster", metavar="ADDRESS", help="send the work to a Dask scheduler, as tcp://host:8786")


def at_once(command: argparse.ArgumentParser) -> None:
    command.add_argument("--now", action="store_true", help="begin beside work that is running, without waiting for it")


def which(command: argparse.ArgumentParser) -> None:
    default = "the run's own"
    add(command, Settings, "tau_z", "pi_min", default=default)
    rules, selectors = CHOICES["parent_rule"], CHOICES["selector"]
    command.add_argument("--rule", choices=rules, help=f"rule of the ocs: the paper's iqr, or jackknife ({default})")
    command.add_argument("--graph", choices=("disco", "refined"), help="which graph of the run (refined if it has one)")
    command.add_argument(
        "--parents", choices=selectors, help=f"the edges of this selector ({default}); computed if missing"
    )


def preset(command: argparse.ArgumentParser) -> None:
    usual, *alternatives = PRESETS
    command.add_argument("--preset", metavar="NAME", help=f"{usual} (default) or {', '.join(alternatives)}")


def formats(command: argparse.ArgumentParser) -> None:
    formats = ("text", "json", "csv")
    command.add_argument("--format", choices=formats, default="text", help="%(default)s (default), json or csv")
