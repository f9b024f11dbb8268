"""Files read from bytes, refused in one sentence, and read with some bytes changed."""

import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from disco.table.formats.limits import NotATable
from disco.table.formats.parsing import parse
from disco.table.formats.reading import Reading
from disco.table.read import read_table


def read(data: str | bytes, name: str = "t.csv", **choices: object) -> pd.DataFrame:
    """The table of a file with this content."""
    return read_table(io.BytesIO(data.encode() if isinstance(data, str) else data), name, **choices)


def is_a_sentence(text: str) -> bool:
    return "\n" not in text and text.endswith(".")


def refused(data: bytes, suffix: str, sentence: str, **choices: object) -> None:
    """Check that a file is refused in one sentence that contains another."""
    with pytest.raises(NotATable) as error:
        parse(data, suffix, Reading(**choices))
    assert sentence in str(error.value) and is_a_sentence(str(error.value))


FUZZ = """
import os, resource, sys
import numpy as np
from disco.table.formats import single_cell, stata  # imported once, before the forks
from disco.table.formats.parsing import parse
from disco.table.formats.limits import NotATable

data, suffix = open(sys.argv[1], "rb").read(), sys.argv[2]
statuses = []
for seed in range(40):
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        rng, bad = np.random.default_rng(seed), bytearray(data)
        for at in rng.integers(len(bad), size=rng.integers(1, 12)):
            bad[at] = rng.integers(256)
        try:
            parse(bytes(bad), suffix)
        except (NotATable, MemoryError):
            os._exit(2)
        except BaseException as error:
            print(seed, repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(*statuses)
"""


def fuzzed(data: bytes, suffix: str, folder: Path) -> None:
    """Check that a file with some bytes changed is a table, a refusal, or a process that ends by a signal.

    Each of 40 variants is read in a process of its own; a signal would be a sentence too.
    """
    (folder / "good").write_bytes(data)
    command = [sys.executable, "-c", FUZZ, folder / "good", suffix]
    fuzzing = subprocess.run(command, capture_output=True, text=True, timeout=300)
    *wrong, statuses = fuzzing.stdout.splitlines()
    assert wrong == [] and len(statuses.split()) == 40 and "2" in statuses.split()
