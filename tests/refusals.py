"""Files read from bytes, refused in one sentence, and read with some bytes changed."""

import io
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pytest

from disco.table.formats import parsing
from disco.table.formats.archive import unwrapped
from disco.table.formats.catalogue import MATRICES
from disco.table.formats.limits import NotATable
from disco.table.formats.reading import DETECTED, Reading
from disco.table.read import read_table


def parse(data: bytes | BinaryIO, suffix: str, reading: Reading = DETECTED) -> pa.Table:
    """The table of a file, without its packing, as the process that reads files parses it."""
    content, inner = unwrapped(io.BytesIO(data) if isinstance(data, bytes) else data, suffix)
    return parsing.parse(content if inner in MATRICES else content.read(), inner, reading)


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
from disco.table.formats.limits import NotATable

sys.path.insert(0, sys.argv[3])
from refusals import parse

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
    command = [sys.executable, "-c", FUZZ, folder / "good", suffix, Path(__file__).parent]
    fuzzing = subprocess.run(command, capture_output=True, text=True, timeout=300)
    *wrong, statuses = fuzzing.stdout.splitlines()
    assert wrong == [] and len(statuses.split()) == 40 and "2" in statuses.split()
