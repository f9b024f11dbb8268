"""Methods that misbehave, for tests: in this process by `registered`, in one of its own as `MODULE`."""

import ctypes
import os
import signal
import sys
import time
from dataclasses import dataclass
from types import ModuleType

import pandas as pd

from disco.errors import InputError
from disco.fields import number, one_of
from disco.graph.result import GraphResult
from disco.methods import METHODS, Method, alone
from disco.progress import Callback, Reporter
from disco.table.prepared import Table, prepare

MODULE = "tests.strange_methods"  # in place of the one of `disco.methods.isolated`
WAYS = ("good", "undirected", "input", "memory", "killed", "crash", "bug", "slow", "deep", "chatty")


@dataclass(frozen=True)
class Options:
    """How it behaves, and a number without effect."""

    way: str = one_of("good", WAYS)
    size: float = number(1.0, at_least=0)


def find(table: Table, options: Options, *, callback: Callback | None = None) -> GraphResult:
    """The chain along the columns, or an error of the chosen kind."""
    names = list(prepare(table).counts)
    reporter = Reporter(callback, {"work": 1.0}, "stopped")
    reporter.step("work", 1, 2, unit="part")
    chain = list(zip(names[:-1], names[1:], strict=True))
    if options.way == "undirected":
        return GraphResult.of(names, chain[1:], undirected=chain[:1])
    if options.way == "chatty":
        print("[" + "#" * 100_000)
        os.system("echo from a child")
    if options.way in _ACTS:
        _ACTS[options.way]()
    scores = pd.DataFrame(chain, columns=["parent", "child"]).assign(score=0.5)
    return GraphResult.of(names, chain, order=names, scores=scores, notes=("It took the columns as they stand.",))


def _refuse() -> None:
    raise InputError("The column <b> has no values above 3: leave it out.")


def _no_memory() -> None:
    raise MemoryError


def _bug() -> None:
    raise KeyError("a secret of the table")


def _sleep() -> None:
    while True:
        time.sleep(0.05)


def _deep() -> None:
    ctypes.PyDLL(None).sleep(600)  # C code that keeps Python's lock


_ACTS = {
    "input": _refuse, "memory": _no_memory, "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "crash": lambda: os.kill(os.getpid(), signal.SIGSEGV), "bug": _bug, "slow": _sleep, "deep": _deep,
}  # fmt: skip # a table


def registered() -> dict[str, Method]:
    """Put the methods into the registry; those that were put there."""
    module = ModuleType("disco.methods.strange_methods")
    module.Options, module.find = Options, find
    sys.modules[module.__name__] = module
    added = {way: Method(f"the {way} one", "A test.", "strange_methods", {"way": way}) for way in WAYS}
    added["absent"] = Method("the absent one", "A test.", "strange_methods", package="no-such", imports="no_such")
    METHODS.update(added)
    return added


if __name__ == "__main__":
    registered()
    alone.main()
    os._exit(0)
